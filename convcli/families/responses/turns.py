"""Items of the Responses API ⇄ messages.

Consecutive items of the assistant (reasoning, messages, calls, actions of hosted tools) are one answer: one message,
whose parts are in the order of the items. Facts of a message item are stored on its first part, under `item`. How parts
were grouped into items is a spelling.
"""

from __future__ import annotations

from convcli.families.responses import items
from convcli.families.responses.items import COMPLETED, kind_of
from convcli.families.responses.parts import lift_content, object_in, write_part
from convcli.kit.contexts import LiftContext
from convcli.kit.custom import input_of
from convcli.kit.objects import Keys, Native, add_extras, get_extras, make_extras
from convcli.kit.pairing import UNKNOWN
from convcli.model.transcript import Message, Opaque, Part, Path, Reasoning, ToolCall, ToolResult

MESSAGE = Keys("type= id status role= phase content=")

# ---------------------------------------------------------------- lift


class _FreeCalls:
    """The ids of the latest calls of custom tools, whose outputs are items of another type."""

    __slots__ = ("_ids",)

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def see(self, call: ToolCall, id_: str | None) -> None:
        """Records a call, under the id that its output names."""
        if id_:
            (self._ids.discard if input_of(call) is None else self._ids.add)(id_)

    def usual_output(self, id_: str | None) -> str:
        """Returns the usual output type of this call."""
        return items.OUTPUT_OF_CUSTOM if id_ in self._ids else items.OUTPUT_OF_FUNCTION


class ItemReader:
    """Adds the messages of items to a context, one item at a time."""

    __slots__ = ("_answer", "_context", "_free", "_part_paths", "_place")

    def __init__(self, context: LiftContext) -> None:
        self._context, self._free = context, _FreeCalls()
        self._answer: Message | None = None
        self._place: Path = ()
        self._part_paths: list[Path] = []

    def all(self, natives: list[Native], prefix: Path) -> None:
        """Adds all items of the list at `prefix`."""
        for i, native in enumerate(natives):
            self.add(native, (*prefix, i))

    def add(self, native: Native, place: Path) -> tuple[Message, int]:
        """Adds the item at `place`. Returns its message, and the index of its first part there."""
        kind, context = kind_of(native), self._context
        if kind == "message" and native["role"] != "assistant":
            return self._append(_lift_message(native, context.dialect), place, _part_paths(native)), 0
        if kind in items.OUTPUTS:
            result = items.lift_result(native, kind, self._free.usual_output(native.get("call_id")), context)
            return self._append(Message("tool", [result]), place, [()]), 0
        if kind in items.MARKS:
            return self._append(Message("event", [Opaque(context.dialect, native)]), place, [()]), 0
        return self._add_to_answer(native, kind, place)

    def close(self) -> None:
        """Ends the answer: further assistant items belong to another."""
        self._answer = None

    def _append(self, message: Message, place: Path, part_paths: list[Path]) -> Message:
        self._context.add(message, place, part_paths)
        self._answer = None
        return message

    def _add_to_answer(self, native: Native, kind: str, place: Path) -> tuple[Message, int]:
        if self._answer is None:
            answer = Message("assistant", [])
            self._part_paths, self._place = [], place
            self._append(answer, place, self._part_paths)
            self._answer = answer
        first, at = len(self._answer.parts), _steps(self._place, place)
        parts = _content_of_answer(native, self._context.dialect) if kind == "message" else None
        if parts is None:
            self._answer.parts.append(self._whole(native, kind))
            self._part_paths.append(at)
        else:
            self._answer.parts += parts
            self._part_paths += [(*at, *node_path) for node_path in _part_paths(native)[: len(parts)]]
        return self._answer, first

    def _whole(self, native: Native, kind: str) -> Part:
        if kind in items.CALLS:
            call = items.lift_call(native, kind, self._context)
            self._free.see(call, native.get("call_id"))
            return call
        if kind == "reasoning":
            return items.lift_reasoning(native, self._context.dialect)
        return Opaque(self._context.dialect, native)


def _steps(origin: Path, place: Path) -> Path:
    """Returns the steps from one path to another."""
    if origin is place:
        return ()
    shared = 0
    for one, other in zip(origin, place, strict=False):
        if one != other:
            break
        shared += 1
    return (*[".."] * (len(origin) - shared), *place[shared:])


def _lift_message(native: Native, dialect: str) -> Message:
    extras = make_extras(dialect, MESSAGE.extra(native, COMPLETED))
    return Message(native["role"], lift_content(native["content"], dialect), extras=extras)


def _content_of_answer(native: Native, dialect: str) -> list[Part] | None:
    """Returns the parts of a message item; None for one without content but with other keys, which is kept whole."""
    extra = MESSAGE.extra(native, COMPLETED)
    parts = lift_content(native["content"], dialect)
    if not parts:
        return None if extra else []
    id_ = extra.pop("id", None) if extra else None
    for part in parts:
        if id_ is not None:
            part.metadata = {"itemId": id_}
        if part.__class__ is Opaque:
            part.extras = {dialect: {"in": "content"}}
    if extra or parts[0].extras:
        add_extras(parts[0], dialect, None, item=extra or {})
    return parts


