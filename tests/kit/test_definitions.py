"""Definitions of tools that are one object."""

from __future__ import annotations

from convcli.kit.definitions import Definitions, described
from convcli.kit.objects import Keys
from convcli.model.transcript import ToolDefinition, Transcript

TOOLS = Definitions("own", Keys("name= scope description= schema="), "schema")


def test_a_definition_comes_back_with_its_other_keys() -> None:
    native = {"name": "f", "scope": "s", "description": "d", "schema": {}, "new": 1}
    tool = TOOLS.lift(native)
    assert tool == ToolDefinition("f", "d", {}, extras={"own": {"scope": "s", "new": 1}})
    assert TOOLS.write(tool) == native
    assert list(TOOLS.write(tool)) == list(native)


def test_an_empty_description_is_none_and_is_written() -> None:
    assert TOOLS.lift({"name": "f", "description": ""}) == ToolDefinition("f")
    assert TOOLS.write(ToolDefinition("f")) == {"name": "f", "description": ""}
    fitted = described(Transcript([], tools=[ToolDefinition("f", ""), ToolDefinition("g", "d")])).tools
    assert fitted == [ToolDefinition("f"), ToolDefinition("g", "d")]
