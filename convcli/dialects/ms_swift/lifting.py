"""Reads ms-swift rows: messages, calls that join the message before them, and the columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from convcli.families.rows import calls, media, order
from convcli.families.rows.pairs import CHOSEN, REJECTED, lift_pair
from convcli.families.rows.thoughts import read_thought
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, add_extras, has_content, make_extras, omit
from convcli.model.transcript import Message, Part, Path, Reasoning, Text, ToolResult, Transcript

NAME = "ms-swift"
MESSAGES, PREFERENCE = "messages", "preference"
"""The forms of a row."""
ANSWER, LINE = "rejected_response", "rejected_messages"
"""The columns for rejected content: an answer to the last question, or the whole conversation."""
ROW = Keys(
    "system= messages= history= query= response= rejected_messages= rejected_response= label= tools= images "
    "videos audios"
)
MESSAGE = Keys("role content= loss= loss_scale=")
AROUND = "message"
"""The extra that keeps a call message's other keys."""
RESULT_ROLES = ("tool_response", "tool")
LABELS = {True: CHOSEN, False: REJECTED}
Place: TypeAlias = tuple[Native, Path, Path]
"""A message, its path, and the path of its content within it."""


def lift(document: Any) -> Transcript:
    """Reads a row; a preference pair becomes a tree."""
    context = LiftContext(NAME, document, node_path=("content",))
    natives = _add_missing_marks(document, list(_natives(document)))
    media_columns = media.MediaColumns(document, (_text_with_marks(native) for native, _, _ in natives))
    _lift_line(document, natives, media_columns, context)
    extra = omit(ROW.extra(document) or {}, *media_columns.columns)
    rejected = _rejected(document, natives)
    head: str | None = None
    if rejected is not None and context.messages:
        context.origin.form = PREFERENCE
        other = LiftContext(NAME, document, node_path=("content",))
        _lift_line(document, rejected, media_columns.again(), other)
        head = lift_pair(context, other)
        extra |= {"label": document["label"]} if document.get("label") is not None else {}
    else:
        context.origin.form = MESSAGES
        extra |= {key: document[key] for key in (ANSWER, LINE) if document.get(key) is not None}
        extra |= _label(document, context)
    if MESSAGES in document:
        extra |= {key: document[key] for key in ("query", "response", "history") if has_content(document.get(key))}
    tools, unread = _tools(document.get("tools"), context)
    return context.transcript(head=head, tools=tools, extras=make_extras(NAME, {**extra, **unread}))


def _natives(row: Native) -> Iterator[Place]:
    """Yields the messages of a row; in the older form, those of its history and its last exchange."""
    if MESSAGES in row:
        for i, native in enumerate(row["messages"]):
            yield native, ("messages", i), ("content",)
        return
    for i, exchange in enumerate(row.get("history") or ()):
        yield {"role": "user", "content": exchange[0]}, ("history", i, 0), ()
        more = {"history": exchange[2:]} if exchange[2:] else {}
        yield {"role": "assistant", "content": exchange[1], **more}, ("history", i, 1), ()
    for key, role in (("query", "user"), ("response", "assistant")):
        if row.get(key) is not None:
            yield {"role": role, "content": row[key]}, (key,), ()


def _add_missing_marks(row: Native, natives: list[Place]) -> list[Place]:
    """Adds the missing file marks before the first text, as the trainer does."""
    first = next((i for i, (native, _, _) in enumerate(natives) if native["role"] != "system"), len(natives))
    if first == len(natives) or natives[first][0]["role"] != "user":
        return natives
    missing = media.missing_marks(row, (_text_with_marks(native) for native, _, _ in natives))
    native, place, node_path = natives[first]
    native = {**native, "content": missing + native["content"]} if missing else native
    return [*natives[:first], (native, place, node_path), *natives[first + 1 :]]


def _rejected(row: Native, natives: list[Place]) -> list[Place] | None:
    """Returns the messages of the rejected conversation, or None."""
    if row.get(LINE):
        return [(native, (LINE, i), ("content",)) for i, native in enumerate(row[LINE])]
    if row.get(ANSWER) in (None, []):
        return None
    question_end = max((i + 1 for i, (native, _, _) in enumerate(natives) if native["role"] == "user"), default=0)
    if isinstance(row[ANSWER], str):
        return [*natives[:question_end], ({"role": "assistant", "content": row[ANSWER]}, (ANSWER,), ())]
    return [*natives[:question_end], *((native, (ANSWER, i), ("content",)) for i, native in enumerate(row[ANSWER]))]


def _text_with_marks(native: Native) -> str:
    """Returns the text of a message that may contain file marks."""
    content = native["content"] if isinstance(native["content"], str) else ""
    if native["role"] == "assistant":
        return read_thought(content)[1]
    return content if native["role"] in ("user", *RESULT_ROLES) else ""


def _label(row: Native, context: LiftContext) -> Native:
    """Sets the label of the last message; a label that is not a boolean becomes an extra."""
    label = row.get("label")
    if isinstance(label, bool) and context.messages:
        context.messages[-1].label = LABELS[label]
        return {}
    return {} if label is None else {"label": label}


