"""OpenTelemetry's GenAI conventions: attributes around a conversation, and what frameworks write into them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.otel_genai import DIALECT, INPUT, INSTRUCTIONS, OUTPUT, TOOLS
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Media, Message, Text, ToolCall, ToolDefinition, ToolResult, Transcript

USER = {"role": "user", "parts": [{"type": "text", "content": "Go."}]}
ANSWER = {"role": "assistant", "parts": [{"type": "text", "content": "Gone."}], "finish_reason": "stop"}


def written(*messages: Message, form: str = "attributes", **fields: Any) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages), **fields), DIALECT, Options(form=form))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def test_input_and_output_are_one_conversation_and_the_last_answer_is_the_output() -> None:
    transcript = DIALECT.lift({INPUT: [USER], OUTPUT: [ANSWER]})
    assert [message.role for message in transcript.messages] == ["user", "assistant"]
    assert transcript.messages[1].stop_reason == "stop"
    assert pipeline.lower(transcript, DIALECT).document == {INPUT: [USER], OUTPUT: [ANSWER]}


def test_an_output_has_a_finish_reason() -> None:
    native, losses = written(Message("assistant", [ToolCall("a", "f", {})]))
    assert native[OUTPUT][0]["finish_reason"] == "tool_call"
    assert losses == {"invented message.stopReason"}
    assert "finish_reason" not in written(Message("assistant", [Text("x")]), form="messages")[0][0]


def test_attributes_say_what_is_known_of_the_request_and_the_answer() -> None:
    answer = Message("assistant", [Text("x")], id="r-1", model="m-2", provider="p", stop_reason="stop")
    answer.usage = {"inputTokens": 3, "outputTokens": 2}
    native, losses = written(
        Message("system", [Text("Be brief.")]), answer, id="c-1", model="m", settings={"temperature": 0.5}
    )
    assert native == {
        "gen_ai.conversation.id": "c-1",
        "gen_ai.request.model": "m",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.provider.name": "p",
        "gen_ai.response.id": "r-1",
        "gen_ai.response.model": "m-2",
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 2,
        INSTRUCTIONS: [{"type": "text", "content": "Be brief."}],
        OUTPUT: [{"role": "assistant", "parts": [{"type": "text", "content": "x"}], "finish_reason": "stop"}],
    }
    assert losses == set()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("in_span", [False, True])
def test_attributes_are_values_or_json_in_a_string_alone_or_in_a_span(packed: bool, in_span: bool) -> None:
    values = {INPUT: [USER], OUTPUT: [ANSWER]}
    attributes = {key: json.dumps(value) if packed else value for key, value in values.items()}
    document = {"name": "chat", "attributes": attributes} if in_span else attributes
    assert detection.detect(document).dialect == "otel-genai"
    assert len(DIALECT.lift(document).messages) == 2
    assert pipeline.convert(document, DIALECT, DIALECT).document == document


@pytest.mark.parametrize("text", ["not JSON", "{}", '[{"role": "user"}]', '[{"role": "user", "parts": [{}]}]'])
def test_a_string_without_messages_is_kept(text: str) -> None:
    transcript = DIALECT.lift({INPUT: [USER], OUTPUT: text})
    assert transcript.extras == {"otel-genai": {OUTPUT: text}}


@pytest.mark.parametrize(
    ("result", "response", "losses"),
    [
        (ToolResult("a", "f", "text", "x"), "x", set()),
        (ToolResult("a", "f", "data", {"n": 1}), {"n": 1}, set()),
        (ToolResult("a", "f", "error", "x"), {"error": "x"}, {"encoded tool_result.kind"}),
        (ToolResult("a", "f", "data", [1], is_error=True), {"error": [1]}, {"encoded tool_result.value"}),
        (ToolResult("a", "f", "multimodal", [Text("x"), Text("y")]), "x\ny", {"encoded tool_result.kind"}),
    ],
)
def test_a_response_is_any_value(result: ToolResult, response: Any, losses: set[str]) -> None:
    native, reported = written(
        Message("assistant", [ToolCall("a", "f", {})]), Message("tool", [result]), form="messages"
    )
    assert (native[1]["parts"][0]["response"], reported) == (response, losses)


def test_media_of_a_result_follow_in_a_message_of_the_user() -> None:
    image = Media("image", data="YQ==", media_type="image/png")
    result = Message("tool", [ToolResult("a", "f", "multimodal", [Text("x"), image])])
    native, losses = written(Message("assistant", [ToolCall("a", "f", {})]), result, form="messages")
    assert [part["type"] for part in native[2]["parts"]] == ["text", "blob"]
    assert "dropped image" not in losses


def test_results_in_a_user_message_are_results() -> None:
    response = {"type": "tool_call_response", "id": "a", "result": "ok"}
    messages = DIALECT.lift([{"role": "user", "parts": [response, *USER["parts"]]}]).messages
    assert [message.role for message in messages] == ["tool", "user"]
    assert messages[0].parts == [ToolResult("a", "unknown", "text", "ok")]


@pytest.mark.parametrize("nested", [False, True])
def test_definitions_are_flat_and_nested_ones_are_read(nested: bool) -> None:
    body = {"name": "f", "description": "x", "parameters": {"type": "object"}}
    native = {"type": "function", "function": body} if nested else {"type": "function", **body}
    transcript = DIALECT.lift({INPUT: [USER], TOOLS: [native]})
    assert transcript.tools == [ToolDefinition("f", "x", {"type": "object"})]
    assert pipeline.lower(transcript, DIALECT).document[TOOLS] == [{"type": "function", **body}]


def test_losses_have_the_path_of_their_attribute() -> None:
    document = {"attributes": {"gen_ai.request.model": "m", "gen_ai.response.id": "r", INPUT: [USER], OUTPUT: [ANSWER]}}
    losses = pipeline.convert(document, DIALECT, dialects.get("hf-chat")).losses
    reported = {loss.field: loss.where for loss in losses}
    assert reported["model"] == "/attributes/gen_ai.request.model"
    assert reported["message.id"] == "/attributes/gen_ai.response.id"


def typed(value: Any) -> dict[str, Any]:
    """A value as OTLP writes it."""
    kinds = {str: "stringValue", bool: "boolValue", float: "doubleValue"}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": typed(item)} for key, item in value.items()]}}
    return {"intValue": str(value)} if type(value) is int else {kinds[type(value)]: value}


def listed(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": typed(value)} for key, value in attributes.items()]


def test_attributes_of_otlp_say_what_those_of_an_object_say() -> None:
    attributes = {INPUT: [USER], OUTPUT: json.dumps([ANSWER]), "gen_ai.request.temperature": 0.5, "a.b": [1, True]}
    attributes["gen_ai.usage.reasoning.output_tokens"] = 3
    document = {"name": "chat", "attributes": listed(attributes)}
    assert detection.detect(document).dialect == "otel-genai"
    others = attributes.pop("a.b")
    transcript, same = DIALECT.lift(document), DIALECT.lift({"name": "chat", "attributes": attributes})
    assert (transcript.messages, transcript.settings) == (same.messages, same.settings)
    left = [{"key": "a.b", "value": typed(others)}]
    assert transcript.extras == {"otel-genai": {"span": {"name": "chat", "attributes": left}}}
    assert DIALECT.lift(DIALECT.lower(transcript)) == transcript
    assert DIALECT.lift(document).messages[-1].usage == {"reasoningTokens": 3}
    assert pipeline.convert(document, DIALECT, DIALECT).document == document


def test_losses_of_otlp_have_the_path_of_its_typed_values() -> None:
    call = {"type": "tool_call", "id": "a", "name": "f", "arguments": {"n": 1}}
    messages = [{"role": "assistant", "parts": [call], "finish_reason": "stop"}]
    document = {"attributes": listed({"gen_ai.request.model": "m", INPUT: messages, "a.b": 1})}
    losses = pipeline.convert(document, DIALECT, dialects.get("hf-chat")).losses
    reported = {loss.field: loss.where for loss in losses}
    message = "/attributes/1/value/arrayValue/values/0/kvlistValue/values"
    assert reported["model"] == "/attributes/0/value/stringValue"
    assert reported["message.stopReason"] == f"{message}/2/value/stringValue"


@pytest.mark.parametrize(
    "value", [{"bytesValue": "AA=="}, {"intValue": "x"}, {"doubleValue": "NaN"}, {"stringValue": "a", "b": 1}, {}, 5]
)
def test_a_value_of_otlp_that_json_does_not_have_is_kept_as_it_is(value: Any) -> None:
    document = {"attributes": [*listed({INPUT: [USER]}), {"key": TOOLS, "value": value}]}
    transcript = DIALECT.lift(document)
    assert transcript.extras == {"otel-genai": {TOOLS: value, "span": {}}}
    assert DIALECT.lift(DIALECT.lower(transcript)) == transcript


def test_messages_may_be_in_an_event_of_a_span() -> None:
    event = {"name": "details", "attributes": {INPUT: [USER], OUTPUT: [ANSWER], "gen_ai.request.model": "n"}}
    document = {"attributes": {"gen_ai.request.model": "m"}, "events": [{"name": "retry"}, event]}
    transcript = DIALECT.lift(document)
    assert ([one.role for one in transcript.messages], transcript.model) == (["user", "assistant"], "m")
    left = {"name": "details", "attributes": {"gen_ai.request.model": "n"}}
    assert transcript.extras == {"otel-genai": {"span": {"events": [{"name": "retry"}, left]}}}
    assert pipeline.convert(document, DIALECT, DIALECT).document == document


def test_a_setting_of_another_type_is_kept() -> None:
    document = {"attributes": listed({INPUT: [USER], "gen_ai.request.temperature": "hot", "gen_ai.request.seed": 0.5})}
    transcript = DIALECT.lift(document)
    assert transcript.settings is None
    assert (transcript.extras or {})["otel-genai"].keys() == {
        "gen_ai.request.temperature",
        "gen_ai.request.seed",
        "span",
    }


def test_events_from_before_1_37_are_one_message_each_wherever_their_body_is() -> None:
    body = {"role": "user", "content": "Hi."}
    shapes = [
        {"event.name": "gen_ai.user.message", **body},
        {"name": "gen_ai.user.message", "body": body},
        {"name": "gen_ai.user.message", "attributes": body},
        {"name": "gen_ai.user.message", "attributes": {"gen_ai.event.content": json.dumps(body)}},
        {
            "eventName": "gen_ai.user.message",
            "body": {"kvlistValue": {"values": [{"key": key, "value": {"stringValue": body[key]}} for key in body]}},
        },
    ]
    for shape in shapes:
        for document in (shape, [shape]):
            [message] = DIALECT.lift(document).messages
            assert (message.role, message.parts) == ("user", [Text("Hi.")]), shape


def test_log_records_other_than_messages_stay_among_them() -> None:
    log = [{"event.name": "gen_ai.user.message", "content": "Hi."}, {"eventName": "exception", "body": "late"}]
    assert [message.role for message in DIALECT.lift(log).messages] == ["user", "event"]


def test_a_span_without_a_message_is_one_event() -> None:
    span = {"name": "GET /", "attributes": [{"key": "http.route", "value": {"stringValue": "/"}}]}
    assert [message.role for message in DIALECT.lift(span).messages] == ["event"]
