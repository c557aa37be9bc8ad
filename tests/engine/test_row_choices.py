"""What a training row takes from a session: no turns of the agent program, and tools."""

from __future__ import annotations

from typing import Any

import pytest

import convcli
from convcli.engine import row_choices
from convcli.model.branches import active
from convcli.model.dialect import ProgramTurns, tags
from convcli.model.document import Rows
from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript
from tests.kit.builders import user

KNOWN = ProgramTurns(tags("note"), "p", {("row", "isMeta"): {True: "meta"}})
ANSWER = Message("assistant", [Text("Yes.")])


def flagged(text: str) -> Message:
    return Message("user", [Text(text)], extras={"p": {"row": {"isMeta": True}}})


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([user("<note>x</note>"), user("Hi."), ANSWER], {0: "programTurn.note"}),
        ([user(" <note>x</note>"), flagged("y"), user("Hi."), ANSWER], {0: "programTurn.note", 1: "programTurn.meta"}),
        ([user("Hi."), ANSWER, user("<note>x</note>")], {2: "programTurn.note"}),
        ([user("About <note>"), ANSWER], {}),
        ([Message("user", [Text("<note>x"), Text("Hi.")]), ANSWER], {(0, 0): "programTurn.note"}),
        ([Message("user", [Text("<note>x")], replaces="all"), ANSWER], {}),
    ],
)
def test_a_turn_of_the_program_is_known_by_how_it_begins_or_by_its_flag(messages: list[Message], expected: Any) -> None:
    assert row_choices.program_turns(Transcript(messages), KNOWN) == expected


def test_an_answer_keeps_the_turn_that_it_answers() -> None:
    command, prompt = user("<note>/init</note>"), flagged("Analyze the code.")
    assert row_choices.program_turns(Transcript([command, prompt, ANSWER]), KNOWN) == {0: "programTurn.note"}
    assert row_choices.program_turns(Transcript([command, ANSWER]), KNOWN) == {}


def test_a_session_of_nothing_else_stays_as_it_is() -> None:
    assert row_choices.program_turns(Transcript([user("<note>x"), Message("event", [])]), KNOWN) == {}


def test_a_message_follows_the_one_before_a_dropped_turn() -> None:
    first, note = Message("user", [Text("Hi.")], id="1"), Message("user", [Text("<note>")], id="2", parent_id="1")
    last = Message("assistant", [], id="3", parent_id="2")
    kept = row_choices.without(Transcript([first, note, last], head="3"), {1: "programTurn.note"})
    assert [(one.id, one.parent_id) for one in kept.messages] == [("1", None), ("3", "1")]


def test_dropped_turns_that_are_parents_of_each_other_are_nobodys_parents() -> None:
    """Such a circle is in no session that a program writes, but in damaged ones."""
    notes = [Message("user", [Text("<note>")], id=id_, parent_id=parent) for id_, parent in (("1", "2"), ("2", "1"))]
    last = Message("user", [Text("Hi.")], id="3", parent_id="2")
    kept = row_choices.without(Transcript([*notes, last], head="2"), dict.fromkeys((0, 1), "programTurn.note"))
    assert [(one.id, one.parent_id) for one in kept.messages] == [("3", None)]
    assert kept.head is None


def test_a_message_without_an_id_stays_on_its_branch_when_the_one_before_it_is_dropped() -> None:
    first, other = Message("user", [Text("Hi.")], id="1"), Message("user", [Text("<note>")], id="2", parent_id="1")
    last = Message("assistant", [Text("Ho.")], id="4", parent_id="1")
    messages = [first, last, other, Message("user", [Text("Gone.")])]
    kept = row_choices.without(Transcript(messages, head="4"), {2: "programTurn.note"})
    assert active(kept) == [first, last]
    kept = row_choices.without(Transcript(messages, head="2"), {2: "programTurn.note"})
    assert [message.parts for message in active(kept)] == [[Text("Hi.")], [Text("Gone.")]]
    assert kept.head == "2"


# ---------------------------------------------------------------- the whole conversion


