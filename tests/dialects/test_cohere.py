"""Cohere: plans, documents, and what the API rejects."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.cohere import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.transcript import (
    Media,
    Message,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.proof.reasons import Loss
from convcli.testing import assert_same


def written(transcript: Transcript) -> tuple[Any, dict[str, Loss]]:
    """Returns the document, and the losses by field."""
    conversion = pipeline.lower(transcript, DIALECT)
    return conversion.document, {loss.field: loss for loss in conversion.losses}


def answered(kind: Any, value: Any, **more: Any) -> tuple[Any, dict[str, Loss]]:
    """Returns a written result, and the losses."""
    result = ToolResult("c", "f", kind, value, **more)
    document, losses = written(Transcript([Message("assistant", [ToolCall("c", "f", {})]), Message("tool", [result])]))
    return document["messages"][1]["content"], losses


def read(content: Any) -> ToolResult:
    """Returns the result of a content."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    rows = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": content}]
    (result,) = DIALECT.lift(rows).messages[1].parts
    assert isinstance(result, ToolResult)
    return result


def document_of(data: Any, **more: Any) -> dict[str, Any]:
    return {"type": "document", "document": {"data": data, **more}}


def test_a_plan_is_reasoning_before_the_calls_and_comes_back_as_a_plan() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    document = [{"role": "assistant", "tool_plan": "First f.", "tool_calls": [call]}]
    transcript = DIALECT.lift(document)
    assert transcript.messages[0].parts == [Reasoning("First f."), ToolCall("c", "f", {})]
    assert_same(DIALECT, document)


def test_reasoning_of_another_dialect_is_a_thinking_part() -> None:
    document, losses = written(Transcript([Message("assistant", [Reasoning("Hm"), Text("A")])]))
    assert document["messages"][0]["content"][0] == {"type": "thinking", "thinking": "Hm"}
    assert losses == {}


def test_one_document_is_an_object_and_several_are_a_list_of_them() -> None:
    assert read([document_of({"a": 1})]) == ToolResult("c", "f", "data", {"a": 1})
    assert read([document_of({"a": 1}), document_of({"a": 2})]).value == [{"a": 1}, {"a": 2}]


def test_the_id_of_a_document_is_kept_with_its_data() -> None:
    result = read([document_of({"a": 1}, id="d-1")])
    assert result.value == {"a": 1}
    assert result.extras == {"cohere": {"documents": [{"id": "d-1"}]}}


def test_data_of_a_document_may_be_json_in_a_string() -> None:
    assert read([document_of('{"a": 1.50}')]).value == {"a": 1.50}
    assert read([document_of("no json")]).value == {"data": "no json"}


def test_a_document_next_to_text_becomes_text() -> None:
    result = read([{"type": "text", "text": "Found"}, document_of({"a": 1})])
    assert result.kind == "multimodal"
    assert [part.text for part in result.value] == ["Found", '{"a":1}']
    assert result.value[1].extras == {"cohere": {"document": {"data": {"a": 1}}}}


@pytest.mark.parametrize("value", [{"a": 1}, {"error": "x"}, {}, [{"a": 1}, {"b": 2}]])
def test_objects_are_documents_and_lose_nothing(value: Any) -> None:
    content, losses = answered("data", value)
    assert all(part["type"] == "document" for part in content)
    assert losses == {}


@pytest.mark.parametrize(
    ("value", "text"), [(7, "7"), ("a", '"a"'), ([{"a": 1}], '[{"a":1}]'), ([], "[]"), (None, "null")]
)
def test_other_data_is_written_as_json_and_reported(value: Any, text: str) -> None:
    content, losses = answered("data", value)
    assert content == text
    assert losses["tool_result.kind"].kind == "changed"


def test_a_failure_is_a_document_with_an_error_and_reported() -> None:
    content, losses = answered("error", "offline")
    assert content == [document_of({"error": "offline"})]
    assert losses["tool_result.kind"].kind == "encoded"
    content, losses = answered("data", {"code": 5}, is_error=True)
    assert content == [document_of({"error": {"code": 5}})]
    assert losses["tool_result.kind" if "tool_result.kind" in losses else "tool_result.value"].kind == "encoded"


def test_media_of_a_result_follow_in_a_user_message() -> None:
    picture = Media("image", url="https://example.com/a.png")
    rows = [
        Message("assistant", [ToolCall("c", "f", {})]),
        Message("tool", [ToolResult("c", "f", "multimodal", [Text("A map"), picture])]),
    ]
    document, losses = written(Transcript(rows))
    assert document["messages"][1]["content"] == "A map"
    assert document["messages"][2]["content"][1]["image_url"] == {"url": "https://example.com/a.png"}
    assert [loss.kind for loss in losses.values()] == ["encoded"]


def test_empty_texts_and_messages_are_dropped_and_reported() -> None:
    rows = [Message("user", [Text(""), Text("Hi")]), Message("assistant", [Text("")]), Message("user", [])]
    document, losses = written(Transcript(rows))
    assert document["messages"] == [{"role": "user", "content": "Hi"}]
    assert losses["text"].why == "Cohere rejects an empty text"
    assert losses["message"].why == "Cohere rejects an empty message"


