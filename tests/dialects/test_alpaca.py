"""Alpaca rows: an instruction with its input, earlier turns, and text only."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.alpaca import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolResult, Transcript


def written(*messages: Message, **options: Any) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT, Options(**options))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def text_of_turns(transcript: Transcript) -> list[tuple[str, str]]:
    return [(one.role, "".join(part.text for part in one.parts)) for one in transcript.messages]  # type: ignore[union-attr]


def test_the_input_is_on_a_line_after_the_instruction() -> None:
    row = {"instruction": "Translate.", "input": "the sky", "output": "der Himmel"}
    assert text_of_turns(DIALECT.lift(row)) == [("user", "Translate.\nthe sky"), ("assistant", "der Himmel")]
    assert detection.detect(row).dialect == "alpaca"


def test_the_history_and_the_system_text_precede_the_instruction() -> None:
    row = {"instruction": "Sure?", "input": "", "output": "Yes.", "system": "Be brief.", "history": [["Sky?", "Blue."]]}
    assert [role for role, _ in text_of_turns(DIALECT.lift(row))] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert pipeline.lower(DIALECT.lift(row), DIALECT).document == row


def test_an_empty_text_is_no_turn() -> None:
    assert text_of_turns(DIALECT.lift({"instruction": "", "input": "", "output": "Hello.", "history": [["", ""]]})) == [
        ("assistant", "Hello.")
    ]


def test_a_pair_has_two_outputs() -> None:
    row = {"instruction": "Sky?", "input": "", "chosen": "Blue.", "rejected": "Green."}
    transcript = DIALECT.lift(row)
    assert [(one.label, one.parent_id) for one in transcript.messages] == [
        (None, None),
        ("chosen", "message_1"),
        ("rejected", "message_1"),
    ]
    assert pipeline.lower(transcript, DIALECT).document == row
    for name in ("hf-chat", "openai-ft"):
        there = pipeline.convert(row, DIALECT, dialects.get(name))
        assert there.losses == []
        assert pipeline.convert(there.document, dialects.get(name), DIALECT).document == row


@pytest.mark.parametrize(("tag", "label"), [(True, "chosen"), (False, "rejected")])
def test_a_kto_tag_is_the_label_of_the_output(tag: bool, label: str) -> None:
    row = {"instruction": "Sky?", "input": "", "output": "Blue.", "kto_tag": tag}
    assert DIALECT.lift(row).messages[-1].label == label
    assert pipeline.lower(DIALECT.lift(row), DIALECT).document == row


def test_calls_and_reasoning_are_lost_and_turns_of_one_role_are_joined() -> None:
    row, losses = written(
        Message("user", [Text("Go.")]),
        Message("assistant", [Reasoning("Hm."), Text("I look."), ToolCall("a", "f", {"n": 1})]),
        Message("tool", [ToolResult("a", "f", "text", "2")]),
        Message("assistant", [Text("Two.")]),
    )
    assert row == {"instruction": "Go.", "input": "", "output": "I look.\n\nTwo."}
    assert {"dropped tool_call", "dropped tool_result", "dropped reasoning"} <= losses


def test_an_output_without_an_answer_teaches_nothing() -> None:
    conversion = pipeline.lower(Transcript([Message("user", [Text("Sky?")])]), DIALECT)
    assert conversion.document == {"instruction": "Sky?", "input": "", "output": ""}
    assert [finding.code for finding in conversion.findings] == ["nothing-to-train"]


def test_the_other_answer_is_left_out_of_a_row_with_one_output() -> None:
    row = {"instruction": "Sky?", "chosen": "Blue.", "rejected": "Green.", "output": "Grey."}
    again = pipeline.convert(row, DIALECT, DIALECT, Options(form="instruction"))
    assert again.document == {"instruction": "Sky?", "input": "", "output": "Blue.", "kto_tag": True}
