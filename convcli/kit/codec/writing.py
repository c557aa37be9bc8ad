"""Writes the documents of a table: the inverse of `reading`, for transcripts that were fitted."""

from __future__ import annotations

from typing import Any

from convcli.kit import custom
from convcli.kit.codec.layout import CallLayout, LogLayout, ranked
from convcli.kit.codec.objects import put, rest_of, value_at, with_rest, write_field
from convcli.kit.codec.reading import ROW
from convcli.kit.objects import Native, get_extras, omit
from convcli.kit.results import ResultTexts, has_failed, result_of
from convcli.kit.sessions import row_of_event
from convcli.kit.texts import only_text, text_of
from convcli.kit.values import DATA_URL, MEDIA_TYPES, write_arguments
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Opaque, Part, Path, Reasoning, Text, ToolCall, Transcript

JOINT = "\n\n"
"""What stands between texts that are joined."""


def write(layout: LogLayout, transcript: Transcript) -> Any:
    """Returns the document of a transcript."""
    messages = transcript.messages
    extra = get_extras(transcript.extras, layout.owner)
    if layout.lines:
        rows = _Rows(layout, transcript.id).of(messages)
        has_header = layout.whole.where or layout.whole.keys
        header = [_write_whole(layout, transcript, extra)] if has_header else []
        return Rows([*(one for one in header if one), *rows])
    if not (layout.messages or layout.before or layout.after):
        return _Rows(layout, None).of(messages)
    before, rest = _split_before(layout.before, messages)
    rest, after = _split_after(layout.after, rest)
    native = _write_whole(layout, transcript, extra)
    for path, text in (*before, *after):
        put(native, path, text)
    if layout.messages:
        put(native, layout.messages, _Rows(layout, None).of(rest))
    return ranked(native, layout.whole.rank)


def _write_whole(layout: LogLayout, transcript: Transcript, extra: Native) -> Native:
    whole = layout.whole
    native: Native = {}
    for path, value in (*whole.where, *whole.constants):
        stated = value_at(extra, path)
        put(native, path, value if stated is None else stated)
    for field in whole.fields:
        write_field(native, transcript, field, extra)
    return ranked(with_rest(native, extra), whole.rank)


Texts = list[tuple[Path, Any]]


def _split_before(keys: tuple[tuple[Path, str], ...], messages: list[Message]) -> tuple[Texts, list[Message]]:
    """Returns the leading messages that are keys of the document, and the rest."""
    values: Texts = []
    at = 0
    for path, role in keys:
        value = _bare(messages[at], role) if at < len(messages) else None
        if value is not None:
            values.append((path, value))
            at += 1
    return values, messages[at:]


def _split_after(keys: tuple[tuple[Path, str], ...], messages: list[Message]) -> tuple[list[Message], Texts]:
    """Returns the rest, and the last messages that are keys of the document."""
    values: Texts = []
    end = len(messages)
    for path, role in reversed(keys):
        value = _bare(messages[end - 1], role) if end else None
        if value is not None:
            values.insert(0, (path, value))
            end -= 1
    return messages[:end], values


def _bare(message: Message, role: str) -> str | None:
    """Returns the only text of a message of this role without other fields; else None."""
    return only_text(message.parts) or None if message == Message(role, message.parts) else None