def test_names_that_the_api_forbids_are_rewritten_everywhere() -> None:
    names = ["get-weather", "get_weather", "9lives", "検索"]
    tools = [ToolDefinition(name, parameters={"type": "object"}) for name in names]
    document, losses = written(Transcript([Message("assistant", [ToolCall("c", "get-weather", {})])], tools=tools))
    assert [tool["function"]["name"] for tool in document["tools"]] == ["get_weather_2", "get_weather", "_9lives", "__"]
    assert document["messages"][0]["tool_calls"][0]["function"]["name"] == "get_weather_2"
    assert {"tool.name", "tool_call.name"} <= losses.keys()


@pytest.mark.parametrize(
    ("choice", "word", "is_reported"),
    [("required", "REQUIRED", False), ("none", "NONE", False), ("auto", None, True), ({"name": "f"}, "REQUIRED", True)],
)
def test_a_choice_is_required_or_none(choice: Any, word: str | None, is_reported: bool) -> None:
    tools = [ToolDefinition("f", parameters={"type": "object"})]
    document, losses = written(Transcript([], tools=tools, tool_choice=choice))
    assert document.get("tool_choice") == word
    assert ("toolChoice" in losses) == is_reported


def test_a_choice_without_tools_is_not_written() -> None:
    document, losses = written(Transcript([], tool_choice="required"))
    assert document == {"messages": []}
    assert losses["toolChoice"].kind == "dropped"


@pytest.mark.parametrize(("strict", "word"), [((True, True), True), ((False, False), None), ((True, None), None)])
def test_tools_are_strict_together_or_not_at_all(strict: tuple[bool | None, ...], word: bool | None) -> None:
    tools = [ToolDefinition(f"f{i}", parameters={"type": "object"}, strict=one) for i, one in enumerate(strict)]
    document, losses = written(Transcript([], tools=tools))
    assert document.get("strict_tools") is word
    assert all("strict" not in tool["function"] for tool in document["tools"])
    assert ("tool.strict" in losses) == (len(set(strict)) > 1)


def test_the_schema_of_a_tool_is_one_of_an_object() -> None:
    tools = [ToolDefinition("f"), ToolDefinition("g", parameters={"properties": {"a": {}}})]
    document, losses = written(Transcript([], tools=tools))
    assert [tool["function"]["parameters"] for tool in document["tools"]] == [
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"a": {}}},
    ]
    assert "tool.parameters" in losses


def test_p_and_k_and_formats_have_names_that_others_know() -> None:
    schema = {"type": "object"}
    document = {
        "messages": [],
        "response_format": {"type": "json_object", "json_schema": schema},
        "stop_sequences": ["a"],
        "k": 5,
        "p": 0.5,
        "thinking": {"type": "disabled"},
    }
    assert DIALECT.lift(document).settings == {
        "stop": ["a"],
        "topK": 5,
        "topP": 0.5,
        "responseFormat": {"type": "json_schema", "schema": schema},
        "reasoningEffort": "none",
    }


@pytest.mark.parametrize(
    ("word", "reason"),
    [("COMPLETE", "stop"), ("STOP_SEQUENCE", "stop"), ("MAX_TOKENS", "length"), ("TOOL_CALL", "tool_calls"),
     ("TIMEOUT", "error"), ("NOVEL", "NOVEL")],
)  # fmt: skip
def test_a_finish_reason_has_a_plain_word_and_comes_back(word: str, reason: str) -> None:
    document = {
        "id": "r",
        "finish_reason": word,
        "message": {"role": "assistant", "content": [{"type": "text", "text": "A"}]},
    }
    transcript = DIALECT.lift(document)
    assert transcript.messages[0].stop_reason == reason
    assert_same(DIALECT, document)


def test_counts_of_a_dump_are_integers_and_come_back_as_they_were() -> None:
    usage = {"billed_units": {"input_tokens": 5.5}, "tokens": {"input_tokens": 17.0, "output_tokens": 4.0}}
    document = {"finish_reason": "COMPLETE", "message": {"role": "assistant"}, "usage": usage}
    transcript = DIALECT.lift(document)
    assert transcript.messages[0].usage == {"inputTokens": 17, "outputTokens": 4}
    assert_same(DIALECT, document)


def test_a_refusal_is_written_as_text() -> None:
    document, losses = written(Transcript([Message("assistant", [Refusal("I cannot.")])]))
    assert document["messages"] == [{"role": "assistant", "content": "I cannot."}]
    assert losses["refusal"].kind == "changed"


def test_lost_citations_and_documents_are_reported() -> None:
    document = {
        "messages": [{"role": "assistant", "content": "72 m", "citations": [{"start": 0, "end": 4}]}],
        "documents": [{"data": {"text": "It is 72 m tall."}}],
    }
    losses = pipeline.convert(document, DIALECT, dialects.get("openai-chat")).losses
    assert [(loss.field, loss.where) for loss in losses] == [
        ("extras.cohere.documents", "/documents"),
        ("extras.cohere.citations", "/messages/0/citations"),
    ]


def test_thinking_without_a_signature_is_a_weak_mark() -> None:
    blocks = [{"type": "thinking", "thinking": "Short."}, {"type": "text", "text": "Hi."}]
    messages = [{"role": "user", "content": "Hi?"}, {"role": "assistant", "content": blocks}]
    found = detection.detect({"model": "command-a-reasoning", "messages": messages})
    assert (found.dialect, found.evidence.strength) == ("cohere", 60)
    blocks[0]["signature"] = "c2ln"
    assert detection.detect({"model": "m", "messages": messages}).dialect != "cohere"
