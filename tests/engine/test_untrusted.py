"""Extras for another dialect are used where they fit, and left out where they do not."""

from __future__ import annotations

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


@pytest.mark.parametrize("carried", [{"messages": 7}, {"messages": [{"role": "x"}]}, {"tools": "none"}])
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
