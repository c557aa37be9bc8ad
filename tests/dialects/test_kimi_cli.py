"""Kimi CLI: rows of the program, parts of Kosong, and failures in the text of a result."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.kimi_cli import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript

FAILED = "<system>ERROR: no such file</system>"


def lifted(*rows: Any) -> list[Message]:
    return DIALECT.lift(Rows(rows)).messages


def written(*messages: Message) -> Any:
    return pipeline.lower(Transcript(list(messages)), DIALECT).document


def result(content: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": "c1"}


def test_the_system_prompt_is_the_first_row_and_other_instructions_are_messages() -> None:
    prompt, later = Message("system", [Text("Be brief.")]), Message("system", [Text("Be kind.")])
    rows = [{"role": "_system_prompt", "content": "Be brief."}, {"role": "system", "content": "Be kind."}]
    assert lifted(*rows) == [prompt, later]
    assert written(prompt, later) == rows


def test_usages_and_checkpoints_are_events() -> None:
    rows = [{"role": "_usage", "token_count": 7}, {"role": "_checkpoint", "id": 0}]
    assert lifted(*rows) == [Message("event", [Opaque("kimi-cli", row)]) for row in rows]


def test_thoughts_and_media_are_parts() -> None:
    parts = [
        {"type": "think", "think": "Hm.", "encrypted": "c2ln"},
        {"type": "video_url", "video_url": {"url": "https://example.com/v.mp4", "id": "v1"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
    ]
    (message,) = lifted({"role": "assistant", "content": parts})
    assert message.parts == [
        Reasoning("Hm.", extras={"kimi-cli": {"encrypted": "c2ln"}}),
        Media("video", url="https://example.com/v.mp4", extras={"kimi-cli": {"video_url": {"id": "v1"}}}),
        Media("image", data="aGk=", media_type="image/png"),
    ]
    assert written(message)[0]["content"] == parts


@pytest.mark.parametrize(
    ("content", "kind", "is_error"),
    [
        ("a.txt", "text", None),
        (FAILED, "error", None),
        ([{"type": "text", "text": FAILED}, {"type": "text", "text": "make: no rule"}], "multimodal", True),
        ([{"type": "text", "text": "<system>Done.</system>"}, {"type": "text", "text": "a"}], "multimodal", None),
    ],
)
def test_a_failure_begins_with_the_word_of_the_program(content: Any, kind: str, is_error: Any) -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": {"name": "f"}}]}
    _, message = lifted(call, result(content))
    (part,) = message.parts
    assert isinstance(part, ToolResult)
    assert (part.kind, part.is_error) == (kind, is_error)
    assert written(Message("assistant", [ToolCall("c1", "f", {})]), message)[1] == result(content)


@pytest.mark.parametrize(
    ("part", "content"),
    [
        (ToolResult("c1", "f", "error", "no such file"), FAILED),
        (ToolResult("c1", "f", "data", {"n": 1}), '{"n":1}'),
        (
            ToolResult("c1", "f", "multimodal", [Text("a"), Text("b")], is_error=True),
            [{"type": "text", "text": text} for text in ("<system>ERROR: the tool failed</system>", "a", "b")],
        ),
    ],
)
def test_failures_of_other_dialects_get_the_word(part: ToolResult, content: Any) -> None:
    assert written(Message("assistant", [ToolCall("c1", "f", {})]), Message("tool", [part]))[1] == result(content)


def test_keys_of_another_role_are_kept() -> None:
    call = {"id": "c2", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    rows = [{**result("a.txt"), "tool_calls": [call]}, {"role": "user", "content": "Hi.", "tool_call_id": "c3"}]
    assert [message.extras for message in lifted(*rows)] == [
        {"kimi-cli": {"tool_calls": [call]}},
        {"kimi-cli": {"tool_call_id": "c3"}},
    ]
    assert written(*lifted(*rows)) == rows


def test_its_lines_are_detected_by_its_rows_or_its_thoughts() -> None:
    rows = Rows([{"role": "_checkpoint", "id": 0}, {"role": "user", "content": "Hi."}])
    assert detection.detect(rows).dialect == "kimi-cli"
    thought = {"role": "assistant", "content": [{"type": "think", "think": "Hm."}]}
    assert detection.detect(Rows([thought])).dialect == "kimi-cli"
    assert detection.evidence(Rows([{"role": "user", "content": "Hi."}]), DIALECT) is None