def _part_paths(native: Native) -> list[Path]:
    content = native["content"]
    return [("content",)] if isinstance(content, str) else [("content", j) for j in range(len(content))]


# ---------------------------------------------------------------- write


class ItemWriter:
    """Writes the items of messages. `answered`: as in a response, with all keys of message content.

    Elsewhere, content of one text is a string, unless items are `bare`: with lists, and without empty keys. `firsts`
    are the parts with which the items begin; None for the item of an empty message.
    """

    __slots__ = ("_answered", "_bare", "_calls", "_dialect", "_draft", "_free", "firsts", "items")

    def __init__(self, dialect: str, *, answered: bool = False, bare: bool = False) -> None:
        self._dialect, self._answered, self._bare = dialect, answered, bare
        self.items: list[Native] = []
        self.firsts: list[Part | None] = []
        self._draft: Native | None = None
        """The open message item."""
        self._calls: dict[str, str] = {}
        self._free = _FreeCalls()

    def all(self, messages: list[Message]) -> list[Native]:
        """Returns the items of these messages."""
        for message in messages:
            self.message(message)
        return self.items

    def message(self, message: Message) -> None:
        """Returns all items of one message, in the order of its parts. A response without output is an empty answer."""
        for part in message.parts:
            if is_content(part, message.role, self._dialect):
                self._content(part, message)
            else:
                if self._draft is not None:
                    self._close()
                whole = self._whole(part)
                if whole is not None:
                    self.items.append(whole)
                    self.firsts.append(part)
        if not message.parts and not (message.role == "assistant" and self._answered):
            self._begin(None, message)
        if self._draft is not None:
            self._close()

    def _content(self, part: Part, message: Message) -> None:
        """Writes all parts of an answer with the same item id as one item, unless one of them begins another."""
        native = write_part(part, message.role, self._dialect)
        if native is None:
            return
        begins = self._draft is None
        if not begins and message.role == "assistant":
            is_other = (part.metadata or {}).get("itemId") != self._draft.get("id")  # type: ignore[union-attr]
            begins = is_other or "item" in get_extras(part.extras, self._dialect)
        if begins:
            self._begin(part, message)
        self._draft["content"].append(self._annotated(native))  # type: ignore[index]

    def _begin(self, part: Part | None, message: Message) -> None:
        if self._draft is not None:
            self._close()
        id_, extra = None, get_extras(message.extras, self._dialect)
        if message.role == "assistant":
            has_extras = part is not None and part.extras is not None
            extra = object_in(get_extras(part.extras, self._dialect), "item") if has_extras else {}  # type: ignore[union-attr]
            id_ = (part.metadata or {}).get("itemId") if part is not None else None
        native: Native = {"type": "message"}
        if id_ is not None:
            native["id"] = id_
        if self._answered:
            native |= COMPLETED
        native["role"], native["content"] = message.role, []
        self._draft = MESSAGE.put(native, extra)
        self.firsts.append(part)

    def _close(self) -> None:
        """Adds the open message item, which there must be."""
        builder: Native = self._draft  # type: ignore[assignment]
        self._draft = None
        content = builder["content"]
        is_text = len(content) == 1 and not self._answered and _is_bare(content[0])
        if (is_text or not content) and not self._bare:
            builder["content"] = content[0]["text"] if content else ""
        self.items.append(builder)

    def _annotated(self, part: Native) -> Native:
        """Adds annotations to assistant text, and in a response log probabilities, even if empty."""
        if part.get("type") != "output_text" or self._bare:
            return part
        return {**part, "annotations": [], **({"logprobs": []} if self._answered else {}), **part}

    def _whole(self, part: Part) -> Native | None:
        """Returns the item of a part that is not message content; None without one."""
        if isinstance(part, ToolResult):
            known = self._calls.get(part.tool_call_id, UNKNOWN)
            usual = self._free.usual_output(part.tool_call_id)
            return items.write_result(part, self._dialect, usual, named=known != part.name)
        if isinstance(part, ToolCall):
            self._calls[part.id] = part.name
            self._free.see(part, part.id)
            return items.write_call(part, self._dialect)
        if isinstance(part, Reasoning):
            return items.write_reasoning(part, self._dialect)
        return part.value if isinstance(part, Opaque) and part.dialect == self._dialect else None


ITEMS = frozenset((Reasoning, ToolCall, ToolResult))
"""The parts that are items of their own."""


def is_content(part: Part, role: str, dialect: str) -> bool:
    """True if the part belongs in the content of a message item, and is not its own item."""
    if part.__class__ is Opaque:
        return role not in ("assistant", "event") or "in" in get_extras(part.extras, dialect)
    return part.__class__ not in ITEMS


def _is_bare(part: Native) -> bool:
    """True if the part is only text, of either kind."""
    if part["type"] not in ("input_text", "output_text") or not part.get("text"):
        return False
    return len(part) == 2 or ("annotations" in part and len(part) == 3 and not part["annotations"])
