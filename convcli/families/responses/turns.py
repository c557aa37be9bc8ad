"""Items of the Responses API ⇄ messages.

Items of the assistant that follow on each other (reasoning, messages, calls, what hosted tools did) are one answer:
one message, whose parts stand in the order of the items. Facts of a message item ride on its first part, under `item`.
How parts were grouped into items is a spelling.
"""

from __future__ import annotations

from typing import Any

from convcli.families.responses.items import (
    CALLS,
    COMPLETED,
    MARKS,
    OUTPUTS,
    kind_of,
    lift_call,
    lift_reasoning,
    lift_result,
    lower_call,
    lower_reasoning,
    lower_result,
)
from convcli.families.responses.parts import inner, is_bare, lift_content, lower_part, take
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import UNKNOWN, Pairing
from convcli.model.transcript import (
    Message,
    Opaque,
    Origin,
    Part,
    Path,
    Reasoning,
    ToolCall,
    ToolResult,
    Transcript,
)

MESSAGE = Keys("type id status role phase content", carried="id status phase")

ID_PREFIX = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "function_call_output": "fco",
    "custom_tool_call_output": "ctco",
}
"""How the ids of items begin; the service refuses others."""

LONGEST_ID = 64

# ---------------------------------------------------------------- lift


class Reader:
    """Messages while items are lifted. `listed`: the place where content is a list by default."""

    __slots__ = ("answer", "listed", "messages", "open", "origin", "pairing", "place", "spots")

    def __init__(self, pairing: Pairing, origin: Origin, *, listed: bool = False) -> None:
        self.pairing, self.origin, self.listed = pairing, origin, listed
        self.messages: list[Message] = []
        self.answer: Message | None = None
        self.open: tuple[str | None] | None = None
        self.place: Path = ()
        self.spots: list[Path] = []

    def all(self, natives: list[Native], prefix: Path) -> list[Message]:
        """The messages of these items, which stand in the list at `prefix`."""
        for i, native in enumerate(natives):
            self.add(native, (*prefix, i))
        return self.messages

    def add(self, native: Native, place: Path) -> None:
        """One item, which stands at `place`."""
        kind = kind_of(native)
        if kind == "message" and native["role"] != "assistant":
            self.append(self._message(native), place, _spots(native))
        elif kind in OUTPUTS:
            result = lift_result(native, kind, self.pairing, self.origin)
            self.append(Message("tool", [result]), place, [()])
        elif kind in MARKS:
            self.append(Message("event", [Opaque(self.origin.dialect, native)]), place, [()])
        else:
            self._answer(native, kind, place)

    def append(self, message: Message, place: Path, spots: list[Path]) -> None:
        """A message of its own."""
        self.messages.append(message)
        self.origin.places.append((place, spots))
        self.answer, self.open = None, None

    def _message(self, native: Native) -> Message:
        carried, spelling = take(MESSAGE, native, COMPLETED)
        parts = lift_content(native["content"], "input_text", self.origin)
        message = Message(native["role"], parts, extras=extras_of(self.origin.dialect, carried))
        self.origin.spell(message, self._spelling(native, parts, spelling))
        return message

    def _spelling(self, native: Native, parts: list[Part], spelling: Spelling) -> Spelling:
        """How a message item is spelled: where it has no type, or where its content is not what it is by default."""
        spelling = spelling if native.get("type") else {**spelling, "type": False}
        content = native["content"]
        if self.listed and content and isinstance(content, str):
            return {**spelling, "content": "string"}
        if not self.listed and isinstance(content, list) and len(parts) == 1 and is_bare(parts[0], self.origin):
            return {**spelling, "content": "list"}
        return spelling

    def _answer(self, native: Native, kind: str, place: Path) -> None:
        if self.answer is None:
            answer = Message("assistant", [])
            self.spots, self.place = [], place
            self.append(answer, place, self.spots)
            self.answer = answer
        at: Path = () if place == self.place else ("..", place[-1])
        parts = self._said(native, self.answer) if kind == "message" else [self._done(native, kind)]
        spots = [()] * len(parts) if self.open is None else _spots(native)
        self.answer.parts += parts
        self.spots += [(*at, *spot) for spot in spots]

    def _done(self, native: Native, kind: str) -> Part:
        self.open = None
        if kind in CALLS:
            return lift_call(native, kind, self.pairing, self.origin)
        if kind == "reasoning":
            return lift_reasoning(native, self.origin)
        return Opaque(self.origin.dialect, native)

    def _said(self, native: Native, answer: Message) -> list[Part]:
        """The parts of a message item. One without content has none, and is opaque where it says anything else."""
        carried, spelling = take(MESSAGE, native, COMPLETED)
        parts = lift_content(native["content"], "output_text", self.origin)
        if not parts:
            self.open = None
            if carried:
                return [Opaque(self.origin.dialect, native)]
            self._keep_empty(native, answer)
            return []
        spelling = self._spelling(native, parts, spelling)
        id_ = carried.pop("id", None)
        if not spelling and not carried and self.open == (id_,):
            spelling = {"split": True}
        self._mark(parts, id_, carried, spelling)
        self.open = (id_,)
        return parts

    def _mark(self, parts: list[Part], id_: str | None, carried: Native, spelling: Spelling) -> None:
        """Put the facts and the spelling of a message item on its parts."""
        for part in parts:
            part.metadata = {"itemId": id_} if id_ is not None else None
            if isinstance(part, Opaque):
                self._respell(part, {"in": "content"})
        first, dialect = parts[0], self.origin.dialect
        if carried:
            first.extras = {dialect: {**carried_by(first.extras, dialect), "item": carried}}
        if spelling:
            self._respell(first, {"item": spelling})

    def _keep_empty(self, native: Native, answer: Message) -> None:
        record, key = (answer.parts[-1], "after") if answer.parts else (answer, "before")
        kept = self.origin.spellings.get(id(record), {}).get(key, [])
        self._respell(record, {key: [*kept, native]})

    def _respell(self, record: Any, more: Spelling) -> None:
        self.origin.spell(record, {**self.origin.spellings.get(id(record), {}), **more})


