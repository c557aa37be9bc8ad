"""Reads AG-UI events in order: texts, thoughts and calls grow, and become turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from convcli.dialects.ag_ui.messages import NAME, lift_result, usual_thought_id
from convcli.dialects.ag_ui.thread import OF_EVENTS, Thread, time_of
from convcli.kit.objects import Native, add_extras, get_extras, make_extras, omit
from convcli.kit.streams import Pieces
from convcli.kit.values import read_arguments
from convcli.model.transcript import Message, Part, Path, Reasoning, Text, ToolCall, Transcript


class Events:
    """The growing parts by kind and id, each with its message."""

    def __init__(self, document: Any) -> None:
        self.thread = Thread(document)
        self._growing: dict[tuple[str, str], tuple[Message, Part | None]] = {}
        self._pieces: list[tuple[Any, Pieces, list[Path]]] = []
        self._last: dict[str, str] = {}
        self._group: str | None = None
        self._group_at: Path = ()
        self._empty_group: tuple[Native, int] | None = None

    def take(self, event: Native, at: int) -> None:
        """Reads one event."""
        handler = HANDLERS.get(event["type"])
        if handler is None:
            self.thread.aside(event, at)
        else:
            handler(self, event, at)

    def _begin(self, kind: str, id_: str, message: Message, part: Part | None) -> None:
        self._growing[kind, id_] = (message, part)
        self._last[kind] = id_
        if part is not None:
            self._pieces.append((part, Pieces(), []))

    def _id(self, kind: str, key: str, event: Native) -> str:
        """Returns the id that an event concerns: a later event may omit the id of the last one of its kind."""
        return event.get(key) or self._last.get(kind) or ""

    def _grow(self, part: Part | None, text: str | None, at: int) -> None:
        if text:
            _, pieces, places = next(known for known in reversed(self._pieces) if known[0] is part)
            pieces.append(text)
            places.append((at, "delta"))

    # ------------------------------------------------------------ texts

    def text(self, event: Native, at: int) -> None:
        """Begins a message. An agent's text joins the open turn if that has only thoughts."""
        role, id_, thread = event.get("role") or "assistant", event["messageId"], self.thread
        turn = thread.turn if role == "assistant" else None
        if turn is not None and turn.id is None and _is_thinking(turn):
            thread.name_turn(turn, id_, (at, "messageId"))
        else:
            turn = thread.add(Message(role, [], id=id_ or None, created_at=time_of(event)), (at,))
            thread.elsewhere(turn, "turnId", (at, "messageId"))
            thread.mark(turn, event)
            thread.turn = turn if role == "assistant" else None
        turn.name = event.get("name") or None
        thread.elsewhere(turn, "name", (at, "name"))
        thread.add_extras(turn, event, at, "messageId", "role", "name", *_growing(event))
        self._begin("text", id_, turn, None)

    def more_text(self, event: Native, at: int) -> None:
        """Adds to a text; a chunk may begin it."""
        id_ = self._id("text", "messageId", event)
        if ("text", id_) not in self._growing:
            self.text({**event, "messageId": id_}, at)
        turn, part = self._growing["text", id_]
        if event.get("delta") and part is None:
            part = Text("")
            self.thread.part(turn, part, (at, "delta"))
            self._begin("text", id_, turn, part)
        self._grow(part, event.get("delta"), at)
        repeated = [key for key, value in (("role", turn.role), ("name", turn.name)) if event.get(key) == value]
        self.thread.add_extras(turn, event, at, "messageId", *repeated, *_growing(event))

    # ------------------------------------------------------------ thoughts

    def thought(self, event: Native, at: int) -> None:
        """Begins a thought. It precedes its turn, so an open turn with other parts ends here."""
        id_, thread = event.get("messageId") or "", self.thread
        if thread.turn is not None and not _is_thinking(thread.turn):
            thread.turn = None
        turn, part = thread.open_turn(at, event), Reasoning("", extras=make_extras(NAME, {"messageId": id_}))
        thread.part(turn, part, (at,))
        thread.add_extras(part, event, at, "messageId", *_role_of(event), *_growing(event))
        if self._group not in (None, id_):
            add_extras(part, NAME, {"group": self._group})
            thread.context.origin.routes[at, "group"] = self._group_at
        self._empty_group = None
        self._begin("thought", id_, turn, part)

    def more_thought(self, event: Native, at: int) -> None:
        """Adds to a thought; a chunk may begin it."""
        id_ = self._id("thought", "messageId", event)
        if ("thought", id_) not in self._growing:
            self.thought({**event, "messageId": id_}, at)
        turn, part = self._growing["thought", id_]
        self._grow(part, event.get("delta"), at)
        self.thread.add_extras(part or turn, event, at, "messageId", *_role_of(event), *_growing(event))

    def group(self, event: Native, at: int) -> None:
        """Begins a group of thoughts; an event with other keys is kept as an event too."""
        self._keep_empty_group()
        self._group, self._group_at = event.get("messageId") or "", (at, "messageId")
        if event.keys() - OF_GROUPS:
            self.thread.aside(event, at)
        elif self._group:
            self._empty_group = event, at

    def ungroup(self, event: Native, at: int) -> None:
        """Ends a group of thoughts; an event with other keys is kept as an event too, as is that of an empty group."""
        is_empty = self._keep_empty_group()
        if is_empty or event.keys() - OF_GROUPS or (event.get("messageId") or "") != self._group:
            self.thread.aside(event, at)
        self._group = None

    def _keep_empty_group(self) -> bool:
        """Keeps the event that began a group without thoughts, as only thoughts name their group; True if there is
        one."""
        begun, self._empty_group = self._empty_group, None
        if begun is not None:
            self.thread.aside(*begun)
        return begun is not None

    def encrypted(self, event: Native, at: int) -> None:
        """Keeps the value that must be sent back with a call, a thought or a message."""
        id_, kinds = event["entityId"], ("call",) if event["subtype"] == "tool-call" else ("thought", "text")
        known = [self._growing[kind, id_] for kind in kinds if (kind, id_) in self._growing]
        if known:
            message, part = known[0]
            record = part if isinstance(part, (Reasoning, ToolCall)) else message
            self.thread.add_extras(record, event, at, "subtype", "entityId")
        else:
            self.thread.aside(event, at)

    # ------------------------------------------------------------ calls

    def call(self, event: Native, at: int) -> None:
        """Begins a call in the turn that it names, else in the open turn."""
        thread, parent, name = self.thread, event.get("parentMessageId") or None, event.get("toolCallName") or ""
        if thread.turn is not None and parent is not None and thread.turn.id not in (None, parent):
            thread.turn = None
        turn = thread.open_turn(at, event)
        if parent is not None and turn.id is None and parent not in thread.known:
            thread.name_turn(turn, parent, (at, "parentMessageId"))
        part = ToolCall(thread.context.pairing.call(event["toolCallId"] or None, name), name, {})
        part.extras = make_extras(NAME, {"parentMessageId": parent} if parent not in (None, turn.id) else None)
        thread.part(turn, part, (at,))
        thread.add_extras(part, event, at, "toolCallId", "toolCallName", "parentMessageId", *_growing(event))
        self._begin("call", event["toolCallId"], turn, part)

    def more_call(self, event: Native, at: int) -> None:
        """Adds to the arguments of a call; a chunk may begin it."""
        id_ = self._id("call", "toolCallId", event)
        if ("call", id_) not in self._growing:
            self.call({**event, "toolCallId": id_}, at)
        turn, part = self._growing["call", id_]
        self._grow(part, event.get("delta"), at)
        names = {"toolCallName": part.name if isinstance(part, ToolCall) else None, "parentMessageId": turn.id}
        repeated = [key for key in names if event.get(key) == names[key]]
        self.thread.add_extras(part or turn, event, at, "toolCallId", *repeated, *_growing(event))

    def result(self, event: Native, at: int) -> None:
        """Adds a tool result."""
        thread, result = self.thread, lift_result(event, self.thread.context)
        thread.turn = None
        message = thread.add(Message("tool", [], id=event["messageId"] or None, created_at=time_of(event)), (at,))
        thread.elsewhere(message, "turnId", (at, "messageId"))
        thread.mark(message, event)
        thread.part(message, result, (at,))
        thread.add_extras(message, event, at, "messageId", "toolCallId", "content", "role")

    # ------------------------------------------------------------ end of the document

    def whole(self, last: int) -> Transcript:
        """Returns the transcript of all events so far."""
        self._keep_empty_group()
        for part, pieces, places in self._pieces:
            text = "".join(pieces)
            self.thread.grown(part, places)
            if isinstance(part, ToolCall):
                part.arguments, part.raw_arguments = read_arguments(text) if text else ({}, None)
            else:
                part.text = text
        for message in self.thread.context.messages:
            _settle_thoughts(message)
        return self.thread.finish(last)


