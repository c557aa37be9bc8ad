"""modular-prompt: every kind and choice as in its document, the older form, and query results."""

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
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from tests.support import acceptable_of

PROMPT = dialects.get("modular-prompt")


def sample(name: str) -> Any:
    return next(sample.document for sample in acceptable_of("modular-prompt") if sample.path.name == name)


def to(name: str, document: Any) -> Any:
    return pipeline.convert(document, PROMPT, dialects.get(name)).document


def written(*messages: Message, form: str = "list", **fields: Any) -> pipeline.Conversion:
    return pipeline.lower(Transcript(list(messages), **fields), PROMPT, Options(form=form))


def results(document: Any) -> list[ToolResult]:
    parts = [part for message in PROMPT.lift(document).messages for part in message.parts]
    return [part for part in parts if isinstance(part, ToolResult)]


# ---------------------------------------------------------------- the tables of the document


def test_results_of_every_kind_convert_to_openai_as_in_its_table() -> None:
    messages = to("openai-chat", sample("results-of-every-kind.json"))["messages"]
    contents = [message["content"] for message in messages if message["role"] == "tool"]
    assert contents == ["a note", '{"temp":25}', "[1,null]", '{"error":"no line"}', '"a note"']


def test_results_of_every_kind_convert_to_anthropic_as_in_its_table() -> None:
    messages = to("anthropic", sample("results-of-every-kind.json"))["messages"]
    blocks = [block for message in messages for block in message["content"] if isinstance(block, dict)]
    answers = [block for block in blocks if block["type"] == "tool_result"]
    assert [block["content"] for block in answers] == ["a note", '{"temp":25}', "[1,null]", "no line", '"a note"']
    assert [block.get("is_error") for block in answers] == [None, None, None, True, None]


@pytest.mark.parametrize("name", ["gemini", "vertexai"])
def test_results_of_every_kind_convert_to_gemini_as_in_its_table(name: str) -> None:
    contents = to(name, sample("results-of-every-kind.json"))["contents"]
    parts = [part for content in contents for part in content["parts"]]
    assert [part["functionResponse"]["response"] for part in parts if "functionResponse" in part] == [
        {"output": "a note"},
        {"temp": 25},
        {"output": [1, None]},
        {"error": "no line"},
        {"output": "a note"},
    ]


CHOICES = {
    "results-of-every-kind.json": ("auto", {"type": "auto"}, {"mode": "AUTO"}),
    "choice-none.json": ("none", {"type": "none"}, {"mode": "NONE"}),
    "choice-required.json": ("required", {"type": "any"}, {"mode": "ANY"}),
    "choice-by-name.json": (
        {"type": "function", "function": {"name": "get_weather"}},
        {"type": "tool", "name": "get_weather"},
        {"mode": "ANY", "allowedFunctionNames": ["get_weather"]},
    ),
}


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_converts_as_in_the_table(name: str) -> None:
    openai, anthropic, _ = CHOICES[name]
    assert to("openai-chat", sample(name))["tool_choice"] == openai
    assert to("anthropic", sample(name))["tool_choice"] == anthropic


@pytest.mark.parametrize("vendor", ["gemini", "vertexai"])
@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_converts_to_gemini_as_in_the_table(name: str, vendor: str) -> None:
    assert to(vendor, sample(name))["toolConfig"]["functionCallingConfig"] == CHOICES[name][2]


def test_a_definition_converts_as_in_the_table() -> None:
    document = sample("results-of-every-kind.json")
    schema = document["tools"][0]["parameters"]
    assert to("openai-chat", document)["tools"][0] == {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city",
            "parameters": schema,
            "strict": True,
        },
    }
    definition = to("anthropic", document)["tools"][0]
    assert (definition["name"], definition["input_schema"]) == ("get_weather", schema)
    declared = to("gemini", document)["tools"][0]["functionDeclarations"][0]
    assert (declared["name"], declared["description"]) == ("get_weather", "The weather of a city")


def test_a_signature_of_a_call_goes_to_gemini_and_back() -> None:
    gemini = to("gemini", sample("results-of-every-kind.json"))
    back = pipeline.convert(gemini, dialects.get("gemini"), PROMPT).document
    assert back["messages"][2]["toolCalls"][0]["metadata"] == {"thoughtSignature": "c2ln"}


# ---------------------------------------------------------------- reading


def test_a_message_means_the_same_with_and_without_its_type() -> None:
    message = {"role": "assistant", "content": "Hi", "toolCalls": [{"id": "c", "name": "f", "arguments": {"a": 1}}]}
    assert PROMPT.lift([message]) == PROMPT.lift([{"type": "message", **message}])


def test_text_and_data_are_never_guessed_from_the_value() -> None:
    answers = [
        {"role": "tool", "toolCallId": "c", "name": "f", "kind": kind, "value": '{"a": 1}'} for kind in ("text", "data")
    ]
    assert [(result.kind, result.value) for result in results(answers)] == [("text", '{"a": 1}'), ("data", '{"a": 1}')]


def test_an_error_that_is_no_string_is_data_that_failed() -> None:
    answer = {"role": "tool", "toolCallId": "c", "name": "f", "kind": "error", "value": {"code": 7}}
    assert results([answer]) == [ToolResult("c", "f", "data", {"code": 7}, is_error=True)]


