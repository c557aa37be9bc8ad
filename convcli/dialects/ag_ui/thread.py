"""An AG-UI thread while its events are read: its messages and its runs."""

from __future__ import annotations

from typing import Any

from convcli.dialects.ag_ui.messages import DEFINITIONS, NAME, lift_message
from convcli.kit import streams
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, add_extras, except_keys, make_extras
from convcli.kit.runs import only_turn
from convcli.kit.values import take_counts, time_of_milliseconds
from convcli.model.transcript import Message, Opaque, Part, Path, Reasoning, ToolCall, Transcript

USAGE: dict[tuple[str, ...], str] = {
    ("inputTokens",): "inputTokens",
    ("outputTokens",): "outputTokens",
    ("totalTokens",): "totalTokens",
    ("reasoningTokens",): "reasoningTokens",
    ("cachedInputTokens",): "cacheReadTokens",
    ("cacheWriteInputTokens",): "cacheWriteTokens",
}
OF_EVENTS = frozenset(("type", "timestamp"))
"""Keys that events of all kinds have."""
OF_PARTS = frozenset(("messageId", "toolCallId", "delta", "role", "name", "toolCallName", "parentMessageId"))
"""Keys that some events have: in the others they are unknown ones."""
FIRST_RUN = "run_1"
"""The id of a run that has none."""


