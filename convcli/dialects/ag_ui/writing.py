"""Writes AG-UI events: each run begins with the agent's input, and streams its output."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from convcli.dialects.ag_ui.messages import ASIDE, DEFINITIONS, NAME, thought_id, write_messages, write_result
from convcli.dialects.ag_ui.thread import FIRST_RUN, USAGE, answers_from, is_question
from convcli.kit.objects import Keys, Native, as_object, get_extras, omit, together, without_nulls
from convcli.kit.runs import only_turn
from convcli.kit.streams import fragments
from convcli.kit.texts import text_of
from convcli.kit.values import milliseconds_of_time, put_counts, write_arguments
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Reasoning, ToolCall, ToolDefinition, ToolResult, Transcript

THREAD = "thread_1"
"""The id of a thread that has none."""
INPUT = Keys("threadId runId protocolVersion parentRunId state messages tools context forwardedProps resume")
ENCRYPTED = "encryptedValue"


def write(transcript: Transcript, options: Options) -> Rows:
    """Returns the events of all runs."""
    return Rows(list(_ThreadWriter(transcript, options.chunk).events()))


class _ThreadWriter:
    """Writes the events of a thread; `size` is the length of text fragments."""

    def __init__(self, transcript: Transcript, size: int) -> None:
        self.transcript, self.size = transcript, size
        self.taken = {message.id for message in transcript.messages}
        self.numbers = count(1)
        extra = get_extras(transcript.extras, NAME)
        self.start, self.end = as_object(extra.get("run")), as_object(extra.get("end"))
        self.ids = {"threadId": transcript.id or THREAD, "runId": self.start.get("runId", FIRST_RUN)}

    def events(self) -> Iterator[Native]:
        messages = self.transcript.messages
        return self.runs(messages) if any(map(_begins, messages)) else self.one_run(messages)

    def one_run(self, messages: list[Message]) -> Iterator[Native]:
        """Yields the events of the run that answers the last question."""
        first = answers_from(messages)
        begun = _event("RUN_STARTED", self.transcript.created_at, **{**self.ids, **self.start})
        yield self.begun(begun, messages[:first], self.transcript.tools)
        for message in messages[first:]:
            yield from self.message(message)
        failed = next((one for one in messages[first:] if one.stop_reason == "error"), None)
        listed = self.usage(messages)
        if failed is None:
            native = _event("RUN_FINISHED", self.transcript.updated_at, **self.ids)
            yield {**native, **self.end, **({"usage": listed} if listed else {})}
        else:
            yield from self.failure(failed, self.transcript.updated_at)

    def usage(self, messages: list[Message]) -> list[Native]:
        """Returns the counts of the only turn, and the model."""
        turn, stated = only_turn(messages), self.end.get("usage")
        rest = as_object(stated[0]) if isinstance(stated, list) and len(stated) == 1 else {}
        counts = put_counts(turn.usage or {} if turn else {}, rest, USAGE)
        model = {} if self.transcript.model is None else {"model": self.transcript.model}
        return [{**model, **counts}] if model or counts else []

    def runs(self, messages: list[Message]) -> Iterator[Native]:
        """Yields several runs, which begin and end at their events."""
        agent_input: list[Message] = []
        failed: Message | None = None
        tools, is_open = self.transcript.tools, False
        for message in messages:
            if _begins(message):
                yield from self.failure(failed, None)
                yield self.begun(message.parts[0].value, agent_input, tools)  # type: ignore[union-attr]
                agent_input, failed, tools, is_open = [], None, None, True
            elif is_open or (message.role == "event" and not is_question(message)):
                yield from self.message(message)
                is_open = is_open and not _is_run(message, "RUN_FINISHED")
                failed = message if message.stop_reason == "error" else failed
            else:
                agent_input.append(message)
        yield from self.failure(failed, self.transcript.updated_at)
        if agent_input:
            yield self.begun(_event("RUN_STARTED", None, **self.ids), agent_input, None)
            yield _event("RUN_FINISHED", None, **self.ids)

    def begun(self, event: Native, messages: list[Message], tools: list[ToolDefinition] | None) -> Native:
        """Returns the event that begins a run, with the agent's input."""
        rest = as_object(event.get("input"))
        natives = [native for message in messages for native in self.agent_input(message)] + rest.get("messages", [])
        listed = {} if tools is None else {"tools": [DEFINITIONS.write(tool, NAME) for tool in tools]}
        if not (natives or rest or listed):
            return event
        ids = {key: event[key] for key in ("threadId", "runId")}
        return {
            **event,
            "input": INPUT.put({**ids, "messages": natives, **listed}, rest | {"messages": natives}, sort=True),
        }

    def failure(self, failed: Message | None, time: str | None) -> Iterator[Native]:
        """Yields the event of a failed run; a run that broke off has none."""
        extra = as_object(get_extras(failed.extras, NAME).get("error")) if failed is not None else {}
        if failed is not None and (failed.error is not None or extra or time is not None):
            yield {**_event("RUN_ERROR", time, message=failed.error or ""), **extra}

    def agent_input(self, message: Message) -> list[Native]:
        natives = write_messages(message)
        for native in natives:
            if native.get("id") == "":
                native["id"] = self.new_id()
        return natives

    def new_id(self) -> str:
        return next(id_ for n in self.numbers if (id_ := f"message_{n}") not in self.taken)

    def message(self, message: Message) -> Iterator[Native]:
        """Yields the events of agent output: thoughts, a text and calls, or a result."""
        if message.role == "event":
            yield from (part.value for part in message.parts if isinstance(part, Opaque))
        elif message.role == "tool":
            yield self.result(message)
        else:
            extra = together(omit(get_extras(message.extras, NAME), *ASIDE))
            yield from self.thoughts(message)
            text = text_of(message.parts)
            calls = [part for part in message.parts if isinstance(part, ToolCall)]
            is_text = text or extra or message.name or message.role != "assistant"
            id_ = message.id or (self.new_id() if is_text else None)
            if is_text or (id_ is not None and not calls):
                yield from self.text(message, text, id_ or "", extra)
            for call in calls:
                yield from self.call(call, id_, message)

    def thoughts(self, message: Message) -> Iterator[Native]:
        for j, part in enumerate(message.parts):
            if isinstance(part, Reasoning):
                yield from self.thought(part, thought_id(part, message, j), message.created_at)

    def thought(self, part: Reasoning, id_: str, time: str | None) -> Iterator[Native]:
        extra = omit(get_extras(part.extras, NAME), "messageId")
        group, secret = extra.pop("group", id_), extra.pop(ENCRYPTED, None)
        yield {"type": "REASONING_START", "messageId": group}
        yield {**_event("REASONING_MESSAGE_START", time, messageId=id_, role="reasoning"), **extra}
        for piece in fragments(part.text, self.size):
            yield {"type": "REASONING_MESSAGE_CONTENT", "messageId": id_, "delta": piece}
        yield {"type": "REASONING_MESSAGE_END", "messageId": id_}
        yield from _encrypted("message", id_, secret)
        yield {"type": "REASONING_END", "messageId": group}

    def text(self, message: Message, text: str, id_: str, extra: Native) -> Iterator[Native]:
        extra = dict(extra)
        secret = extra.pop(ENCRYPTED, None)
        native = _event("TEXT_MESSAGE_START", message.created_at, messageId=id_, role=message.role, name=message.name)
        yield {**native, **extra}
        for piece in fragments(text, self.size):
            yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": id_, "delta": piece}
        yield {"type": "TEXT_MESSAGE_END", "messageId": id_}
        yield from _encrypted("message", id_, secret)

    def call(self, call: ToolCall, parent: str | None, message: Message) -> Iterator[Native]:
        extra = dict(get_extras(call.extras, NAME))
        secret = extra.pop(ENCRYPTED, None)
        head = {"toolCallId": call.id, "toolCallName": call.name, "parentMessageId": parent}
        yield {**_event("TOOL_CALL_START", message.created_at, **head), **extra}
        for piece in fragments(write_arguments(call.arguments, call.raw_arguments), self.size):
            yield {"type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": piece}
        yield {"type": "TOOL_CALL_END", "toolCallId": call.id}
        yield from _encrypted("tool-call", call.id, secret)

    def result(self, message: Message) -> Native:
        part = next(part for part in message.parts if isinstance(part, ToolResult))
        extra = together(omit(get_extras(message.extras, NAME), *ASIDE))
        ids = {"messageId": message.id or self.new_id(), "toolCallId": part.tool_call_id}
        event = _event("TOOL_CALL_RESULT", message.created_at, **ids, content=write_result(part), role="tool")
        return {**event, **extra}


def _begins(message: Message) -> bool:
    return _is_run(message, "RUN_STARTED")


def _is_run(message: Message, kind: str) -> bool:
    """True if the message is the event of this kind."""
    part = message.parts[0] if message.role == "event" and message.parts else None
    return isinstance(part, Opaque) and isinstance(part.value, dict) and part.value.get("type") == kind


def _event(kind: str, time: str | None, **members: Any) -> Native:
    return without_nulls({"type": kind, "timestamp": milliseconds_of_time(time), **members})


def _encrypted(subtype: str, id_: str, secret: Any) -> Iterator[Native]:
    if secret is not None:
        yield {"type": "REASONING_ENCRYPTED_VALUE", "subtype": subtype, "entityId": id_, ENCRYPTED: secret}
