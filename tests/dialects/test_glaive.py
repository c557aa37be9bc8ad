"""Rows of Glaive: turns in one text, calls whose arguments are in single quotes, and tools after the instruction."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.glaive import DIALECT
from convcli.engine import detection
from convcli.model.transcript import Message, Text, ToolCall, ToolDefinition, ToolResult

NONE = "SYSTEM: You are helpful.\n"


def lifted(chat: str, system: str = NONE) -> Any:
    return DIALECT.lift({"system": system, "chat": chat})


def answer(text: str) -> Message:
    return lifted(f"USER: Hi?\n\n\nASSISTANT: {text} <|endoftext|>\n\n\n").messages[2]


def test_turns_begin_with_their_mark_at_the_beginning_of_a_line() -> None:
    messages = lifted("USER: Who says USER: here?\nMe.\n\n\nASSISTANT: You. <|endoftext|>\n\n\n").messages
    assert [(message.role, message.parts) for message in messages] == [
        ("system", [Text("You are helpful.")]),
        ("user", [Text("Who says USER: here?\nMe.")]),
        ("assistant", [Text("You.")]),
    ]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("""<functioncall> {"name": "f", "arguments": '{"a": 1}'}""", [ToolCall("call_1", "f", {"a": 1})]),
        (
            """<functioncall> {"name": "f", "arguments": '{\n  "a": "it\\'s"\n}'}""",
            [ToolCall("call_1", "f", {"a": "it's"})],
        ),
        ("""<functioncall> {"name": "f", "arguments": {"a": 1}}""", [ToolCall("call_1", "f", {"a": 1})]),
        ("""I call. <functioncall> {"name": "f"}""", [Text("I call."), ToolCall("call_1", "f", {})]),
        ("""<functioncall> {"name": "f", "arguments": '{"a": '}""", [ToolCall("call_1", "f", {}, '{"a": ')]),
        ("<functioncall> f(1)", [Text("<functioncall> f(1)")]),
    ],
)
def test_calls_are_read_with_their_arguments_in_quotes_or_as_an_object(text: str, parts: Any) -> None:
    assert answer(text).parts == parts


def test_a_response_answers_the_call_before_it() -> None:
    call = """<functioncall> {"name": "f", "arguments": '{}'}"""
    messages = lifted(f"USER: Hi?\n\n\nASSISTANT: {call} <|endoftext|>\n\n\nFUNCTION RESPONSE: {{}}\n\n\n").messages
    assert messages[3] == Message("tool", [ToolResult("call_1", "f", "text", "{}")])


def test_tools_follow_the_instruction_one_after_the_other() -> None:
    system = 'SYSTEM: Use them -\n{\n  "name": "f",\n  "description": "F."\n}\n\n{"name": "g", "parameters": {}}\n'
    transcript = lifted("USER: Hi?", system)
    assert transcript.tools == [
        ToolDefinition("f", "F."),
        ToolDefinition("g", None, {"type": "object", "properties": {}}),
    ]
    assert transcript.messages[0] == Message("system", [Text("Use them -")])


@pytest.mark.parametrize("system", ['SYSTEM: Use them -\n{"name": "f"', "SYSTEM: Use {braces}."])
def test_what_is_no_tool_stays_in_the_instruction(system: str) -> None:
    transcript = lifted("USER: Hi?", system)
    assert (transcript.tools, transcript.messages[0].parts) == (None, [Text(system.removeprefix("SYSTEM: "))])


def test_text_before_the_first_mark_is_kept_as_the_users() -> None:
    assert lifted("Hello.\n\n\nASSISTANT: Hi.").messages[1] == Message("user", [Text("Hello.")])


def test_a_row_is_recognised_by_its_texts_and_not_by_its_keys_alone() -> None:
    assert detection.detect({"system": "", "chat": "USER: Hi?"}).dialect == "glaive"
    assert detection.evidence({"system": "Be short.", "chat": "Hi?"}, DIALECT) is None
    assert detection.evidence({"chat": "USER: Hi?"}, DIALECT) is None
