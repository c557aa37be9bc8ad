"""Every schema keeps the house rules; openai-chat knows all its vendor says; intermediate says what the records say."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from convcli import dialects
from convcli.model import transcript
from convcli.validation import schemas
from tests.support import names, samples_of

# ---------------------------------------------------------------- house rules of all schemas

KEYWORDS = {
    "$schema",
    "$id",
    "$ref",
    "$defs",
    "x-marks",
    "title",
    "description",
    "type",
    "enum",
    "const",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "prefixItems",
    "minItems",
    "minLength",
    "minProperties",
    "pattern",
    "allOf",
    "oneOf",
    "anyOf",
    "not",
    "if",
    "then",
    "else",
}
MAPS = {"properties", "$defs"}
VALUES = {"enum", "const", "required", "type"}


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """All schema objects of a schema."""
    if isinstance(schema, list):
        for item in schema:
            yield from nodes(item)
    elif isinstance(schema, dict):
        yield schema
        for keyword, value in schema.items():
            if keyword not in VALUES:
                yield from nodes(list(value.values()) if keyword in MAPS else value)


def references(schema: Any) -> set[str]:
    return {node["$ref"].removeprefix("#/$defs/") for node in nodes(schema) if "$ref" in node}


every_schema = pytest.mark.parametrize("name", schemas.names())


@every_schema
def test_a_schema_is_a_valid_one_of_2020_12_under_our_own_name(name: str) -> None:
    schema = schemas.schema(name)
    jsonschema_rs.meta.validate(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:convcli:schema:{name}"
    assert schema["description"]


@every_schema
def test_a_schema_uses_only_keywords_that_have_a_message(name: str) -> None:
    assert {keyword for node in nodes(schemas.schema(name)) for keyword in node} <= KEYWORDS


@every_schema
def test_a_schema_is_open(name: str) -> None:
    assert all(node.get("additionalProperties", True) is not False for node in nodes(schemas.schema(name)))


@every_schema
def test_a_schema_discriminates_first_and_chooses_only_between_keys(name: str) -> None:
    choices = [node[word] for node in nodes(schemas.schema(name)) for word in ("oneOf", "anyOf") if word in node]
    assert all(set(branch) == {"required"} for branches in choices for branch in branches)


@every_schema
def test_a_branch_is_taken_only_where_its_key_is_there(name: str) -> None:
    conditions = [node["if"] for node in nodes(schemas.schema(name)) if "properties" in node.get("if", {})]
    assert all(set(condition["properties"]) <= set(condition.get("required", ())) for condition in conditions)


@every_schema
def test_a_schema_refers_only_to_itself_and_never_in_a_circle(name: str) -> None:
    """So the depth of a document never becomes the depth of a stack."""
    defined = schemas.schema(name).get("$defs", {})
    left = {key: references(node) for key, node in defined.items()}
    assert references(schemas.schema(name)) <= set(defined)
    while leaves := {key for key, used in left.items() if not used & set(left)}:
        left = {key: used for key, used in left.items() if key not in leaves}
    assert not left


@every_schema
def test_no_pattern_can_be_made_to_backtrack(name: str) -> None:
    options = jsonschema_rs.RegexOptions()
    jsonschema_rs.Draft202012Validator(schemas.schema(name), pattern_options=options, offline=True)


@every_schema
def test_no_definition_is_left_over(name: str) -> None:
    assert references(schemas.schema(name)) == set(schemas.schema(name).get("$defs", {}))


@pytest.mark.parametrize("name", names())
def test_nothing_in_an_ordinary_transcript_is_unknown(name: str) -> None:
    ordinary = "twin-weather" if dialects.get(name).is_written else "plain"
    chosen = [sample for sample in samples_of(name) if sample.path.stem == ordinary]
    assert chosen
    for sample in chosen:
        assert schemas.findings(name, sample.document, strict=True) == []


# ---------------------------------------------------------------- openai-chat


def test_a_request_a_response_and_a_list_are_accepted() -> None:
    for document in (FULL_REQUEST, FULL_RESPONSE, FULL_REQUEST["messages"], [], {"messages": []}):
        assert schemas.findings("openai-chat", document, strict=True) == []


def test_a_row_for_fine_tuning_is_accepted() -> None:
    row = {
        "messages": [{"role": "user", "content": ""}, {"role": "assistant", "content": "", "weight": 0}],
        "parallel_tool_calls": False,
        "functions": [{"name": "f"}],
    }
    assert schemas.findings("openai-chat", row, strict=True) == []


def test_a_row_of_a_columnar_file_has_null_under_every_other_key() -> None:
    known = schemas.schema("openai-chat")["$defs"]["message"]["properties"]
    row = dict.fromkeys(known) | {"role": "user", "content": "Hi"}
    assert schemas.accepts("openai-chat", {"messages": [row], "tools": None, "tool_choice": None})


@pytest.mark.parametrize(
    "call",
    [
        {"function": {"name": "f", "arguments": "{}"}},
        {"id": None, "type": None, "function": {"name": "f", "arguments": {"a": 1}}},
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": None}},
        {"id": "c", "type": "custom", "custom": {"name": "f", "input": "free text"}},
    ],
)
def test_a_call_is_accepted_as_old_exports_and_training_rows_hold_it(call: dict[str, Any]) -> None:
    assert schemas.accepts("openai-chat", [{"role": "assistant", "tool_calls": [call]}])


def test_parts_and_tools_of_unknown_types_are_carried() -> None:
    assert schemas.accepts("openai-chat", [{"role": "user", "content": [{"type": "video_url", "video_url": 1}]}])
    assert schemas.accepts("openai-chat", {"messages": [], "tools": [{"type": "web_search"}]})


def test_a_key_that_the_role_does_not_use_keeps_its_type() -> None:
    (finding,) = schemas.findings("openai-chat", [{"role": "user", "content": "", "tool_calls": "none"}])
    assert finding.where == "/0/tool_calls"


def test_a_chunk_of_a_stream_is_no_response() -> None:
    chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}
    (finding,) = schemas.findings("openai-chat", chunk)
    assert (finding.code, finding.where) == ("missing-key", "/choices/0")


BREAK = {"mode": "explicit", "ttl": "30m"}
LOGPROB = {"token": "a", "bytes": [97], "logprob": -0.5}
LOGPROBS = [{**LOGPROB, "top_logprobs": [LOGPROB]}]
MODERATION = {
    "type": "moderation_results",
    "model": "m",
    "code": "",
    "message": "",
    "results": [
        {
            "type": "moderation_result",
            "model": "m",
            "flagged": True,
            "categories": {"a": True},
            "category_scores": {"a": 1},
            "category_applied_input_types": {"a": ["text"]},
        }
    ],
}
FULL_MESSAGE = {
    "role": "assistant",
    "content": None,
    "name": "n",
    "refusal": "no",
    "reasoning": "r",
    "reasoning_content": "r",
    "weight": 1,
    "audio": {"id": "a", "data": "", "expires_at": 1, "transcript": ""},
    "annotations": [
        {"type": "url_citation", "url_citation": {"start_index": 0, "end_index": 1, "title": "t", "url": "u"}}
    ],
    "function_call": {"name": "f", "arguments": "{}"},
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "call_2", "type": "custom", "custom": {"name": "g", "input": ""}},
    ],
}
FULL_REQUEST: dict[str, Any] = {
    "messages": [
        {"role": "developer", "content": "d", "name": "n"},
        {
            "role": "user",
            "name": "n",
            "content": [
                {"type": "text", "text": "t", "prompt_cache_breakpoint": BREAK},
                {"type": "image_url", "image_url": {"url": "u", "detail": "low"}, "prompt_cache_breakpoint": BREAK},
                {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}, "prompt_cache_breakpoint": BREAK},
                {
                    "type": "file",
                    "prompt_cache_breakpoint": BREAK,
                    "file": {"file_data": "", "file_id": "i", "filename": "n"},
                },
            ],
        },
        FULL_MESSAGE,
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "t"}]},
        {"role": "function", "name": "f", "content": None},
    ],
    "model": "m",
    "audio": {"format": "wav", "voice": {"id": "v"}},
    "frequency_penalty": 0.5,
    "function_call": {"name": "f"},
    "functions": [{"name": "f", "description": "d", "parameters": {}}],
    "logit_bias": {"1": -100},
    "logprobs": True,
    "max_completion_tokens": 1,
    "max_tokens": 1,
    "metadata": {"a": "b"},
    "modalities": ["text", "audio"],
    "moderation": {"model": "m", "policy": {"input": {"mode": "score"}, "output": {"mode": "block"}}},
    "n": 1,
    "parallel_tool_calls": True,
    "prediction": {"type": "content", "content": [{"type": "text", "text": ""}]},
    "presence_penalty": 0,
    "prompt_cache_key": "k",
    "prompt_cache_options": {"mode": "explicit", "ttl": "30m"},
    "prompt_cache_retention": "24h",
    "reasoning_effort": "low",
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "n", "description": "d", "schema": {}, "strict": True},
    },
    "safety_identifier": "s",
    "seed": 1,
    "service_tier": "auto",
    "stop": ["a"],
    "store": True,
    "stream": False,
    "stream_options": {"include_obfuscation": True, "include_usage": True},
    "temperature": 1,
    "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function"}]}},
    "tools": [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}, "strict": True}},
        {
            "type": "custom",
            "custom": {
                "name": "g",
                "description": "d",
                "format": {"type": "grammar", "grammar": {"definition": "d", "syntax": "lark"}},
            },
        },
    ],
    "top_logprobs": 1,
    "top_p": 1,
    "user": "u",
    "verbosity": "low",
    "web_search_options": {
        "search_context_size": "low",
        "user_location": {
            "type": "approximate",
            "approximate": {"city": "c", "country": "c", "region": "r", "timezone": "t"},
        },
    },
}
FULL_RESPONSE: dict[str, Any] = {
    "id": "i",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "metadata": {},
    "service_tier": "default",
    "system_fingerprint": "f",
    "moderation": {"input": MODERATION, "output": MODERATION},
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": FULL_MESSAGE,
            "logprobs": {"content": LOGPROBS, "refusal": LOGPROBS},
        }
    ],
    "usage": {
        "prompt_tokens": 1,
        "completion_tokens": 1,
        "total_tokens": 2,
        "prompt_tokens_details": {
            "audio_tokens": 1,
            "cache_write_tokens": 1,
            "cached_tokens": 1,
            "image_tokens": 1,
            "text_tokens": 1,
        },
        "completion_tokens_details": {
            "accepted_prediction_tokens": 1,
            "audio_tokens": 1,
            "reasoning_tokens": 1,
            "rejected_prediction_tokens": 1,
            "text_tokens": 1,
        },
    },
}
"""All that the types of the openai package 3.51.0 can say, and what compatible servers add to a message."""


# ---------------------------------------------------------------- intermediate: the records and the schema say the same

RECORDS: list[tuple[type[msgspec.Struct], tuple[str, ...], set[str]]] = [
    (transcript.Transcript, ("",), {"convcli", "form"}),
    (transcript.Message, ("message",), set()),
    (transcript.Text, ("part", "text"), {"type"}),
    (transcript.Refusal, ("part", "text"), {"type"}),
    (transcript.Reasoning, ("part", "reasoning"), {"type"}),
    (transcript.Media, ("part", "media"), set()),
    (transcript.ToolCall, ("part", "toolCall"), {"type"}),
    (transcript.ToolResult, ("part", "toolResult"), {"type"}),
    (transcript.Opaque, ("part", "opaque"), {"type"}),
    (transcript.ToolDefinition, ("toolDefinition",), set()),
]
every_record = pytest.mark.parametrize(
    ("record", "definitions", "tags"), RECORDS, ids=[case[0].__name__ for case in RECORDS]
)
JSON_TYPE = {str: "string", bool: "boolean", dict: "object", list: "array", int: "integer", float: "number"}


def described(definitions: tuple[str, ...]) -> dict[str, Any]:
    """The definitions of one kind of record as one, references resolved one step."""
    root = schemas.schema("intermediate")
    parts = [root["$defs"][name] if name else root for name in definitions]
    properties = {key: node for part in parts for key, node in part["properties"].items()}
    for key, node in properties.items():
        properties[key] = root["$defs"][node["$ref"].removeprefix("#/$defs/")] if "$ref" in node else node
    return {"properties": properties, "required": {key for part in parts for key in part.get("required", ())}}


def json_types(annotation: Any) -> set[str]:
    """The JSON types of a field that is there."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return set().union(*(json_types(option) for option in typing.get_args(annotation) if option is not type(None)))
    if typing.get_origin(annotation) is typing.Literal:
        return {JSON_TYPE[type(value)] for value in typing.get_args(annotation)}
    return {JSON_TYPE[typing.get_origin(annotation) or annotation]}


