from __future__ import annotations

from typing import Any

import pytest

from convcli.kit.calls import CallTable, arguments_of
from convcli.kit.contexts import LiftContext
from convcli.model.transcript import ToolCall

OWNER = "example"
FLAT = CallTable("callId=id type= tool=name input=arguments note", constants={"type": "call"}, defaults={"by": "model"})
INSIDE = CallTable("id=id function/name=name function/arguments=arguments function/strict", form="json")
FREE = CallTable("id=id name=name text=arguments", form="free")


def both(table: CallTable, native: dict[str, Any]) -> tuple[ToolCall, dict[str, Any]]:
    call = table.lift(native, LiftContext(OWNER, None))
    return call, table.write(call, OWNER)


@pytest.mark.parametrize(
    ("table", "native"),
    [
        (FLAT, {"callId": "a", "type": "call", "tool": "f", "input": {"x": 1}}),
        (FLAT, {"callId": "a", "type": "call", "tool": "f", "input": "no JSON", "note": "n", "by": "user", "odd": [1]}),
        (INSIDE, {"id": "a", "function": {"name": "f", "arguments": '{"x":1}'}}),
        (INSIDE, {"id": "a", "function": {"name": "f", "arguments": '{"x":', "strict": True, "odd": 1}, "more": 2}),
        (FREE, {"id": "a", "name": "f", "text": '{"x":1}'}),
    ],
)
def test_a_call_is_written_as_it_was_read(table: CallTable, native: dict[str, Any]) -> None:
    call, written = both(table, native)
    assert (call.id, call.name) == ("a", "f")
    assert written == native
    assert list(written) == list(native)


def test_constants_defaults_and_blank_keys_are_no_extras() -> None:
    call, written = both(FLAT, {"tool": "f", "by": "model", "note": ""})
    assert call == ToolCall("call_1", "f", {})
    assert written == {"callId": "call_1", "type": "call", "tool": "f", "input": {}}


def test_the_keys_of_the_object_inside_are_extras_under_its_name() -> None:
    call, _ = both(INSIDE, {"id": "a", "function": {"name": "f", "arguments": "{}", "strict": True}, "odd": 1})
    assert call.extras == {OWNER: {"odd": 1, "function": {"strict": True}}}


def test_an_empty_string_is_no_arguments_only_where_it_may_be() -> None:
    assert both(INSIDE, {"function": {"name": "f", "arguments": ""}})[0].raw_arguments == ""
    blank = CallTable("name=name arguments=arguments", blank=True)
    assert both(blank, {"name": "f", "arguments": ""})[0].raw_arguments is None


def test_a_free_text_is_the_input_of_a_custom_tool() -> None:
    call, _ = both(FREE, {"id": "a", "name": "f", "text": "x = 1"})
    assert (call.arguments, call.custom) == ({"input": "x = 1"}, True)


def test_the_table_gives_the_places_of_the_fields() -> None:
    assert INSIDE.places == {
        "tool_call.id": ("id",),
        "tool_call.name": ("function", "name"),
        "tool_call.arguments": ("function", "arguments"),
        "tool_call.rawArguments": ("function", "arguments"),
    }
    assert "tool_call.rawArguments" not in CallTable("name=name input=arguments", form="object").places


@pytest.mark.parametrize(
    ("native", "arguments"),
    [(None, ({}, None)), ({"x": 1}, ({"x": 1}, None)), ('{"x": 1}', ({"x": 1}, None)), ([1], ({}, "[1]"))],
)
def test_arguments_are_read_in_any_form(native: Any, arguments: tuple[Any, Any]) -> None:
    assert arguments_of(native) == arguments
