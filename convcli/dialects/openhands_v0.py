"""OpenHands conversation events, version 0 (trajectories and stores up to 2025); read-only.

Specification: openhands/events/serialization/event.py of All-Hands-AI/OpenHands at 04e28400 (`event_to_dict`); read
2026-11-23. No known program resumes such a file, and no real file was at hand.

Quirks
- An event is an action or an observation. A tool's arguments are in the model response, which every action and
  observation of it repeats; without it, they are those of the action.
- Actions of one response are one answer. Its thought is text next to the calls.
- An observation `error` is a failure, and so is one that the user rejected.
- What has no call is a message, or an event: states, recalls, condensations.
"""

from __future__ import annotations

from typing import Any

from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, make_extras, omit
from convcli.kit.sessions import add_event
from convcli.kit.supported import fields
from convcli.kit.values import paths, read_arguments
from convcli.model.dialect import Dialect, ProgramTurns
from convcli.model.transcript import Media, Message, Part, Path, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import arguments, links

NAME = "openhands-v0"
EVENT = Envelope("id timestamp=created_at source message")
CALL_METADATA = "tool_call_metadata"
ROLE_OF_SOURCE = {"user": "user", "agent": "assistant"}
RESPONSE = ("model_response", "choices", 0, "message")


def _is_action(row: Native) -> bool:
    return isinstance(row.get("action"), str) and isinstance(row.get("args"), dict)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Reads a conversation."""
    context = LiftContext(NAME, document)
    reader = _VersionZeroReader(context)
    for i, row in enumerate(document):
        called = row.get(CALL_METADATA) if isinstance(row, dict) else None
        is_call = isinstance(called, dict) and isinstance(called.get("function_name"), str)
        if is_call and _is_action(row):
            reader.action(row, i)
        elif is_call and isinstance(row.get("observation"), str):
            reader.observation(row, i)
        elif isinstance(row, dict) and _is_message(row):
            reader.message(row, i)
        else:
            add_event(context, row, (i,), EVENT if isinstance(row, dict) else None)
    return context.transcript()


def _is_message(row: Native) -> bool:
    """True for a message of the user or the agent, or the system prompt."""
    has_content = isinstance((row.get("args") or {}).get("content"), str) if _is_action(row) else False
    return has_content and (
        row["action"] == "system" or (row["action"] == "message" and row.get("source") in ROLE_OF_SOURCE)
    )


def _value_at(value: Any, path: Path) -> Any:
    """Returns the value at a path; None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


class _VersionZeroReader:
    """Reads the events in the model's context. `response` is the id of the response of the last message."""

    def __init__(self, context: LiftContext) -> None:
        self.context = context
        self.response: Any = None

    def _add(self, role: str, parts: list[Part], part_paths: list[Path], i: int, content: Native) -> Message:
        """Adds a message; `content` is the row without what its parts cover."""
        message = Message(role, parts)
        message.extras = make_extras(NAME, EVENT.lift(content, message))
        self.context.add(message, (i,), part_paths)
        return message

    def message(self, row: Native, i: int) -> None:
        """Reads a message of the user or the agent, or the system prompt."""
        args, role = row["args"], "system" if row["action"] == "system" else ROLE_OF_SOURCE[row["source"]]
        parts: list[Part] = [Text(args["content"])] if args["content"] else []
        urls = [url for url in args.get("image_urls") or () if isinstance(url, str)]
        part_paths: list[Path] = [("args", "content") for _ in parts]
        part_paths += [("args", "image_urls", j) for j in range(len(urls))]
        parts += [Media("image", url=url) for url in urls]
        rest = omit(args, "content", "image_urls")
        self.response = None
        other_keys = omit(row, "args", "action")
        self._add(role, parts, part_paths, i, {**other_keys, **({"args": rest} if _has_values(rest) else {})})

    def action(self, row: Native, i: int) -> None:
        """Reads a call. The first of a response has its thought."""
        called = row[CALL_METADATA]
        response = _value_at(called, ("model_response", "id"))
        if response is None or response != self.response:
            thought = row["args"].get("thought") or ""
            parts: list[Part] = [Text(thought)] if isinstance(thought, str) and thought else []
            message = self._add("assistant", parts, [("args", "thought") for _ in parts], i, {})
            message.created_at = row.get("timestamp") or None
            self.response = response
        message, (first, part_paths) = self.context.messages[-1], self.context.origin.places[-1]
        call, call_path = self._call(row)
        message.parts.append(call)
        assert isinstance(part_paths, list)
        part_paths.append(call_path if first == (i,) else ("..", i, *call_path))

    def _call(self, row: Native) -> tuple[ToolCall, Path]:
        """Returns the call as the model wrote it, else as in the action."""
        called, args = row[CALL_METADATA], row["args"]
        name, id_ = called["function_name"], called.get("tool_call_id") or None
        written = _value_at(called, (*RESPONSE, "tool_calls"))
        numbers = [j for j, call_native in enumerate(written or ()) if _value_at(call_native, ("id",)) == id_]
        text = _value_at(written, (numbers[0], "function", "arguments")) if numbers else None
        call = ToolCall(self.context.pairing.call(id_, name), name, {})
        if isinstance(text, str):
            call.arguments, call.raw_arguments = read_arguments(text)
        else:
            call.arguments = omit(args, "thought")
        call.extras = make_extras(NAME, {"event": row})
        return call, (CALL_METADATA,)

    def observation(self, row: Native, i: int) -> None:
        """Reads the result of a call."""
        called = row[CALL_METADATA]
        id_, name = self.context.pairing.result(called.get("tool_call_id") or None, called["function_name"])
        failed = row["observation"] in ("error", "user_rejected")
        content = row.get("content") or ""
        result = ToolResult(id_, name, "error" if failed else "text", content)
        result.status = "denied" if row["observation"] == "user_rejected" else None
        self.response = None
        rest = omit(row, "content", CALL_METADATA)
        other_keys = omit(called, "function_name", "tool_call_id")
        self._add(
            "tool", [result], [()], i, {**rest, **({CALL_METADATA: other_keys} if _has_values(other_keys) else {})}
        )


def _has_values(native: Native) -> bool:
    return any(value is not None for value in native.values())


PROGRAM_TURNS = ProgramTurns(
    {
        "Please continue on whatever approach you think is suitable.": "continuation",
        "Let's get back on track. If you experienced errors before, do NOT resume your task.": "resumption",
    }
)
"""What runs without a user send in the user's name: openhands/core/main.py at 00e9a0a6, and its evaluations."""

DIALECT = Dialect(
    name=NAME,
    title="OpenHands, version 0",
    specification="event_to_dict of All-Hands-AI/OpenHands at 04e28400; read 2026-11-23",
    framings=("document", "events"),
    forms=("trajectory",),
    lift=lift,
    program_turns=PROGRAM_TURNS,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    places=EVENT.places("message")
    | paths(
        "extras.event=.. tool_call.id=tool_call_id tool_call.name=function_name "
        "tool_result.toolCallId=tool_call_metadata/tool_call_id tool_result.name=tool_call_metadata/function_name "
        "tool_result.value=content tool_result.kind=observation tool_result.status=observation"
    ),
    metadata=fields("finish model_response tools agent_state_changed recall"),
    envelope=frozenset(("event", "id", "source", "cause", "llm_metrics", CALL_METADATA)),
)
