"""What is hard about the Gemini API: answers without ids, wrappers, signatures, the case of keys, turns, schemas."""

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
from convcli.wire import exact_json

GEMINI = dialects.get("gemini")
HUB = dialects.get("intermediate")
CHAT = dialects.get("openai-chat")


def lift(*contents: dict[str, Any], **request: Any) -> Transcript:
    document = {"contents": list(contents), **request}
    assert schemas.findings("gemini", document) == []
    return GEMINI.lift(document)


def lower(transcript: Transcript) -> Any:
    return GEMINI.lower(transcript, Options())


def stored_and_back(document: Any) -> Any:
    """The document after it was stored in the intermediate format."""
    return pipeline.convert(pipeline.convert(document, GEMINI, HUB).document, HUB, GEMINI).document


def losses(transcript: Transcript, field: str) -> list[Loss]:
    return [loss for loss in pipeline.lower(transcript, GEMINI).losses if loss.field == field]


def call(name: str, id_: str | None = None, **args: Any) -> dict[str, Any]:
    return {"functionCall": {**({"id": id_} if id_ else {}), "name": name, "args": args}}


def answer(name: str, response: Any, id_: str | None = None) -> dict[str, Any]:
    return {"functionResponse": {**({"id": id_} if id_ else {}), "name": name, "response": response}}


def model(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def pairs(transcript: Transcript) -> list[tuple[str, str]]:
    """The city of each call with the value of the answer that has its id."""
    parts = [part for message in transcript.messages for part in message.parts]
    values = {part.tool_call_id: part.value for part in parts if isinstance(part, ToolResult)}
    return [(part.name, values[part.id]) for part in parts if isinstance(part, ToolCall) and part.id in values]


# ---------------------------------------------------------------- pairing


def test_a_count_that_is_no_number_of_64_bits_stays_a_text() -> None:
    parameters = {"type": "ARRAY", "maxItems": "9" * 10_000, "minItems": "9" * 19}
    tools = [{"functionDeclarations": [{"name": "f", "parameters": parameters}]}]
    document = {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}], "tools": tools}
    [tool] = dialects.get("gemini").lift(document).tools or []
    assert tool.parameters == {"type": "array", "maxItems": "9" * 10_000, "minItems": 10**19 - 1}


def test_answers_without_ids_are_paired_by_order_within_a_name() -> None:
    transcript = lift(
        model(call("a"), call("b"), call("a")),
        user(answer("b", {"output": "b1"}), answer("a", {"output": "a1"}), answer("a", {"output": "a2"})),
    )
    assert pairs(transcript) == [("a", "a1"), ("b", "b1"), ("a", "a2")]


def test_an_id_goes_before_the_order() -> None:
    transcript = lift(
        model(call("f", "x"), call("f", "y")),
        user(answer("f", {"output": "to y"}, "y"), answer("f", {"output": "to x"})),
    )
    assert pairs(transcript) == [("f", "to x"), ("f", "to y")]


def test_an_answer_under_another_name_gets_the_place_that_is_left() -> None:
    transcript = lift(model(call("a"), call("b")), user(answer("c", {"output": "c1"}), answer("a", {"output": "a1"})))
    assert pairs(transcript) == [("a", "a1"), ("b", "c1")]
    assert [message.parts[0].name for message in transcript.messages[1:]] == ["c", "a"]  # type: ignore[union-attr]


def test_a_call_without_an_id_gets_that_of_its_answer_and_does_not_write_it() -> None:
    document = {"contents": [model(call("f")), user(answer("f", {"output": "1"}, "given"))]}
    transcript = GEMINI.lift(document)
    assert transcript.messages[0].parts[0].id == "given"  # type: ignore[union-attr]
    assert transcript.origin is not None
    assert transcript.origin.generated_ids == set()
    assert exact_json.exact(stored_and_back(document), document)


def test_made_up_ids_are_written_nowhere_and_real_ones_on_both_sides() -> None:
    generated = lift(model(call("f")), user(answer("f", {"output": "1"})))
    assert {part.id for part in generated.messages[0].parts if isinstance(part, ToolCall)} == {"call_1"}
    assert "call_1" not in exact_json.write_text(lower(generated))
    real = Transcript(
        [Message("assistant", [ToolCall("r", "f", {})]), Message("tool", [ToolResult("r", "f", "text", "1")])]
    )
    assert [part[key]["id"] for content in lower(real)["contents"] for part in content["parts"] for key in part] == [
        "r",
        "r",
    ]


