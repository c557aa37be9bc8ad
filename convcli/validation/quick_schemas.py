"""A small validator for small valid documents, which most runs are about: it avoids loading a full validator.

It raises `UndecidedError` if it cannot decide; then a full validator is asked. It knows those keywords of our schemas
that need only the value (JSON Schema 2020-12, validation vocabulary:
https://json-schema.org/draft/2020-12/json-schema-validation)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from math import isfinite
from typing import Any

from convcli.wire.pointers import follow

Schema = dict[str, Any]


class UndecidedError(Exception):
    """The step limit is reached, or the schema has an unknown keyword."""


class QuickValidator:
    """Validates documents until all of them together have taken `most` steps.

    A step is one schema object applied to one value.
    """

    def __init__(self, most: int) -> None:
        self.left = most
        self._root: Schema = {}

    def passes(self, schema: Schema, document: Any) -> bool:
        """True if the document passes. Raises UndecidedError."""
        self._root = schema
        try:
            return self._pass(schema, document)
        except RecursionError:
            raise UndecidedError from None

    def _pass(self, node: Any, value: Any) -> bool:
        if isinstance(node, bool):
            return node
        self.left -= 1
        if self.left < 0:
            raise UndecidedError
        for keyword in node:
            check = CHECKS.get(keyword)
            if check is None and keyword not in SILENT:
                raise UndecidedError
            if check is not None and not check(self, node, value):
                return False
        return True

    def _refers(self, node: Schema, value: Any) -> bool:
        return self._pass(follow(self._root, node["$ref"]), value)

    def _has_properties(self, node: Schema, value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        stated = node["properties"]
        return all(self._pass(stated[key], below) for key, below in value.items() if key in stated)

    def _has_others(self, node: Schema, value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        named, others = node.get("properties", ()), node["additionalProperties"]
        return all(self._pass(others, below) for key, below in value.items() if key not in named)

    def _has_items(self, node: Schema, value: Any) -> bool:
        if not isinstance(value, list):
            return True
        return all(self._pass(node["items"], item) for item in value[len(node.get("prefixItems", ())) :])

    def _has_first_items(self, node: Schema, value: Any) -> bool:
        return not isinstance(value, list) or all(map(self._pass, node["prefixItems"], value))

    def _takes_branch(self, node: Schema, value: Any) -> bool:
        return self._pass(node.get("then" if self._pass(node["if"], value) else "else", True), value)

    def _passes_all(self, node: Schema, value: Any) -> bool:
        return all(self._pass(each, value) for each in node["allOf"])

    def _passes_any(self, node: Schema, value: Any) -> bool:
        return any(self._pass(each, value) for each in node["anyOf"])

    def _passes_one(self, node: Schema, value: Any) -> bool:
        return sum(self._pass(each, value) for each in node["oneOf"]) == 1

    def _passes_not(self, node: Schema, value: Any) -> bool:
        return not self._pass(node["not"], value)


def _is_of_type(_: QuickValidator, node: Schema, value: Any) -> bool:
    stated = node["type"]
    return any(TYPES[name](value) for name in ([stated] if isinstance(stated, str) else stated))


def _is_one_of(_: QuickValidator, node: Schema, value: Any) -> bool:
    return _is_among(node["enum"], value)


def _is_const(_: QuickValidator, node: Schema, value: Any) -> bool:
    return _is_among([node["const"]], value)


def _is_among(stated: Iterable[Any], value: Any) -> bool:
    """True and 1 differ; 1 and 1.0 do not."""
    if any(isinstance(each, (list, dict)) for each in stated):
        raise UndecidedError
    return any(each == value and isinstance(each, bool) == isinstance(value, bool) for each in stated)


def _has_required(_: QuickValidator, node: Schema, value: Any) -> bool:
    return not isinstance(value, dict) or all(key in value for key in node["required"])


def _at_least(keyword: str, kind: type[Sized]) -> Callable[[QuickValidator, Schema, Any], bool]:
    return lambda _, node, value: not isinstance(value, kind) or len(value) >= node[keyword]


def _is_number(value: Any) -> bool:
    """True for numbers of JSON, which has no NaN or infinity."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and isfinite(value))


TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
    "number": _is_number,
}
CHECKS: dict[str, Callable[[QuickValidator, Schema, Any], bool]] = {
    "type": _is_of_type,
    "enum": _is_one_of,
    "const": _is_const,
    "required": _has_required,
    "minLength": _at_least("minLength", str),
    "minItems": _at_least("minItems", list),
    "minProperties": _at_least("minProperties", dict),
    "properties": QuickValidator._has_properties,
    "additionalProperties": QuickValidator._has_others,
    "items": QuickValidator._has_items,
    "prefixItems": QuickValidator._has_first_items,
    "if": QuickValidator._takes_branch,
    "allOf": QuickValidator._passes_all,
    "anyOf": QuickValidator._passes_any,
    "oneOf": QuickValidator._passes_one,
    "not": QuickValidator._passes_not,
    "$ref": QuickValidator._refers,
}
SILENT = frozenset({"then", "else", "$schema", "$id", "$defs", "title", "description", "x-marks"})
"""Keywords that never refuse a value by themselves."""
