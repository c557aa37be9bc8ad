"""Extras for another dialect are used where they fit, and left out where they do not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline, untrusted
from convcli.model.dialect import Options
from convcli.model.transcript import Media, Message, Text, ToolDefinition, ToolResult, Transcript

HUB, CHAT = dialects.get("intermediate"), dialects.get("openai-chat")


def carrying(**extra: Any) -> dict[str, Any]:
    message = {"role": "user", "parts": [{"type": "text", "text": "Hi."}]}
    return {"convcli": 1, "messages": [message], "extras": {"openai-chat": extra}}


def test_a_kept_key_that_fits_is_written() -> None:
    done = pipeline.convert(carrying(logit_bias={"5": 1}), HUB, CHAT)
    assert done.document["logit_bias"] == {"5": 1}
    assert done.losses == []


@pytest.mark.parametrize("extra", [{"messages": 7}, {"messages": [{"role": "x"}]}, {"tools": "none"}])
def test_a_kept_key_that_makes_the_document_invalid_is_left_out_and_reported(extra: dict[str, Any]) -> None:
    done = pipeline.convert(carrying(**extra), HUB, CHAT)
    assert done.document == {"messages": [{"role": "user", "content": "Hi."}]}
    assert [loss.field for loss in done.losses] == [f"extras.openai-chat.{key}" for key in extra]


def test_keys_of_one_form_do_not_break_another_form_of_the_same_dialect() -> None:
    cohere = dialects.get("cohere")
    document = {"model": "m", "messages": [{"role": "user", "content": "Hi."}], "logprobs": True}
    assert pipeline.validate(document, cohere) == []
    answer = pipeline.convert(document, cohere, cohere, Options(form="response")).document
    assert pipeline.validate(answer, cohere) == []


def test_every_record_that_can_carry_is_looked_at() -> None:
    image = Media("image", url="https://x.y/z")
    result = ToolResult("a", "f", "multimodal", [Text("x"), image])
    message, tool = Message("tool", [result]), ToolDefinition("f")
    transcript = Transcript([message], tools=[tool])
    assert list(untrusted.records(transcript)) == [transcript, tool, message, result, result.value[0], image]


def chunk(delta: dict[str, Any], reason: str | None = None, **keys: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **keys}


def call(**keys: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, **keys}]}


REFERENCE = {"type": "reference", "reference_ids": [1]}
CONTENT = {"role": "model", "parts": [{"text": "Hi."}]}
STREAMED = [
    ("openai-chat", "former", [chunk({"content": "Hi"}, foo="x"), chunk({"content": "."}, "stop", foo="y")]),
    ("openai-chat", "content_blocks", [chunk({"content": [REFERENCE]}), chunk({"content": "Hi."}, "stop")]),
    (
        "openai-chat",
        "former",
        [
            chunk(call(id="c1", type="function", function={"name": "f", "arguments": "{"})),
            chunk(call(id="c2", function={"arguments": "}"})),
            chunk({}, "tool_calls"),
        ],
    ),
    (
        "gemini",
        "former",
        [
            {"candidates": [{"content": CONTENT, "foo": "x"}]},
            {"candidates": [{"content": CONTENT, "foo": "y", "finishReason": "STOP"}]},
        ],
    ),
]


@pytest.mark.parametrize(("target", "key", "events"), STREAMED)
def test_a_key_that_only_the_assembly_of_a_stream_adds_is_a_loss_and_not_written(
    target: str, key: str, events: list[Any]
) -> None:
    source, to = dialects.get(f"{target}-stream"), dialects.get(target)
    stored = pipeline.convert(events, source, HUB)
    for done in (pipeline.convert(events, source, to), pipeline.convert(stored.document, HUB, to)):
        assert f'"{key}"' not in json.dumps(done.document)
        [loss] = done.losses
        assert key in (*loss.field.split("."), *loss.before)
    assert pipeline.convert(stored.document, HUB, source).document == events


def test_a_key_of_the_same_name_in_a_document_is_written() -> None:
    document = {"model": "m", "messages": [{"role": "user", "content": "Hi."}], "former": {"foo": ["x"]}}
    batch = pipeline.convert(document, CHAT, dialects.get("openai-batch"))
    assert batch.document["body"] == document
