"""Semantic Kernel: items, names of plugins, results that are strings, and what is in the metadata of an answer."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.semantic_kernel import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Media, Message, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Transcript

CALL = ToolCall("c1", "weather-get", {"n": 1})
HALVES = {"function_name": "get", "plugin_name": "weather"}
NATIVE_CALL = {"content_type": "function_call", "id": "c1", "name": "weather-get", **HALVES, "arguments": {"n": 1}}
NATIVE_RESULT = {"content_type": "function_result", "id": "c1", "result": "1", "name": "weather-get", **HALVES}


def message(role: str, *items: Any, metadata: Any = None, **more: Any) -> dict[str, Any]:
    return {"metadata": metadata or {}, "content_type": "message", "role": role, "items": list(items), **more}


def lifted(*natives: Any) -> list[Message]:
    return DIALECT.lift(list(natives)).messages


def written(*messages: Message) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT, Options(form="list"))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


@pytest.mark.parametrize(
    ("native", "part"),
    [
        ({"content_type": "text", "text": "Hi."}, Text("Hi.")),
        ({"content_type": "reasoning", "text": "Hm."}, Reasoning("Hm.")),
        (NATIVE_CALL, CALL),
        (
            {"content_type": "image", "data_uri": "data:image/png;base64,aGk="},
            Media("image", "aGk=", media_type="image/png"),
        ),
        (
            {"content_type": "audio", "uri": "https://example.com/a.wav"},
            Media("audio", url="https://example.com/a.wav"),
        ),
        (
            {"content_type": "binary", "data_uri": "data:video/mp4;base64,aGk="},
            Media("video", "aGk=", media_type="video/mp4"),
        ),
        (
            {"content_type": "binary", "uri": "https://example.com/a.pdf"},
            Media("document", url="https://example.com/a.pdf"),
        ),
    ],
)
def test_an_item_is_read_and_written(native: Any, part: Part) -> None:
    assert lifted(message("assistant", native)) == [Message("assistant", [part])]
    assert written(Message("assistant", [part])) == ([message("assistant", native)], set())


def test_a_result_is_any_value_and_a_failure_has_no_field() -> None:
    call = Message("assistant", [CALL])
    result = Message("tool", [ToolResult("c1", "weather-get", "text", "1")])
    assert lifted(message("tool", NATIVE_RESULT)) == [result]
    assert written(call, result)[0][1] == message("tool", NATIVE_RESULT)
    data = Message("tool", [ToolResult("c1", "weather-get", "data", {"n": 1})])
    document, losses = written(call, data)
    assert (document[1]["items"][0]["result"], losses) == ({"n": 1}, set())
    failed = Message("tool", [ToolResult("c1", "weather-get", "error", "no")])
    document, losses = written(call, failed)
    assert (document[1]["items"][0]["result"], losses) == ("no", {"changed tool_result.kind"})


def test_a_name_without_a_plugin_is_that_of_a_function() -> None:
    native = {"content_type": "function_call", "id": "c", "name": "f", "function_name": "f", "arguments": {}}
    assert lifted(message("assistant", native)) == [Message("assistant", [ToolCall("c", "f", {})])]
    other = {**native, "function_name": "g"}
    assert lifted(message("assistant", other))[0].parts[0].extras == {"semantic-kernel": {"function_name": "g"}}


def test_model_finish_reason_and_usage_of_an_answer_are_read() -> None:
    metadata = {"id": "x", "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    native = {
        "ai_model_id": "m",
        **message("assistant", {"content_type": "text", "text": "Hi."}, metadata=metadata),
        "finish_reason": "stop",
    }
    (answer,) = lifted(native)
    assert (answer.model, answer.stop_reason, answer.usage) == ("m", "stop", {"inputTokens": 3, "outputTokens": 2})
    assert answer.extras == {"semantic-kernel": {"metadata": {"id": "x"}}}
    assert pipeline.convert([native], DIALECT, DIALECT, Options(form="list")).losses == []


def test_an_unknown_finish_reason_becomes_one_that_the_library_loads() -> None:
    document, losses = written(Message("assistant", [Text("Hi.")], stop_reason="pause"))
    assert (document[0]["finish_reason"], losses) == ("stop", {"changed message.stopReason"})


def test_a_message_may_have_a_text_in_place_of_items() -> None:
    assert lifted({"role": "user", "content": "Hi."}) == [Message("user", [Text("Hi.")])]


def test_media_of_a_result_follow_it_and_refusals_are_text() -> None:
    image = Media("image", "aGk=", media_type="image/png")
    seen = Message("tool", [ToolResult("c1", "weather-get", "multimodal", [Text("A dot."), image])])
    document, _ = written(Message("assistant", [CALL]), seen, Message("assistant", [Refusal("No.")]))
    assert [one["role"] for one in document] == ["assistant", "tool", "user", "assistant"]
    assert document[1]["items"][0]["result"] == "A dot."
    assert document[3]["items"] == [{"content_type": "text", "text": "No."}]


def test_a_history_is_detected_by_its_items() -> None:
    native = message("user", {"content_type": "text", "text": "Hi."})
    assert detection.detect({"messages": [native]}).dialect == "semantic-kernel"
    assert detection.detect([native]).dialect == "semantic-kernel"
