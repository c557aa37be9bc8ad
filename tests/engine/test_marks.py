"""Marks: each step and each test of the language, and the names that find a mark."""

from __future__ import annotations

import re
from typing import Any

import pytest

from convcli.engine.marks import TYPES, holds, names_in, names_of
from convcli.model.document import Rows


def smallest(mark: str) -> dict[str, Any]:
    """The smallest object with this mark, of which no step is a group, optional or one of several keys."""
    made: dict[str, Any] = {}
    for piece in mark.split():
        if not piece.startswith("!"):
            path, sign, asked = re.match(r"([^=^:]*)([=^:]?)(.*)", piece).groups()  # type: ignore[union-attr]
            values = {"": "x", ":": {"str": "", "list": [], "dict": {}}.get(asked)}
            put(made, path.split("/"), values.get(sign, asked.split("|")[0]))
    return made


def put(into: Any, path: list[str], value: Any) -> None:
    key, *rest = path
    if rest[:1] == ["*"]:
        items = into.setdefault(key, [{}])
        put(items[0], rest[1:], value)
    elif rest:
        put(into.setdefault(key, {}), rest, value)
    else:
        into[key] = value


@pytest.mark.parametrize(
    ("mark", "held", "not_held"),
    [
        ("a", {"a": None}, {"b": 1}),
        ("a|b", {"b": 1}, {"c": 1}),
        ("a/b", {"a": {"b": 1}}, {"a": [{"b": 1}]}),
        ("a?/b", {"b": 1}, {"a": {"c": 1}, "b": 1}),
        ("a?/*/b", [{"b": 1}], {"a": {"b": 1}}),
        ("a/*/b", {"a": [0, {"b": 1}]}, {"a": {"c": {"b": 1}}}),
        ("+/a", [{"a": 1}, {"a": 1}], [{"a": 1}, "x"]),
        ("+/a", [{"a": 1}], []),
        ("0/a", [{"a": 1}, {}], [{}, {"a": 1}]),
        ("-1/a", [{}, {"a": 1}], [{"a": 1}, {}]),
        ("@/a", {"k": {"a": 1}}, [{"a": 1}]),
        ("a=x|1", {"a": 1}, {"a": "1y"}),
        ("a=x|1", {"a": "x"}, {"a": True}),
        ("a^x|y", {"a": "yes"}, {"a": 1}),
        ("a~^x.z$", {"a": "xyz"}, {"a": "axyz"}),
        ("a:str|list", {"a": []}, {"a": {}}),
        ("a:set", {"a": 0}, {"a": None}),
        ("*/a :rows", Rows([{"a": 1}]), [{"a": 1}]),
        ("a<b|c", {"a": {"b": 1}}, {"a": {"d": None}}),
        ("a<<b|c", {"a": {"b": 1, "d": None}}, {"a": {"d": 1}}),
        ("*(a b=x)", [{"a": 1, "b": "x"}], [{"a": 1}, {"b": "x"}]),
        ("*(a !b)", [{"a": 1}], [{"a": 1, "b": 1}]),
        ("!*(!a)", ["x", {"a": 1}], [{"b": 1}]),
        ("a !(b c)", {"a": 1, "b": 1}, {"a": 1, "b": 1, "c": 1}),
    ],
)
def test_a_mark_holds_for_what_it_states(mark: str, held: Any, not_held: Any) -> None:
    assert holds(mark)(held) is not False
    assert holds(mark)(not_held) is False


def test_a_mark_returns_the_key_or_the_string_that_meets_its_first_condition() -> None:
    assert [holds("a|b:set")(value) for value in ({"b": 1}, {"a": 1, "b": 1})] == ["b", "a"]
    assert holds("*/type^response.")([{"type": "x"}, {"type": "response.created"}]) == "response.created"


@pytest.mark.parametrize(
    ("mark", "names"),
    [
        ("a|b c", ["a", "b"]),
        ("*(type=x|y role)", ["type:x", "type:y"]),
        ("messages?/*/role=tool", ["role:tool"]),
        ("messages/0/message", ["message"]),
        ("messages:list", ["messages"]),
        ("messages/*/content/*(type=image a)", ["content/type:image"]),
        ("messages?/*/content/a|b", ["content/a", "content/b"]),
        ("history/*/role=model", ["history"]),
        ("a?/messages?/*/b?/tool_calls/*/id", ["a", "b", "tool_calls/id"]),
    ],
)
def test_the_first_condition_of_a_mark_names_what_a_document_must_have(mark: str, names: list[str]) -> None:
    assert list(names_of(mark)) == names


def test_the_names_of_a_document_are_its_keys_and_those_of_its_items_and_messages() -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "Hi."}], "tool_calls": [{"id": "c"}]}
    stated = {"role", "role:user", "content", "content/type", "content/type:text", "content/text", "tool_calls"}
    assert names_in([message]) == stated | {"tool_calls/id"}
    assert names_in({"messages": [message]}) == stated | {"tool_calls/id", "messages"}


def test_a_type_is_true_or_false_for_any_value() -> None:
    values = [None, True, 1, 1.5, "", "X", [], Rows([]), {}, 10**12]
    assert all(test(value) in (True, False) for test in TYPES.values() for value in values)
