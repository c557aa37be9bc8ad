"""Amazon Bedrock Converse: what distinguishes it from other dialects."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.dialect import Options
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
from convcli.validation import schemas
from tests.support import samples_of

BEDROCK = dialects.get("bedrock-converse")


def lower(*messages: Message, **fields: Any) -> tuple[Any, list[Loss]]:
    conversion = pipeline.lower(Transcript(list(messages), **fields), BEDROCK)
    assert schemas.findings("bedrock-converse", conversion.document) == []
    return conversion.document, conversion.losses


def sample(name: str) -> Any:
    return next(one.document for one in samples_of("bedrock-converse") if one.path.name == name)


def user(text: str) -> Message:
    return Message("user", [Text(text)])


def fields(losses: list[Loss]) -> set[tuple[str, str]]:
    return {(loss.kind, loss.field) for loss in losses}


def test_consecutive_messages_of_one_side_are_joined_and_reported() -> None:
    document, losses = lower(user("a"), user("b"), Message("assistant", [Text("c")]))
    assert document["messages"] == [
        {"role": "user", "content": [{"text": "a"}, {"text": "b"}]},
        {"role": "assistant", "content": [{"text": "c"}]},
    ]
    assert fields(losses) == {("changed", "message.grouping")}


def test_nothing_is_invented_before_an_assistant_that_speaks_first() -> None:
    document, losses = lower(Message("assistant", [Text("Hello!")]), user("hi"))
    assert document["messages"][0] == {"role": "assistant", "content": [{"text": "Hello!"}]}
    assert losses == []


def test_blank_text_is_dropped_and_the_turns_around_it_meet() -> None:
    document, losses = lower(user("a"), Message("assistant", [Text(" \n")]), user("b"))
    assert document["messages"] == [{"role": "user", "content": [{"text": "a"}, {"text": "b"}]}]
    assert ("dropped", "text") in fields(losses)
    assert ("dropped", "message") in fields(losses)


def test_results_are_in_one_message_right_after_their_calls() -> None:
    calls = Message("assistant", [ToolCall("a", "f", {}), ToolCall("b", "f", {})])
    first, second = (Message("tool", [ToolResult(id_, "f", "text", id_)]) for id_ in "ab")
    document, losses = lower(user("go"), calls, first, user("and"), second)
    assert [next(iter(block)) for block in document["messages"][2]["content"]] == ["toolResult", "toolResult", "text"]
    assert "message" in {loss.field for loss in losses if loss.kind == "moved"}


def test_only_an_object_is_json_and_other_data_is_json_text() -> None:
    calls = Message("assistant", [ToolCall("a", "f", {}), ToolCall("b", "f", {})])
    results = [
        Message("tool", [ToolResult("a", "f", "data", {"n": 1.0})]),
        Message("tool", [ToolResult("b", "f", "data", [1, "two"], is_error=True)]),
    ]
    document, losses = lower(user("go"), calls, *results)
    blocks = [block["toolResult"] for block in document["messages"][2]["content"]]
    assert blocks[0] == {"toolUseId": "a", "content": [{"json": {"n": 1.0}}]}
    assert blocks[1] == {"toolUseId": "b", "content": [{"text": '[1,"two"]'}], "status": "error"}
    assert fields(losses) == {("changed", "tool_result.kind")}


def test_json_next_to_text_in_a_result_is_read_as_text_and_comes_back_as_json() -> None:
    transcript = BEDROCK.lift(sample("request-with-results.json"))
    value = transcript.messages[5].parts[0].value  # type: ignore[union-attr]
    assert [part.type for part in value] == ["text", "image", "text"]
    assert value[2].text == '{"aisle":4}'


def test_names_and_ids_are_rewritten_one_to_one_in_definition_call_choice_and_result() -> None:
    document, losses = lower(
        user("go"),
        Message("assistant", [ToolCall("id|1", "do.it", {}), ToolCall("id_1", "do_it", {})]),
        Message("tool", [ToolResult("id_1", "do_it", "text", "2")]),
        Message("tool", [ToolResult("id|1", "do.it", "text", "1")]),
        tools=[ToolDefinition("do.it"), ToolDefinition("do_it")],
        tool_choice={"name": "do.it"},
    )
    uses = [block["toolUse"] for block in document["messages"][1]["content"]]
    assert [(use["toolUseId"], use["name"]) for use in uses] == [("id_1_2", "do_it_2"), ("id_1", "do_it")]
    assert [block["toolResult"]["toolUseId"] for block in document["messages"][2]["content"]] == ["id_1", "id_1_2"]
    names = [tool["toolSpec"]["name"] for tool in document["toolConfig"]["tools"]]
    assert (names, document["toolConfig"]["toolChoice"]) == (["do_it_2", "do_it"], {"tool": {"name": "do_it_2"}})
    assert {("changed", "tool.name"), ("changed", "tool_call.id"), ("changed", "toolChoice")} <= fields(losses)


def test_an_id_that_two_turns_share_is_made_distinct() -> None:
    turn = [Message("assistant", [ToolCall("x", "f", {})]), Message("tool", [ToolResult("x", "f", "text", "1")])]
    again = [Message("assistant", [ToolCall("x", "f", {})]), Message("tool", [ToolResult("x", "f", "text", "2")])]
    document, _ = lower(user("go"), *turn, *again)
    assert document["messages"][3]["content"][0]["toolUse"]["toolUseId"] == "x_2"
    assert document["messages"][4]["content"][0]["toolResult"]["toolUseId"] == "x_2"


def test_the_tool_choice_none_is_unsupported() -> None:
    document, losses = lower(user("go"), tools=[ToolDefinition("f")], tool_choice="none")
    assert "toolChoice" not in document["toolConfig"]
    assert ("dropped", "toolChoice") in fields(losses)


def test_without_tools_there_is_no_tool_config() -> None:
    document, losses = lower(user("go"), tools=[], tool_choice="auto")
    assert "toolConfig" not in document
    assert {("dropped", "tools"), ("dropped", "toolChoice")} == fields(losses)


def test_instructions_in_mid_conversation_are_hoisted_and_reported() -> None:
    document, losses = lower(user("a"), Message("developer", [Text("Be brief.")]), Message("assistant", [Text("b")]))
    assert document["system"] == [{"text": "Be brief."}]
    assert {("moved", "message"), ("changed", "message.role")} == fields(losses)


@pytest.mark.parametrize(
    ("metadata", "written"),
    [
        ({"signature": "EqQB"}, {"reasoningText": {"text": "hm", "signature": "EqQB"}}),
        ({"redactedData": "AAAA"}, {"redactedContent": "AAAA"}),
        ({"redactedData": "not base64!"}, None),
        ({"thoughtSignature": "x"}, None),
        (None, None),
    ],
)
def test_reasoning_is_written_only_with_what_claude_signed_or_redacted(metadata: Any, written: Any) -> None:
    document, losses = lower(user("a"), Message("assistant", [Reasoning("hm", metadata=metadata), Text("b")]))
    content = document["messages"][1]["content"]
    assert content == ([] if written is None else [{"reasoningContent": written}]) + [{"text": "b"}]
    assert (("dropped", "reasoning") in fields(losses)) is (written is None)


def test_a_refusal_is_written_as_text() -> None:
    document, losses = lower(user("a"), Message("assistant", [Refusal("No.")]))
    assert document["messages"][1]["content"] == [{"text": "No."}]
    assert [loss.level for loss in losses] == ["content"]


def test_documents_get_valid_and_distinct_names() -> None:
    names = ["John's  report.pdf", "report [7]", None, None, "報告.pdf"]
    parts = [Text("read"), *(Media("document", data="JVBERi0=", name=name) for name in names)]
    document, losses = lower(Message("user", parts))  # type: ignore[arg-type]
    written = [block["document"] for block in document["messages"][0]["content"][1:]]
    assert [one["name"] for one in written] == ["John s report", "report [7]", "document", "document2", "document3"]
    assert {one["format"] for one in written} == {"pdf"}
    assert {("changed", "document.name"), ("invented", "document.name")} <= fields(losses)


def test_media_stand_in_user_turns_as_bytes_or_in_s3() -> None:
    good = Media("video", url="s3://clips/a.mp4", media_type="video/mp4")
    bad = Media("image", url="https://example.com/a.png", media_type="image/png")
    document, losses = lower(Message("user", [good, bad]), Message("assistant", [Text("x"), good]))
    assert document["messages"][0]["content"] == [
        {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://clips/a.mp4"}}}}
    ]
    assert {("dropped", "image"), ("dropped", "video")} == fields(losses)


def test_usage_includes_the_cache_and_comes_back_without_it() -> None:
    document = sample("response-with-calls.json")
    transcript = BEDROCK.lift(document)
    assert transcript.messages[0].usage == {
        "inputTokens": 1040,
        "outputTokens": 20,
        "totalTokens": 1060,
        "cacheReadTokens": 900,
        "cacheWriteTokens": 100,
    }
    foreign = Transcript([transcript.messages[0]])
    assert pipeline.lower(foreign, BEDROCK).document["usage"]["inputTokens"] == 40


def test_a_cited_answer_is_text_and_a_server_call_is_no_call() -> None:
    answer = BEDROCK.lift(sample("response-guarded-and-cited.json")).messages[0]
    assert [part.type for part in answer.parts] == ["text", "opaque", "opaque", "opaque"]
    assert answer.stop_reason == "content_filter"


def test_a_cache_point_belongs_to_what_stands_before_it() -> None:
    transcript = BEDROCK.lift(sample("request-with-results.json"))
    assert transcript.messages[1].parts[1].extras["bedrock-converse"]["cachePoint"] == {"type": "default", "ttl": "1h"}  # type: ignore[index]
    assert [tool.name for tool in transcript.tools or ()] == ["stock", "shelf_map", "nova_grounding"]
    losses = pipeline.lower(transcript, dialects.get("openai-chat"), source=BEDROCK).losses
    lost = [loss for loss in losses if loss.field.endswith("cachePoint")]
    assert {loss.level for loss in lost} == {"context"}
    assert "/messages/0/content" in {loss.where for loss in lost}


def test_settings_out_of_range_are_dropped_and_a_schema_is_written_as_text() -> None:
    schema = {"type": "object", "properties": {}}
    format_ = {"type": "json_schema", "name": "answer", "schema": schema, "strict": True}
    document, losses = lower(
        user("a"), settings={"temperature": 1.5, "topP": 0.5, "maxOutputTokens": 9, "responseFormat": format_}
    )
    assert document["inferenceConfig"] == {"maxTokens": 9, "topP": 0.5}
    json_schema = document["outputConfig"]["textFormat"]["structure"]["jsonSchema"]
    assert json_schema == {"schema": '{"type":"object","properties":{}}', "name": "answer"}
    assert fields(losses) == {("dropped", "settings.temperature"), ("dropped", "settings.responseFormat.strict")}


def test_an_answer_alone_is_written_as_a_response() -> None:
    answer = Message("assistant", [Text("b")], stop_reason="length", usage={"inputTokens": 3})
    document, losses = lower(answer, id="r1")
    assert document == {
        "output": {"message": {"role": "assistant", "content": [{"text": "b"}]}},
        "stopReason": "max_tokens",
        "usage": {"inputTokens": 3},
    }
    assert fields(losses) == {("dropped", "id")}


def test_a_list_keeps_instructions_as_messages() -> None:
    transcript = Transcript([Message("system", [Text("Be brief.")]), user("a")])
    assert BEDROCK.is_written
    assert BEDROCK.lower(transcript, Options(form="list")) == [
        {"role": "system", "content": [{"text": "Be brief."}]},
        {"role": "user", "content": [{"text": "a"}]},
    ]


@pytest.mark.parametrize(
    ("target", "severity"),
    [("bedrock-converse", "error"), ("anthropic", "warning"), ("mistral", None), ("gemini", None)],
)
def test_calls_of_undefined_tools_are_reported_where_the_service_rejects_them(
    target: str, severity: str | None
) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    chat: Any = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "22 °C"},
        ],
    }
    done = pipeline.convert(chat, dialects.get("openai-chat"), dialects.get(target))
    found = [(one.severity, one.help) for one in done.findings if one.code == "calls-without-tools"]
    assert found == ([] if severity is None else [(severity, 'add the definitions of "get_weather"')])


def test_the_total_of_tokens_is_the_sum_of_all_that_were_counted() -> None:
    response = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hi."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 10, "output_tokens": 2},
    }
    done = pipeline.convert(response, dialects.get("anthropic"), dialects.get("bedrock-converse"))
    assert done.document["usage"] == {
        "inputTokens": 3,
        "outputTokens": 2,
        "totalTokens": 15,
        "cacheReadInputTokens": 10,
    }
    (sum_of_both,) = [loss for loss in done.losses if loss.kind == "invented"]
    assert sum_of_both.why == "it is the sum of input and output tokens"


def test_bytes_of_a_strands_session_are_read_and_any_other_object_is_kept_as_it_is() -> None:
    encoded = {"__bytes_encoded__": True, "data": "iVBORw=="}
    for value, type_ in ((encoded, "image"), ({**encoded, "crc": 7}, "opaque")):
        block = {"image": {"format": "png", "source": {"bytes": value}}}
        [part] = BEDROCK.lift([{"role": "user", "content": [block]}]).messages[0].parts
        assert part.type == type_
        assert (part.data if isinstance(part, Media) else part.value) in ("iVBORw==", block)  # type: ignore[union-attr]
