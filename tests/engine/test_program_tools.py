"""The table of tools of agent programs."""

from __future__ import annotations

from convcli import dialects
from convcli.engine import program_tools


def test_the_table_names_programs_of_sessions_with_a_source_for_each_tool() -> None:
    for entry in program_tools.table()["programs"]:
        assert dialects.get(entry).is_session
        for tool in program_tools.table()["programs"][entry]:
            assert tool["source"]
            assert tool["version"]
            assert tool["parameters"]["type"] == "object"


def test_a_program_without_an_entry_has_no_tools() -> None:
    assert program_tools.definitions_of("goose") == {}
