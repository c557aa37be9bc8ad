"""The JSON Schema of a table: the types of the keys that it states. It accepts every other key and row."""

from __future__ import annotations

from typing import Any

from convcli.kit.codec.layout import CallLayout, LogLayout
from convcli.kit.objects import Native
from convcli.model.transcript import Path

TEXT = {"type": ["string", "null"]}
WORD = {"type": ["string", "integer", "null"]}
STRINGS = {"type": ["string", "array", "null"], "items": {"type": "string"}}
ITEMS = {"type": ["string", "array", "null"], "items": {"type": ["string", "object"]}}


def of_table(layout: LogLayout, name: str) -> dict[str, Any]:
    """Returns the schema of the dialect of this name."""
    row = _row(layout)
    if layout.lines:
        root: dict[str, Any] = {"type": "array", "items": row}
    elif layout.messages or layout.before or layout.after:
        root = _object([(path, TEXT) for path, _ in (*layout.before, *layout.after)])
        if layout.messages:
            root = _merged(root, layout.messages, {"type": "array", "items": row}, is_required=True)
    else:
        root = {"type": ["array", "object"], "items": row, "if": {"type": "object"}, "then": row}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": layout.table.title or name, **root}


def _row(layout: LogLayout) -> dict[str, Any]:
    """Returns the schema of a row: only a row that is a message has types."""
    stated: list[tuple[Path, dict[str, Any]]] = [
        *((path, TEXT) for path in (layout.text, layout.reasoning) if path),
        *((path, ITEMS) for path in (layout.texts,) if path),
        *((path, STRINGS) for path in (layout.images,) if path),
        *((path, TEXT) for path, _ in layout.turns),
    ]
    if layout.call is not None and layout.call.at:
        item = {"type": "object", **_of_call(layout.call)}
        stated.append((layout.call.at, {"type": ["array", "object", "null"], "items": item, **_of_call(layout.call)}))
    message = _object(stated)
    if layout.call is not None and not layout.call.at:
        for path, kind in _call_keys(layout.call):
            message = _merged(message, path, kind)
    if layout.object:
        message = _merged(_object([]), layout.object, message)
    rows = [{"if": _condition(layout, is_result=False), "then": message}]
    if layout.result is not None:
        own = layout.result
        keys = [(own.call, WORD), (own.name, WORD), (own.failed, {"type": ["boolean", "null"]})]
        keys += [] if own.json else [(own.value, TEXT)]
        result = _object([(path, kind) for path, kind in keys if path])
        result = _merged(_object([]), layout.object, result) if layout.object else result
        rows.append({"if": _condition(layout, is_result=True), "then": result})
    return {"allOf": rows}


def _condition(layout: LogLayout, *, is_result: bool) -> dict[str, Any]:
    """Returns the schema of rows that are results, or of other messages."""
    row = _object([])
    for path, value in layout.where:
        row = _merged(row, path, {"const": value}, is_required=True)
    if layout.role:
        words: list[Any] = []
        for word, role in layout.words.items():
            if (role == "tool") == is_result:
                words += [word] if layout.word_of[role] == word else [word, layout.word_of[role]]
        is_default = layout.default_role is not None and (layout.default_role == "tool") == is_result
        known = {"enum": [*words, None]} if is_default else {"enum": words}
        path = (*layout.object, *layout.role) if layout.object else layout.role
        row = _merged(row, path, known, is_required=not is_default)
    elif layout.object:
        row = _merged(row, layout.object, {"type": "object"}, is_required=True)
    return row


def _of_call(call: CallLayout) -> dict[str, Any]:
    schema = _object([])
    for path, kind in _call_keys(call):
        schema = _merged(schema, path, kind, is_required=path == call.name)
    return {key: value for key, value in schema.items() if key != "type"}


def _call_keys(call: CallLayout) -> list[tuple[Path, dict[str, Any]]]:
    name = {"type": "string", "minLength": 1} if call.at else TEXT
    keys = [(call.name, name), (call.id, WORD), (call.arguments, {"type": ["object", "string", "null"]})]
    return [(path, kind) for path, kind in keys if path]


def _object(keys: list[tuple[Path, dict[str, Any]]]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    for path, kind in keys:
        schema = _merged(schema, path, kind)
    return schema


def _merged(schema: Native, path: Path, kind: dict[str, Any], *, is_required: bool = False) -> dict[str, Any]:
    """Returns the schema of an object with the schema of the value at a path."""
    key, below = str(path[0]), path[1:]
    properties = schema.get("properties", {})
    inner = kind
    if below:
        before = properties.get(key, {"type": ["object", "null"] if not is_required else "object", "properties": {}})
        inner = _merged(before, below, kind, is_required=is_required)
        if is_required:
            inner = {**inner, "type": "object"}
    required = [*schema.get("required", ()), *([key] if is_required and key not in schema.get("required", ()) else ())]
    schema = {**schema, "properties": {**properties, key: inner}}
    return {**schema, "required": required} if required else schema
