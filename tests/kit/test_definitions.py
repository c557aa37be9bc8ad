"""Definitions of tools that are one object."""

from __future__ import annotations

from convcli.kit.contexts import LiftContext
from convcli.kit.definitions import Definitions, described, kept_whole, whole_of
from convcli.model.transcript import ToolDefinition, Transcript

TOOLS = Definitions(
    "type= name=name scope description=description schema=parameters strict=strict", {"description": ""}
)


def test_a_definition_comes_back_with_its_other_keys() -> None:
    native = {"name": "f", "scope": "s", "description": "d", "schema": {}, "new": 1}
    tool = TOOLS.lift(native, "own")
    assert tool == ToolDefinition("f", "d", {}, extras={"own": {"scope": "s", "new": 1}})
    assert TOOLS.write(tool, "own") == native
    assert list(TOOLS.write(tool, "own")) == list(native)


def test_an_empty_description_is_none_and_is_written() -> None:
    assert TOOLS.lift({"name": "f", "description": ""}, "own") == ToolDefinition("f")
    assert TOOLS.write(ToolDefinition("f"), "own", type="t") == {"type": "t", "name": "f", "description": ""}
    fitted = described(Transcript([], tools=[ToolDefinition("f", ""), ToolDefinition("g", "d")])).tools
    assert fitted == [ToolDefinition("f"), ToolDefinition("g", "d")]


def test_a_schema_that_is_no_object_is_an_extra_and_not_being_strict_is_the_default() -> None:
    tool = TOOLS.lift({"name": "f", "schema": "any", "strict": False}, "own")
    assert tool == ToolDefinition("f", extras={"own": {"schema": "any"}})
    assert TOOLS.write(tool, "own") == {"name": "f", "description": "", "schema": "any"}


def test_the_definitions_of_a_list_have_their_paths() -> None:
    context = LiftContext("own", None)
    assert TOOLS.lift_each([{"name": "f"}, {"name": "g"}], ("tools",), context)[1] == ToolDefinition("g")
    assert context.origin.tools == [("tools", 0), ("tools", 1)]


def test_a_tool_that_is_no_function_is_kept_whole() -> None:
    native = {"type": "search", "limit": 3}
    tool = kept_whole("search", native, "own")
    assert whole_of(tool, "own") == native
    assert whole_of(tool, "other") is None
    assert whole_of(TOOLS.lift({"name": "f", "schema": {}, "tool": 1}, "own"), "own") is None