class _Rows:
    """The rows of one document while they are written."""

    def __init__(self, layout: LogLayout, id_: str | None) -> None:
        self.layout, self.id = layout, id_
        self.rows: list[tuple[Any, bool]] = []
        """Rows, and whether they are messages."""
        self.open: dict[str, Native] = {}
        """The calls whose results stand in the call, by id."""
        self.turn: tuple[Native, int] | None = None
        """The last row of several messages, and the index of its last key."""

    def of(self, messages: list[Message]) -> list[Any]:
        """Returns the rows of the messages."""
        for message in messages:
            if message.role == "event":
                row = row_of_event(message, self.layout.owner)
                self.rows += [] if row is None else [(row, False)]
                self.turn = None
            elif self.layout.turns:
                self._add_turn(message)
            elif not self._answers_call(message):
                self._add(message)
        return [self._ordered(row) if is_message else row for row, is_message in self.rows]

    def _ordered(self, row: Native) -> Native:
        """Returns a row with its keys in the order of the table."""
        layout = self.layout
        if layout.object:
            put(row, layout.object, ranked(value_at(row, layout.object), layout.rank))
        return ranked(row, layout.row_rank)

    def _add_turn(self, message: Message) -> None:
        keys = self.layout.turns
        is_first = self.turn is None or message != Message(message.role, message.parts)
        last = -1 if self.turn is None or is_first else self.turn[1]
        at = next((i for i in range(last + 1, len(keys)) if keys[i][1] == message.role), None)
        if at is None:
            last, at = -1, next((i for i, (_, role) in enumerate(keys) if role == message.role), None)
        if at is None:
            return
        if last < 0 or self.turn is None:
            native: Native = {}
            self._append(native, message)
        else:
            native = self.turn[0]
        put(native, keys[at][0], text_of(message.parts, JOINT))
        self.turn = native, at

    def _answers_call(self, message: Message) -> bool:
        """Writes a result into its call."""
        result = result_of(message)
        native = self.open.pop(result.tool_call_id, None) if result is not None else None
        if native is None or result is None or self.layout.call is None or self.layout.call.result is None:
            return False
        put(native, self.layout.call.result, ResultTexts("", data=True).value(result))
        return True

    def _add(self, message: Message) -> None:
        layout = self.layout
        word = layout.word_of.get(message.role)
        if word is None and message.role != layout.default_role:
            return
        native: Native = {}
        for name in layout.order:
            self._write_key(name, message, word, native)
        for path in layout.always if message.role != "tool" else ():
            if value_at(native, path) is None:
                put(native, path, "")
        self._append(native, message)

    def _write_key(self, name: str, message: Message, word: Any, native: Native) -> None:
        """Writes what one key of the table states."""
        layout, parts = self.layout, message.parts
        if name == "role" and layout.role and word is not None:
            put(native, layout.role, word)
        elif name == "results" and message.role == "tool":
            self._write_result(message, native)
        elif message.role == "tool":
            pass
        elif name == "reasoning" and layout.reasoning:
            _put_text(native, layout.reasoning, parts, Reasoning)
        elif name == "text" and layout.text:
            _put_text(native, layout.text, parts, Text)
        elif name == "texts" and layout.texts:
            _put_items(
                native, layout.texts, [_item(part, layout.owner) for part in parts if isinstance(part, (Text, Opaque))]
            )
        elif name == "images" and layout.images:
            urls = [_image(part) for part in parts if isinstance(part, Media) and part.type == "image"]
            _put_items(native, layout.images, [url for url in urls if url is not None])
        elif name == "calls" and layout.call:
            self._write_calls(layout.call, [part for part in parts if isinstance(part, ToolCall)], native)

    def _append(self, native: Native, message: Message) -> None:
        """Adds the row of a message, with its fields and extras."""
        layout = self.layout
        extra = get_extras(message.extras, layout.owner)
        for field in layout.fields:
            write_field(native, message, field, extra)
        around: Native = extra.get(ROW, {}) if layout.object else {}
        if extra:
            with_rest(native, rest_of(omit(extra, ROW) if around else extra, layout.field_tree))
        row = native
        if layout.object:
            row = {}
            put(row, layout.object, native)
        for path, value in layout.where:
            put(row, path, value)
        if layout.split and self.id is not None:
            put(row, layout.split, self.id)
        self.rows.append((with_rest(row, around), True))

    def _write_result(self, message: Message, native: Native) -> None:
        stated, result = self.layout.result, result_of(message)
        if stated is None or result is None:
            return
        put(native, stated.value, ResultTexts("", data=stated.json).value(result))
        if stated.call:
            put(native, stated.call, result.tool_call_id)
        if stated.name:
            put(native, stated.name, result.name)
        if stated.failed and has_failed(result):
            put(native, stated.failed, True)

    def _write_calls(self, call: CallLayout, calls: list[ToolCall], native: Native) -> None:
        if call.at is None:
            if calls:
                self._write_call(call, calls[0], native)
            return
        items = []
        for part in calls:
            item: Native = {}
            self._write_call(call, part, item)
            items.append(with_rest(item, get_extras(part.extras, self.layout.owner)))
            if call.result:
                self.open[part.id] = items[-1]
        if items:
            put(native, call.at, items)

    def _write_call(self, call: CallLayout, part: ToolCall, native: Native) -> None:
        if call.id:
            put(native, call.id, part.id)
        for path, value in call.constants:
            put(native, path, value)
        put(native, call.name, part.name)
        if call.arguments:
            put(native, call.arguments, _arguments(part, call.form))
        if call.result:
            self.open[part.id] = native


def _put_text(native: Native, path: Path, parts: list[Part], kind: type[Text | Reasoning]) -> None:
    texts = [part.text for part in parts if part.__class__ is kind and part.text]
    if texts:
        put(native, path, JOINT.join(texts))


def _put_items(native: Native, path: Path, items: list[Any]) -> None:
    """Writes a list; one string without a list."""
    if items:
        put(native, path, items[0] if len(items) == 1 and isinstance(items[0], str) else items)


def _item(part: Text | Opaque, owner: str) -> Any:
    """Returns an item of a list of texts: a string, or an object if the text has keys of its own."""
    if isinstance(part, Opaque):
        return part.value
    extra = get_extras(part.extras, owner)
    return {"type": "text", "text": part.text, **extra} if extra else part.text


def _image(part: Media) -> str | None:
    if part.data is not None:
        return DATA_URL.format(part.media_type or MEDIA_TYPES["image"], part.data)
    return part.url or part.path


def _arguments(part: ToolCall, form: str) -> Any:
    text = custom.input_of(part)
    if form == "text" and text is not None:
        return text
    if form == "object":
        return part.arguments if part.raw_arguments is None else part.raw_arguments
    return write_arguments(part.arguments, part.raw_arguments)
