"""Lifts the documents of a table: every value is in a field, in a part, or left in extras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.kit import custom
from convcli.kit.codec.layout import CallLayout, LogLayout, WholeLayout, as_word
from convcli.kit.codec.objects import rest_of, value_at
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, make_extras
from convcli.kit.results import fail
from convcli.kit.settings import lift_fields
from convcli.kit.values import read_arguments, split_data_url
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

ROW = "row"
"""The key in extras of what is left of a row around its message."""


def lift(layout: LogLayout, name: str, document: Any) -> Transcript:
    """Returns the transcript of a document in the dialect of this name."""
    context = LiftContext(name, document, owner=layout.owner)
    transcript = context.transcript()
    if layout.lines:
        _lift_lines(layout, document, context, transcript)
        return transcript
    if isinstance(document, dict) and (layout.messages or layout.before or layout.after):
        _lift_whole(layout.whole, layout.owner, document, transcript)
        _lift_texts(layout.before, document, context)
        rows = value_at(document, layout.messages) if layout.messages else None
        _lift_rows(layout, rows if isinstance(rows, list) else [], layout.messages or (), context)
        _lift_texts(layout.after, document, context)
    elif isinstance(document, list):
        _lift_rows(layout, document, (), context)
    else:
        _lift_row(layout, document, (), context)
    return transcript


def _lift_lines(layout: LogLayout, rows: list[Any], context: LiftContext, transcript: Transcript) -> None:
    begin = 0
    if rows and is_header(layout, rows[0]):
        begin = 1
        context.origin.routes |= {(key,): (0, key) for key in rows[0]}
        _lift_whole(layout.whole, layout.owner, rows[0], transcript)
    if layout.split:
        stated = next((value for row in rows if (value := value_at(row, layout.split)) is not None), None)
        transcript.id = stated if isinstance(stated, str) and stated else None
    for i in range(begin, len(rows)):
        _lift_row(layout, rows[i], (i,), context, transcript.id)


def is_header(layout: LogLayout, row: Any) -> bool:
    """True if the first line describes the conversation."""
    whole = layout.whole
    if not isinstance(row, dict) or not (whole.where or whole.keys) or layout.message_in(row) is not None:
        return False
    if whole.where:
        return all(value_at(row, path) == value for path, value in whole.where)
    return any(value_at(row, path) is not None for path in whole.keys)


def _lift_whole(whole: WholeLayout, owner: str, native: Native, transcript: Transcript) -> None:
    kept: list[Path] = []
    lift_fields(whole.read(native), transcript, whole.fields, kept)
    kept += [path for path, value in (*whole.where, *whole.constants) if value_at(native, path) != value]
    transcript.extras = make_extras(owner, rest_of(native, whole.tree, kept))


def _lift_texts(keys: tuple[tuple[Path, str], ...], native: Native, context: LiftContext) -> None:
    """Adds the messages that are keys of the document."""
    for path, role in keys:
        value = value_at(native, path)
        if value:
            context.add(Message(role, [Text(value)]), path, [()])


def _lift_rows(layout: LogLayout, rows: list[Any], prefix: Path, context: LiftContext) -> None:
    for i, row in enumerate(rows):
        _lift_row(layout, row, (*prefix, i), context)


def _lift_row(layout: LogLayout, row: Any, path: Path, context: LiftContext, id_: str | None = None) -> None:
    """Adds the messages of a row; `id_` is the conversation that it names."""
    stated = layout.message_in(row)
    if stated is None:
        context.add(Message("event", [Opaque(layout.owner, row)]), path, [()])
        return
    native, role = stated
    around = [layout.split] if layout.split and value_at(row, layout.split) != id_ else []
    inside = (*path, *layout.object) if layout.object else path
    kept = [] if layout.object else around
    first = len(context.messages)
    if role is None:
        _lift_turns(layout, native, inside, context)
    else:
        _lift_message(layout, native, role, inside, context, kept)
    message = context.messages[first]
    if layout.fields:
        lift_fields(layout.read_fields(native), message, layout.fields, kept)
    tree = layout.result_tree if role == "tool" else layout.tree
    extra = rest_of(native, tree, kept)
    if layout.object and (row_rest := rest_of(row, layout.row_tree, around)):
        extra[ROW] = row_rest
    message.extras = make_extras(layout.owner, extra)


def _lift_turns(layout: LogLayout, native: Native, path: Path, context: LiftContext) -> None:
    """Adds a message for each key that is one."""
    for key, role in layout.turns:
        value = value_at(native, key)
        if value is not None:
            context.add(Message(role, [Text(value)]), path, [key])


def _lift_message(
    layout: LogLayout, native: Native, role: str, path: Path, context: LiftContext, kept: list[Path]
) -> None:
    if role == "tool":
        context.add(Message(role, [_lift_result(layout, native, context)]), path, [()])
        return
    parts: list[Part] = []
    places: list[Path] = []
    reasoning, text, texts, images, called = layout.read(native)
    if reasoning and layout.reasoning:
        parts.append(Reasoning(reasoning))
        places.append(layout.reasoning)
    if text and layout.text:
        parts.append(Text(text))
        places.append(layout.text)
    if texts and layout.texts:
        _lift_items(texts, layout.texts, _text_item, layout.owner, parts, places)
    if images and layout.images:
        _lift_items(images, layout.images, _image_item, layout.owner, parts, places)
    answers = [] if layout.call is None else _lift_calls(layout.call, native, called, parts, places, context, kept)
    context.add(Message(role, parts), path, places)
    for result, place in answers:
        context.add(Message("tool", [result]), (*path, *place), [()])


def _lift_items(
    items: Any, key: Path, lift_item: Callable[[Any, str], Part], owner: str, parts: list[Part], places: list[Path]
) -> None:
    """Adds the parts of a list, or of one item without a list."""
    for k, item in enumerate(items if isinstance(items, list) else [items]):
        parts.append(lift_item(item, owner))
        places.append((*key, k) if isinstance(items, list) else key)


def _text_item(item: Any, owner: str) -> Part:
    """Reads a string, or an object with a string under `text`."""
    if isinstance(item, str):
        return Text(item)
    if isinstance(item, dict) and isinstance(item.get("text"), str) and item.get("type") in (None, "text"):
        rest = {key: value for key, value in item.items() if key not in ("type", "text") and value is not None}
        return Text(item["text"], extras=make_extras(owner, rest))
    return Opaque(owner, item)


def _image_item(item: str, _: str) -> Part:
    """Reads a data URL, another URL, or a path."""
    split = split_data_url(item)
    if split is not None:
        return Media("image", data=split[1], media_type=split[0])
    return Media("image", url=item) if "://" in item or item.startswith("data:") else Media("image", path=item)


Answers = list[tuple[ToolResult, Path]]


def _lift_calls(
    call: CallLayout,
    native: Native,
    called: Any,
    parts: list[Part],
    places: list[Path],
    context: LiftContext,
    kept: list[Path],
) -> Answers:
    """Adds the calls of a message: those in `called`, or the message itself. Returns the results that stand in its
    calls."""
    answers: Answers = []
    if call.at is None:
        if value_at(native, call.name):
            parts.append(_lift_call(call, native, (), answers, context, kept))
            places.append(())
        else:
            kept += [path for path in call.stated if value_at(native, path) not in (None, "")]
        return answers
    is_list = isinstance(called, list)
    for k, item in enumerate(called if is_list else [] if called is None else [called]):
        place = (*call.at, k) if is_list else call.at
        places.append(place)
        inner: list[Path] = []
        part = _lift_call(call, item, place, answers, context, inner)
        part.extras = make_extras(context.dialect, rest_of(item, call.tree, inner))
        parts.append(part)
    return answers


def _lift_call(
    call: CallLayout, native: Native, place: Path, answers: Answers, context: LiftContext, kept: list[Path]
) -> ToolCall:
    id_, name, stated, outcome = call.read(native)
    part = ToolCall(context.pairing.call(as_word(id_), name), name, {})
    if isinstance(stated, dict):
        part.arguments = stated
    elif isinstance(stated, str) and stated:
        _read_text(part, stated, call.form)
    kept += [path for path, value in call.fixed if value_at(native, path) not in (None, value)]
    if outcome is not None:
        context.pairing.result(part.id, name)
        kind = "text" if isinstance(outcome, str) else "data"
        answers.append((ToolResult(part.id, name, kind, outcome), place))  # type: ignore[arg-type]
    return part


def _read_text(part: ToolCall, text: str, form: str) -> None:
    """Reads arguments in a string: JSON, or in the form `text` anything else, as the input of a custom tool."""
    part.arguments, part.raw_arguments = read_arguments(text)
    if part.raw_arguments is not None and form == "text":
        part.arguments, part.raw_arguments, part.custom = custom.lift_input(text), None, True


def _lift_result(layout: LogLayout, native: Native, context: LiftContext) -> ToolResult:
    stated = layout.result
    assert stated is not None, "the row matches"
    value, call, name, failed = stated.read(native)
    id_, name = context.pairing.result(as_word(call), as_word(name))
    is_text = value is None or isinstance(value, str)
    result = ToolResult(id_, name, "text" if is_text else "data", "" if value is None else value)
    if failed:
        fail(result)
    return result