OF_GROUPS = OF_EVENTS | {"messageId"}
"""The keys of an event that begins or ends a group of thoughts."""


DELTA = ("delta",)


def _growing(event: Native) -> tuple[str, ...]:
    """Returns the key of the fragment in an event that has one."""
    return DELTA if event["type"] in GROWING else ()


def _role_of(event: Native) -> tuple[str, ...]:
    """Returns the key of the role of a thought, unless it states another one."""
    return ("role",) if event.get("role") in ("reasoning", "assistant") else ()


def _is_thinking(turn: Message) -> bool:
    return all(isinstance(part, Reasoning) for part in turn.parts)


def _settle_thoughts(message: Message) -> None:
    """Drops thought ids that would be derived anyway."""
    for j, part in enumerate(message.parts):
        extra = get_extras(part.extras, NAME)
        if isinstance(part, Reasoning) and extra.get("messageId") in ("", usual_thought_id(message, j)):
            part.extras = make_extras(NAME, omit(extra, "messageId"))


GROWING = frozenset(
    f"{stem}_{step}"
    for stem in ("TEXT_MESSAGE", "TOOL_CALL", "REASONING_MESSAGE", "THINKING_TEXT_MESSAGE")
    for step in ("CONTENT", "ARGS", "CHUNK")
)
"""Types of events that have a fragment."""
HANDLERS: Mapping[str, Callable[[Events, Native, int], None]] = {
    "RUN_STARTED": lambda events, event, at: events.thread.begin(event, at),
    "RUN_FINISHED": lambda events, event, at: events.thread.end(event, at),
    "RUN_ERROR": lambda events, event, at: events.thread.fail(event, at),
    "MESSAGES_SNAPSHOT": lambda events, event, at: events.thread.snapshot(event, at),
    "SUBAGENT_STARTED": lambda events, event, at: events.thread.subagent(event, at),
    "TEXT_MESSAGE_START": Events.text,
    "TOOL_CALL_START": Events.call,
    "TOOL_CALL_RESULT": Events.result,
    "REASONING_START": Events.group,
    "REASONING_MESSAGE_START": Events.thought,
    "REASONING_END": Events.ungroup,
    "REASONING_ENCRYPTED_VALUE": Events.encrypted,
    "THINKING_START": Events.group,
    "THINKING_TEXT_MESSAGE_START": Events.thought,
    "THINKING_END": Events.ungroup,
    **dict.fromkeys(("TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK", "TEXT_MESSAGE_END"), Events.more_text),
    **dict.fromkeys(("TOOL_CALL_ARGS", "TOOL_CALL_CHUNK", "TOOL_CALL_END"), Events.more_call),
    **dict.fromkeys(
        ("REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK", "REASONING_MESSAGE_END"), Events.more_thought
    ),
    **dict.fromkeys(("THINKING_TEXT_MESSAGE_CONTENT", "THINKING_TEXT_MESSAGE_END"), Events.more_thought),
}
"""Handlers by event type; all other types are kept as events. THINKING_* are from before 1.0."""