@every_record
def test_a_record_and_its_definition_have_the_same_fields(
    record: type[msgspec.Struct], definitions: tuple[str, ...], tags: set[str]
) -> None:
    fields = {field.encode_name: field for field in msgspec.structs.fields(record) if field.name != "origin"}
    definition = described(definitions)
    assert set(definition["properties"]) == set(fields) | tags
    assert definition["required"] - tags == {name for name, field in fields.items() if field.required}


@every_record
def test_a_record_and_its_definition_have_the_same_types(
    record: type[msgspec.Struct], definitions: tuple[str, ...], tags: set[str]
) -> None:
    properties = described(definitions)["properties"]
    for field in msgspec.structs.fields(record):
        stated = properties.get(field.encode_name, {})
        if field.name != "origin" and field.type is not Any and "enum" not in stated:
            listed = stated["type"]
            assert json_types(field.type) == ({listed} if isinstance(listed, str) else set(listed)), field.name


def test_the_closed_vocabularies_are_those_of_the_records() -> None:
    defined = schemas.schema("intermediate")["$defs"]
    kind = typing.get_type_hints(transcript.ToolResult)["kind"]
    media = typing.get_args(typing.get_type_hints(transcript.Media)["type"])
    tags = [cls.type for cls in typing.get_args(transcript.Part) if cls is not transcript.Media]
    assert tuple(defined["message"]["properties"]["role"]["enum"]) == transcript.ROLES
    assert defined["toolResult"]["properties"]["kind"]["enum"] == list(typing.get_args(kind))
    assert set(defined["part"]["properties"]["type"]["enum"]) == {*tags, *media}
    assert set(defined["resultPart"]["properties"]["type"]["enum"]) == {"text", *media}
    sources = [
        transcript.Media.__struct_encode_fields__[transcript.Media.__struct_fields__.index(name)]
        for name in transcript.MEDIA_SOURCES
    ]
    assert [branch["required"] for branch in defined["media"]["oneOf"]] == [[name] for name in sources]
    stop = defined["message"]["properties"]["stopReason"]["description"]
    assert tuple(re.findall(r"`(\w+)`", stop)) == transcript.STOP_REASONS


@pytest.mark.parametrize(
    "result",
    [
        {"kind": "data", "value": None},
        {"kind": "data", "value": [1], "isError": True, "status": "cancelled"},
        {"kind": "error", "value": "offline"},
        {
            "kind": "multimodal",
            "value": [{"type": "text", "text": ""}, {"type": "image", "data": "", "mediaType": "a/b"}],
        },
    ],
)
def test_a_result_of_each_kind_is_accepted(result: dict[str, Any]) -> None:
    part = {"type": "tool_result", "toolCallId": "c", "name": "f", **result}
    document = {"convcli": 1, "messages": [{"role": "tool", "parts": [part]}]}
    assert schemas.findings("intermediate", document, strict=True) == []


def test_extras_are_objects_by_dialect_and_hold_forms() -> None:
    good = {"openai-chat": {"user": "u"}, "form": {"openai-chat": {"form": "list"}}}
    assert schemas.findings("intermediate", {"convcli": 1, "messages": [], "extras": good}, strict=True) == []
    (finding,) = schemas.findings("intermediate", {"convcli": 1, "messages": [], "extras": {"openai-chat": 1}})
    assert finding.where == "/extras/openai-chat"
