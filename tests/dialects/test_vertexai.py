"""What is hard about Vertex AI: the subset of OpenAPI, its own marks, and what it shares with the Gemini API."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Text, ToolDefinition, Transcript
from convcli.proof.difference import Loss

GEMINI = dialects.get("gemini")
VERTEX = dialects.get("vertexai")
CHAT = dialects.get("openai-chat")


def declared(schema: dict[str, Any]) -> Any:
    """What is written for a function with these parameters."""
    transcript = Transcript([Message("user", [Text("?")])], tools=[ToolDefinition("f", parameters=schema)])
    document = VERTEX.lower(transcript, Options())  # type: ignore[misc]
    return document["tools"][0]["functionDeclarations"][0].get("parameters")


def told(schema: dict[str, Any]) -> list[Loss]:
    """The losses of a Chat Completions request with one function that has these parameters."""
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    document = {"messages": [{"role": "user", "content": "?"}], "tools": [tool]}
    return pipeline.convert(document, CHAT, VERTEX).losses


def objects(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


# ---------------------------------------------------------------- schemas


def test_types_are_written_in_capitals_and_null_as_nullable() -> None:
    schema = objects(a={"type": ["string", "null"]}, b={"type": "array", "items": {"$ref": "#/$defs/N"}})
    assert declared({**schema, "$defs": {"N": {"type": "integer"}}}) == {
        "type": "OBJECT",
        "properties": {
            "a": {"type": "STRING", "nullable": True},
            "b": {"type": "ARRAY", "items": {"ref": "#/defs/N"}},
        },
        "defs": {"N": {"type": "INTEGER"}},
    }


@pytest.mark.parametrize(
    "schema",
    [
        objects(a={"type": ["string", "null"], "pattern": "^x", "enum": ["x", "xx"]}),
        objects(a={"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0.5}], "default": 1}),
        {**objects(a={"$ref": "#/$defs/N"}), "$defs": {"N": {"type": "integer", "format": "int32"}}},
        {**objects(properties={"type": "string"}, type={"type": "string"}), "additionalProperties": False},
        objects(a={"type": "array", "items": objects(b={"type": "boolean", "title": "B"}), "minItems": 1}),
    ],
)
def test_what_the_subset_can_say_comes_back_without_a_loss(schema: dict[str, Any]) -> None:
    assert told(schema) == []


def test_a_keyword_that_the_subset_lacks_is_lost_at_its_place() -> None:
    losses = told(objects(x={"type": "integer", "exclusiveMinimum": 0}, y={"type": "string", "not": {"const": "a"}}))
    place = "/tools/0/function/parameters/properties"
    assert [(loss.kind, loss.where, loss.field, loss.level) for loss in losses] == [
        ("dropped", f"{place}/x/exclusiveMinimum", "tool.parameters", "content"),
        ("dropped", f"{place}/y/not", "tool.parameters", "content"),
    ]
    assert losses[0].before == 0


def test_a_property_named_like_a_keyword_is_no_keyword() -> None:
    schema = objects(pattern={"type": "string"}, multipleOf={"type": "number"}, const={"type": "string"})
    assert told(schema) == []


def test_one_of_several_becomes_any_of_several() -> None:
    losses = told(objects(x={"oneOf": [{"type": "string"}, {"type": "integer"}]}))
    assert [(loss.kind, loss.where.rpartition("/")[2]) for loss in losses] == [
        ("dropped", "oneOf"),
        ("invented", "anyOf"),
    ]


def test_several_types_are_alternatives() -> None:
    assert declared(objects(x={"type": ["string", "integer", "null"]}))["properties"]["x"] == {
        "anyOf": [{"type": "STRING"}, {"type": "INTEGER"}],
        "nullable": True,
    }


def test_a_function_without_arguments_has_no_parameters_and_a_free_object_no_type() -> None:
    assert declared({"type": "object", "properties": {}}) is None
    assert declared(objects(x={"type": "object", "description": "free"}))["properties"]["x"] == {"description": "free"}


def test_only_strings_are_enumerated() -> None:
    losses = told(objects(x={"type": "integer", "enum": [1, 2]}, y={"type": ["string", "null"], "enum": ["a", None]}))
    place = "/tools/0/function/parameters/properties"
    assert [loss.where for loss in losses] == [f"{place}/x/enum", f"{place}/y/enum"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": 7, "properties": []},
        {"type": ["x", 1, {}], "enum": "abc", "items": [{"type": "string"}]},
        {"properties": {"a": True, "b": {"anyOf": [False]}}, "$ref": 5, "required": None},
        {"type": [], "anyOf": {}, "const": None},
    ],
)
def test_a_schema_of_any_shape_is_written(schema: dict[str, Any]) -> None:
    declared(schema)


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


def test_what_only_one_relative_knows_is_lost_at_its_place() -> None:
    part = {"text": "?", "partMetadata": {"a": 1}, "aKeyOfTheFuture": 2}
    document = {"contents": [{"role": "user", "parts": [part]}], "serviceTier": "flex"}
    conversion = pipeline.convert(document, GEMINI, VERTEX)
    assert conversion.document == {"contents": [{"role": "user", "parts": [{"text": "?"}]}]}
    places = {"/serviceTier", "/contents/0/parts/0/partMetadata", "/contents/0/parts/0/aKeyOfTheFuture"}
    assert {loss.where for loss in conversion.losses} == places


def test_signatures_go_from_one_relative_to_the_other() -> None:
    call = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "YQ=="}
    document = {"contents": [{"role": "user", "parts": [{"text": "?"}]}, {"role": "model", "parts": [call]}]}
    assert pipeline.convert(document, VERTEX, GEMINI).document == document


def test_a_key_that_one_relative_lacks_is_taken_out_of_what_the_other_carries() -> None:
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
    told = detection.detect(document)
    assert told.dialect == "vertexai"
    assert "gemini" in {name for name, _ in told.others}


def test_without_a_mark_it_is_the_gemini_api_and_vertex_is_only_possible() -> None:
    told = detection.detect({"contents": [{"role": "user", "parts": [{"text": "?"}]}]})
    assert told.dialect == "gemini"
    assert [name for name, _ in told.others][:1] == ["vertexai"]
