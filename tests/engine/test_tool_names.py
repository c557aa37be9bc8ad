"""Tools of agent programs by the names of others: a call is renamed if every argument fits. Nothing else changes."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import pytest
from msgspec.structs import replace

import convcli
from convcli import dialects
from convcli.engine import tool_names
from convcli.engine.tool_names import Tool, programs, renamed, tools_of
from convcli.jobs import programs as of_machine
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError
from convcli.model.transcript import Message, Text, ToolCall, ToolDefinition, ToolResult, Transcript
from convcli.proof.reasons import SET

VALUES = {"string": "x", "number": 7, "boolean": True}
CLAUDE, CODEX = dialects.get("claude-code"), dialects.get("codex")


def source_of(program: str) -> Dialect:
    return of_machine.dialect_of(program)


def transcript_of(*calls: ToolCall) -> Transcript:
    results = [Message("tool", [ToolResult(call.id, call.name, "text", "Done.")]) for call in calls]
    return Transcript([Message("user", [Text("Hi.")]), Message("assistant", [*calls]), *results])


def calls_of(tool: Tool) -> list[ToolCall]:
    """Returns a call for every set of arguments that the tool takes."""
    others = sorted(tool.keys.keys() - tool.required)
    chosen = chain.from_iterable(combinations(others, size) for size in range(len(others) + 1))
    types = tool_names.table()["types"]
    return [
        ToolCall(f"c{number}", tool.name, {tool.keys[field]: VALUES[types[field]] for field in (*tool.required, *some)})
        for number, some in enumerate(chosen)
    ]


PAIRS = [(one, other) for one in programs() for other in programs()]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_there_and_back_gives_the_original_where_a_program_has_one_tool_for_it(one: str, other: str) -> None:
    """The law of the table. A tool of an older version comes back as the new one."""
    for tool in tools_of(one):
        before = transcript_of(*calls_of(tool))
        there = renamed(before, source_of(one), other)
        back = renamed(there, source_of(other), one)
        names = {call.name for call in there.messages[1].parts if isinstance(call, ToolCall)}
        if not tool.is_old and there is not before and tool.name not in names:
            assert back == before


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_only_names_and_arguments_change(one: str, other: str) -> None:
    for tool in tools_of(one):
        before = transcript_of(*calls_of(tool))
        after = renamed(before, source_of(one), other)
        assert bare(after) == bare(before)
        calls, results = after.messages[1].parts, [message.parts[0] for message in after.messages[2:]]
        assert [part.name for part in calls] == [part.name for part in results]  # type: ignore[union-attr]
        for call, old in zip(calls, before.messages[1].parts, strict=True):
            assert isinstance(call, ToolCall)
            assert isinstance(old, ToolCall)
            assert sorted(map(str, call.arguments.values())) == sorted(map(str, old.arguments.values()))


def bare(transcript: Transcript) -> Transcript:
    """Returns the transcript without what may differ."""
    kept = [
        replace(
            message,
            parts=[
                replace(part, name="", arguments={})
                if isinstance(part, ToolCall)
                else replace(part, name="")
                if isinstance(part, ToolResult)
                else part
                for part in message.parts
            ],
        )
        for message in transcript.messages
    ]
    return replace(transcript, messages=kept)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("Bash", {"command": "ls"}, ("exec_command", {"cmd": "ls"})),
        ("Bash", {"command": "ls", "description": "Lists."}, None),  # Codex has no such argument
        ("Bash", {"command": "ls", "timeout": 5}, None),
        ("Bash", {"command": ["ls"]}, None),
        ("Bash", {}, None),
        ("Read", {"file_path": "/x"}, None),  # Codex has no such tool
        ("bash", {"command": "ls"}, None),
    ],
)
def test_a_call_is_renamed_only_if_every_argument_fits(name: str, arguments: Any, expected: Any) -> None:
    call = ToolCall("c", name, arguments)
    (part,) = renamed(transcript_of(call), CLAUDE, "codex").messages[1].parts
    assert isinstance(part, ToolCall)
    assert (part.name, part.arguments) == (expected or (name, arguments))


def test_a_tool_is_renamed_only_if_the_other_gets_all_that_it_requires() -> None:
    calls = [
        ToolCall("a", "Bash", {"command": "ls"}),
        ToolCall("b", "Bash", {"command": "ls", "description": "Lists."}),
    ]
    after = renamed(transcript_of(*calls), CLAUDE, "opencode")
    assert [part.name for part in after.messages[1].parts] == ["Bash", "bash"]  # type: ignore[union-attr]
    assert [message.parts[0].name for message in after.messages[2:]] == ["Bash", "bash"]  # type: ignore[union-attr]


def test_all_tools_of_claude_code_with_a_counterpart_are_renamed() -> None:
    calls = [
        ToolCall("a", "Read", {"file_path": "/x"}),
        ToolCall("b", "Write", {"file_path": "/x", "content": "y"}),
        ToolCall("c", "Edit", {"file_path": "/x", "old_string": "y", "new_string": "z", "replace_all": True}),
        ToolCall("d", "Grep", {"pattern": "x", "glob": "*.py"}),
    ]
    names = {
        "opencode": ["read", "write", "edit", "grep"],
        "pi": ["read", "write", "Edit", "Grep"],
        "droid": ["Read", "Create", "Edit", "Grep"],
        "gemini-cli": ["read_file", "write_file", "Edit", "Grep"],
    }
    for program, expected in names.items():
        after = renamed(transcript_of(*calls), CLAUDE, program)
        assert [part.name for part in after.messages[1].parts] == expected  # type: ignore[union-attr]


def test_units_are_not_converted() -> None:
    call = ToolCall("a", "Bash", {"command": "ls", "timeout": 5000})
    transcript = transcript_of(call)
    assert renamed(transcript, CLAUDE, "pi") is transcript


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("a", "Bash", {"command": "ls"}, '{"command": "ls", "command": "ls"}'),
        ToolCall("a", "Bash", {"input": "ls"}, custom=True),
    ],
)
def test_raw_arguments_and_free_texts_stay(call: ToolCall) -> None:
    transcript = transcript_of(call)
    assert renamed(transcript, CLAUDE, "codex") is transcript


def test_a_tool_with_a_definition_keeps_its_name() -> None:
    transcript = transcript_of(ToolCall("a", "Bash", {"command": "ls"}))
    defined = replace(transcript, tools=[ToolDefinition("Bash")])
    assert renamed(defined, CLAUDE, "codex") is defined
    assert renamed(transcript, None, "codex") is transcript


def test_only_the_results_of_renamed_calls_get_the_name() -> None:
    calls = [ToolCall("a", "Bash", {"command": "ls"}), ToolCall("b", "Bash", {"command": "ls", "timeout": 5})]
    after = renamed(transcript_of(*calls), CLAUDE, "codex")
    assert [message.parts[0].name for message in after.messages[2:]] == ["exec_command", "Bash"]  # type: ignore[union-attr]


def test_every_renaming_is_reported_as_changed_and_as_chosen() -> None:
    document = CLAUDE.lower(transcript_of(ToolCall("a", "Bash", {"command": "ls"})))
    plain = convcli.convert(document, "openai-chat", source="claude-code").losses
    losses = convcli.convert(document, "openai-chat", source="claude-code", tools_of="codex").losses
    changed = [loss for loss in losses if loss not in plain]
    assert [(loss.kind, loss.field, loss.before, loss.after, loss.why) for loss in changed] == [
        ("changed", "tool_call.name", "Bash", "exec_command", SET),
        ("changed", "tool_call.arguments", {"command": "ls"}, {"cmd": "ls"}, SET),
        ("changed", "tool_result.name", "Bash", "exec_command", SET),
    ]
    assert [loss for loss in plain if loss not in losses] == []


def test_a_session_is_renamed_in_its_own_dialect_and_unchanged_if_nothing_fits() -> None:
    document = CLAUDE.lower(transcript_of(ToolCall("a", "Bash", {"command": "ls"})))
    conversion = convcli.convert(document, "claude-code", source="claude-code", tools_of="codex")
    assert "exec_command" in str(conversion.document)
    assert convcli.convert(document, "claude-code", source="claude-code", tools_of="claude-code").document == document
    assert convcli.convert(document, "openai-chat", source="claude-code", tools_of="none").losses == (
        convcli.convert(document, "openai-chat", source="claude-code").losses
    )


def test_a_training_row_defines_the_renamed_tools() -> None:
    document = CLAUDE.lower(transcript_of(ToolCall("a", "Bash", {"command": "ls"})))
    row = convcli.convert(document, "hf-chat", source="claude-code", tools_of="codex", tools="program").document
    assert [tool["function"]["name"] for tool in row["tools"]] == ["exec_command"]
    assert "workdir" in row["tools"][0]["function"]["parameters"]["properties"]


def test_an_unknown_program_is_an_error() -> None:
    with pytest.raises(JobError) as caught:
        convcli.convert([], "openai-chat", source="openai-chat", tools_of="codx")
    assert (caught.value.code, "codex" in caught.value.help) == ("unknown-program", True)


def test_the_table_is_of_known_programs_with_known_fields_and_a_source() -> None:
    types = tool_names.table()["types"]
    assert set(types.values()) <= tool_names.TYPES.keys()
    for program in programs():
        assert program in of_machine.names()
        for entry in tool_names.table()["programs"][program]:
            assert entry["source"]
            assert entry["arguments"].keys() <= types.keys()
            assert set(entry["required"]) <= entry["arguments"].keys()
            assert len(set(entry["arguments"].values())) == len(entry["arguments"])
        new = [(tool.operation, tool.is_old) for tool in tools_of(program)]
        assert len(new) == len(set(new)), "one tool for each operation is written"
