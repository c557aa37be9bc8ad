"""Ollama's native chat: what it cannot store is reported, and reading back needs no missing keys."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.ollama import DIALECT
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

PNG = "iVBORw0KGgo="


def written(transcript: Transcript) -> tuple[Any, dict[str, Loss]]:
    """The document, and the losses by their field."""
    conversion = pipeline.lower(transcript, DIALECT)
    return conversion.document, {loss.field: loss for loss in conversion.losses}


def pairs(transcript: Transcript) -> list[tuple[Any, Any]]:
    """For each result, the arguments of the call that it answers, and its text."""
    calls = {part.id: part for message in transcript.messages for part in message.parts if isinstance(part, ToolCall)}
    results = [part for message in transcript.messages for part in message.parts if isinstance(part, ToolResult)]
    return [(calls[result.tool_call_id].arguments, result.value) for result in results]


def request_of(settings: dict[str, Any]) -> Any:
    return written(Transcript([], settings=settings))[0]


def test_results_without_ids_are_paired_by_name_and_order() -> None:
    names = ["f", "g", "f"]
    calls = [{"function": {"name": name, "arguments": {"n": n}}} for n, name in enumerate(names)]
    results = [("g", "second"), ("f", "first"), ("f", "third")]
    rows = [{"role": "tool", "tool_name": name, "content": text} for name, text in results]
    transcript = DIALECT.lift([{"role": "assistant", "tool_calls": calls}, *rows])
    assert pairs(transcript) == [({"n": 1}, "second"), ({"n": 0}, "first"), ({"n": 2}, "third")]
    assert transcript.origin is not None
    assert transcript.origin.generated_ids == {"call_1", "call_2", "call_3"}


def test_older_clients_name_the_tool_under_name() -> None:
    rows = [
        {"role": "assistant", "tool_calls": [{"function": {"name": n, "arguments": {"of": n}}} for n in ("f", "g")]},
        {"role": "tool", "name": "g", "content": "G"},
    ]
    assert pairs(DIALECT.lift(rows)) == [({"of": "g"}, "G")]


def test_an_exchange_of_another_format_is_paired_the_same_by_a_server_without_ids() -> None:
    source = dialects.get("openai-chat")
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": f'{{"n":{n}}}'}}
        for n, name in enumerate(["f", "g", "f"])
    ]
    rows = [{"role": "tool", "tool_call_id": id_, "content": id_} for id_ in ("c0", "c2", "c1")]
    document = {"messages": [{"role": "assistant", "content": None, "tool_calls": calls}, *rows]}
    before = source.lift(document)
    native = copy.deepcopy(DIALECT.lower(before, Options()))  # type: ignore[misc]
    assert pairs(DIALECT.lift(native)) == pairs(before)
    for message in native["messages"]:
        message.pop("tool_call_id", None)
        for call in message.get("tool_calls", ()):
            del call["id"]
    assert pairs(DIALECT.lift(native)) == pairs(before)


def test_arguments_that_are_not_an_object_are_reported() -> None:
    document, losses = written(Transcript([Message("assistant", [ToolCall("c", "f", {}, raw_arguments='{"a":')])]))
    assert document["messages"][0]["tool_calls"][0]["function"]["arguments"] == {}
    assert losses["tool_call.rawArguments"].before == '{"a":'


def test_the_texts_of_a_user_become_messages_and_no_text_changes() -> None:
    picture = Media("image", data=PNG, media_type="image/png")
    document, losses = written(Transcript([Message("user", [Text("one"), picture, Text("two")])]))
    assert document["messages"] == [
        {"role": "user", "content": "one", "images": [PNG]},
        {"role": "user", "content": "two"},
    ]
    assert not {"text.text", "image"} & losses.keys()
    assert "message.grouping" in losses


def test_the_texts_of_an_assistant_are_joined_so_that_its_calls_stay_with_them() -> None:
    document, losses = written(Transcript([Message("assistant", [Text("one"), Text("two"), ToolCall("c", "f", {})])]))
    (message,) = document["messages"]
    assert message["content"] == "one\n\ntwo"
    assert len(message["tool_calls"]) == 1
    assert (losses["text.text"].before, losses["text"].before["text"]) == ("one", "two")


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        ("/9j/4AAQSkZJRg==", "image/jpeg"),
        ("R0lGODlhAQABAAAAACw=", "image/gif"),
        ("UklGRhoAAABXRUJQVlA4TA0AAAA=", "image/webp"),
        ("UklGRiQAAABXQVZFZm10IBAAAAA=", None),
        ("AAECAw==", None),
    ],
)
def test_the_first_bytes_of_an_image_give_its_type(data: str, media_type: str | None) -> None:
    (part,) = DIALECT.lift([{"role": "user", "images": [data]}]).messages[0].parts
    assert part == Media("image", data=data, media_type=media_type)


def test_media_other_than_base64_images_are_reported() -> None:
    media = [Media("image", url="https://example.com/a.png"), Media("audio", data="AA==", media_type="audio/wav")]
    document, losses = written(Transcript([Message("user", [Text("See"), *media])]))
    assert document["messages"] == [{"role": "user", "content": "See"}]
    assert losses["image"].why == "Ollama supports images only as base64"
    assert losses["audio"].level == "content"


def test_images_of_a_result_stay_with_it() -> None:
    value = [Text("A map"), Media("image", data=PNG, media_type="image/png")]
    rows = [
        Message("assistant", [ToolCall("c", "f", {})]),
        Message("tool", [ToolResult("c", "f", "multimodal", value)]),
    ]
    document, losses = written(Transcript(rows))
    assert document["messages"][1]["images"] == [PNG]
    assert losses == {}


def test_options_that_only_ollama_has_ride_along_and_no_limit_is_no_setting() -> None:
    document = {"messages": [], "options": {"num_ctx": 8192, "num_predict": -1, "top_k": 5}}
    transcript = DIALECT.lift(document)
    assert transcript.settings == {"topK": 5}
    assert transcript.extras == {"ollama": {"options": {"num_ctx": 8192, "num_predict": -1}}}
    assert DIALECT.lower(transcript, Options()) == document  # type: ignore[misc]


def test_an_effort_is_the_nearest_level_of_thinking() -> None:
    efforts = ("none", "minimal", "medium", "xhigh", "ludicrous")
    assert [request_of({"reasoningEffort": effort}).get("think") for effort in efforts] == [
        False, "low", "medium", "max", None
    ]  # fmt: skip
    assert DIALECT.lift({"messages": [], "think": True}).settings is None


def test_a_format_is_the_word_json_or_the_schema_itself() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    form = {"type": "json_schema", "name": "x", "schema": schema}
    assert request_of({"responseFormat": {"type": "json"}})["format"] == "json"
    assert request_of({"responseFormat": form})["format"] == schema
    lifted = DIALECT.lift({"messages": [], "format": schema}).settings
    assert lifted == {"responseFormat": {"type": "json_schema", "schema": schema}}


def test_what_the_server_would_ignore_is_not_written_but_reported() -> None:
    tool = ToolDefinition("f", parameters={"type": "object"}, strict=True)
    document, losses = written(
        Transcript([], tools=[tool], tool_choice="required", settings={"parallelToolCalls": False})
    )
    assert document["tools"][0]["function"] == {"name": "f", "parameters": {"type": "object"}}
    assert document.keys() == {"messages", "tools"}
    assert {"tool.strict", "toolChoice", "settings.parallelToolCalls"} <= losses.keys()


def test_an_answer_alone_is_a_response() -> None:
    answer = Message(
        "assistant", [Reasoning("Hm"), Text("A")], stop_reason="length", usage={"inputTokens": 3, "outputTokens": 2}
    )
    document, losses = written(Transcript([answer], model="m", created_at="2026-01-02T03:04:05Z"))
    assert document == {
        "model": "m",
        "created_at": "2026-01-02T03:04:05Z",
        "message": {"role": "assistant", "content": "A", "thinking": "Hm"},
        "done": True,
        "done_reason": "length",
        "prompt_eval_count": 3,
        "eval_count": 2,
    }
    assert losses == {}


def test_durations_are_bookkeeping() -> None:
    document = {"model": "m", "message": {"role": "assistant", "content": "A"}, "done": True, "total_duration": 5}
    (loss,) = pipeline.convert(document, DIALECT, dialects.get("openai-chat")).losses
    assert (loss.field, loss.level, loss.where) == ("extras.ollama.total_duration", "envelope", "/total_duration")


def test_messages_with_arguments_in_a_text_are_of_others_though_their_results_name_a_tool() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c1", "tool_name": "f", "content": "ok"}
    assert detection.evidence([{"role": "assistant", "tool_calls": [call]}, result], DIALECT) is None
    match = detection.evidence([result], DIALECT)
    assert match is not None
    assert match.strength == 93
