"""A loss is reported at a path that its source document has, and at the node that it is about."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.document import Rows
from convcli.proof.reasons import Loss
from convcli.wire import pointers
from tests import tiers


def has(document: Any, pointer: str) -> bool:
    """Does the document have the node?"""
    try:
        pointers.resolve(document, pointers.steps(pointer))
    except LookupError:
        return False
    return True


def assert_losses_are_in(document: Any, losses: Iterable[Loss]) -> None:
    """Every loss points at a node of the source, or at a key invented for one; `test_laws` holds it of all pairs."""
    for loss in losses:
        around = loss.where.rpartition("/")[0] if loss.kind == "invented" else loss.where
        assert has(document, around), f"{loss.kind} {loss.field} at {loss.where}"


def reported(document: Any, source: str, target: str) -> set[tuple[str, str, str]]:
    """Kind, field and place of every loss of a conversion."""
    losses = pipeline.convert(document, dialects.get(source), dialects.get(target)).losses
    return {(loss.kind, loss.field, loss.where) for loss in losses}


def test_media_that_move_out_of_a_result_still_have_all_their_fields_or_it_is_reported() -> None:
    image = {"fileData": {"fileUri": "https://example.org/a.png", "mimeType": "image/png", "displayName": "a"}}
    response = {"name": "f", "response": {"output": "see"}, "parts": [image]}
    contents = [
        {"role": "user", "parts": [{"text": "Look."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": response}]},
    ]
    where = "/contents/2/parts/0"
    expected = {("dropped", "image.mediaType", where), ("dropped", "image.name", where)}
    assert expected <= reported({"contents": contents}, "vertexai", "openai-chat")


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
MARK = {"cache_control": {"type": "ephemeral"}}


def with_result(*parts: Any) -> Any:
    """A request to Anthropic that ends with a result of these parts."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": list(parts)}
    roles = [("user", "x"), ("assistant", [call]), ("user", [result])]
    return {"messages": [{"role": role, "content": content} for role, content in roles]}


@pytest.mark.parametrize("rest", [[{"type": "text", "text": "b"}], [IMAGE]], ids=["texts", "media"])
@pytest.mark.parametrize("target", tiers.written())
def test_what_is_outside_a_text_in_a_result_is_kept_or_reported(target: str, rest: list[Any]) -> None:
    document = with_result({"type": "text", "text": "a", **MARK}, *rest)
    done = pipeline.convert(document, dialects.get("anthropic"), dialects.get(target))
    before = json.dumps([loss.to_dict().get("before") for loss in done.losses])
    assert "ephemeral" in json.dumps(done.document) + before


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "bedrock-converse", "vercel-ai"])
def test_what_is_outside_the_parts_of_a_result_is_reported_at_its_key_and_not_as_another_value(target: str) -> None:
    found = reported(with_result({"type": "text", "text": "a", **MARK}, {**IMAGE, **MARK}), "anthropic", target)
    place = "/messages/2/content/0/content"
    expected = {("dropped", "extras.anthropic.cache_control", f"{place}/{k}/cache_control") for k in (0, 1)}
    assert found - reported(with_result({"type": "text", "text": "a"}, IMAGE), "anthropic", target) == expected


def test_what_a_response_has_outside_its_answers_is_reported_key_by_key() -> None:
    document = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"totalTokenCount": 3}}
    found = {where for _, field, where in reported(document, "gemini", "openai-chat") if "response" in field}
    assert found == {"/promptFeedback", "/usageMetadata"}


def test_an_alternative_is_reported_with_its_surroundings() -> None:
    choices = [{"index": i, "finish_reason": "stop", "message": {"role": "assistant", "content": "a"}} for i in (0, 1)]
    document = {"object": "chat.completion", "choices": choices}
    assert ("dropped", "branch", "/choices/1") in reported(document, "openai-chat", "anthropic")


def test_the_name_of_a_result_that_nobody_named_is_reported_as_invented_where_it_is_written() -> None:
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
    document = {"messages": [{"role": "user", "content": [result]}]}
    assert ("invented", "tool_result.name", "/messages/0/content/0/name") in reported(document, "anthropic", "gemini")
    assert "tool_result.name" not in {field for _, field, _ in reported(document, "anthropic", "openai-chat")}
    named = {"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "unknown", "response": {}}}]}]}
    assert "tool_result.name" not in {
        field for kind, field, _ in reported(named, "gemini", "ollama") if kind == "invented"
    }


@pytest.mark.parametrize(
    ("source", "document", "field", "where"),
    [
        ("ollama", {"messages": [], "options": {"top_k": 4}}, "settings.topK", "/options/top_k"),
        ("gemini", {"contents": [], "generation_config": {"top_k": 4}}, "settings.topK", "/generation_config/top_k"),
        ("mistral", {"messages": [], "tools": [{"type": "web_search"}]}, "extras.mistral.tool", "/tools/0"),
        ("intermediate", {"convcli": 1, "messages": [], "odd": 1}, "extras.intermediate.odd", "/odd"),
    ],
)
def test_a_fact_of_the_document_is_reported_at_its_key(source: str, document: Any, field: str, where: str) -> None:
    assert ("dropped", field, where) in reported(document, source, "openai-responses")


def test_what_a_stream_says_late_is_reported_at_its_event() -> None:
    begin = {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 1}}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    grows = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}
    ends = {"type": "message_delta", "delta": {"stop_reason": "refusal"}, "usage": {"output_tokens": 2}}
    odd = {"type": "weather", "x": 1}
    found = reported(
        Rows([begin, block, grows, ends, odd, {"type": "message_stop"}]), "anthropic-stream", "multi-llm-chat"
    )
    assert ("dropped", "message.stopReason", "/3/delta/stop_reason") in found
    assert ("dropped", "message.usage.outputTokens", "/3/usage/output_tokens") in found
    assert ("dropped", "extras.anthropic.events", "/4") in found


def test_what_a_log_says_again_is_reported_at_the_row_that_counts() -> None:
    session = {"sessionId": "s", "projectHash": "p", "startTime": "2026-01-01T00:00:00Z", "summary": "old"}
    user = {"id": "1", "type": "user", "content": "Hi.", "timestamp": "2026-01-01T00:00:00Z"}
    rows = Rows([session, user, {"$set": {"summary": "new"}}])
    assert ("dropped", "title", "/2/$set/summary") in reported(rows, "gemini-cli", "openai-chat")


def test_an_event_of_an_unknown_kind_is_kept_and_reported_and_the_stream_is_not_touched() -> None:
    odd = {"type": "response.weather", "sequence_number": 1}
    begin = {"type": "response.created", "response": {"output": [], "events": [{"type": "before"}]}}
    rows = [begin, odd, {"type": "response.completed", "response": {"output": [], "status": "completed"}}]
    lost = reported(Rows(rows), "openai-responses-stream", "gemini")
    assert ("dropped", "extras.openai-responses.events", "/0/response/events") in lost
    assert begin["response"] == {"output": [], "events": [{"type": "before"}]}
    lost = reported(
        Rows([{"type": "response.created", "response": {}}, *rows[1:]]), "openai-responses-stream", "gemini"
    )
    assert ("dropped", "extras.openai-responses.events", "/1") in lost


def test_a_key_that_is_kept_apart_is_lost_at_its_own_path() -> None:
    content = [{"type": "input_text", "text": "Look.", "item": "mine"}]
    document = {"model": "gpt-5", "input": [{"role": "user", "content": content}]}
    where = "/input/0/content/0/item"
    assert ("dropped", "extras.openai-responses.@.item", where) in reported(document, "openai-responses", "ollama")
