"""The dialect `anthropic`: user messages with results, signed thinking, media sources, and what the API requires."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.proof.reasons import Loss
from convcli.wire import exact_json
from tests.support import dumped, samples_of

ANTHROPIC = dialects.get("anthropic")
INTERMEDIATE = dialects.get("intermediate")
OPENAI = dialects.get("openai-chat")

CALL_A: dict[str, Any] = {"type": "tool_use", "id": "toolu_a", "name": "look", "input": {}}
CALL_B: dict[str, Any] = {"type": "tool_use", "id": "toolu_b", "name": "hear", "input": {"n": 1}}
RESULT_A: dict[str, Any] = {"type": "tool_result", "tool_use_id": "toolu_a", "content": "red"}
RESULT_B: dict[str, Any] = {"type": "tool_result", "tool_use_id": "toolu_b", "content": "loud"}
TEXT: dict[str, Any] = {"type": "text", "text": "Well?"}


def request(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 1, "messages": list(messages), **more}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def asked(*blocks: Any) -> dict[str, Any]:
    """A request in which the model called twice, and a user message with these blocks."""
    return request({"role": "user", "content": "Go"}, assistant(CALL_A, CALL_B), user(*blocks))


def lift(document: Any) -> Transcript:
    return pipeline.lift(document, ANTHROPIC)


def plain(transcript: Transcript) -> Any:
    return INTERMEDIATE.lower(transcript, Options(form="plain"))  # type: ignore[misc]


def comes_back(document: Any) -> bool:
    """Goes through the intermediate format, which stores how the document was spelled."""
    stored = pipeline.convert(document, ANTHROPIC, INTERMEDIATE).document
    return dumped(pipeline.convert(stored, INTERMEDIATE, ANTHROPIC).document) == dumped(document)


def written(*messages: Message, **fields: Any) -> tuple[Any, list[Loss]]:
    """Returns the document of a transcript without a dialect, and its losses."""
    conversion = pipeline.lower(Transcript(list(messages), **fields), ANTHROPIC)
    return conversion.document, conversion.losses


def kinds_and_fields(losses: list[Loss]) -> list[tuple[str, str]]:
    return [(loss.kind, loss.field) for loss in losses]


def call(id_: str, name: str = "look", **arguments: Any) -> Message:
    return Message("assistant", [ToolCall(id_, name, arguments)])


def answer(id_: str, value: Any = "red", kind: Any = "text", name: str = "look") -> Message:
    return Message("tool", [ToolResult(id_, name, kind, value)])


# ---------------------------------------------------------------- the contract


def test_the_worked_example_of_the_design_lifts_as_documented() -> None:
    sample = next(one for one in samples_of("anthropic") if one.path.name == "worked-example.json")
    assert plain(lift(sample.document)) == {
        "convcli": 1,
        "model": "claude-x",
        "tools": [
            {
                "name": "get_weather",
                "description": "The weather of a city.",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            }
        ],
        "toolChoice": "auto",
        "settings": {"maxOutputTokens": 512},
        "messages": [
            {"role": "system", "parts": [{"type": "text", "text": "Be brief."}]},
            {
                "role": "user",
                "parts": [
                    {
                        "type": "text",
                        "text": "Tokyo and Osaka?",
                        "extras": {"anthropic": {"cache_control": {"type": "ephemeral"}}},
                    }
                ],
            },
            {
                "role": "assistant",
                "parts": [
                    {"type": "reasoning", "text": "Two calls.", "metadata": {"signature": "EqQBsignature"}},
                    {"type": "tool_call", "id": "toolu_1", "name": "get_weather", "arguments": {"city": "Tokyo"}},
                    {"type": "tool_call", "id": "toolu_2", "name": "get_weather", "arguments": {"city": "Osaka"}},
                ],
            },
            {
                "role": "tool",
                "parts": [
                    {
                        "type": "tool_result",
                        "toolCallId": "toolu_1",
                        "name": "get_weather",
                        "kind": "text",
                        "value": "22 °C",
                    }
                ],
            },
            {
                "role": "tool",
                "parts": [
                    {
                        "type": "tool_result",
                        "toolCallId": "toolu_2",
                        "name": "get_weather",
                        "kind": "error",
                        "value": "station offline",
                    }
                ],
            },
            {"role": "user", "parts": [{"type": "text", "text": "Use what you have."}]},
        ],
    }
    losses = pipeline.convert(sample.document, ANTHROPIC, OPENAI).losses
    assert [(loss.kind, loss.where, loss.field) for loss in losses] == [
        ("dropped", "/messages/0/content/0/cache_control", "extras.anthropic.cache_control"),
        ("dropped", "/messages/1/content/0", "reasoning"),
        ("dropped", "/messages/1/content/0/signature", "reasoning.metadata.signature"),
        ("encoded", "/messages/2/content/1", "tool_result.kind"),
    ]


def test_samples_survive_without_spellings_except_the_position_of_later_instructions() -> None:
    for sample in samples_of("anthropic"):
        losses = pipeline.convert(plain(lift(sample.document)), INTERMEDIATE, ANTHROPIC).losses
        assert {loss.field for loss in losses} <= {"message", "message.grouping"}
        assert not losses or sample.path.name == "system-in-the-middle.json"


# ---------------------------------------------------------------- results inside user messages


@pytest.mark.parametrize(
    ("blocks", "roles"),
    [
        ([RESULT_A, RESULT_B, TEXT], "tool tool user"),
        ([TEXT, RESULT_A, RESULT_B], "user tool tool"),
        ([RESULT_A, TEXT, RESULT_B], "tool user tool"),
        ([RESULT_B, RESULT_A], "tool tool"),
        ([TEXT, TEXT, RESULT_A, TEXT], "user tool user"),
    ],
)
def test_results_anywhere_in_a_user_message_are_messages_of_their_own_in_the_same_order(
    blocks: list[Any], roles: str
) -> None:
    document = asked(*blocks)
    assert [message.role for message in lift(document).messages[2:]] == roles.split()
    assert comes_back(document)


@pytest.mark.parametrize(
    "messages",
    [
        [user(RESULT_A), user(RESULT_B), user(TEXT)],
        [user(RESULT_A, RESULT_B), {"role": "user", "content": "Well?"}],
        [user(RESULT_A), {"role": "user", "content": ""}, user(RESULT_B)],
        [user(), user(RESULT_A)],
        [assistant(RESULT_A, TEXT, RESULT_B), user(TEXT)],
        [{"role": "system", "content": [TEXT, RESULT_A]}, user(RESULT_B)],
    ],
)
def test_how_a_source_divided_its_messages_comes_back(messages: list[Any]) -> None:
    assert comes_back(request(assistant(CALL_A, CALL_B), *messages))


def test_a_result_has_the_name_of_its_call_and_an_orphan_is_unknown() -> None:
    transcript = lift(asked(RESULT_B, {**RESULT_A, "tool_use_id": "toolu_gone"}))
    assert [message.parts[0].name for message in transcript.messages[2:]] == ["hear", "unknown"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("native", "kind", "value", "failed"),
    [
        ({}, "text", "", None),
        ({"content": None}, "text", "", None),
        ({"content": []}, "text", "", None),
        ({"content": "x", "is_error": False}, "text", "x", None),
        ({"content": [{"type": "text", "text": "x"}]}, "text", "x", None),
        ({"content": [{"text": "x", "type": "text"}]}, "text", "x", None),
        ({"is_error": True}, "error", "", None),
        ({"content": [{"type": "text", "text": "x"}], "is_error": True}, "error", "x", None),
        ({"content": [TEXT, TEXT], "is_error": True}, "multimodal", [Text("Well?"), Text("Well?")], True),
        (
            {"content": [{"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}]},
            "multimodal",
            [Media("image", url="https://example.com/a.png")],
            None,
        ),
        ({"content": [TEXT, {"type": "tool_reference", "tool_name": "look"}]}, "multimodal", [Text("Well?")], None),
    ],
)
def test_every_form_of_a_result_is_read_and_comes_back(
    native: dict[str, Any], kind: str, value: Any, failed: bool | None
) -> None:
    document = asked({"type": "tool_result", "tool_use_id": "toolu_a", **native})
    result = lift(document).messages[2].parts[0]
    assert isinstance(result, ToolResult)
    assert (result.kind, result.value, result.is_error) == (kind, value, failed)
    assert comes_back(document)


def test_a_block_that_a_value_cannot_store_is_reported_as_lost() -> None:
    reference = {"type": "tool_reference", "tool_name": "look"}
    document = asked({"type": "tool_result", "tool_use_id": "toolu_a", "content": [TEXT, reference]}, RESULT_B)
    losses = pipeline.convert(document, ANTHROPIC, OPENAI).losses
    assert ("extras.anthropic.content", [TEXT, reference]) in [(loss.field, loss.before) for loss in losses]


# ---------------------------------------------------------------- writing messages of other dialects


def test_results_of_a_turn_come_first_in_one_user_message_followed_by_its_text() -> None:
    document, losses = written(
        Message("assistant", [ToolCall("a", "look", {}), ToolCall("b", "look", {})]),
        answer("b"),
        answer("a", "blue"),
        Message("user", [Text("Well?")]),
        Message("user", [Text("Hello?")]),
    )
    assert document["messages"][1:] == [
        user(
            {"type": "tool_result", "tool_use_id": "b", "content": "red"},
            {"type": "tool_result", "tool_use_id": "a", "content": "blue"},
            TEXT,
        ),
        {"role": "user", "content": "Hello?"},
    ]
    assert losses == []


def test_a_late_result_moves_after_its_call_and_that_is_reported() -> None:
    document, losses = written(call("a"), Message("user", [Text("Wait.")]), answer("a"))
    assert [block["type"] for block in document["messages"][1]["content"]] == ["tool_result", "text"]
    assert ("moved", "message") in kinds_and_fields(losses)


def test_no_turn_is_invented() -> None:
    document, losses = written(call("a"))
    assert [message["role"] for message in document["messages"]] == ["assistant"]
    assert losses == []


def test_an_unsigned_thought_is_left_out_and_one_that_anthropic_signed_is_written() -> None:
    document, losses = written(
        Message(
            "assistant",
            [
                Reasoning("mine"),
                Reasoning("", metadata={"signature": "s"}),
                Reasoning("", metadata={"redactedData": "r"}),
                Reasoning("theirs", metadata={"encryptedContent": "e"}),
                Text("Hi"),
            ],
        )
    )
    assert document["messages"][0]["content"] == [
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "redacted_thinking", "data": "r"},
        {"type": "text", "text": "Hi"},
    ]
    assert [(loss.kind, loss.field, loss.before) for loss in losses if loss.level == "content"] == [
        ("dropped", "reasoning", {"type": "reasoning", "text": "mine"}),
        ("dropped", "reasoning", {"type": "reasoning", "text": "theirs"}),
    ]


def test_leading_instructions_become_the_system_text_and_later_ones_move_to_its_end() -> None:
    document, losses = written(
        Message("system", [Text("Be brief.")]),
        Message("user", [Text("Hi")]),
        Message("developer", [Text("Be kind.")]),
        Message("assistant", [Text("Hello")]),
    )
    assert document["system"] == [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}]
    assert [message["role"] for message in document["messages"]] == ["user", "assistant"]
    assert kinds_and_fields(losses)[0] == ("moved", "message")
    assert ("changed", "message.role") in kinds_and_fields(losses)


def test_a_list_of_messages_keeps_instructions_in_their_place() -> None:
    transcript = Transcript([Message("user", [Text("Hi")]), Message("system", [Text("Be brief.")])])
    assert pipeline.lower(transcript, ANTHROPIC, Options(form="list")).document == [
        {"role": "user", "content": "Hi"},
        {"role": "system", "content": "Be brief."},
    ]


def test_ids_and_names_get_the_characters_that_the_api_allows() -> None:
    document, losses = written(
        call("id|1", "do.it"), answer("id|1", name="do.it"), tools=[ToolDefinition("do.it", parameters={})],
        tool_choice={"name": "do.it"},
    )  # fmt: skip
    (block,) = document["messages"][0]["content"]
    assert (block["id"], block["name"]) == ("id_1", "do_it")
    assert document["messages"][1]["content"][0]["tool_use_id"] == "id_1"
    assert document["tools"][0]["name"] == document["tool_choice"]["name"] == "do_it"
    assert {"tool_call.id", "tool_call.name", "tool.name"} <= {field for _, field in kinds_and_fields(losses)}


def test_an_id_that_is_used_again_becomes_another_and_its_results_follow() -> None:
    document, _ = written(
        call("c"), answer("c", "1"), call("c"), answer("c", "2"),
        Message("assistant", [ToolCall("c", "look", {}), ToolCall("c", "look", {})]),
        answer("c", "3"), answer("c", "4"),
    )  # fmt: skip
    blocks = [block for message in document["messages"] for block in message["content"]]
    assert [block["id"] for block in blocks if block["type"] == "tool_use"] == ["c", "c_2", "c_3", "c_4"]
    results = [(block["tool_use_id"], block["content"]) for block in blocks if block["type"] == "tool_result"]
    assert results == [("c", "1"), ("c_2", "2"), ("c_3", "3"), ("c_4", "4")]


@pytest.mark.parametrize(
    ("result", "native", "losses"),
    [
        (ToolResult("a", "look", "text", ""), {"content": ""}, []),
        (ToolResult("a", "look", "error", "gone"), {"content": "gone", "is_error": True}, []),
        (
            ToolResult("a", "look", "error", ""),
            {"content": "error", "is_error": True},
            [("changed", "tool_result.value")],
        ),
        (ToolResult("a", "look", "data", "x"), {"content": '"x"'}, [("changed", "tool_result.kind")]),
        (
            ToolResult("a", "look", "data", {"a": [1]}, is_error=True),
            {"content": '{"a":[1]}', "is_error": True},
            [("changed", "tool_result.kind")],
        ),
        (
            ToolResult("a", "look", "multimodal", [Text("x")], is_error=True),
            {"content": "x", "is_error": True},
            [("changed", "tool_result.kind")],
        ),
        (
            ToolResult("a", "look", "multimodal", [Text("x"), Media("video", url="https://example.com/v"), Text(" ")]),
            {"content": "x"},
            [("changed", "tool_result.kind"), ("changed", "tool_result.value")],
        ),
        (
            ToolResult("a", "look", "text", "x", status="cancelled"),
            {"content": "x"},
            [("dropped", "tool_result.status")],
        ),
    ],
)
def test_a_result_is_written_as_text_or_blocks_and_its_losses_are_reported(
    result: ToolResult, native: dict[str, Any], losses: list[tuple[str, str]]
) -> None:
    document, found = written(call("a"), Message("tool", [result]))
    assert document["messages"][1]["content"] == [{"type": "tool_result", "tool_use_id": "a", **native}]
    assert kinds_and_fields(found) == losses


def test_blank_text_and_parts_of_a_wrong_role_are_dropped_and_reported() -> None:
    document, losses = written(
        Message("user", [Text(" "), Media("audio", data="AA==", media_type="audio/wav")]),
        Message("user", [Text("Hi"), ToolCall("a", "look", {})]),
        Message("assistant", [Refusal("No."), Media("image", url="https://example.com/a.png")]),
        Message("event", [Text("compacted")]),
    )
    assert document["messages"] == [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "No."}]
    assert sorted(kinds_and_fields(losses)) == [
        ("changed", "refusal"),
        ("dropped", "audio"),
        ("dropped", "event"),
        ("dropped", "image"),
        ("dropped", "message"),
        ("dropped", "text"),
        ("dropped", "tool_call"),
    ]


@pytest.mark.parametrize(
    ("media", "source"),
    [
        (Media("image", data="iVBORw0KGgoA"), {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoA"}),
        (Media("image", data="PHN2Zy8+", media_type="image/svg+xml"), None),
        (Media("image", data="AAAA"), None),
        (Media("image", url="gs://bucket/a.png"), None),
        (Media("image", file_id="file_1"), {"type": "file", "file_id": "file_1"}),
        (Media("image", text="<svg/>"), None),
        (Media("image", path="a.png"), None),
        (Media("document", text="x"), {"type": "text", "media_type": "text/plain", "data": "x"}),
        (Media("document", url="https://example.com/a.pdf"), {"type": "url", "url": "https://example.com/a.pdf"}),
        (
            Media("document", data="JVBERi0=", media_type="application/pdf"),
            {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
        ),
        (Media("document", data="eA==", media_type="text/csv"), None),
    ],
)
def test_media_is_written_where_the_api_accepts_it(media: Media, source: dict[str, Any] | None) -> None:
    document, losses = written(Message("user", [Text("See"), media]))
    content = document["messages"][0]["content"]
    if source is None:
        assert content == "See"
        assert kinds_and_fields(losses) == [("dropped", media.type)]
    else:
        assert content[1] == {"type": media.type, "source": source}


def test_the_name_of_a_document_is_its_title() -> None:
    document, losses = written(Message("user", [Media("document", text="x", media_type="text/plain", name="a.txt")]))
    assert document["messages"][0]["content"][0]["title"] == "a.txt"
    assert losses == []


def test_an_opaque_block_of_ours_is_written_and_one_of_another_is_not() -> None:
    block = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    document, losses = written(Message("assistant", [Opaque("anthropic", block), Opaque("gemini", {"type": "x"})]))
    assert document["messages"][0]["content"] == [block]
    assert kinds_and_fields(losses) == [("dropped", "opaque")]


# ---------------------------------------------------------------- tools, choice, settings


def test_a_schema_without_a_type_gets_one_and_that_is_reported() -> None:
    document, losses = written(tools=[ToolDefinition("a", parameters={"properties": {}}), ToolDefinition("b")])
    assert [tool["input_schema"] for tool in document["tools"]] == [
        {"type": "object", "properties": {}},
        {"type": "object"},
    ]
    assert {field.partition(".")[0] for _, field in kinds_and_fields(losses)} == {"tool"}


def test_a_tool_that_another_vendor_runs_is_left_out() -> None:
    tool = ToolDefinition("google_search", extras={"gemini": {"tool": {"googleSearch": {}}}})
    document, losses = written(tools=[tool])
    assert "tools" not in document
    assert ("dropped", "tool") in kinds_and_fields(losses)


@pytest.mark.parametrize(
    ("choice", "parallel", "native"),
    [
        ("auto", None, {"type": "auto"}),
        ("required", None, {"type": "any"}),
        ("none", False, {"type": "none"}),
        ({"name": "f"}, True, {"type": "tool", "name": "f", "disable_parallel_tool_use": False}),
        ({"names": ["f"]}, None, {"type": "tool", "name": "f"}),
        ({"names": ["f", "g"]}, None, {"type": "any"}),
        (None, False, {"type": "auto", "disable_parallel_tool_use": True}),
        (None, True, None),
    ],
)
def test_the_choice_states_whether_calls_may_be_parallel(choice: Any, parallel: bool | None, native: Any) -> None:
    settings = None if parallel is None else {"parallelToolCalls": parallel}
    tools = [ToolDefinition("f", parameters={"type": "object"}), ToolDefinition("g", parameters={"type": "object"})]
    assert written(tools=tools, tool_choice=choice, settings=settings)[0].get("tool_choice") == native
    assert "tool_choice" not in written(tool_choice=choice, settings=settings)[0]


def test_disabled_parallel_calls_are_a_setting() -> None:
    choice = {"type": "any", "disable_parallel_tool_use": True}
    transcript = lift(request(tools=[{"name": "f", "input_schema": {}}], tool_choice=choice))
    assert transcript.tool_choice == "required"
    assert transcript.settings == {"maxOutputTokens": 1, "parallelToolCalls": False}


def test_unsupported_settings_are_reported() -> None:
    wishes = {"seed": 1, "reasoningEffort": "minimal", "responseFormat": {"type": "json"}, "topK": 3, "stop": ["x"]}
    document, losses = written(settings=wishes)
    assert document == {"top_k": 3, "stop_sequences": ["x"], "messages": []}
    assert [loss.field for loss in losses] == ["settings.seed", "settings.reasoningEffort", "settings.responseFormat"]


# ---------------------------------------------------------------- responses


@pytest.mark.parametrize(
    ("native", "ours"),
    [
        ("end_turn", "stop"),
        ("max_tokens", "length"),
        ("tool_use", "tool_calls"),
        ("stop_sequence", "stop_sequence"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "model_context_window_exceeded"),
        ("stop", "stop"),
        ("length", "length"),
        ("novel", "novel"),
    ],
)
def test_stop_reasons_are_shared_words_and_come_back(native: str, ours: str) -> None:
    document = {"role": "assistant", "content": [], "stop_reason": native}
    assert lift(document).messages[0].stop_reason == ours
    assert comes_back(document)


def test_input_tokens_include_what_went_through_the_cache_and_are_taken_apart_again() -> None:
    usage = {"input_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 4}
    document = {"type": "message", "role": "assistant", "content": [TEXT], "stop_reason": "end_turn", "usage": usage}
    transcript = lift(document)
    counts = {"inputTokens": 321, "outputTokens": 4, "cacheReadTokens": 300, "cacheWriteTokens": 20}
    assert transcript.messages[0].usage == counts
    again, losses = written(Message("assistant", [Text("Well?")], stop_reason="stop", usage=counts))
    assert again == document
    assert losses == []


def test_of_several_answers_the_active_one_is_written() -> None:
    document, losses = written(
        Message("assistant", [Text("one")], id="choice_1", stop_reason="stop"),
        Message("assistant", [Text("two")], id="choice_2", stop_reason="stop"),
        head="choice_1",
        id="r",
    )
    assert document["content"] == [{"type": "text", "text": "one"}]
    assert ("dropped", "branch") in kinds_and_fields(losses)


def test_a_list_with_whole_responses_keeps_them() -> None:
    # fmt: off
    answered = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [TEXT],
                "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    # fmt: on
    document = [{"role": "user", "content": "Hi"}, answered]
    message = lift(document).messages[1]
    assert (message.id, message.model, message.stop_reason) == ("msg_1", "m", "stop")
    assert comes_back(document)


# ---------------------------------------------------------------- places and recognition


def test_a_loss_points_to_the_value_in_the_source() -> None:
    document = request(
        {"role": "user", "content": [{"type": "document", "source": {"type": "text", "data": "x"}, "context": "c"}]},
        system=[{"type": "text", "text": "a"}, {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}],
        top_k=4,
        container="c",
    )
    places = {loss.where for loss in pipeline.convert(document, ANTHROPIC, OPENAI).losses}
    assert {"/system/1/cache_control", "/messages/0/content/0/context", "/top_k", "/container"} <= places


@pytest.mark.parametrize(
    "document",
    [
        request({"role": "system", "content": "x"}, {"role": "user", "content": "y"}) | {"model": "claude-x"},
        {"messages": [{"role": "user", "content": [{"text": "x"}]}], "system": [{"text": "y"}]},
        {"messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}], "system": "y"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
        [{"role": "user", "content": "x"}],
    ],
)
def test_a_document_without_marks_of_ours_is_not_claimed(document: Any) -> None:
    assert detection.evidence(document, ANTHROPIC) is None


def test_a_broken_document_is_still_recognised_by_its_marks() -> None:
    document = asked(RESULT_A)
    document["messages"][0] = "Hi"
    assert detection.detect(document).dialect == "anthropic"


def test_the_reason_for_lost_request_metadata_names_the_user_id() -> None:
    document = {"messages": [{"role": "user", "content": "Hi."}], "metadata": {"team": "a"}}
    (loss,) = pipeline.convert(document, dialects.get("openai-chat"), dialects.get("anthropic")).losses
    assert (loss.field, loss.why) == ("settings.metadata", "Anthropic request metadata has only `user_id`")


def test_content_may_be_half_of_a_surrogate_pair() -> None:
    half = exact_json.parse(rb'"\uDd1e"')
    (message,) = dialects.get("anthropic").lift({"messages": [{"role": "user", "content": half}]}).messages
    assert message.parts == [Text(half)]