class Thread:
    """The messages of a thread so far. `turn` is the agent's open turn."""

    def __init__(self, document: Any) -> None:
        self.context = LiftContext(NAME, document)
        self.transcript = self.context.transcript()
        self.turn: Message | None = None
        self.known: set[str] = set()
        self.starts: list[Message] = []
        self.ends: list[Message] = []
        self._callers: dict[str, str] = {}
        self._begun: tuple[Native, Path] | None = None
        self._has_ended = False
        self._at: dict[int, int] = {}
        self._part_paths: list[list[Path]] = []
        self._part_at: dict[int, Path] = {}

    # ------------------------------------------------------------ messages and parts

    def add(self, message: Message, path: Path, part_paths: list[Path] | None = None) -> Message:
        """Adds a message. The event of a run that has begun goes between the agent's input and its output."""
        if len(path) == 1:
            self._add_begun()
        self._at[id(message)] = len(self.context.messages)
        self._part_paths.append([] if part_paths is None else part_paths)
        self.context.add(message, path, self._part_paths[-1])
        if message.id is not None:
            self.known.add(message.id)
        return message

    def _add_begun(self) -> None:
        """Adds the event of a run that has begun."""
        if self._begun is not None:
            (event, begun), self._begun = self._begun, None
            self.starts.append(self.add(Message("event", [Opaque(NAME, event)]), begun, [()]))

    def part(self, message: Message, part: Part, node_path: Path) -> None:
        """Adds a part to a message, with its path in the document."""
        index = self._at[id(message)]
        message.parts.append(part)
        self._part_at[id(part)] = node_path
        self._part_paths[index].append(streams.apart(self.context.origin.places[index][0], node_path))

    def elsewhere(self, message: Message, key: str, place: Path) -> None:
        """Routes a key of a message to another path than that of its first event."""
        self.context.origin.routes[(*self.context.origin.places[self._at[id(message)]][0], key)] = place

    def grown(self, part: Part, places: list[Path]) -> None:
        """Records the paths of the events that contain a part's text."""
        if places:
            keys = ("arguments", "rawArguments") if isinstance(part, ToolCall) else ("text",)
            part_path = self._part_at[id(part)]
            self.context.origin.routes |= {(*part_path, key): places[0] for key in keys}
            self.context.origin.pieces[places[0]] = places

    def open_turn(self, at: int, event: Native) -> Message:
        """Returns the agent's open turn, or begins one."""
        if self.turn is None:
            self.turn = self.add(Message("assistant", [], created_at=time_of(event)), (at,))
            self.mark(self.turn, event)
        return self.turn

    def name_turn(self, turn: Message, id_: str, place: Path) -> None:
        """Sets the id of a turn, from its text or its calls, and moves its path to that event."""
        turn.id = id_ or None
        self.known.add(id_)
        index = self._at[id(turn)]
        self.context.origin.places[index] = (place[:1], self._part_paths[index])
        self.elsewhere(turn, "turnId", place)

    def mark(self, message: Message, event: Native) -> None:
        """Links what a subagent writes to the call that began it."""
        message.parent_call_id = self._callers.get(event.get("subagentRunId") or "")

    def add_extras(self, record: Message | Part, event: Native, at: int, *known: str) -> None:
        """Keeps the other keys of an event in the extras of its message or part; it reads those that are known."""
        others = {key: event[key] for key in event if key not in OF_EVENTS and key not in known}
        if others:
            routes, path = self.context.origin.routes, self._path_of(record)
            streams.state_extras(record, NAME, others, (at,), routes, path, read=OF_PARTS)

    def _path_of(self, record: Message | Part) -> Path:
        if isinstance(record, Message):
            return self.context.origin.places[self._at[id(record)]][0]
        return self._part_at[id(record)]

    def aside(self, event: Native, at: int) -> None:
        """Adds an event without closing the open turn."""
        self.add(Message("event", [Opaque(NAME, event)]), (at,), [()])

    def subagent(self, event: Native, at: int) -> None:
        """Records the call for which a subagent begins."""
        if event.get("parentToolCallId"):
            self._callers[event["subagentRunId"]] = event["parentToolCallId"]
        self.aside(event, at)

    # ------------------------------------------------------------ agent input

    def snapshot(self, event: Native, at: int) -> None:
        """Reads a snapshot of all messages if nothing came before it; otherwise adds it as an event."""
        is_known = any(native["id"] in self.known for native in event["messages"])
        if self.context.messages or is_known or event.keys() - {"type", "messages", "timestamp"}:
            self.aside(event, at)
        else:
            self._add_input(event["messages"], (at, "messages"))

    def _add_input(self, natives: Any, path: Path) -> list[Native]:
        """Adds the input messages whose id is new, and returns the others."""
        known = []
        thoughts: list[tuple[Reasoning, Path]] = []
        for i, native in enumerate(natives):
            if native["id"] in self.known:
                known.append(native)
            elif native["role"] == "reasoning":
                thoughts.append((_thought(native), (*path, i)))
                self.known.add(native["id"])
            else:
                self._add_input_message(native, (*path, i), thoughts)
                thoughts = []
        self._add_thoughts(thoughts)
        return known

    def _add_input_message(self, native: Native, path: Path, thoughts: list[tuple[Reasoning, Path]]) -> None:
        """Adds a message; thoughts before an answer become its parts."""
        message, part_paths = lift_message(native, self.context)
        if native["role"] == "tool" and native["content"] == "" and native.get("error") is not None:
            self.context.origin.routes[(*path, "content")] = (*path, "error")
        if message.role == "assistant":
            message.parts[:0] = [one for one, _ in thoughts]
            part_paths[:0] = [streams.apart(path, node_path) for _, node_path in thoughts]
        else:
            self._add_thoughts(thoughts)
        self.mark(message, native)
        self.add(message, path, part_paths)
        self.elsewhere(message, "turnId", (*path, "id"))

    def _add_thoughts(self, thoughts: list[tuple[Reasoning, Path]]) -> None:
        if thoughts:
            first = thoughts[0][1]
            part_paths = [streams.apart(first, node_path) for _, node_path in thoughts]
            self.add(Message("assistant", [one for one, _ in thoughts]), first, part_paths)

    def _tools(self, natives: Any, path: Path) -> Native:
        """Sets the tools of the thread; returns differing tools of a later run."""
        tools = [DEFINITIONS.lift(native, NAME) for native in natives]
        if self.transcript.tools is None:
            self.transcript.tools = tools
            self.context.origin.tools += [(*path, i) for i in range(len(tools))]
        return {} if tools == self.transcript.tools else {"tools": natives}

    # ------------------------------------------------------------ runs

    def begin(self, event: Native, at: int) -> None:
        """Begins a run, with the agent's input."""
        self._add_begun()
        run_input = event.get("input") or {}
        if ("run",) not in self.context.origin.routes:
            self.transcript.id, self.transcript.created_at = event["threadId"] or None, time_of(event)
            self.context.origin.routes["run",] = (at,)
        known = self._add_input(run_input.get("messages") or (), (at, "input", "messages"))
        rest = {**except_keys(run_input, "messages", "tools"), **({"messages": known} if known else {})}
        rest |= {} if run_input.get("tools") is None else self._tools(run_input["tools"], (at, "input", "tools"))
        ids = {key: event[key] for key in RUN_IDS}
        facts = {**except_keys(event, "input"), **({"input": rest} if rest and rest != ids else {})}
        self.turn, self._begun, self._has_ended = None, (facts, (at,)), False

    def end(self, event: Native, at: int) -> None:
        """Ends a run."""
        self.ends.append(self.add(Message("event", [Opaque(NAME, event)]), (at,), [()]))
        self._ended(event, at)

    def fail(self, event: Native, at: int) -> None:
        """Marks a run as failed, in the open turn or in a new one."""
        turn = self.turn or self.add(Message("assistant", [], created_at=time_of(event)), (at,))
        turn.stop_reason, turn.error = "error", event["message"] or None
        self.elsewhere(turn, "message", (at, "message"))
        rest = except_keys(event, "type", "timestamp", "message")
        add_extras(turn, NAME, None, error=rest)
        self.elsewhere(turn, "error", (at,))
        self._ended(event, at)

    def _ended(self, event: Native, at: int) -> None:
        self.transcript.updated_at = time_of(event)
        self.context.origin.routes["end",] = (at,)
        self.turn, self._has_ended = None, True

    def finish(self, last: int) -> Transcript:
        """Returns the transcript; a run that did not end broke off."""
        if not self._has_ended:
            turn = self.turn or self.add(Message("assistant", []), (last,))
            turn.stop_reason = "error"
        if self._is_one_run():
            self._fold_run()
        return self.transcript

    def _is_one_run(self) -> bool:
        """True if there is one run, which answers the last question: it then needs no events of its own."""
        if len(self.starts) != 1 or len(self.ends) > 1:
            return False
        messages, rows = self.context.messages, [*self.starts, *self.ends]
        rest = [message for message in messages if all(message is not row for row in rows)]
        answers_last_question = self._at[id(self.starts[0])] == answers_from(rest)
        return answers_last_question and (not self.ends or self.ends[0] is messages[-1])

    def _fold_run(self) -> None:
        """Moves the facts of the only run to the transcript."""
        extra: Native = {}
        for key, rows in (("run", self.starts), ("end", self.ends)):
            for row in rows:
                at = next(i for i, message in enumerate(self.context.messages) if message is row)
                del self.context.messages[at], self.context.origin.places[at], self._part_paths[at]
                [part] = row.parts
                facts = except_keys(part.value if isinstance(part, Opaque) else {}, "type", "timestamp")
                extra[key] = facts if key == "run" else self._without_counts(facts)
        start, end = extra["run"], extra.get("end", {})
        for key in RUN_IDS:
            if end.get(key) == start[key]:
                del end[key]
        del start["threadId"]
        if start["runId"] == FIRST_RUN:
            del start["runId"]
        self.transcript.extras = make_extras(NAME, {key: facts for key, facts in extra.items() if facts})

    def _without_counts(self, facts: Native) -> Native:
        """Returns the keys of an end event, without the counts that its only turn gets."""
        usage, turn = facts.get("usage"), only_turn(self.context.messages)
        if not isinstance(usage, list) or len(usage) != 1 or not isinstance(usage[0], dict):
            return facts
        counts, rest = take_counts(usage[0], USAGE) if turn is not None else ({}, except_keys(usage[0]))
        if turn is not None:
            turn.usage = counts or None
        self.transcript.model = rest.pop("model", None)
        return {**except_keys(facts, "usage"), **({"usage": [rest]} if rest else {})}


RUN_IDS = ("threadId", "runId")


def time_of(event: Native) -> str | None:
    """Returns the time of an event."""
    return time_of_milliseconds(event.get("timestamp"))


def _thought(native: Native) -> Reasoning:
    extra = except_keys(native, "id", "role", "content")
    return Reasoning(native["content"], extras=make_extras(NAME, {"messageId": native["id"], **extra}))


def answers_from(messages: list[Message]) -> int:
    """Returns the index where the last run begins by default: after the last question before the last agent turn."""
    end = max((i + 1 for i, one in enumerate(messages) if one.role == "assistant"), default=len(messages))
    return max((i + 1 for i in range(end) if is_question(messages[i])), default=0)


def is_question(message: Message) -> bool:
    """True for a message that is only ever agent input, never output."""
    if message.role == "event":
        return any(isinstance(part, Opaque) and "type" not in part.value for part in message.parts)
    return message.role not in ("assistant", "tool")