def _tools(tools: Any, context: LiftContext) -> tuple[Any, Native]:
    """Returns the tools of a row, and those that cannot be read as extras."""
    if not isinstance(tools, list):
        natives = calls.read_tools(tools) if tools else None
        paths: list[Path] = [("tools",)] * len(natives or ())
    else:
        natives = tools if calls.are_tools(tools) else None
        paths = [("tools", i) for i in range(len(tools))]
    if natives is None:
        return None, {"tools": tools} if tools else {}
    pairs = zip(natives, paths, strict=True)
    return [calls.lift_tool(native, context, path) for native, path in pairs], {}


# ---------------------------------------------------------------- messages


def _lift_line(row: Native, natives: list[Place], media_columns: media.MediaColumns, context: LiftContext) -> None:
    """Reads the instruction and these messages."""
    if row.get("system"):
        context.add(Message("system", [Text(row["system"])]), ("system",), [()])
    lifting = _MessageLifting(context, media_columns)
    for native, place, node_path in natives:
        lifting.add(native, place, node_path)


class _MessageLifting:
    """Builds a conversation: calls join the answer before them, results answer the calls before them."""

    def __init__(self, context: LiftContext, media_columns: media.MediaColumns) -> None:
        self.context, self.media_columns = context, media_columns
        self.turn: Message | None = None
        self.part_paths: list[Path] = []
        self.open: list[str] = []

    def add(self, native: Native, place: Path, node_path: Path) -> None:
        """Reads one message of the row, which may be a call that joins the message before it."""
        role = native["role"]
        called = read_calls(native["content"]) if role == "tool_call" else None
        if called is not None:
            self._call(native, called, place)
        elif role in RESULT_ROLES:
            self.turn = None
            self._result(native, place, node_path)
        else:
            self.turn = self._message(native, place, node_path)
            self.open = []

    def _message(self, native: Native, place: Path, node_path: Path) -> Message | None:
        role, content = native["role"], native["content"]
        message = Message(role, [])
        extra, message.weight = _weight(native)
        if role == "tool_call":
            message.role, extra = "assistant", {"role": role, **extra}
        thought, text = read_thought(content) if role == "assistant" else ("", content)
        located_parts = (
            self.media_columns.parts(text) if role in ("user", "assistant") else [(Text(text), ())] if text else []
        )
        located_parts = [*([(Reasoning(thought), ())] if thought else []), *located_parts]
        message.parts = [part for part, _ in located_parts]
        message.extras = make_extras(NAME, extra)
        parent: Path = ("..",) * len(place)
        self.part_paths = [(*parent, *file) if file else node_path for _, file in located_parts]
        self.context.add(message, place, self.part_paths)
        return message if message.role == "assistant" else None

    def _call(self, native: Native, called: Native, place: Path) -> None:
        extra, weight = _weight(native)
        call = calls.CALL.lift(called, self.context)
        if self.turn is None:
            self.turn = Message("assistant", [call], weight=weight, extras=make_extras(NAME, extra))
            self.part_paths, self.open = [("content",)], []
            self.context.add(self.turn, place, self.part_paths)
        else:
            if weight != self.turn.weight and weight is not None:
                extra = {key: native[key] for key in ("loss", "loss_scale") if native.get(key) is not None} | extra
            add_extras(call, NAME, None, **{AROUND: extra})
            parent: Path = ("..",) * len(self.context.origin.places[-1][0])
            self.part_paths.append((*parent, *place, "content"))
            self.turn.parts.append(call)
        self.open.append(call.id)

    def _result(self, native: Native, place: Path, node_path: Path) -> None:
        id_, name = self.context.pairing.result(self.open.pop(0) if self.open else None, None)
        extra = MESSAGE.extra({**native, "role": None}) or {}
        extra |= {key: native[key] for key in ("loss", "loss_scale") if native.get(key) is not None}
        if extra.get("name") == name:
            del extra["name"]
        result = ToolResult(id_, name, "text", "")
        if isinstance(native["content"], str):
            result = order.valued(result, [part for part, _ in self.media_columns.parts(native["content"])])
        else:
            result.kind, result.value = "data", native["content"]
        self.context.add(Message("tool", [result], extras=make_extras(NAME, extra)), place, [node_path])


def read_calls(content: Any) -> Native | None:
    """Returns the call in a message content, an object or its JSON; None for anything else."""
    if not isinstance(content, str):
        return content if calls.is_call(content) else None
    natives = calls.read_natives(content)
    return natives[0] if natives is not None and len(natives) == 1 and content.lstrip()[:1] == "{" else None


def _weight(native: Native) -> tuple[Native, float | None]:
    """Returns the extras of a message and its weight, which only an answer has."""
    extra = MESSAGE.extra({**native, "role": None}) or {}
    loss, scale = native.get("loss"), native.get("loss_scale")
    is_answer = native["role"] in ("assistant", "tool_call")
    if is_answer and isinstance(loss, bool):
        return {**extra, **({} if scale is None else {"loss_scale": scale})}, int(loss)
    if is_answer and loss is None and isinstance(scale, (int, float)) and not isinstance(scale, bool):
        return extra, scale
    stated: list[tuple[str, Any]] = [("loss", loss), ("loss_scale", scale)]
    return {**extra, **{key: value for key, value in stated if value is not None}}, None


def parts_of(kinds: tuple[type, ...], message: Message) -> list[Part]:
    """Returns the parts of a message that have one of these types."""
    return [part for part in message.parts if isinstance(part, kinds)]
