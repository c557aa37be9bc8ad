"""Rewrites a schema so that a validator tries fewer of its cases; it accepts the same documents."""

from __future__ import annotations

from typing import Any

VALUES = ("const", "enum", "default", "examples")
"""Keywords with JSON values instead of schemas."""


def with_chained_cases(node: Any) -> Any:
    """Returns the schema with the cases of each key in `allOf` (`if` the key has one of these values, `then` …) as one
    chain of `else`: of cases that exclude each other, those after the one that applies need not be tried."""
    if isinstance(node, list):
        return [with_chained_cases(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: value if key in VALUES else with_chained_cases(value) for key, value in node.items()}
    if isinstance(node.get("allOf"), list):
        node["allOf"] = _chained(node["allOf"])
    return node


def _chained(members: list[Any]) -> list[Any]:
    """Returns the members of an `allOf`, with a chain in place of the cases of each key that exclude each other."""
    others: list[Any] = []
    chains: dict[str, tuple[set[str], list[Any]]] = {}
    for member in members:
        key, values = _case_of(member)
        known, cases = chains.setdefault(key, (set(), []))
        if not values or not known.isdisjoint(values):
            others.append(member)
            continue
        known |= values
        cases.append(member)
    return others + [_chain(cases) if len(cases) > 1 else cases[0] for _, cases in chains.values() if cases]


def _chain(cases: list[Any]) -> Any:
    *first, chain = cases
    for case in reversed(first):
        chain = {**case, "else": chain}
    return {"if": {"type": "object"}, "then": chain, "else": {"allOf": cases}}  # all cases apply to any other value


def _case_of(member: Any) -> tuple[str, set[str]]:
    """Returns the key and the values of a case; no values for any other schema."""
    if not isinstance(member, dict) or member.keys() != {"if", "then"} or not isinstance(member["if"], dict):
        return "", set()
    properties: dict[str, Any] = member["if"].get("properties", {})
    if member["if"].keys() != {"required", "properties"} or len(properties) != 1:
        return "", set()
    ((key, stated),) = properties.items()
    if member["if"]["required"] != [key] or not isinstance(stated, dict) or len(stated) != 1:
        return "", set()
    values = stated["enum"] if "enum" in stated else [stated.get("const")]
    return key, set(values) if all(isinstance(value, str) for value in values) else set()
