"""What is hard about Vertex AI: the subset of OpenAPI, its own marks, and what it shares with the Gemini API."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
from convcli.model.transcript import Message, Text, ToolDefinition, Transcript

GEMINI = dialects.get("gemini")
VERTEX = dialects.get("vertexai")
CHAT = dialects.get("openai-chat")


def written(schema: dict[str, Any]) -> dict[str, Any]:
    """What is written for a function with these parameters: without a loss, and as the rules want it."""
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    document = {"messages": [{"role": "user", "content": "?"}], "tools": [tool]}
    conversion = pipeline.convert(document, CHAT, VERTEX)
    assert (conversion.losses, pipeline.validate(conversion.document, VERTEX)) == ([], [])
    declaration: dict[str, Any] = conversion.document["tools"][0]["functionDeclarations"][0]
    del declaration["name"]
    return declaration


def objects(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


# ---------------------------------------------------------------- schemas


def test_types_are_written_in_capitals_and_null_as_nullable() -> None:
    schema = objects(a={"type": ["string", "null"]}, b={"type": "array", "items": {"$ref": "#/$defs/N"}})
    assert written({**schema, "$defs": {"N": {"type": "integer"}}}) == {
        "parameters": {
            "type": "OBJECT",
            "properties": {
                "a": {"type": "STRING", "nullable": True},
                "b": {"type": "ARRAY", "items": {"ref": "#/defs/N"}},
            },
            "defs": {"N": {"type": "INTEGER"}},
        }
    }


@pytest.mark.parametrize(
    "schema",
    [
        objects(a={"type": ["string", "null"], "pattern": "^x", "enum": ["x", "xx"]}) | {"description": "d"},
        objects(a={"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0.5}], "default": 1}),
        {**objects(a={"$ref": "#/$defs/N"}), "$defs": {"N": {"type": "integer", "format": "int32"}}},
        {**objects(properties={"type": "string"}, type={"type": "string"}), "additionalProperties": False},
        objects(a={"type": "array", "items": objects(b={"type": "boolean", "title": "B"}), "minItems": 1}),
        objects(pattern={"type": "string"}, multipleOf={"type": "number"}, const={"type": "string"}),
    ],
)
def test_what_the_subset_can_say_is_written_in_it(schema: dict[str, Any]) -> None:
    assert written(schema).keys() == {"parameters"}


@pytest.mark.parametrize(
    "schema",
    [
        objects(x={"type": "integer", "exclusiveMinimum": 0}, y={"type": "string", "not": {"const": "a"}}),
        objects(x={"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        objects(x={"type": ["string", "integer", "null"]}),
        objects(x={"type": "integer", "enum": [1, 2]}),
        objects(x={"type": ["string", "null"], "enum": ["a", None]}),
        objects(x={"type": "string", "const": "a"}),
        objects(x={"type": "object", "description": "free"}),
        objects(x={"type": "array"}),
        {"type": "object", "properties": {}},
    ],
)
def test_what_the_subset_cannot_say_or_the_service_refuses_is_written_as_json_schema(schema: dict[str, Any]) -> None:
    assert written(schema) == {"parametersJsonSchema": schema}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": 7, "properties": []},
        {"type": ["x", 1, {}], "enum": "abc", "items": [{"type": "string"}]},
        {"properties": {"a": True, "b": {"anyOf": [False]}}, "$ref": 5, "required": None},
        {"type": [], "anyOf": {}, "const": None},
    ],
)
def test_a_schema_of_any_shape_is_written_as_it_is(schema: dict[str, Any]) -> None:
    transcript = Transcript([Message("user", [Text("?")])], tools=[ToolDefinition("f", parameters=schema)])
    document = VERTEX.lower(transcript)
    assert document["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"] == schema


# ---------------------------------------------------------------- relatives


def test_what_both_relatives_know_goes_from_one_to_the_other() -> None:
    document = {
        "model": "models/m",
        "contents": [{"role": "user", "parts": [{"text": "?", "videoMetadata": {"fps": 1}}]}],
        "generationConfig": {"candidateCount": 1, "thinkingConfig": {"thinkingBudget": 0}},
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
    }
    conversion = pipeline.convert(document, GEMINI, VERTEX)
    assert conversion.document == {**document, "model": "publishers/google/models/m"}
    assert conversion.losses == []


def test_what_only_one_relative_has_is_lost_at_its_path_and_unknown_keys_are_kept() -> None:
    part = {"text": "?", "partMetadata": {"a": 1}, "aKeyOfTheFuture": 2}
    document = {"contents": [{"role": "user", "parts": [part]}], "serviceTier": "flex"}
    conversion = pipeline.convert(document, GEMINI, VERTEX)
    assert conversion.document == {"contents": [{"role": "user", "parts": [{"text": "?", "aKeyOfTheFuture": 2}]}]}
    places = {"/serviceTier", "/contents/0/parts/0/partMetadata"}
    assert {loss.where for loss in conversion.losses} == places


def test_a_tool_that_one_relative_lacks_is_lost_and_one_that_loses_its_keys_is_not() -> None:
    tools = [{"enterpriseWebSearch": {}}, {"googleSearch": {"excludeDomains": ["example.com"]}}]
    document = {"contents": [{"role": "user", "parts": [{"text": "?"}]}], "tools": tools}
    assert pipeline.convert(document, VERTEX, GEMINI).document["tools"] == [{"googleSearch": {}}]


def test_signatures_go_from_one_relative_to_the_other() -> None:
    call = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "YQ=="}
    document = {"contents": [{"role": "user", "parts": [{"text": "?"}]}, {"role": "model", "parts": [call]}]}
    assert pipeline.convert(document, VERTEX, GEMINI).document == document


def test_a_key_that_one_relative_lacks_is_removed_from_the_other_ones_extras() -> None:
    rating = {"category": "x", "threshold": "OFF", "method": "SEVERITY"}
    document = {"contents": [{"role": "user", "parts": [{"text": "?"}]}], "safetySettings": [rating]}
    conversion = pipeline.convert(document, VERTEX, GEMINI)
    assert conversion.document["safetySettings"] == [{"category": "x", "threshold": "OFF"}]
    assert [(loss.kind, loss.where) for loss in conversion.losses] == [("changed", "/safetySettings")]


def test_a_response_goes_from_one_relative_to_the_other_in_any_order_of_keys() -> None:
    usage = {"trafficType": "ON_DEMAND", "totalTokenCount": 2, "promptTokensDetails": [], "promptTokenCount": 2}
    content = {"parts": [{"text": "Hi."}], "role": "model"}
    candidate = {"avgLogprobs": -0.5, "finishMessage": "x", "finishReason": "RECITATION", "content": content}
    for document in (
        {"usageMetadata": usage, "candidates": [candidate]},
        {"usageMetadata": usage, "promptFeedback": {"blockReason": "SAFETY"}},
    ):
        conversion = pipeline.convert(document, VERTEX, GEMINI)
        assert conversion.losses == []
        assert conversion.document == {"candidates": [], **document}


# ---------------------------------------------------------------- detect


@pytest.mark.parametrize(
    "mark",
    [
        {"model": "projects/p/locations/l/publishers/google/models/m"},
        {"generationConfig": {"audioTimestamp": True}},
        {"generation_config": {"audio_timestamp": True}},
        {"safetySettings": [{"category": "x", "method": "SEVERITY"}]},
        {"tools": [{"enterpriseWebSearch": {}}]},
        {"contents": [{"role": "user", "parts": [{"file_data": {"file_uri": "gs://b/a"}}]}]},
        {"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f", "willContinue": True}}]}]},
    ],
)
def test_a_mark_of_its_own_makes_it_vertex(mark: dict[str, Any]) -> None:
    document = {"contents": [{"role": "user", "parts": [{"text": "?"}]}], **mark}
    detected = detection.detect(document)
    assert detected.dialect == "vertexai"
    assert "gemini" in {name for name, _ in detected.others}


def test_without_a_mark_it_is_the_gemini_api_and_vertex_is_only_possible() -> None:
    detected = detection.detect({"contents": [{"role": "user", "parts": [{"text": "?"}]}]})
    assert detected.dialect == "gemini"
    assert [name for name, _ in detected.others][:1] == ["vertexai"]


@pytest.mark.parametrize(
    ("number", "stop"),
    [
        (1, "stop"),
        (2, "length"),
        (3, "content_filter"),
        (7, "content_filter"),
        (8.0, "content_filter"),
        (0, "FINISH_REASON_UNSPECIFIED"),
        (99, "OTHER"),
    ],
)
def test_a_finish_reason_as_a_number_is_read(number: int, stop: str) -> None:
    candidate = {"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": number}
    document = {"candidates": [candidate]}
    assert pipeline.validate(document, VERTEX) == []
    assert VERTEX.lift(document).messages[0].stop_reason == stop


def test_a_schema_and_a_mode_in_numbers_are_read() -> None:
    parameters = {"type": 6, "properties": {"port": {"type": 1, "nullable": True}}}
    tools = [{"functionDeclarations": [{"name": "tide", "parameters": parameters}]}]
    config = {"functionCallingConfig": {"mode": 2, "allowedFunctionNames": ["tide"]}}
    contents = [{"role": "user", "parts": [{"text": "hi"}]}]
    lifted = VERTEX.lift({"contents": contents, "tools": tools, "toolConfig": config})
    assert lifted.tools is not None
    assert lifted.tools[0].parameters == {"type": "object", "properties": {"port": {"type": ["string", "null"]}}}
    assert lifted.tool_choice == {"name": "tide"}


@pytest.mark.parametrize("contents", [None, [None], [{"parts": [None]}], ["a"], "a"])
def test_what_is_no_object_is_no_evidence(contents: Any) -> None:
    for document in ({"contents": contents}, contents):
        found = detection.evidence(document, dialects.get("vertexai"))
        assert found is None or found.strength == 20
