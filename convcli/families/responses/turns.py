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
from convcli.kit.objects import NOTHING, Keys, Native, add_extras, get_extras, make_extras
from convcli.kit.pairing import UNKNOWN
from convcli.kit.texts import only_text
from convcli.model.transcript import Message, Opaque, Part, PartPaths, Path, Reasoning, Text, ToolCall, ToolResult

MESSAGE = Keys("type= id status role= phase content=")
BARE_MESSAGE = frozenset(("type", "role", "content"))
"""The keys of a message without facts of its own."""
ITEM: Path = ()
"""The path of the part that is the item itself."""

# ---------------------------------------------------------------- lift


class ItemReader:
    """Adds the messages of items to a context, one item at a time."""

    __slots__ = ("_answer", "_context", "_free", "_part_paths", "_place")

    def __init__(self, context: LiftContext) -> None:
        self._context = context
        self._free: set[str] = set()
        self._answer: Message | None = None
        self._place: Path = ()
        self._part_paths: list[Path] = []

    def all(self, natives: list[Native], prefix: Path) -> None:
        """Adds all items of the list at `prefix`."""
        for i, native in enumerate(natives):
            self.add(native, (*prefix, i))

    def add(self, native: Native, place: Path) -> tuple[Message, int]:
        """Adds the item at `place`. Returns its message, and the index of its first part there."""
        kind, context = native.get("type") or kind_of(native), self._context
        part_paths: PartPaths = (ITEM,)
        if kind == "message" and native["role"] != "assistant":
            message, part_paths = _lift_message(native, context.dialect), _part_paths(native)
        elif kind in items.OUTPUTS:
            usual = items.usual_output(native.get("call_id"), self._free)
            message = Message("tool", [items.lift_result(native, kind, usual, context)])
        elif kind in items.MARKS:
            message = Message("event", [Opaque(context.dialect, native)])
        else:
            return self._add_to_answer(native, kind, place)
        self._answer = None
        context.messages.append(message)
        context.origin.places.append((place, part_paths))
        return message, 0

    def close(self) -> None:
        """Ends the answer: further assistant items belong to another."""
        self._answer = None

    def _add_to_answer(self, native: Native, kind: str, place: Path) -> tuple[Message, int]:
        answer, at = self._answer, ITEM
        if answer is None:
            answer = self._answer = Message("assistant", [])
            self._part_paths, self._place = [], place
            self._context.add(answer, place, self._part_paths)
        else:
            at = _steps(self._place, place)
        first = len(answer.parts)
        parts = _content_of_answer(native, self._context.dialect) if kind == "message" else None
        if parts is None:
            answer.parts.append(self._whole(native, kind))
            self._part_paths.append(at)
        elif isinstance(native["content"], str):
            answer.parts += parts
            self._part_paths += [(*at, "content")] if parts else []
        else:
            answer.parts += parts
            self._part_paths += [(*at, "content", j) for j in range(len(parts))]
        return answer, first

    def _whole(self, native: Native, kind: str) -> Part:
        if kind in items.CALLS:
            items.see_call(self._free, native.get("call_id"), kind)
            return items.CALLS[kind].lift(native, self._context)
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
    message = Message(native["role"], lift_content(native["content"], dialect))
    if not native.keys() <= BARE_MESSAGE:
        message.extras = make_extras(dialect, MESSAGE.extra(native, COMPLETED))
    return message


def _content_of_answer(native: Native, dialect: str) -> list[Part] | None:
    """Returns the parts of a message item; None for one without content but with other keys, which is kept whole."""
    extra = None if native.keys() <= BARE_MESSAGE else MESSAGE.extra(native, COMPLETED)
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
        self._free: set[str] = set()

    def all(self, messages: list[Message]) -> list[Native]:
        """Returns the items of these messages."""
        for message in messages:
            self.message(message)
        return self.items

    def message(self, message: Message) -> None:
        """Returns all items of one message, in the order of its parts. A response without output is an empty answer."""
        text = only_text(message.parts)
        if text and message.extras is None and not self._answered and not self._bare:  # most messages
            self.items.append({"type": "message", "role": message.role, "content": text})
            self.firsts.append(message.parts[0])
            return
        for part in message.parts:
            if part.__class__ is Text or is_content(part, message.role, self._dialect):
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
        self._draft["content"].append(native)  # type: ignore[index]

    def _begin(self, part: Part | None, message: Message) -> None:
        if self._draft is not None:
            self._close()
        id_, extra = None, NOTHING
        if message.role != "assistant":
            extra = get_extras(message.extras, self._dialect)
        elif part is not None:
            id_ = part.metadata.get("itemId") if part.metadata else None
            extra = object_in(get_extras(part.extras, self._dialect), "item") if part.extras else extra
        native: Native = {"type": "message"}
        if id_ is not None:
            native["id"] = id_
        if self._answered:
            native |= COMPLETED
        native["role"], native["content"] = message.role, []
        self._draft = MESSAGE.put(native, extra) if extra else native
        self.firsts.append(part)

    def _close(self) -> None:
        """Adds the open message item, which there must be."""
        native: Native = self._draft  # type: ignore[assignment]
        self._draft = None
        self.items.append(native)
        content = native["content"]
        if self._bare:
            return
        if not content:
            native["content"] = ""
        elif len(content) == 1 and not self._answered and _is_bare(content[0]):
            native["content"] = content[0]["text"]
        else:
            native["content"] = [self._annotated(part) for part in content]

    def _annotated(self, part: Native) -> Native:
        """Adds annotations to assistant text, and in a response log probabilities, even if empty."""
        if part.get("type") != "output_text":
            return part
        return {**part, "annotations": [], **({"logprobs": []} if self._answered else {}), **part}

    def _whole(self, part: Part) -> Native | None:
        """Returns the item of a part that is not message content; None without one."""
        if isinstance(part, ToolResult):
            known = self._calls.get(part.tool_call_id, UNKNOWN)
            usual = items.usual_output(part.tool_call_id, self._free)
            return items.write_result(part, self._dialect, usual, named=known != part.name)
        if isinstance(part, ToolCall):
            kind = items.CUSTOM_CALL if part.custom and input_of(part) is not None else items.CALL
            self._calls[part.id] = part.name
            items.see_call(self._free, part.id, kind)
            return items.CALLS[kind].write(part, self._dialect)
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