def _spots(native: Native) -> list[Path]:
    content = native["content"]
    return [("content",)] if isinstance(content, str) else [("content", j) for j in range(len(content))]


# ---------------------------------------------------------------- lower


class Draft:
    """A message item while its content is gathered."""

    __slots__ = ("carried", "content", "id", "role", "spelling")

    def __init__(self, role: str, id_: str | None, carried: Native, spelling: Spelling) -> None:
        self.role, self.id, self.carried, self.spelling = role, id_, carried, spelling
        self.content: list[Native] = []


class Writer:
    """Items while messages are lowered. `listed`: the place where content is a list by default."""

    __slots__ = ("_calls", "_draft", "_facts", "_used", "dialect", "items", "listed", "own", "spellings")

    def __init__(self, transcript: Transcript, dialect: str, *, listed: bool = False) -> None:
        self.dialect, self.listed = dialect, listed
        self.own = transcript.origin is not None and transcript.origin.dialect == dialect
        self.spellings = transcript.spelling(dialect)
        self.items: list[Native] = []
        self._draft: Draft | None = None
        self._facts: tuple[Native, Spelling] = ({}, {})
        self._calls: dict[str, str] = {}
        self._used: set[str] = set()

    def all(self, messages: list[Message]) -> list[Native]:
        """The items of these messages."""
        for message in messages:
            self.message(message)
        return self.items if self.own else _without_dangling(self.items)

    def message(self, message: Message) -> None:
        """All items of one message, in the order of its parts."""
        spelling = self._spelling(message)
        self.items += spelling.get("before", ())
        self._facts = (carried_by(message.extras, self.dialect), spelling)
        for part in message.parts:
            self._part(part, message.role)
            if "after" in self._spelling(part):
                self._close()
                self.items += self._spelling(part)["after"]
        if not message.parts and self._shows_empty(message.role):
            self._open(message.role, None)
        self._close()

    def _shows_empty(self, role: str) -> bool:
        """An empty answer of our own is spelled out, and a response without output is one."""
        return role not in ("tool", "event") and not (role == "assistant" and (self.own or self.listed))

    def _spelling(self, record: Any) -> Spelling:
        return self.spellings.get(id(record), {}) if self.spellings else {}

    def _part(self, part: Part, role: str) -> None:
        spelling = self._spelling(part)
        if not _is_content(part, role, spelling):
            native = self._item(part, role, spelling)
            if native is not None:
                self._close()
                self.items.append(native)
            return
        native = lower_part(part, role, self.dialect, spelling, own=self.own)
        if native is not None:
            if self._starts(part, role, spelling):
                self._open(role, part)
            self._draft.content.append(native)  # type: ignore[union-attr]

    def _starts(self, part: Part, role: str, spelling: Spelling) -> bool:
        """Does a message item begin with this part? By default all parts with the same item id are one item."""
        if self._draft is None or role != "assistant":
            return self._draft is None
        starts = "item" in spelling or "item" in carried_by(part.extras, self.dialect)
        return starts or (part.metadata or {}).get("itemId") != self._draft.id

    def _open(self, role: str, part: Part | None) -> None:
        self._close()
        if role == "assistant" and part is not None:
            carried = inner(carried_by(part.extras, self.dialect), "item")
            id_ = (part.metadata or {}).get("itemId")
            self._draft = Draft(role, id_, carried, self._spelling(part).get("item", {}))
        else:
            self._draft = Draft("user" if role == "tool" else role, None, *self._facts)
            self._facts = ({}, {})

    def _close(self) -> None:
        draft, self._draft = self._draft, None
        if draft is None:
            return
        native: Native = {} if draft.spelling.get("type") is False else {"type": "message"}
        native |= self._id(draft.id, "message")
        if self.listed and not self.own:
            native |= COMPLETED
        native |= {"role": draft.role, "content": self._content(draft)}
        aside = "usage" if draft.role == "assistant" else ""  # that of an answer stands in the response
        carried = {key: value for key, value in draft.carried.items() if key != aside}
        self.items.append(MESSAGE.put(native, carried, draft.spelling))

    def _content(self, draft: Draft) -> Any:
        content = draft.content
        text = {"assistant": "output_text"}.get(draft.role, "input_text")
        bare = len(content) == 1 and list(content[0]) == ["type", "text"] and content[0]["type"] == text
        listed = draft.spelling.get("content", "list" if self.listed else "string") == "list"
        if not content or (bare and content[0]["text"] and not listed):
            return content[0]["text"] if content else ""
        return content if self.own else [_annotated(part, LOGGED if self.listed else {}) for part in content]

    def _id(self, id_: Any, kind: str) -> Native:
        """The id of an item; a foreign one only where the service would take it."""
        if not isinstance(id_, str):
            return {}
        if not self.own:
            if not id_.startswith(ID_PREFIX[kind]) or len(id_) > LONGEST_ID or id_ in self._used:
                return {}
            self._used.add(id_)
        return {"id": id_}

    def _item(self, part: Part, role: str, spelling: Spelling) -> Native | None:
        """An item that is no message."""
        if isinstance(part, Opaque):
            return part.value if part.dialect == self.dialect else None
        if isinstance(part, ToolResult):
            return self._result(part)
        if role != "assistant" or not isinstance(part, (ToolCall, Reasoning)):
            return None
        if isinstance(part, Reasoning):
            return lower_reasoning(part, self._item_id(part, "reasoning"), self.dialect, spelling, own=self.own)
        self._calls[part.id] = part.name
        return lower_call(part, self._item_id(part, "function_call"), self.dialect, spelling)

    def _result(self, result: ToolResult) -> Native:
        """Named only where the call does not say the name: a custom tool has no place for it."""
        kind = carried_by(result.extras, self.dialect).get("type", "function_call_output")
        known = self._calls.get(result.tool_call_id, UNKNOWN)
        named = not self.own and kind == "function_call_output" and known != result.name
        id_ = self._item_id(result, "function_call_output")
        return lower_result(result, id_, self.dialect, self.spellings, own=self.own, named=named)

    def _item_id(self, part: Part, kind: str) -> Native:
        kind = carried_by(part.extras, self.dialect).get("type", kind)
        return self._id((part.metadata or {}).get("itemId"), kind)


def _is_content(part: Part, role: str, spelling: Spelling) -> bool:
    if isinstance(part, Opaque):
        return spelling.get("in") == "content" or role not in ("assistant", "event")
    return not isinstance(part, (Reasoning, ToolCall, ToolResult))


def _annotated(part: Native, logged: Native) -> Native:
    """Text of the assistant has annotations, and in a response log probabilities, be it none."""
    return {**part, "annotations": [], **logged, **part} if part.get("type") == "output_text" else part


LOGGED: Native = {"logprobs": []}


def _without_dangling(items: list[Native]) -> list[Native]:
    """The items without reasoning behind which nothing of the same answer follows: the service refuses that."""
    kept: list[Native] = []
    for item in reversed(items):
        if kind_of(item) != "reasoning" or (kept and _is_answer(kept[-1])):
            kept.append(item)
    return kept[::-1]


def _is_answer(item: Native) -> bool:
    return kind_of(item) not in OUTPUTS and item.get("role", "assistant") == "assistant"