def session(*turns: tuple[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for i, (role, content) in enumerate(turns):
        parent = str(i - 1) if i else None
        row = {
            "type": role,
            "uuid": str(i),
            "parentUuid": parent,
            "sessionId": "s",
            "timestamp": "2026-01-01T00:00:00Z",
        }
        rows.append({**row, "message": {"role": role, "content": content}})
    return rows


CALL = {"type": "tool_use", "id": "toolu_1", "name": "Grep", "input": {"pattern": "x", "-n": True}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "none"}
SESSION = session(
    ("user", "<command-name>/clear</command-name>"),
    ("user", "Find x."),
    ("assistant", [CALL]),
    ("user", [RESULT]),
    ("assistant", [{"type": "text", "text": "Nothing."}]),
)


@pytest.mark.parametrize(
    ("target", "choice", "count"),
    [("hf-chat", None, 4), ("hf-chat", "keep", 5), ("openai-chat", None, 5), ("openai-chat", "drop", 4)],
)
def test_training_rows_lack_turns_of_the_program_by_default(target: str, choice: Any, count: int) -> None:
    conversion = convcli.convert(SESSION, target, program_turns=choice)
    assert len(conversion.document["messages"]) == count
    dropped = [(loss.kind, loss.where, loss.level) for loss in conversion.losses if "programTurn" in loss.field]
    assert dropped == ([("dropped", "/0", "content")] if count == 4 else [])


def test_a_row_states_the_tools_that_its_calls_show() -> None:
    conversion = convcli.convert(SESSION, "hf-chat")
    properties = {"pattern": {"type": "string"}, "-n": {"type": "boolean"}}
    parameters = {"type": "object", "properties": properties, "required": ["pattern", "-n"]}
    assert [tool["function"] for tool in conversion.document["tools"]] == [
        {"name": "Grep", "description": "", "parameters": parameters}
    ]
    invented = [(loss.level, loss.why) for loss in conversion.losses if loss.field == "tool"]
    assert invented == [("context", row_choices.INVENTED_TOOL)]


def test_the_table_of_a_program_knows_more_than_the_calls() -> None:
    document = convcli.convert(SESSION, "hf-chat", tools="program").document
    assert "output_mode" in document["tools"][0]["function"]["parameters"]["properties"]
    assert "tools" not in convcli.convert(SESSION, "hf-chat", tools="none").document


CODEX = [
    {"type": type_, "timestamp": "2026-01-01T00:00:00Z", "payload": payload}
    for type_, payload in (
        (
            "session_meta",
            {
                "id": "s",
                "cli_version": "0.169.0",
                "cwd": "/x",
                "dynamic_tools": [{"name": "Read", "description": "Reads.", "inputSchema": {"type": "object"}}],
            },
        ),
        (
            "response_item",
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Find x."}]},
        ),
        *(
            ("response_item", {"type": "function_call", "call_id": id_, "name": name, "arguments": '{"path": "a"}'})
            for id_, name in (("c1", "Read"), ("c2", "Grep"))
        ),
    )
]
"""A session that defines one of the two tools that it calls."""


def test_a_session_with_some_definitions_gets_those_of_the_other_tools_that_it_calls() -> None:
    conversion = convcli.convert(Rows(CODEX), "hf-chat")
    read, grep = (tool["function"] for tool in conversion.document["tools"])
    assert (read["name"], read["description"], grep["name"]) == ("Read", "Reads.", "Grep")
    assert grep["parameters"]["required"] == ["path"]
    invented = [(loss.kind, loss.why) for loss in conversion.losses if loss.field == "tool"]
    assert invented == [("invented", row_choices.INVENTED_TOOL)]
    [only] = convcli.convert(Rows(CODEX), "hf-chat", tools="none").document["tools"]
    assert only["function"]["name"] == "Read"


def test_only_sessions_of_agent_programs_get_tools() -> None:
    request = convcli.convert(SESSION, "openai-chat").document
    assert "tools" not in request
    assert "tools" not in convcli.convert(request, "hf-chat", source="openai-chat").document


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([{"a": 1}, {"a": "x"}], {"properties": {"a": {"type": ["integer", "string"]}}, "required": ["a"]}),
        ([{"a": [1]}, {}], {"properties": {"a": {"type": "array", "items": {}}}}),
    ],
)
def test_a_definition_has_the_types_of_all_calls(values: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    calls = [ToolCall(str(i), "f", arguments) for i, arguments in enumerate(values)]
    tool = row_choices.seen_in("f", calls)
    assert (tool.description, tool.parameters) == ("", {"type": "object", **expected})


def test_a_failed_result_stays_the_text_that_the_model_read() -> None:
    failed = {**RESULT, "content": "Exit code 1", "is_error": True}
    conversion = convcli.convert(session(("user", "Go."), ("assistant", [CALL]), ("user", [failed])), "hf-chat")
    assert conversion.document["messages"][2]["content"] == "Exit code 1"
    assert isinstance(conversion.transcript.messages[2].parts[0], ToolResult)
    assert [(loss.kind, loss.level) for loss in conversion.losses if loss.field == "tool_result.kind"] == [
        ("changed", "context")
    ]
