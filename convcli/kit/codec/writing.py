"""Writes the documents of a table: the inverse of `reading`, for transcripts that were fitted."""

from __future__ import annotations

from typing import Any

from convcli.kit import custom
from convcli.kit.codec.layout import CallLayout, LogLayout, ResultLayout
from convcli.kit.codec.objects import put, rest_of, value_at, with_rest
from convcli.kit.codec.reading import ROW
from convcli.kit.objects import Native, get_extras, omit
from convcli.kit.results import ResultTexts, has_failed, result_of
from convcli.kit.sessions import row_of_event
from convcli.kit.settings import field_values
from convcli.kit.texts import only_text, text_of
from convcli.kit.values import DATA_URL, MEDIA_TYPES, write_arguments
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Opaque, Part, Path, Reasoning, Text, ToolCall, Transcript

JOINT = "\n\n"
"""What stands between texts that are joined."""
NO_CONTENT = (None,) * 5
"""For rows whose keys are messages."""


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
    return layout.whole.order.ordered(native)


def _write_whole(layout: LogLayout, transcript: Transcript, extra: Native) -> Native:
    whole = layout.whole
    native: Native = {}
    for path, value in (*whole.where, *whole.constants):
        stated = value_at(extra, path)
        put(native, path, value if stated is None else stated)
    for path, value in zip(whole.keys, field_values(transcript, whole.fields, extra), strict=True):
        if value is not None:
            put(native, path, value)
    return whole.order.ordered(with_rest(native, extra))


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
        """Rows, and whether they have the order of the table."""
        self.open: dict[str, Native] = {}
        """The calls whose results stand in the call, by id."""
        self.turn: tuple[Native, int] | None = None
        """The last row of several messages, and the index of its last key."""

    def of(self, messages: list[Message]) -> list[Any]:
        """Returns the rows of the messages."""
        for message in messages:
            if message.role == "event":
                row = row_of_event(message, self.layout.owner)
                self.rows += [] if row is None else [(row, True)]
                self.turn = None
            elif self.layout.turns:
                self._add_turn(message)
            elif not self._answers_call(message):
                self._add(message)
        return [row if is_ordered else self._ordered(row) for row, is_ordered in self.rows]

    def _ordered(self, row: Native) -> Native:
        """Returns a row with its keys in the order of the table."""
        layout = self.layout
        if layout.object:
            put(row, layout.object, layout.keys.ordered(value_at(row, layout.object)))
        return layout.row_keys.ordered(row)

    def _add_turn(self, message: Message) -> None:
        layout, keys = self.layout, self.layout.turns
        is_first = self.turn is None or message != Message(message.role, message.parts)
        last = -1 if self.turn is None or is_first else self.turn[1]
        at = next((i for i in range(last + 1, len(keys)) if keys[i][1] == message.role), None)
        if at is None:
            last, at = -1, next((i for i, (_, role) in enumerate(keys) if role == message.role), None)
        if at is None:
            return
        if last < 0 or self.turn is None:
            native = layout.write(None, *self._fields(message), *NO_CONTENT)
            self._append(native, message, is_ordered=False)
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
        fields = self._fields(message)
        if message.role == "tool":
            self._append(layout.write_result(word, *fields, *_result_values(layout.result, message)), message)
            return
        native = layout.write(word, *fields, *self._content(message.parts))
        call, is_ordered = None, True
        if layout.call is not None and layout.call.at is None:
            call = next((part for part in message.parts if isinstance(part, ToolCall)), None)
            if call is not None:
                native, is_ordered = with_rest(native, self._write_call(layout.call, call)), False
        for path in layout.always:
            if value_at(native, path) is None:
                put(native, path, "")
                is_ordered = False
        self._append(native, message, is_ordered=is_ordered)
        if call is not None and layout.call is not None and layout.call.result:
            self.open[call.id] = native

    def _fields(self, message: Message) -> list[Any]:
        return field_values(message, self.layout.fields, get_extras(message.extras, self.layout.owner))

    def _content(self, parts: list[Part]) -> tuple[Any, ...]:
        """Returns reasoning, text, texts, images and calls of a message."""
        layout, owner = self.layout, self.layout.owner
        texts = images = calls = None
        if layout.texts:
            texts = _items([_item(part, owner) for part in parts if isinstance(part, (Text, Opaque))])
        if layout.images:
            urls = [_image(part) for part in parts if isinstance(part, Media) and part.type == "image"]
            images = _items([url for url in urls if url is not None])
        if layout.call is not None and layout.call.at is not None:
            calls = self._write_calls(layout.call, parts) or None
        text = _joined(parts, Text) if layout.text else None
        return _joined(parts, Reasoning), text or layout.without_text, texts, images, calls

    def _append(self, native: Native, message: Message, *, is_ordered: bool = True) -> None:
        """Adds the row of a message, with its extras; `is_ordered`: its keys have the order of the table."""
        layout = self.layout
        extra = get_extras(message.extras, layout.owner) if message.extras else {}
        around: Native = extra.get(ROW, {}) if layout.object else {}
        if extra:
            with_rest(native, rest_of(omit(extra, ROW) if around else extra, layout.field_tree))
        row = native
        if layout.object:
            row = layout.write_row(native, self.id, *layout.marks)
        else:
            for path, value in layout.where:
                put(row, path, value)
            if layout.split and self.id is not None:
                put(row, layout.split, self.id)
            is_ordered = is_ordered and not layout.where and not layout.split
        self.rows.append((with_rest(row, around), is_ordered and not extra))

    def _write_calls(self, call: CallLayout, parts: list[Part]) -> list[Native]:
        items: list[Native] = []
        for part in parts:
            if isinstance(part, ToolCall):
                native = self._write_call(call, part)
                if part.extras is not None:
                    native = call.keys.ordered(with_rest(native, get_extras(part.extras, self.layout.owner)))
                items.append(native)
                if call.result:
                    self.open[part.id] = native
        return items

    @staticmethod
    def _write_call(call: CallLayout, part: ToolCall) -> Native:
        return call.write(part.id, part.name, _arguments(part, call.form) if call.arguments else None, *call.constants)


def _result_values(stated: ResultLayout | None, message: Message) -> tuple[Any, ...]:
    """Returns value, id of the call, name and failure of the result in a message."""
    if stated is None:
        return ()
    result = result_of(message)
    if result is None:
        return None, None, None, None
    value = ResultTexts("", data=stated.json).value(result)
    failed = True if stated.failed and has_failed(result) else None
    return value, result.tool_call_id, result.name, failed


def _joined(parts: list[Part], kind: type[Text | Reasoning]) -> str | None:
    return JOINT.join(part.text for part in parts if part.__class__ is kind and part.text) or None


def _items(items: list[Any]) -> Any:
    """Returns a list; one string without a list, and None for no items."""
    return items[0] if len(items) == 1 and isinstance(items[0], str) else items or None


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
