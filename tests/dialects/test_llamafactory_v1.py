"""Rows of LLaMA-Factory v1: typed content, results by position, weights, and pairs of conversations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.llamafactory_v1 import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.transcript import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript

ASKED, ANSWERED = Message("user", [Text("Go.")]), Message("assistant", [Text("Gone.")])
CALLS = Message("assistant", [ToolCall("a", "f", {"n": 1}), ToolCall("b", "g", {})])


def typed_message(role: str, *content: tuple[str, str], **more: Any) -> Any:
    return {"role": role, "content": [{"type": kind, "value": value} for kind, value in content], **more}


def written(*messages: Message) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT)
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def test_an_answer_is_a_list_of_typed_texts_in_its_order() -> None:
    parts = [Reasoning("Hm."), Text("Well."), *CALLS.parts[:1], Text("So."), Media("image", path="a.png")]
    document, losses = written(ASKED, Message("assistant", parts))
    types = [part["type"] for part in document["messages"][1]["content"]]
    assert types == ["reasoning", "text", "tool_call", "text", "image_url"]
    assert json.loads(document["messages"][1]["content"][2]["value"]) == {"name": "f", "arguments": {"n": 1}}
    assert losses == {"dropped tool_call.id"}


def test_results_are_messages_in_the_order_of_the_calls() -> None:
    results = [Message("tool", [ToolResult(id_, "f", "text", id_)]) for id_ in "ba"]
    document, _ = written(ASKED, CALLS, *results, ANSWERED)
    assert document["messages"][2:4] == [typed_message("tool", ("text", "a")), typed_message("tool", ("text", "b"))]
    names = [message.parts[0] for message in DIALECT.lift(document).messages[2:4]]
    assert [part.name for part in names if isinstance(part, ToolResult)] == ["f", "g"]


def test_a_result_of_texts_and_files_keeps_them_apart() -> None:
    call = typed_message("assistant", ("tool_call", '{"name": "f", "arguments": {}}'))
    tool = typed_message("tool", ("text", "See:"), ("image_url", "a.png"))
    (result,) = DIALECT.lift({"messages": [typed_message("user"), call, tool]}).messages[2].parts
    assert isinstance(result, ToolResult)
    assert result.value == [Text("See:"), Media("image", path="a.png")]


def test_a_block_of_another_dialect_in_a_result_is_left_out_and_reported() -> None:
    value = [Text("See:"), Opaque("hf-chat", {"type": "new"})]
    call = Message("assistant", CALLS.parts[:1])
    document, losses = written(ASKED, call, Message("tool", [ToolResult("a", "f", "multimodal", value)]), ANSWERED)
    assert document["messages"][2] == typed_message("tool", ("text", "See:"))
    assert any(loss.startswith(("dropped", "changed")) and "tool_result" in loss for loss in losses)


def test_what_is_no_json_of_a_call_is_kept_as_it_is_and_reported() -> None:
    document = {"messages": [typed_message("user", ("text", "Go.")), typed_message("assistant", ("tool_call", "f(1)"))]}
    assert DIALECT.lift(document).messages[1].parts == [
        Opaque("llamafactory-v1", {"type": "tool_call", "value": "f(1)"})
    ]
    assert [finding.code for finding in pipeline.validate(document, DIALECT)] == ["invalid-arguments"]


@pytest.mark.parametrize(
    ("role", "weight", "lifted"),
    [("assistant", 1.0, 1), ("assistant", 0.0, 0), ("assistant", 0.5, 0.5), ("user", 0.0, None), ("user", 0.5, 0.5)],
)
def test_a_weight_is_kept_where_it_does_not_go_without_saying(role: str, weight: float, lifted: float | None) -> None:
    document = {"messages": [typed_message(role, ("text", "x"), loss_weight=weight)]}
    assert DIALECT.lift(document).messages[0].weight == lifted
    assert pipeline.convert(document, DIALECT, DIALECT).document == document


def test_weights_go_from_one_trainer_to_another() -> None:
    row = {
        "messages": [
            typed_message("user", ("text", "x"), loss_weight=0.0),
            typed_message("assistant", ("text", "y"), loss_weight=0.0),
        ]
    }
    conversion = pipeline.convert(row, DIALECT, dialects.get("hf-chat"))
    assert conversion.document["messages"][1]["training"] is False
    assert conversion.losses == []


def test_a_pair_is_two_conversations() -> None:
    answers = {key: [{"role": "assistant", "content": key}] for key in ("chosen", "rejected")}
    source = {"prompt": [{"role": "user", "content": "Go."}], **answers}
    document = pipeline.convert(source, dialects.get("hf-chat"), DIALECT).document
    assert document == {
        f"{key}_messages": [typed_message("user", ("text", "Go.")), typed_message("assistant", ("text", key))]
        for key in ("chosen", "rejected")
    }
    assert [message.label for message in DIALECT.lift(document).messages] == [None, "chosen", "rejected"]


def test_a_row_is_known_by_its_typed_content() -> None:
    row = [typed_message("user", ("text", "x"))]
    for document in ({"messages": row}, {"chosen_messages": row, "rejected_messages": row}):
        assert detection.detect(document).dialect == "llamafactory-v1"
