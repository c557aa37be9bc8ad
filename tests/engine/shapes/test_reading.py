"""Equal shapes are those of documents that differ in nothing but free values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from convcli.engine.shapes.reading import LARGEST, Format, Place, filled, read
from convcli.engine.shapes.values import UnreadableError

FORM = Format(frozenset(("messages", "model")))


def chat(*items: Any, **other_keys: Any) -> dict[str, Any]:
    return {**other_keys, "messages": [*items]}


def asked(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def calls(*ids: str, names: Sequence[str] = "fg", arguments: Any = '{"a":1}') -> dict[str, Any]:
    each = zip(ids, names, strict=False)
    functions = [{"id": id_, "function": {"name": name, "arguments": arguments}} for id_, name in each]
    return {"role": "assistant", "content": None, "tool_calls": functions}


def result(id_: str, text: str = "1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": text}


def defined(name: str, description: str = "Some.") -> dict[str, Any]:
    return {"name": name, "description": description, "parameters": {"type": "object"}}


ALIKE = [
    (chat(asked("Hi.")), chat(asked("Why?\n<b>"))),
    (chat(asked("Hi."), id="a", score=1.5), chat(asked("Why?"), id="b", score=-2.0)),
    (chat(calls("call_1"), result("call_1")), chat(calls("call_abc"), result("call_abc", "2"))),
    (chat(calls("a", "b"), result("b"), result("a")), chat(calls("x", "y"), result("y"), result("x"))),
    (chat(calls("a", arguments='{"a":1}')), chat(calls("b", arguments='{"b": [2.5, {}]}'))),
    (chat(calls("a", arguments={"a": 1})), chat(calls("b", arguments={"b": "x"}))),
    (chat(calls("a", names="f"), asked("Hi.")), chat(calls("a", names=["read_file"]), asked("Hi."))),
    (chat(calls("a", "b", names="ff")), chat(calls("a", "b", names="gg"))),
    (chat(calls("a", names="f"), tools=[defined("f")]), chat(calls("a", names="g"), tools=[defined("g", "More.")])),
    (chat(asked([{"input": {"a": 1}}])), chat(asked([{"input": {"b": 2}}]))),
]
DIFFERENT = [
    (chat(calls("a", "b", names="ff")), chat(calls("a", "b", names="fg"))),
    (chat(calls("a", names="f"), tools=[defined("f")]), chat(calls("a", names="g"), tools=[defined("f")])),
    (chat(calls("a", names="f")), chat(calls("a", names=["a-b"]))),
    (chat(calls("a", names=["a-b"])), chat(calls("a", names=["a-c"]))),
    (chat(calls("a", names="f")), chat(calls("a", names=["x" * 41]))),
    (chat(asked("Hi.")), chat(asked(""))),
    (chat(asked("Hi.")), chat(asked(" \n"))),
    (chat(asked("Hi.")), chat({"content": "Hi.", "role": "user"})),
    (chat(asked("Hi.")), chat({"role": "system", "content": "Hi."})),
    (chat(asked("Hi.", weight=1)), chat(asked("Hi.", weight=1.0))),
    (chat(asked("Hi.", weight=1)), chat(asked("Hi.", weight=True))),
    (chat(asked("Hi."), model="a"), chat(asked("Hi."), model="b")),
    (chat(asked("Hi."), score=1), chat(asked("Hi."), score=1.0)),
    (chat(asked("Hi."), id="a"), chat(asked("Hi."), id=1)),
    (chat(calls("call_1")), chat(calls("toolu_1"))),
    (chat(calls("123456789")), chat(calls("1234567890"))),
    (chat(calls("a", "b")), chat(calls("a", "a"))),
    (chat(calls("a", "b")), chat(calls("a", "b", names="ff"))),
    (chat(calls("a", "b"), result("a"), result("b")), chat(calls("a", "b"), result("b"), result("a"))),
    (chat(calls("a"), result("a")), chat(calls("a"), result("b"))),
    (chat(calls("a", arguments='{"a":1}')), chat(calls("a", arguments={}))),
    (chat(calls("a", arguments='{"a":1}')), chat(calls("a", arguments={"a": 1}))),
    (chat(asked("Hi.", stop=["a"])), chat(asked("Hi.", stop=[{"stop": "a"}]))),
    (chat(asked(["a"])), chat(asked([{"content": "a"}]))),
]
UNREADABLE = [
    chat(calls("a", arguments="{")), chat(calls("a", arguments='{"a":null}')), chat(calls("a", arguments={"a": None})),
    chat(calls("a", arguments="[1]")), chat(calls("a", arguments="{}")), chat(calls("a b")), chat(calls("")),
    chat(asked("Hi.", note="x" * 100)), chat(asked([{"type": "a"}] * LARGEST)), chat(asked(" " * 100)),
    chat(asked("Hi.", nodes={"1": {"id": "1"}})),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_differs_in_free_values_has_one_shape(one: Any, other: Any) -> None:
    (shape, values), (same, others) = read(one, FORM), read(other, FORM)
    assert shape == same
    assert values != others


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_in_anything_else_has_another_shape(one: Any, other: Any) -> None:
    assert read(one, FORM)[0] != read(other, FORM)[0]


@pytest.mark.parametrize("document", UNREADABLE)
def test_a_value_that_is_not_plain_leads_to_no_shape(document: Any) -> None:
    with pytest.raises(UnreadableError):
        read(document, FORM)


@pytest.mark.parametrize("document", [one for pair in (*ALIKE, *DIFFERENT) for one in pair])
def test_the_free_values_are_asked_for_in_the_order_in_which_they_are_read(document: Any) -> None:
    asked_for = list[Any]()

    def same(kind: int, old: Any, place: Place) -> Any:
        asked_for.append(old)
        return old

    again = filled(document, FORM, same)
    assert read(again, FORM) == read(document, FORM)
    assert asked_for == read(document, FORM)[1]


def test_of_an_output_every_value_is_kept() -> None:
    values = read(chat(calls("a", "b"), result("a"), result("b")), Format(FORM.named, is_output=True))[1]
    assert values == ["a", "f", '{"a":1}', "b", "g", '{"a":1}', "a", "1", "b", "1"]


def test_a_text_with_tags_is_free_only_where_nobody_looks_for_them() -> None:
    document = chat(asked("<b>Hi.</b>"))
    assert read(document, FORM)[1] == ["<b>Hi.</b>"]
    with pytest.raises(UnreadableError):
        read(document, Format(FORM.named, without_tags=True))


@pytest.mark.parametrize("text", ['{"a": 1}', " [1]", "```json\n{}\n```"])
def test_a_text_that_may_be_json_is_free_only_where_nobody_looks_into_it(text: str) -> None:
    for document in (chat(asked(text)), {**chat(asked("a")), "note": text}):
        assert text in read(document, FORM)[1]
        with pytest.raises(UnreadableError):
            read(document, Format(FORM.named, without_json=True))


def test_formats_become_stricter_until_texts_with_tags_and_json_are_both_excluded() -> None:
    forms = [FORM]
    while (form := forms[-1].stricter()) is not None:
        forms.append(form)
    excluded = [(form.without_tags, form.without_json) for form in forms]
    assert excluded == [(False, False), (True, False), (False, True), (True, True)]
