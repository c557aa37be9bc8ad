"""Rewrites a schema so that a validator tries fewer of its cases; it accepts the same documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

VALUES = ("const", "enum", "default", "examples")
"""Keywords with JSON values instead of schemas."""
DEFINITION = "#/$defs/"


class ExclusiveCase(NamedTuple):
    """A member of `allOf`: what holds if a key has one of these values."""

    values: list[str]
    member: dict[str, Any]


def with_decided_cases(schema: Any) -> Any:
    """Returns the schema with the cases of each key in `allOf` (`if` the key has one of these values, `then` …) as one
    decision: of cases that exclude each other, the one that applies is found by halves. Cases of a definition in
    `allOf` that has nothing else are among them."""
    return _decided(schema, schema.get("$defs", {}) if isinstance(schema, dict) else {})


def _decided(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_decided(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$id" in node:  # its references are to its own definitions
        definitions = node.get("$defs", {})
    if isinstance(node.get("allOf"), list):
        members = [each for member in node["allOf"] for each in _members(member, definitions)]
        node = {**node, "allOf": members}
    node = {key: value if key in VALUES else _decided(value, definitions) for key, value in node.items()}
    if isinstance(node.get("allOf"), list):
        node["allOf"] = _grouped(node["allOf"])
    return node


def _members(member: Any, definitions: Mapping[str, Any]) -> list[Any]:
    """Returns the members of the `allOf` of a definition that has nothing else; any other schema as it is."""
    reference = member.get("$ref") if isinstance(member, dict) and len(member) == 1 else None
    name = reference.removeprefix(DEFINITION) if isinstance(reference, str) else ""
    stated = definitions.get(name) if reference == DEFINITION + name else None
    if not isinstance(stated, dict) or stated.keys() - {"description"} != {"allOf"}:
        return [member]
    return list(stated["allOf"])


def _grouped(members: list[Any]) -> list[Any]:
    """Returns the members of an `allOf`, with one decision in place of the cases of each key that exclude each
    other."""
    others: list[Any] = []
    groups: dict[str, tuple[set[str], list[ExclusiveCase]]] = {}
    for member in members:
        key, values = _case_of(member)
        known, cases = groups.setdefault(key, (set(), []))
        if not values or not known.isdisjoint(values):
            others.append(member)
            continue
        known.update(values)
        cases.append(ExclusiveCase(values, member))
    return others + [_decision(key, cases) for key, (_, cases) in groups.items() if cases]


def _decision(key: str, cases: list[ExclusiveCase]) -> Any:
    members = [case.member for case in cases]
    if len(cases) == 1:
        return members[0]  # without the key none applies, and to any value that is no object all do
    return {"if": {"type": "object", "required": [key]}, "then": _by_halves(key, cases), "else": {"allOf": members}}


def _by_halves(key: str, cases: list[ExclusiveCase], *, is_certain: bool = False) -> Any:
    """Returns the decision for an object that has the key; `is_certain`: it has one of these values."""
    half = len(cases) // 2 or 1
    first, others = cases[:half], cases[half:]
    if is_certain and not others:
        return first[0].member["then"]
    values = [value for case in first for value in case.values]
    applies = {"properties": {key: {"enum": values}}}
    decision = {"if": applies, "then": _by_halves(key, first, is_certain=True)}
    return {**decision, "else": _by_halves(key, others, is_certain=is_certain)} if others else decision


def _case_of(member: Any) -> tuple[str, list[str]]:
    """Returns the key and the values of a case; no values for any other schema."""
    if not isinstance(member, dict) or member.keys() != {"if", "then"} or not isinstance(member["if"], dict):
        return "", []
    properties: dict[str, Any] = member["if"].get("properties", {})
    if member["if"].keys() != {"required", "properties"} or len(properties) != 1:
        return "", []
    ((key, stated),) = properties.items()
    if member["if"]["required"] != [key] or not isinstance(stated, dict) or len(stated) != 1:
        return "", []
    values: list[Any] = stated["enum"] if "enum" in stated else [stated.get("const")]
    return key, values if all(isinstance(value, str) for value in values) else []
