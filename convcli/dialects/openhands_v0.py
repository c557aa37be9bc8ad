"""OpenHands: the events of a conversation, version 0 (trajectories and stores up to 2025); they are only read.

Specification: openhands/events/serialization/event.py of All-Hands-AI/OpenHands at 04e28400 (`event_to_dict`); read
2026-11-23. No program is known that goes on with such a file, and no real file was at hand.

Quirks
- An event is an action or an observation. What a tool was called with stands in the response of the model, which every
  action and observation of it repeats; without it, it is what the action says.
- Actions of one response are one answer. Its thought is text beside the calls.
- An observation `error` is a failure, and so is one that the user rejected.
- What has no call is a message, or an event: states, recalls, condensations.
"""

from __future__ import annotations

from typing import Any

from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.lacking import fields
from convcli.kit.objects import Native, extras_of, objects_in, omit
from convcli.kit.sessions import add_event
from convcli.kit.values import paths, read_arguments
from convcli.model.dialect import Clue, Dialect
from convcli.model.transcript import Media, Message, Part, Path, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import arguments, links

NAME = "openhands-v0"
EVENT = Envelope("id timestamp source message", {"timestamp": "created_at"})
CALLED = "tool_call_metadata"
SPEAKERS = {"user": "user", "agent": "assistant"}
RESPONSE = ("model_response", "choices", 0, "message")


def detect(document: Any) -> Clue | None:
    """By events that are actions with arguments or observations, and say who they come from."""
    rows = objects_in(document)
    known = any(_is_action(row) or ("observation" in row and "extras" in row) for row in rows if "source" in row)
    return Clue(96, "actions and observations, with their source") if known else None


def _is_action(row: Native) -> bool:
    return isinstance(row.get("action"), str) and isinstance(row.get("args"), dict)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of a conversation."""
    context = LiftContext(NAME, document)
    reader = _VersionZeroReader(context)
    for i, row in enumerate(document):
        called = row.get(CALLED) if isinstance(row, dict) else None
        is_call = isinstance(called, dict) and isinstance(called.get("function_name"), str)
        if is_call and _is_action(row):
            reader.action(row, i)
        elif is_call and isinstance(row.get("observation"), str):
            reader.observation(row, i)
        elif isinstance(row, dict) and _is_said(row):
            reader.said(row, i)
        else:
            add_event(context, row, (i,), EVENT if isinstance(row, dict) else None)
    return context.transcript()


def _is_said(row: Native) -> bool:
    """Is it a message of somebody, or the prompt of the system?"""
    said = isinstance((row.get("args") or {}).get("content"), str) if _is_action(row) else False
    return said and (row["action"] == "system" or (row["action"] == "message" and row.get("source") in SPEAKERS))


def _at(value: Any, path: Path) -> Any:
    """What stands there; None where nothing does."""
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


class _VersionZeroReader:
    """The events that a model sees. `response` is that of which the last message is the answer."""

    def __init__(self, context: LiftContext) -> None:
        self.context = context
        self.response: Any = None

    def _add(self, role: str, parts: list[Part], spots: list[Path], row: Native, i: int, content: Native) -> Message:
        """One more message; `content` is the row without what its parts say."""
        message = Message(role, parts)
        message.extras = extras_of(NAME, EVENT.lift(content, message))
        self.context.add(message, (i,), spots)
        return message

    def said(self, row: Native, i: int) -> None:
        """A message of the user or of the agent, or the prompt of the system."""
        args, role = row["args"], "system" if row["action"] == "system" else SPEAKERS[row["source"]]
        parts: list[Part] = [Text(args["content"])] if args["content"] else []
        urls = [url for url in args.get("image_urls") or () if isinstance(url, str)]
        spots: list[Path] = [("args", "content") for _ in parts]
        spots += [("args", "image_urls", j) for j in range(len(urls))]
        parts += [Media("image", url=url) for url in urls]
        rest = omit(args, "content", "image_urls")
        self.response = None
        said = omit(row, "args", "action")
        self._add(role, parts, spots, row, i, {**said, **({"args": rest} if _says(rest) else {})})

    def action(self, row: Native, i: int) -> None:
        """A call. The first of a response has its thought."""
        called = row[CALLED]
        response = _at(called, ("model_response", "id"))
        if response is None or response != self.response:
            thought = row["args"].get("thought") or ""
            parts: list[Part] = [Text(thought)] if isinstance(thought, str) and thought else []
            message = self._add("assistant", parts, [("args", "thought") for _ in parts], row, i, {})
            message.created_at = row.get("timestamp") or None
            self.response = response
        message, (first, spots) = self.context.messages[-1], self.context.origin.places[-1]
        call, spot = self._call(row)
        message.parts.append(call)
        assert isinstance(spots, list)
        spots.append(spot if first == (i,) else ("..", i, *spot))

    def _call(self, row: Native) -> tuple[ToolCall, Path]:
        """The call as the model wrote it, else as the action says."""
        called, args = row[CALLED], row["args"]
        name, id_ = called["function_name"], called.get("tool_call_id") or None
        written = _at(called, (*RESPONSE, "tool_calls"))
        numbers = [j for j, one in enumerate(written or ()) if _at(one, ("id",)) == id_]
        text = _at(written, (numbers[0], "function", "arguments")) if numbers else None
        call = ToolCall(self.context.pairing.call(id_, name), name, {})
        if isinstance(text, str):
            call.arguments, call.raw_arguments = read_arguments(text)
        else:
            call.arguments = omit(args, "thought")
        call.extras = extras_of(NAME, {"event": row})
        return call, (CALLED,)

    def observation(self, row: Native, i: int) -> None:
        """What came of a call."""
        called = row[CALLED]
        id_, name = self.context.pairing.result(called.get("tool_call_id") or None, called["function_name"])
        failed = row["observation"] in ("error", "user_rejected")
        content = row.get("content") or ""
        result = ToolResult(id_, name, "error" if failed else "text", content)
        result.status = "denied" if row["observation"] == "user_rejected" else None
        self.response = None
        rest = omit(row, "content", CALLED)
        beside = omit(called, "function_name", "tool_call_id")
        self._add("tool", [result], [()], row, i, {**rest, **({CALLED: beside} if _says(beside) else {})})


def _says(native: Native) -> bool:
    return any(value is not None for value in native.values())


DIALECT = Dialect(
    name=NAME,
    title="OpenHands, version 0",
    specification="event_to_dict of All-Hands-AI/OpenHands at 04e28400; read 2026-11-23",
    framings=("document", "events"),
    forms=("trajectory",),
    detect=detect,
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    places=paths(
        "message.createdAt=timestamp extras.event=.. tool_call.id=tool_call_id tool_call.name=function_name "
        "tool_result.toolCallId=tool_call_metadata/tool_call_id tool_result.name=tool_call_metadata/function_name "
        "tool_result.value=content tool_result.kind=observation tool_result.status=observation"
    ),
    metadata=fields("finish model_response tools agent_state_changed recall"),
    envelope=frozenset(("event", "id", "source", "cause", "llm_metrics", CALLED)),
)
