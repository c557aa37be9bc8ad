"""Rows for trainers: what a template would print, and what a row says beside the conversation."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.hf_chat import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Reasoning, Refusal, Text, ToolCall, ToolResult, Transcript

USER, ANSWER = {"role": "user", "content": "Sky?"}, {"role": "assistant", "content": "Blue."}
CALL = Message("assistant", [ToolCall("call_1", "f", {"n": 1})])
RESULT = Message("tool", [ToolResult("call_1", "f", "text", "2")])


def written(*messages: Message, **options: Any) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT, Options(**options))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def test_arguments_are_objects_and_content_beside_calls_is_no_null() -> None:
    row, losses = written(Message("user", [Text("Go.")]), CALL, RESULT)
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": {"n": 1}}}
    assert row["messages"][1] == {"role": "assistant", "content": "", "tool_calls": [call]}
    assert losses == set()


def test_arguments_that_are_no_json_stay_the_text_that_they_are() -> None:
    torn = Message("assistant", [ToolCall("call_1", "f", {}, raw_arguments='{"n": ')])
    assert written(torn)[0]["messages"][0]["tool_calls"][0]["function"]["arguments"] == '{"n": '


@pytest.mark.parametrize("key", ["reasoning_content", "thinking", "reasoning"])
def test_reasoning_is_read_under_each_of_its_names_and_has_its_place(key: str) -> None:
    transcript = DIALECT.lift({"messages": [USER, {**ANSWER, key: "Light scatters."}]})
    assert transcript.messages[1].parts == [Reasoning("Light scatters."), Text("Blue.")]
    losses = pipeline.convert({"messages": [USER, {**ANSWER, key: "x"}]}, DIALECT, dialects.get("openai-chat")).losses
    assert [loss.where for loss in losses if loss.field == "reasoning"] == [f"/messages/1/{key}"]


def test_a_turn_has_one_reasoning_and_it_is_told() -> None:
    row, losses = written(Message("assistant", [Reasoning("a"), Reasoning("b"), Text("c")]))
    assert row["messages"][0]["reasoning_content"] == "a\n\nb"
    assert "changed reasoning.text" in losses


@pytest.mark.parametrize(("flag", "weight"), [(True, 1), (False, 0)])
def test_a_flag_of_training_is_the_weight_of_a_turn(flag: bool, weight: int) -> None:
    row = {"messages": [USER, {**ANSWER, "training": flag}]}
    transcript = DIALECT.lift(row)
    assert transcript.messages[1].weight == weight
    assert pipeline.lower(transcript, DIALECT).document == row


def test_only_turns_of_the_assistant_count_or_not() -> None:
    row, losses = written(Message("user", [Text("Hi.")], weight=1), Message("assistant", [Text("Hm.")], weight=0.5))
    assert all("training" not in message for message in row["messages"])
    assert losses == {"dropped message.weight"}


@pytest.mark.parametrize(("label", "name"), [(True, "chosen"), (False, "rejected")])
def test_the_label_of_a_completion_is_that_of_its_last_turn(label: bool, name: str) -> None:
    row = {"prompt": [USER], "completion": [ANSWER], "label": label}
    transcript = DIALECT.lift(row)
    assert [message.label for message in transcript.messages] == [None, name]
    assert pipeline.lower(transcript, DIALECT).document == row


def test_the_completion_of_a_conversation_begins_behind_the_last_words_of_the_user() -> None:
    messages = [Message("user", [Text("Go.")]), CALL, RESULT, Message("assistant", [Text("Done.")])]
    row, _ = written(*messages, form="prompt-completion")
    assert [len(row["prompt"]), len(row["completion"])] == [1, 3]
    assert "messages" not in row


def test_what_templates_do_not_know_is_written_as_what_they_do() -> None:
    row, losses = written(Message("developer", [Text("Be brief.")]), Message("assistant", [Refusal("No.")]))
    assert row["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": "No."},
    ]
    assert losses == {"changed message.role", "changed refusal"}


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"messages": [USER, ANSWER]}, "openai-chat"),
        ({"messages": [USER, {**ANSWER, "training": True}]}, "hf-chat"),
        ({"prompt": [USER], "completion": [ANSWER]}, "hf-chat"),
        ({"messages": [USER, {**ANSWER, "reasoning_content": "x"}]}, "hf-chat"),
        ({"model": "m", "messages": [USER, {**ANSWER, "reasoning_content": "x"}]}, "openai-chat"),
    ],
)
def test_a_row_is_known_by_what_only_trainers_take(document: Any, name: str) -> None:
    assert detection.detect(document).dialect == name