def test_an_id_that_no_call_has_stays_an_orphan_when_all_calls_have_ids() -> None:
    transcript = lift(model(call("f", "x")), user(answer("f", {"output": "1"}, "y")))
    assert pairs(transcript) == []


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("response", "kind", "value", "is_error"),
    [
        ({"output": "t"}, "text", "t", None),
        ({"result": "t"}, "text", "t", None),
        ({"output": {"a": 1}}, "data", {"a": 1}, None),
        ({"result": [1.0]}, "data", [1.0], None),
        ({"output": None}, "data", None, None),
        ({"error": "e"}, "error", "e", None),
        ({"error": {"code": 1}}, "data", {"code": 1}, True),
        ({"error": None, "ok": True}, "data", {"error": None, "ok": True}, None),
        ({"output": 1, "more": 2}, "data", {"output": 1, "more": 2}, None),
        ({}, "data", {}, None),
    ],
)
def test_the_only_key_of_a_response_says_what_it_is(response: Any, kind: str, value: Any, is_error: Any) -> None:
    document = {"contents": [model(call("f")), user(answer("f", response))]}
    transcript = GEMINI.lift(document)
    result = transcript.messages[1].parts[0]
    assert isinstance(result, ToolResult)
    assert (result.kind, result.value, result.is_error) == (kind, value, is_error)
    assert exact_json.exact(stored_and_back(document), document)


def answered(result: ToolResult) -> Transcript:
    return Transcript(
        [Message("user", [Text("?")]), Message("assistant", [ToolCall("c", "f", {})]), Message("tool", [result])]
    )


@pytest.mark.parametrize(
    "value", [{"output": 1}, {"result": "x"}, {"error": "no error"}, {}, {"a": 1}, [1], 1.0, None, True]
)
def test_data_comes_back_as_the_data_that_it_was(value: Any) -> None:
    transcript = answered(ToolResult("c", "f", "data", value))
    assert pipeline.lower(transcript, GEMINI).losses == []


def test_data_that_is_a_string_reads_as_text_and_that_is_reported() -> None:
    (loss,) = pipeline.lower(answered(ToolResult("c", "f", "data", "42")), GEMINI).losses
    assert (loss.kind, loss.field, loss.before, loss.after) == ("changed", "tool_result.kind", "data", "text")
    assert loss.why == "a string in a response is read as text"


def test_media_of_an_answer_follow_its_text() -> None:
    image = Media("image", data="AA==", media_type="image/png")
    conversion = pipeline.lower(answered(ToolResult("c", "f", "multimodal", [Text("see"), image])), GEMINI)
    assert conversion.document["contents"][2]["parts"][0]["functionResponse"] == {
        "id": "c",
        "name": "f",
        "response": {"output": "see"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}],
    }
    assert conversion.losses == []


def test_several_texts_of_an_answer_become_one_and_that_is_reported() -> None:
    image = Media("image", data="AA==", media_type="image/png")
    (loss,) = losses(answered(ToolResult("c", "f", "multimodal", [Text("a"), image, Text("b")])), "tool_result.value")
    assert loss.why == "the texts of an answer are one string before its media"


# ---------------------------------------------------------------- turns


def test_answers_to_one_turn_share_one_content_in_the_order_of_the_calls_and_moves_are_reported() -> None:
    messages = [
        Message("assistant", [ToolCall("x", "f", {}), ToolCall("y", "g", {})]),
        Message("tool", [ToolResult("y", "g", "text", "2")]),
        Message("tool", [ToolResult("x", "f", "text", "1")]),
        Message("user", [Text("So?")]),
    ]
    conversion = pipeline.lower(Transcript(messages), GEMINI)
    _, answers, question = conversion.document["contents"]
    assert [part["functionResponse"]["id"] for part in answers["parts"]] == ["x", "y"]
    assert question == user({"text": "So?"})
    assert [loss.kind for loss in conversion.losses] == ["moved"]


