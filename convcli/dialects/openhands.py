"""OpenHands conversation events, version 1 (software-agent-sdk).

Specification: openhands/sdk/event of OpenHands/software-agent-sdk at 611629e6 (openhands-sdk 1.58); read 2026-11-22.

Quirks
- Each event is a row with a `kind`. Consecutive actions with the same `llm_response_id` are one answer.
- An action has its call twice: `tool_call` is what the model wrote, `action` what the tool received.
- A failed tool is marked in its observation; an agent error, or a rejection by the user, is an event of its own.
- A message has texts that the program added, such as skills, in `extended_content`: the model reads them behind the
  message.
- Condensations, states and hooks are events. The tools of the system prompt are kept as extras.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, except_keys, get_extras, make_extras, omit, without_nulls
from convcli.kit.results import result_of_parts
from convcli.kit.sessions import add_event
from convcli.kit.supported import fields
from convcli.kit.values import paths, read_arguments, split_data_url
from convcli.model.dialect import Dialect, ProgramTurns, tags
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import arguments, links, turns

NAME = "openhands"
SYSTEM, MESSAGE, ACTION = "SystemPromptEvent", "MessageEvent", "ActionEvent"
OBSERVATION, ERROR, REJECTED = "ObservationEvent", "AgentErrorEvent", "UserRejectObservation"
SOURCES = {SYSTEM: "agent", ACTION: "agent", OBSERVATION: "environment", ERROR: "agent", REJECTED: "environment"}
"""The default source of each event kind."""
EVENT = Envelope("id=id timestamp=created_at source kind=")
LISTS = ("thought", "thinking_blocks")
"""Lists that the program writes in each action, most of them empty."""


def lift(document: Any) -> Transcript:
    """Reads a conversation."""
    context = LiftContext(NAME, document)
    reader = _OpenHandsReader(context)
    for i, row in enumerate(document):
        kind = row.get("kind") if isinstance(row, dict) else None
        if kind in READERS:
            READERS[kind](reader, row, i)
        else:
            add_event(context, row, (i,), EVENT)
    return context.transcript()


class _OpenHandsReader:
    """Reads the events in the model's context."""

    def __init__(self, context: LiftContext) -> None:
        self.context = context
        self.response: Any = None
        """The id of the response that the last message answers with."""

    def add(self, role: str, parts: list[Part], part_paths: list[Path], row: Native, i: int, *content: str) -> Message:
        """Adds a message, with the event's keys outside of its content as extras."""
        message = Message(role, parts)
        other_keys = EVENT.lift(omit(row, *content), message) or {}
        other_keys = {
            key: value for key, value in other_keys.items() if (key, value) != ("source", SOURCES.get(row["kind"]))
        }
        message.extras = make_extras(NAME, other_keys)
        self.context.add(message, (i,), part_paths)
        self.response = None
        return message

    def system(self, row: Native, i: int) -> None:
        prompt = row["system_prompt"]
        part_paths: list[Path] = [("system_prompt",)]
        self.add("system", [_lift_content(prompt)], part_paths, row, i, "system_prompt")

    def message(self, row: Native, i: int) -> None:
        native = row["llm_message"]
        parts = [_lift_content(content) for content in native.get("content") or ()]
        part_paths: list[Path] = [("llm_message", "content", k) for k in range(len(parts))]
        thought = native.get("reasoning_content")
        if thought and native["role"] == "assistant":
            parts, part_paths = [Reasoning(thought), *parts], [("llm_message", "reasoning_content"), *part_paths]
        added = row.get("extended_content") or []
        parts += [_lift_content(content) for content in added]
        part_paths += [("extended_content", k) for k in range(len(added))]
        content_keys = ("llm_message", "extended_content") if added else ("llm_message",)
        message = self.add(native["role"], parts, part_paths, row, i, *content_keys)
        read_keys = ("role", "content", *(("reasoning_content",) if thought and native["role"] == "assistant" else ()))
        rest = except_keys(native, *read_keys)
        extra = {**get_extras(message.extras, NAME), **({"llm_message": rest} if rest else {})}
        message.extras = make_extras(NAME, extra)

    def action(self, row: Native, i: int) -> None:
        native = row["tool_call"]
        call = ToolCall(self.context.pairing.call(native["id"] or None, native["name"]), native["name"], {})
        call.arguments, call.raw_arguments = read_arguments(native["arguments"])
        rest = omit(native, "id", "name", "arguments")
        repeated = {"tool_name": native["name"], "tool_call_id": native["id"]}
        empty = [key for key in LISTS if row.get(key) == []]
        other_keys = without_nulls(omit(row, "tool_call", "kind", *empty))
        other_keys = {key: value for key, value in other_keys.items() if repeated.get(key) != value}
        other_keys |= {"tool_call": rest} if any(value is not None for value in rest.values()) else {}
        if self.response is None or row.get("llm_response_id") != self.response:
            self._answer(row, i, other_keys)
        message, (first, part_paths) = self.context.messages[-1], self.context.origin.places[-1]
        message.parts.append(call)
        assert isinstance(part_paths, list)
        part_paths.append(("tool_call",) if first == (i,) else ("..", i, "tool_call"))
        call.extras = make_extras(NAME, {"event": other_keys} if other_keys else {})

    def _answer(self, row: Native, i: int, other_keys: Native) -> None:
        """Adds an answer with its first action's thoughts and texts; other keys stay with the call."""
        parts: list[Part] = []
        part_paths: list[Path] = []
        if row.get("reasoning_content"):
            parts, part_paths = [Reasoning(row["reasoning_content"])], [("reasoning_content",)]
            del other_keys["reasoning_content"]
        for k, native in enumerate(row.get("thought") or ()):
            parts.append(_lift_content(native))
            part_paths.append(("thought", k))
        other_keys.pop("thought", None)
        message = Message("assistant", parts)
        EVENT.lift(row, message)
        for key, value in (("id", message.id), ("timestamp", message.created_at)):
            if value is not None:
                del other_keys[key]
        other_keys.pop("source", None) if other_keys.get("source") == SOURCES[ACTION] else None
        self.context.add(message, (i,), part_paths)
        self.response = row.get("llm_response_id")

    def observation(self, row: Native, i: int) -> None:
        native = row["observation"]
        parts = [_lift_content(content) for content in native["content"]]
        failed = native.get("is_error") is True
        id_, name = self.context.pairing.result(row["tool_call_id"] or None, row.get("tool_name"))
        if all(isinstance(part, (Text, Media)) for part in parts):
            result = result_of_parts(id_, name, parts, failed=failed)
        else:
            result = ToolResult(id_, name, "data", native["content"], is_error=failed or None)
        read_keys = ("content", *(("is_error",) if isinstance(native.get("is_error"), bool) else ()))
        rest = except_keys(native, *read_keys)
        result.extras = make_extras(NAME, rest)
        self.add("tool", [result], [("observation",)], row, i, "observation", "tool_call_id", "tool_name")

    def error(self, row: Native, i: int) -> None:
        id_, name = self.context.pairing.result(row["tool_call_id"] or None, row.get("tool_name"))
        result = ToolResult(id_, name, "error", row["error"])
        self.add("tool", [result], [()], row, i, "error", "tool_call_id", "tool_name")

    def rejected(self, row: Native, i: int) -> None:
        id_, name = self.context.pairing.result(row["tool_call_id"] or None, row.get("tool_name"))
        result = ToolResult(id_, name, "error", row["rejection_reason"], status="denied")
        self.add("tool", [result], [()], row, i, "rejection_reason", "tool_call_id", "tool_name")


