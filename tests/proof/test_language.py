"""Language, messages, parts and calls are told from metadata by their value."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.proof.language import holds_content, is_language

LANGUAGE = (
    "The answer is forty-two.",
    "It works.",
    "Why did the build fail again today",
    "“Non lo so”, disse il marinaio.",
    "今日は晴れです",
    "오늘은 날씨가 좋아요",
    "Сегодня хорошая погода.",
    '{"note": "The answer is forty-two."}',
    "# Plan\n\n1. Read the file and look for the error\n2. Fix it",
)
METADATA = (
    "", "a", "ok", "in_progress", "gpt-5.5-mini", "0.2.17", "claude-opus-5-5", "user@example.com",
    "/home/ada/My Documents/a b.txt", "C:\\Program Files\\Git Bash", "https://example.com/a?q=what+is+it",
    "2026-01-02T03:04:05Z", "Fri Nov 27 02:44:46 UTC 2026", "366de010-5128-8239-84cb-193d9e62e120",
    "sha256:6b7fa434f92a8b80aab02d9bf1a12e49ffcae424e4013a1c4f68b67e3d2bbcd0", "aGVsbG8gd29ybGQ=",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0", "Asia/Tokyo",
    "Claude Opus 5.5", "max_tokens", "getWeather", "-----BEGIN CERTIFICATE-----", "12 34 56 78", '{"a": 1, "b": "x"}',
)  # fmt: skip


@pytest.mark.parametrize("text", LANGUAGE)
def test_language_is_told_in_any_script(text: str) -> None:
    assert is_language(text)


@pytest.mark.parametrize("text", METADATA)
def test_metadata_is_not_language(text: str) -> None:
    assert not is_language(text)


@pytest.mark.parametrize(
    "value",
    [
        {"role": "assistant", "content": "Yes"},
        [{"type": "text", "text": "Yes"}],
        {"tool_calls": [{"id": "call_1", "function": {"name": "f", "arguments": "{}"}}]},
        {"toolCallId": "call_1", "rawInput": {"city": "Tokyo"}},
        {"a": [{"b": "The answer is forty-two."}]},
        [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}],
    ],
)
def test_messages_parts_and_calls_are_content(value: Any) -> None:
    assert holds_content(value)


@pytest.mark.parametrize(
    "value", [None, 1, True, [], {}, {"role": "assistant"}, {"type": "text", "text": " "}, {"a": 1}, {"type": "image"}]
)
def test_other_values_are_not(value: Any) -> None:
    assert not holds_content(value)


def test_a_type_may_be_of_any_kind() -> None:
    assert not holds_content({"type": ["tool_use"], "name": "f"})


def test_a_value_of_any_depth_is_read_without_a_crash() -> None:
    deep: Any = "The answer is forty-two."
    for _ in range(5000):
        deep = [deep]
    assert not holds_content(deep)