def test_what_the_source_wrote_is_not_sorted() -> None:
    document = {
        "contents": [
            model(call("f", "x"), call("g", "y")),
            {"role": "function", "parts": [answer("g", {"output": "2"}, "y")]},
            user(answer("f", {"output": "1"}, "x"), {"text": "So?"}),
        ]
    }
    assert exact_json.exact(stored_and_back(document), document)


def test_a_turn_that_calls_joins_the_turns_of_the_model_before_it() -> None:
    messages = [Message("user", [Text("?")]), *(Message("assistant", [Text(word)]) for word in "ab")]
    assert len(lower(Transcript(messages))["contents"]) == 3
    calls = Transcript([*messages, Message("assistant", [ToolCall("c", "f", {})])])
    assert [content["role"] for content in lower(calls)["contents"]] == ["user", "model"]
    assert len(losses(calls, "message.grouping")) == 2


def test_the_system_speaks_once_and_nothing_that_it_says_in_the_middle_is_lost() -> None:
    messages = [Message(role, [Text(role)]) for role in ("system", "user", "developer", "assistant")]
    document = lower(Transcript(messages))
    assert document["systemInstruction"] == {"parts": [{"text": "system"}, {"text": "developer"}]}
    assert [content["role"] for content in document["contents"]] == ["user", "model"]
    assert {loss.where for loss in pipeline.lower(Transcript(messages), GEMINI).losses} == {
        "/messages/2",
        "/messages/2/role",
    }


def test_words_of_a_refusal_and_of_a_summary_are_kept() -> None:
    reasoning = Reasoning("", summary=["First.", "Then."], metadata={"encryptedContent": "x"})
    parts = lower(Transcript([Message("assistant", [reasoning, Refusal("No.")])]))["contents"][0]["parts"]
    assert parts == [{"text": "First.\n\nThen.", "thought": True}, {"text": "No."}]


# ---------------------------------------------------------------- signatures


def test_a_signature_stays_on_its_part_and_is_lost_where_it_stood() -> None:
    document = {
        "contents": [
            user({"text": "?"}),
            model(
                {"text": "Hm.", "thought": True, "thoughtSignature": "YQ=="},
                {**call("f"), "thoughtSignature": "Yg=="},
                {"text": "", "thoughtSignature": "Yw=="},
            ),
        ]
    }
    conversion = pipeline.convert(document, GEMINI, CHAT)
    signature_paths = [loss.where for loss in conversion.losses if loss.field.endswith("thoughtSignature")]
    assert signature_paths == [f"/contents/1/parts/{i}/thoughtSignature" for i in range(3)]


def test_signatures_of_other_vendors_are_never_written() -> None:
    parts = [Reasoning("Hm.", metadata={"signature": "SECRET"}), ToolCall("c", "f", {}, metadata={"itemId": "SECRET"})]
    transcript = Transcript([Message("assistant", list(parts))])
    conversion = pipeline.lower(transcript, GEMINI)
    assert "SECRET" not in exact_json.write_text(conversion.document)
    assert len(conversion.losses) == 2


# ---------------------------------------------------------------- case, names, schemas


def test_snake_case_says_the_same_as_camel_case_and_comes_back() -> None:
    snake = {
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "contents": [model({"function_call": {"name": "f", "args": {"top_p": 1}}, "thought_signature": "YQ=="})],
        "generation_config": {"top_p": 0.5},
    }
    camel = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [model({**call("f", top_p=1), "thoughtSignature": "YQ=="})],
        "generationConfig": {"topP": 0.5},
    }
    assert GEMINI.lift(snake) == GEMINI.lift(camel)
    assert exact_json.exact(stored_and_back(snake), snake)


def test_a_loss_of_a_snake_case_document_points_at_its_own_keys() -> None:
    document = {"contents": [model({"function_call": {"name": "f", "args": {}}, "thought_signature": "YQ=="})]}
    places = [loss.where for loss in pipeline.convert(document, GEMINI, CHAT).losses]
    assert places == ["/contents/0/parts/0/function_call/id", "/contents/0/parts/0/thought_signature"]