READERS: dict[str, Callable[[_OpenHandsReader, Native, int], None]] = {
    SYSTEM: _OpenHandsReader.system,
    MESSAGE: _OpenHandsReader.message,
    ACTION: _OpenHandsReader.action,
    OBSERVATION: _OpenHandsReader.observation,
    ERROR: _OpenHandsReader.error,
    REJECTED: _OpenHandsReader.rejected,
}


def _lift_content(native: Native) -> Part:
    """Reads a text or an image; other content becomes opaque."""
    rest = omit(native, "type", "text", "image_urls")
    rest = {key: value for key, value in rest.items() if value is not None and (key, value) != ("cache_prompt", False)}
    urls = native.get("image_urls")
    if native["type"] == "text" and urls is None:
        return Text(native["text"], extras=make_extras(NAME, rest))
    if native["type"] == "image" and isinstance(urls, list) and len(urls) == 1 and "text" not in native:
        split = split_data_url(urls[0])
        media = Media("image", extras=make_extras(NAME, rest))
        if split is None:
            media.url = urls[0]
        else:
            media.media_type, media.data = split
        return media
    return Opaque(NAME, native)


PROGRAM_TURNS = ProgramTurns(
    tags("EXTRA_INFO")
    | {
        "Your previous response was blocked by the model's content filter.": "content-filter",
        "The task appears incomplete (iteration ": "critic",
        "The goal is NOT yet complete (audit iteration ": "goal",
        "Resuming a goal that was paused or interrupted.": "goal",
    },
    NAME,
    {("source",): {"environment": "environment", "hook": "hook"}},
)
"""Messages that are not from the user, those that the program sends in the user's name, and skills behind a message. An
answer with a malformed call is answered in the user's name too, with texts that a user may write: they stay."""

DIALECT = Dialect(
    name=NAME,
    title="OpenHands",
    specification="OpenHands/software-agent-sdk events at 611629e6; read 2026-11-22",
    framings=("events",),
    forms=("conversation",),
    lift=lift,
    program_turns=PROGRAM_TURNS,
    rules=(
        links.paired(links.PairingRules(where="later", missing=None)),
        arguments.readable(),
        turns.decodable(),
    ),
    places={
        **EVENT.places("message"),
        **paths(
            "extras.event=.. tool_call.rawArguments=arguments "
            "tool_result.toolCallId=../tool_call_id tool_result.name=../tool_name tool_result.value=content "
            "tool_result.kind=is_error image.url=image_urls/0 image.data=image_urls/0 image.mediaType=image_urls/0"
        ),
    },
    metadata=fields("metadata Condensation CondensationRequest ConversationStateUpdateEvent PauseEvent"),
    envelope=frozenset(("event", "source", "action_id", "llm_response_id")),
)
