"""The Model Context Protocol: what is peculiar to it."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
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
from convcli.proof.reasons import Loss
from convcli.validation import schemas
from tests.support import samples_of

MCP = dialects.get("mcp")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def lower(*messages: Message, form: str | None = None, **fields: Any) -> tuple[Any, list[Loss]]:
    conversion = pipeline.lower(Transcript(list(messages), **fields), MCP, Options(form=form))
    assert schemas.findings("mcp", conversion.document) == []
    return conversion.document, conversion.losses


def result_of(document: Any) -> ToolResult:
    part = MCP.lift(document).messages[0].parts[0]
    assert isinstance(part, ToolResult)
    return part


def fields(losses: list[Loss]) -> set[tuple[str, str]]:
    return {(loss.kind, loss.field) for loss in losses}


def text(answer_text: str) -> dict[str, str]:
    return {"type": "text", "text": answer_text}


def test_a_list_of_tools_is_a_transcript_without_messages() -> None:
    for sample in samples_of("mcp"):
        if sample.path.name.startswith("tools-"):
            transcript = MCP.lift(sample.document)
            assert transcript.messages == []
            assert transcript.tools


def test_tools_of_another_dialect_are_written_as_a_list() -> None:
    document, losses = lower(tools=[ToolDefinition("read file", "Reads.", SCHEMA, title="Read")])
    assert document == {
        "tools": [{"name": "read_file", "title": "Read", "description": "Reads.", "inputSchema": SCHEMA}]
    }
    assert fields(losses) == {("changed", "tool.name")}


def test_tools_of_a_server_become_functions() -> None:
    listed = {"tools": [{"name": "read", "inputSchema": SCHEMA, "title": "Read", "outputSchema": SCHEMA}]}
    conversion = pipeline.convert(listed, MCP, dialects.get("openai-chat"))
    assert conversion.document["tools"] == [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}]
    assert {loss.where for loss in conversion.losses} == {"/tools/0/title", "/tools/0/outputSchema"}


def test_a_schema_without_a_type_becomes_that_of_an_object() -> None:
    document, losses = lower(tools=[ToolDefinition("ping")])
    assert document == {"tools": [{"name": "ping", "inputSchema": {"type": "object"}}]}
    assert fields(losses) == {("invented", "tool.parameters")}


def test_a_result_is_one_message_whose_call_is_made_up() -> None:
    transcript = MCP.lift({"content": [text("22 °C")]})
    assert transcript.messages == [Message("tool", [ToolResult("call_1", "unknown", "text", "22 °C")])]
    assert transcript.origin is not None
    assert transcript.origin.generated_ids == {"call_1", "unknown"}


@pytest.mark.parametrize(
    ("document", "kind", "value", "failed"),
    [
        ({"content": [text("x")], "isError": True}, "error", "x", None),
        ({"content": [text('{"a": 1.0}')], "structuredContent": {"a": 1.0}}, "data", {"a": 1.0}, None),
        ({"content": [], "structuredContent": [1]}, "data", [1], None),
        ({"content": [text('"s"')], "structuredContent": "s", "isError": True}, "data", "s", True),
        ({"content": [text('{"a": 1}')]}, "text", '{"a": 1}', None),
        ({"content": []}, "text", "", None),
    ],
)
def test_structured_content_is_data_where_the_text_says_no_more(
    document: Any, kind: str, value: Any, failed: bool | None
) -> None:
    result = result_of(document)
    assert (result.kind, result.value, result.is_error, result.extras) == (kind, value, failed, None)


@pytest.mark.parametrize("answer_text", ["It is warm.", '{"a": 1}', '{"b": 2, "a": 1.0}'])
def test_structured_content_next_to_another_text_is_an_extra(answer_text: str) -> None:
    structured = {"a": 1.0, "b": 2}
    result = result_of({"content": [text(answer_text)], "structuredContent": structured})
    assert (result.kind, result.value) == ("text", answer_text)
    assert result.extras == {"mcp": {"structuredContent": structured}}


def test_an_object_is_written_twice_and_other_data_as_text() -> None:
    document, losses = lower(Message("tool", [ToolResult("call_1", "f", "data", {"n": 1.0}, is_error=True)]))
    assert document == {"content": [text('{"n":1.0}')], "structuredContent": {"n": 1.0}, "isError": True}
    assert ("dropped", "tool_result.name") in fields(losses)
    document, losses = lower(Message("tool", [ToolResult("call_1", "f", "data", [1, "two"])]))
    assert document == {"content": [text('[1,"two"]')]}
    assert ("changed", "tool_result.kind") in fields(losses)


def test_a_link_an_embedded_text_and_bytes_are_media_of_a_result() -> None:
    document = next(one.document for one in samples_of("mcp") if one.path.name == "result-of-every-block.json")
    value = result_of(document).value
    assert [part.type for part in value] == ["text", "image", "audio", "document", "document", "video", "text"]
    assert (value[3].url, value[4].text, value[5].data) == ("file:///data/report.pdf", "# Notes", "AAAAGGZ0eXA=")
    assert value[6].text == '{"type":"chart_3d","points":[1,2]}'


def test_an_embedded_resource_needs_an_address() -> None:
    parts = [Media("document", data="JVBERi0=", media_type="application/pdf", name="a b.pdf"), Text("see")]
    document, losses = lower(Message("tool", [ToolResult("call_1", "unknown", "multimodal", parts)]))
    assert document["content"][0]["resource"] == {
        "uri": "attachment:a%20b.pdf",
        "mimeType": "application/pdf",
        "blob": "JVBERi0=",
    }
    assert "tool_result.value" in {loss.field for loss in losses}
    parts = [Media("document", data="JVBERi0=", media_type="application/pdf", name="half \ud83d")]
    document, _ = lower(Message("tool", [ToolResult("call_1", "unknown", "multimodal", parts)]))
    assert document["content"][0]["resource"]["uri"] == "attachment:half%20%ED%A0%BD"


def test_a_conversation_is_a_sampling_request() -> None:
    document, losses = lower(
        Message("system", [Text("Be brief.")]),
        Message("user", [Text("go")]),
        Message("assistant", [Reasoning("hm"), ToolCall("c", "f", {"a": 1})]),
        Message("tool", [ToolResult("c", "f", "error", "no")]),
        Message("user", [Text("so?")]),
        model="m-1",
        tools=[ToolDefinition("f", None, SCHEMA)],
        tool_choice={"name": "f"},
        settings={"maxOutputTokens": 5, "seed": 1},
    )
    failed = {"type": "tool_result", "toolUseId": "c", "content": [text("no")], "isError": True}
    assert document["messages"][2:] == [
        {"role": "user", "content": failed},
        {"role": "user", "content": text("so?")},
    ]
    assert (document["systemPrompt"], document["toolChoice"]) == ("Be brief.", {"mode": "required"})
    assert (document["maxTokens"], document["modelPreferences"]) == (5, {"hints": [{"name": "m-1"}]})
    assert fields(losses) == {("dropped", "reasoning"), ("changed", "toolChoice"), ("dropped", "settings.seed")}


def test_a_message_with_results_has_nothing_else() -> None:
    calls = Message("assistant", [ToolCall("a", "f", {}), ToolCall("b", "f", {})])
    results = [Message("tool", [ToolResult(id_, "f", "text", id_)]) for id_ in "ab"]
    document, _ = lower(Message("user", [Text("go")]), calls, results[0], Message("user", [Text("and")]), results[1])
    lists = [message["content"] for message in document["messages"] if isinstance(message["content"], list)]
    kinds = [[block["type"] for block in content] for content in lists]
    assert kinds == [["tool_use", "tool_use"], ["tool_result", "tool_result"]]


def test_a_form_can_be_chosen_and_what_it_cannot_hold_is_lost() -> None:
    messages = [Message("user", [Text("go")]), Message("assistant", [ToolCall("c", "f", {})])]
    messages.append(Message("tool", [ToolResult("c", "f", "text", "done")]))
    tools = [ToolDefinition("f", None, SCHEMA)]
    document, losses = lower(*messages, form="tools", tools=tools)
    assert document == {"tools": [{"name": "f", "inputSchema": SCHEMA}]}
    assert {"text", "tool_call", "tool_result"} <= {loss.field for loss in losses}
    document, losses = lower(*messages, form="result", tools=tools)
    assert document == {"content": [text("done")]}
    assert {"text", "tool_call", "tool"} <= {loss.field for loss in losses}
    assert lower(*messages, form="list", tools=tools)[0] == [{"name": "f", "inputSchema": SCHEMA}]


def test_the_envelope_of_json_rpc_and_of_a_page_is_kept_and_is_no_content() -> None:
    document = next(one.document for one in samples_of("mcp") if one.path.name == "tools-2025.json")
    transcript = MCP.lift(document)
    assert transcript.extras == {"mcp": {"rpc": {"jsonrpc": "2.0", "id": 1}, "nextCursor": "page-2"}}
    losses = pipeline.convert(document, MCP, dialects.get("openai-chat")).losses
    assert "/result/nextCursor" in {loss.where for loss in losses}
    levels = {loss.field: loss.level for loss in losses}
    assert (levels["extras.mcp.rpc.jsonrpc"], levels["extras.mcp.nextCursor"]) == ("envelope", "context")


def test_a_call_inside_a_result_is_no_call() -> None:
    result = result_of({"content": [{"type": "tool_use"}], "isError": False})
    assert [part.text for part in result.value] == ['{"type":"tool_use"}']


def test_documents_of_other_dialects_are_not_claimed() -> None:
    for name in dialects.names():
        for sample in samples_of(name):
            found = dict(detection.candidates(sample.document))
            if name != "mcp" and "mcp" in found and name in found:
                assert found["mcp"].strength < found[name].strength, sample


def test_a_stop_reason_that_only_its_service_knows_stays_one_of_ours_does_not() -> None:
    for reason, written in (("novel", "novel"), ("content_filter", "endTurn"), ("length", "maxTokens")):
        assert lower(Message("assistant", [Text("x")], stop_reason=reason))[0]["stopReason"] == written


def test_a_request_without_tools_has_no_choice_of_one() -> None:
    document, losses = lower(Message("user", [Text("go")]), tool_choice="auto")
    assert "toolChoice" not in document
    assert fields(losses) == {("dropped", "toolChoice")}


def test_an_edited_model_wins_over_the_preferences_that_were_carried() -> None:
    preferences = {"hints": [{"name": "old"}], "costPriority": 1}
    transcript = MCP.lift({"messages": [{"role": "user", "content": text("go")}], "modelPreferences": preferences})
    assert MCP.lower(transcript, Options())["modelPreferences"] == preferences
    transcript.model = "new"
    assert MCP.lower(transcript, Options())["modelPreferences"] == {"hints": [{"name": "new"}]}


def test_an_edited_text_wins_over_the_block_that_it_was_made_of() -> None:
    transcript = MCP.lift({"content": [{"type": "video", "name": "clip"}, text("and this")]})
    part = transcript.messages[0].parts[0]
    assert isinstance(part, ToolResult)
    assert MCP.lower(transcript, Options(form="result"))["content"][0] == {"type": "video", "name": "clip"}
    part.value[0].text = "no clip"
    assert MCP.lower(transcript, Options(form="result"))["content"][0] == text("no clip")