def test_names_that_the_service_rejects_get_others_without_a_collision() -> None:
    transcript = Transcript(
        [Message("assistant", [ToolCall("1", "9lives", {}), ToolCall("2", "a b", {}), ToolCall("3", "a_b", {})])],
        tools=[ToolDefinition("a b"), ToolDefinition("a_b"), ToolDefinition("x" * 70)],
        tool_choice={"name": "a b"},
    )
    document = lower(transcript)
    assert [part["functionCall"]["name"] for part in document["contents"][0]["parts"]] == ["_9lives", "a_b_2", "a_b"]
    names = [tool["name"] for tool in document["tools"][0]["functionDeclarations"]]
    assert names == ["a_b_2", "a_b", "x" * 64]
    assert document["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"] == ["a_b_2"]


def test_the_subset_of_openapi_lifts_to_json_schema_and_comes_back() -> None:
    subset = {
        "type": "OBJECT",
        "properties": {
            "type": {"type": "STRING", "nullable": True},
            "many": {"type": "ARRAY", "items": {"ref": "#/defs/One"}, "minItems": "1"},
        },
        "defs": {"One": {"type": "INTEGER"}},
    }
    document = {
        "contents": [user({"text": "?"})],
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": subset}]}],
    }
    transcript = GEMINI.lift(document)
    assert transcript.tools is not None
    assert transcript.tools[0].parameters == {
        "type": "object",
        "properties": {
            "type": {"type": ["string", "null"]},
            "many": {"type": "array", "items": {"$ref": "#/$defs/One"}, "minItems": 1},
        },
        "$defs": {"One": {"type": "integer"}},
    }
    assert exact_json.exact(stored_and_back(document), document)


def test_a_schema_of_another_vendor_is_written_whole() -> None:
    schema = {"type": "object", "properties": {"x": {"oneOf": [{"const": 1}]}}, "additionalProperties": False}
    transcript = Transcript([Message("user", [Text("?")])], tools=[ToolDefinition("f", parameters=schema)])
    conversion = pipeline.lower(transcript, GEMINI)
    assert conversion.document["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"] == schema
    assert conversion.losses == []


# ---------------------------------------------------------------- responses


def test_an_answer_that_calls_stopped_for_its_calls() -> None:
    document = {"candidates": [{"content": model(call("f")), "finishReason": "STOP"}]}
    transcript = GEMINI.lift(document)
    assert transcript.messages[0].stop_reason == "tool_calls"
    assert exact_json.exact(stored_and_back(document), document)


def test_thoughts_are_part_of_the_output_tokens() -> None:
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 3, "thoughtsTokenCount": 4, "totalTokenCount": 12}
    transcript = GEMINI.lift({"candidates": [{"content": model({"text": "Hi."})}], "usageMetadata": usage})
    assert transcript.messages[0].usage == {
        "inputTokens": 5,
        "outputTokens": 7,
        "reasoningTokens": 4,
        "totalTokens": 12,
    }
    again = GEMINI.lift(lower(Transcript(transcript.messages)))
    assert again.messages[0].usage == transcript.messages[0].usage


def test_several_candidates_are_branches_and_the_first_is_the_head() -> None:
    contents = [model({"text": word}) for word in "ab"]
    document = {
        "candidates": [{"content": content, "finishReason": "STOP", "index": i} for i, content in enumerate(contents)]
    }
    transcript = GEMINI.lift(document)
    assert transcript.head == transcript.messages[0].id
    assert [loss.field for loss in pipeline.convert(document, GEMINI, CHAT).losses] == []
    assert exact_json.exact(stored_and_back(document), document)


def test_a_withheld_answer_says_why_only_to_google() -> None:
    document = {"candidates": [{"finishReason": "RECITATION", "index": 0}], "usageMetadata": {"promptTokenCount": 1}}
    transcript = GEMINI.lift(document)
    assert (transcript.messages[0].parts, transcript.messages[0].stop_reason) == ([], "content_filter")
    assert exact_json.exact(stored_and_back(document), document)


@pytest.mark.parametrize("key", ["responseSchema", "responseJsonSchema", "response_schema"])
def test_what_becomes_of_a_schema_of_answers_is_reported_at_the_schema(key: str) -> None:
    kind = "response_mime_type" if "_" in key else "responseMimeType"
    settings = {kind: "application/json", key: {"type": "object"}}
    document = {"contents": [model({"text": "Hi."})], "generationConfig": settings}
    losses = pipeline.convert(document, GEMINI, CHAT).losses
    assert [(loss.field, loss.where) for loss in losses] == [
        ("settings.responseFormat.name", f"/generationConfig/{key}"),
    ]