def test_the_older_form_is_read_as_the_calls_and_results_that_it_is() -> None:
    lifted = PROMPT.lift(sample("older-form.json"))
    calls = [part for part in lifted.messages[1].parts if isinstance(part, ToolCall)]
    assert [call.arguments for call in calls] == [{"city": "tokyo"}, {"zone": "JST"}, {}]
    assert calls[2].raw_arguments == '{"zone": '
    assert [(result.name, result.kind) for result in results(sample("older-form.json"))] == [
        ("get_weather", "text"),
        ("get_time", "text"),
        ("get_time", "text"),
    ]
    assert lifted.tool_choice == {"name": "get_weather"}
    assert [tool.name for tool in lifted.tools or ()] == ["get_weather"]


def test_the_result_of_a_query_is_one_answer() -> None:
    lifted = PROMPT.lift(sample("query-result.json"))
    call = ToolCall("call_0", "get_weather", {"city": "Tokyo"}, metadata={"thoughtSignature": "c2ln"})
    assert [message.parts for message in lifted.messages] == [
        [Reasoning("The user wants the weather."), Text("Let me check"), call]
    ]
    assert lifted.messages[0].stop_reason == "tool_calls"
    assert lifted.messages[0].usage == {
        "inputTokens": 10,
        "outputTokens": 5,
        "totalTokens": 15,
        "cacheReadTokens": 4,
    }


def test_attachments_are_images_by_url_and_files_by_path() -> None:
    lifted = PROMPT.lift(sample("attachments.json"))
    media = [part for part in lifted.messages[0].parts if isinstance(part, Media)]
    assert [(part.type, part.url or part.data or part.path) for part in media] == [
        ("image", "https://example.com/a.png"),
        ("image", "iVBORw0KGgo="),
        ("document", "/tmp/a.pdf"),
        ("audio", "/tmp/a.wav"),
        ("document", "/tmp/b"),
    ]


# ---------------------------------------------------------------- writing


def test_messages_are_written_as_elements_of_a_prompt() -> None:
    call = ToolCall("c", "f", {"a": 1}, metadata={"thoughtSignature": "s"})
    conversion = written(
        Message("user", [Text("Hi")], name="guest"),
        Message("assistant", [call]),
        Message("tool", [ToolResult("c", "f", "data", "5")]),
    )
    assert conversion.losses == []
    assert conversion.document == [
        {"type": "message", "role": "user", "content": "Hi", "name": "guest"},
        {
            "type": "message",
            "role": "assistant",
            "content": "",
            "toolCalls": [{"id": "c", "name": "f", "arguments": {"a": 1}, "metadata": {"thoughtSignature": "s"}}],
        },
        {"type": "message", "role": "tool", "toolCallId": "c", "name": "f", "kind": "data", "value": "5"},
    ]


@pytest.mark.parametrize(
    "result",
    [
        ToolResult("c", "f", "text", "x"),
        ToolResult("c", "f", "data", None),
        ToolResult("c", "f", "error", "x"),
        ToolResult("c", "f", "data", {"code": 7}, is_error=True),
        ToolResult("c", "f", "multimodal", [Text("a"), Media("image", url="https://example.com/a.png")]),
    ],
)
def test_a_result_of_any_kind_is_kept(result: ToolResult) -> None:
    assert written(Message("tool", [result])).losses == []


def test_a_failure_whose_value_is_a_string_becomes_an_error() -> None:
    losses = written(Message("tool", [ToolResult("c", "f", "data", "x", is_error=True)])).losses
    assert [(loss.kind, loss.before, loss.after) for loss in losses] == [("changed", "data", "error")]


def test_a_choice_of_several_names_is_written_as_some_tool_and_reported() -> None:
    conversion = written(form="request", tool_choice={"names": ["f", "g"]})
    assert conversion.document["toolChoice"] == "required"
    assert [(loss.kind, loss.field) for loss in conversion.losses] == [("changed", "toolChoice")]


def test_a_name_that_the_document_forbids_is_written_with_allowed_letters_everywhere() -> None:
    call, result = ToolCall("c", "do.it", {}), ToolResult("c", "do.it", "text", "ok")
    conversion = written(
        Message("assistant", [call]),
        Message("tool", [result]),
        form="request",
        tools=[ToolDefinition("do.it")],
        tool_choice={"name": "do.it"},
    )
    document = conversion.document
    assert document["tools"] == [{"name": "do_it"}]
    assert document["toolChoice"] == {"name": "do_it"}
    assert document["messages"][0]["toolCalls"][0]["name"] == document["messages"][1]["name"] == "do_it"
    assert {loss.kind for loss in conversion.losses} == {"changed"}


def test_a_lone_answer_is_written_as_what_a_query_returns() -> None:
    answer = Message("assistant", [Reasoning("Hm."), Text("Hi")], stop_reason="content_filter")
    conversion = pipeline.lower(Transcript([answer]), PROMPT)
    assert conversion.document == {"content": "Hi", "thinkingContent": "Hm.", "finishReason": "error"}
    assert [(loss.kind, loss.field) for loss in conversion.losses] == [("changed", "message.stopReason")]
