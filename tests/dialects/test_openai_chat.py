"""OpenAI Chat Completions: what its messages mean, and what its API takes of those of others."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.openai_chat import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.proof.reasons import Loss
from convcli.testing import assert_same, assert_writes
from convcli.validation import schemas

PICTURE = Media("image", data="iVBORw0KGgo=", media_type="image/png")
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}


def parts(message: dict[str, Any]) -> list[Part]:
    return DIALECT.lift([message]).messages[0].parts


def written(transcript: Transcript, form: str | None = None) -> tuple[Any, dict[str, Loss]]:
    """The document, and the losses by their field."""
    conversion = pipeline.lower(transcript, DIALECT, Options(form=form))
    return conversion.document, {loss.field: loss for loss in conversion.losses}


def messages_of(*messages: Message) -> list[Any]:
    document: list[Any] = written(Transcript([*messages]), "list")[0]
    return document


# ---------------------------------------------------------------- lift


def test_an_assistant_thinks_then_speaks_then_refuses_then_calls_whatever_the_order_of_the_keys() -> None:
    message = {"role": "assistant", "tool_calls": [CALL], "refusal": "No.", "content": "Hm.", "reasoning": "Why?"}
    assert parts(message) == [Reasoning("Why?"), Text("Hm."), Refusal("No."), ToolCall("call_1", "f", {"a": 1})]


def test_the_same_reasoning_under_both_keys_is_one_and_comes_back_twice() -> None:
    message = {"role": "assistant", "content": "4", "reasoning_content": "2+2", "reasoning": "2+2"}
    assert parts(message) == [Reasoning("2+2"), Text("4")]
    assert_same(DIALECT, [message])


@pytest.mark.parametrize(("text", "arguments"), [('{"a":', {}), ("[1]", {}), ('{"a":1,"a":2}', {"a": 2})])
def test_broken_arguments_keep_their_string_and_what_can_be_read(text: str, arguments: Any) -> None:
    call = {**CALL, "function": {"name": "f", "arguments": text}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert parts(message) == [ToolCall("call_1", "f", arguments, text)]
    assert messages_of(Message("assistant", parts(message))) == [message]


def test_the_input_of_a_custom_tool_is_text_even_where_it_looks_like_json() -> None:
    call = {"id": "call_1", "type": "custom", "custom": {"name": "shell", "input": '{"a": 1}'}}
    part = parts({"role": "assistant", "content": None, "tool_calls": [call]})[0]
    assert isinstance(part, ToolCall)
    assert (part.arguments, part.custom) == ({"input": '{"a": 1}'}, True)
    assert_same(DIALECT, [{"role": "assistant", "content": None, "tool_calls": [call]}])


def test_a_call_of_an_unknown_type_stays_among_the_calls_and_a_part_with_an_id_among_the_parts() -> None:
    call = {"id": "x", "type": "hover", "hover": {"at": [1, 2]}}
    block = {"id": "y", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": [block], "tool_calls": [call]}
    lifted = DIALECT.lift([message])
    assert lifted.messages[0].parts == [Opaque("openai-chat", block), Opaque("openai-chat", call)]
    assert_writes(DIALECT, lifted)


def test_choices_of_one_response_are_siblings_of_which_the_first_is_the_head() -> None:
    answers = [{"index": i, "message": {"role": "assistant", "content": str(i)}} for i in range(2)]
    transcript = DIALECT.lift({"object": "chat.completion", "choices": answers})
    assert ([message.id for message in transcript.messages], transcript.head) == (["choice_1", "choice_2"], "choice_1")


def test_both_names_of_the_limit_are_one_setting_and_both_come_back() -> None:
    document = {"model": "m", "messages": [], "max_tokens": 5, "max_completion_tokens": 7}
    assert DIALECT.lift(document).settings == {"maxOutputTokens": 7}
    assert_same(DIALECT, document)


def test_a_choice_among_allowed_tools_without_a_name_is_no_choice_and_comes_back() -> None:
    allowed = {"mode": "auto", "tools": [{"type": "function", "function": {"name": ""}}]}
    choice = {"type": "allowed_tools", "allowed_tools": allowed}
    document = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tool_choice": choice}
    assert DIALECT.lift(document).tool_choice is None
    assert DIALECT.lower(DIALECT.lift(document))["tool_choice"] == choice


def test_message_keys_named_like_keys_around_it_stay_separate() -> None:
    usage = {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5, "queue": 1}
    message = {"role": "assistant", "content": "A", "usage": "mine", "choice": "mine too"}
    response = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "x": 1}], "usage": usage}
    transcript = DIALECT.lift(response)
    assert transcript.messages[0].usage == {"inputTokens": 2, "outputTokens": 3, "totalTokens": 5}
    answer = DIALECT.lower(transcript)
    assert answer["choices"][0]["message"] == message
    assert answer["usage"] == usage
    assert DIALECT.lower(transcript, Options(form="list")) == [message]


def test_a_count_that_is_written_as_a_float_is_a_count() -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29.0}
    choice = {"index": 0, "message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"}
    document = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    assert (DIALECT.lift(document).messages[0].usage or {})["totalTokens"] == 29
    assert_same(DIALECT, document)


# ---------------------------------------------------------------- fit


def test_result_media_follow_in_one_user_message_after_all_results_of_the_turn() -> None:
    calls = [ToolCall(id_, "shot", {}) for id_ in ("a", "b")]
    shots = [Message("tool", [ToolResult(id_, "shot", "multimodal", [Text(id_), PICTURE])]) for id_ in ("a", "b")]
    messages = messages_of(Message("assistant", [*calls]), *shots, Message("user", [Text("And?")]))
    assert [message["role"] for message in messages] == ["assistant", "tool", "tool", "user", "user", "user"]
    assert [message["content"] for message in messages[1:3]] == ["a", "b"]
    assert messages[3]["content"][0] == {"type": "text", "text": "Attached to the result of shot (a):"}


@pytest.mark.parametrize(
    ("result", "content"),
    [
        (ToolResult("call_1", "f", "data", {"é": [1.50]}), '{"é":[1.5]}'),
        (ToolResult("call_1", "f", "error", "offline"), '{"error":"offline"}'),
        (ToolResult("call_1", "f", "text", "offline", is_error=True), '{"error":"offline"}'),
    ],
)
def test_a_result_that_is_no_text_is_json_in_its_text(result: ToolResult, content: str) -> None:
    messages = messages_of(Message("assistant", [ToolCall("call_1", "f", {})]), Message("tool", [result]))
    assert messages[1] == {"role": "tool", "tool_call_id": "call_1", "content": content}


def test_only_user_messages_have_images_and_the_loss_says_so() -> None:
    document, losses = written(Transcript([Message("assistant", [Text("Look:"), PICTURE])]))
    assert document["messages"] == [{"role": "assistant", "content": "Look:"}]
    assert (losses["image"].kind, losses["image"].level) == ("dropped", "content")


def test_reasoning_of_others_is_not_sent_back() -> None:
    document, losses = written(Transcript([Message("assistant", [Reasoning("Hm."), Text("4")])]))
    assert document["messages"] == [{"role": "assistant", "content": "4"}]
    assert "only requests of the form compatible" in losses["reasoning"].why


def test_a_name_that_the_api_rejects_is_rewritten_everywhere() -> None:
    name = "weather.get/now"
    transcript = Transcript(
        [Message("assistant", [ToolCall("c", name, {})]), Message("tool", [ToolResult("c", name, "text", "")])],
        tools=[ToolDefinition(name)],
        tool_choice={"name": name},
    )
    document, losses = written(transcript)
    new = document["tools"][0]["function"]["name"]
    assert new == "weather_get_now"
    assert document["messages"][0]["tool_calls"][0]["function"]["name"] == new
    assert document["tool_choice"] == {"type": "function", "function": {"name": new}}
    assert losses["tool.name"].kind == "changed"


# ---------------------------------------------------------------- write


def test_an_answer_alone_is_a_response_with_the_sum_of_its_tokens() -> None:
    message = Message("assistant", [Text("Hi"), Text("!")], stop_reason="refusal")
    message.usage = {"inputTokens": 2, "outputTokens": 3}
    document, _ = written(Transcript([message], model="m"))
    (choice,) = document["choices"]
    assert choice == {"index": 0, "message": {"role": "assistant", "content": "Hi!"}, "finish_reason": "content_filter"}
    assert document["usage"] == {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}


def test_a_schema_of_others_without_a_name_gets_one() -> None:
    format_ = {"type": "json_schema", "schema": {"type": "object"}}
    document, _ = written(Transcript([Message("user", [Text("Hi")])], settings={"responseFormat": format_}))
    assert document["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "response", "schema": {"type": "object"}},
    }


def test_a_response_format_without_a_schema_is_read_back_and_means_nothing_to_others() -> None:
    document = {"messages": [{"role": "user", "content": "Hi"}], "response_format": {"type": "json_schema"}}
    assert DIALECT.lift(document).settings is None
    assert DIALECT.lower(DIALECT.lift(document)) == document
    converted = pipeline.convert(document, DIALECT, dialects.get("gemini"))
    assert [loss.field for loss in converted.losses] == ["extras.openai-chat.response_format"]


@pytest.mark.parametrize(
    ("document", "strength"),
    [
        ({"choices": [{"message": {"role": "assistant", "content": "A"}}]}, 95),
        ({"messages": [{"role": "assistant", "content": None, "tool_calls": [CALL]}]}, 90),
        ({"messages": [{"role": "developer", "content": "A"}]}, 40),
        ({"messages": [{"role": "critic", "content": "A"}]}, 20),
    ],
)
def test_more_evidence_makes_a_stronger_match(document: Any, strength: int) -> None:
    match = detection.evidence(document, DIALECT)
    assert match is not None
    assert match.strength == strength


THOUGHTS = Message("assistant", [Reasoning("One."), Text("4"), Reasoning("", ["Two."])], stop_reason="stop")


@pytest.mark.parametrize("form", ["response", "compatible"])
def test_a_response_and_a_request_for_compatible_servers_hold_reasoning(form: str) -> None:
    document = DIALECT.lower(Transcript([THOUGHTS]), Options(form=form))
    message = document["choices"][0]["message"] if form == "response" else document["messages"][0]
    assert message == {"role": "assistant", "reasoning_content": "One.\n\nTwo.", "content": "4"}
    assert schemas.findings("openai-chat", document) == []


def test_what_a_compatible_server_streams_as_reasoning_is_in_the_response() -> None:
    deltas = [{"role": "assistant"}, {"reasoning_content": "H"}, {"reasoning_content": "m."}, {"content": "4"}]
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    done = pipeline.convert(Rows([*chunks, end, "[DONE]"]), dialects.get("openai-chat-stream"), DIALECT)
    assert done.document["choices"][0]["message"] == {"role": "assistant", "reasoning_content": "Hm.", "content": "4"}
    assert [loss.field for loss in done.losses] == []


def test_results_without_ids_answer_the_open_calls_in_their_order() -> None:
    calls = [{"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in "fg"]
    answer = {"role": "assistant", "content": None, "tool_calls": calls}
    document = {
        "messages": [answer, {"role": "tool", "content": "1"}, {"role": "tool", "tool_call_id": None, "content": "2"}]
    }
    results = [message.parts[0] for message in DIALECT.lift(document).messages[1:]]
    assert [(result.tool_call_id, result.value) for result in results if isinstance(result, ToolResult)] == [
        ("f", "1"),
        ("g", "2"),
    ]
    assert [finding.code for finding in pipeline.validate(document, DIALECT)] == ["missing-call-id"] * 2
    assert_same(DIALECT, document)
    misspelt = {"messages": [answer, {"role": "tool", "content": "1", "toolCallId": "f"}]}
    assert pipeline.validate(misspelt, DIALECT)[0].help == 'found "toolCallId": did you mean "tool_call_id"?'


def test_a_file_url_under_file_data_is_reported_and_kept_for_those_who_read_it() -> None:
    part = {"type": "file", "file": {"file_data": "https://example.com/a.pdf", "filename": "a.pdf"}}
    document = {"messages": [{"role": "user", "content": [part]}]}
    assert [finding.code for finding in pipeline.validate(document, DIALECT)] == ["not-a-data-url"]
    responses = pipeline.convert(document, DIALECT, dialects.get("openai-responses")).document
    assert responses["input"][0]["content"] == [
        {"type": "input_file", "file_url": "https://example.com/a.pdf", "filename": "a.pdf"}
    ]
    anthropic = pipeline.convert(document, DIALECT, dialects.get("anthropic")).document
    assert anthropic["messages"][0]["content"][0]["source"] == {"type": "url", "url": "https://example.com/a.pdf"}
    assert_same(DIALECT, document)


def test_an_answer_has_the_first_audio_that_can_be_written() -> None:
    audios: list[Part] = [Media("audio", data="AAAA"), Media("audio", file_id="a"), Media("audio", file_id="b")]
    answer = Transcript([Message("assistant", [Text("Hi."), *audios])])
    assert_writes(DIALECT, answer)
    conversion = pipeline.convert(dialects.get("intermediate").lower(answer), dialects.get("intermediate"), DIALECT)
    assert conversion.document["messages"][0]["audio"] == {"id": "a"}
    dropped = [(loss.level, loss.kind, loss.where) for loss in conversion.losses if loss.field.startswith("audio")]
    assert dropped == [("content", "dropped", f"/messages/0/parts/{i}") for i in (1, 3)]


def test_audio_of_a_model_has_no_type() -> None:
    answer = Transcript([Message("assistant", [Media("audio", file_id="audio_1", media_type="audio/wav")])])
    for dialect in (DIALECT, dialects.get("openai-batch")):
        assert_writes(dialect, answer)
        lost = [loss.field for loss in pipeline.lower(answer, dialect).losses if loss.kind == "dropped"]
        assert lost == ["audio.mediaType"]
