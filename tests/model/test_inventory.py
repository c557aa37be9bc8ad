"""What a transcript holds is found once, and a pass without anything to look at would change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from convcli import dialects
from convcli.model.inventory import Informed, Inventory, any_of, apply_all, has_field, has_kind, has_role, kinds
from convcli.model.transcript import Media, Message, Text, ToolCall, ToolResult, Transcript
from tests.support import about, acceptable, names

MESSAGES = [
    Message("user", [Text("a"), Media("image", url="https://example.com/a.png")], name="b"),
    Message("assistant", [ToolCall("1", "f", {})]),
    Message("tool", [ToolResult("1", "f", "data", {})]),
]


def test_questions_are_about_roles_kinds_and_fields() -> None:
    inventory = Inventory(MESSAGES)
    assert inventory.ask(kinds) == {"text", "image", "tool_call", "tool_result.data"}
    assert inventory.ask(has_role("tool", "event"))
    assert not inventory.ask(has_role("event"))
    assert inventory.ask(has_kind("image"))
    assert not inventory.ask(has_kind("tool_result.text"))
    assert inventory.ask(has_field("name"))
    assert not inventory.ask(has_field("id"))
    assert inventory.ask(has_field("name", "id"))
    assert not inventory.ask(has_field("id", "model"))
    assert inventory.ask(any_of(has_role("event"), has_kind("image")))


def test_a_question_is_answered_once_for_messages_that_stay() -> None:
    asked: list[int] = []

    def count(inventory: Inventory) -> bool:
        asked.append(len(inventory.messages))
        return True

    def look(transcript: Transcript, inventory: Inventory) -> Transcript:
        assert inventory.ask(count)
        return transcript

    def halve(transcript: Transcript) -> Transcript:
        return replace(transcript, messages=transcript.messages[:1])

    apply_all(
        (Informed(look), lambda transcript: transcript, Informed(look), halve, Informed(look)), Transcript(MESSAGES)
    )
    assert asked == [3, 1]


def test_a_pass_that_is_skipped_would_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every third sample is fitted to one of the dialects, as it is and with the answer yes to every question."""
    targets = [dialect for dialect in map(dialects.get, names()) if dialect.is_written]
    for at, sample in enumerate(acceptable()[::3]):
        transcript = dialects.get(sample.dialect).lift(sample.document)
        target = targets[at % len(targets)]
        form = target.form(transcript)
        with about(sample, target.name), monkeypatch.context() as patch:
            fitted = target.fitted(transcript, form)
            patch.setattr(Inventory, "ask", always_yes)
            assert target.fitted(transcript, form) == fitted


def always_yes(inventory: Inventory, question: Callable[[Inventory], Any]) -> Any:
    answer = question(inventory)
    return True if answer is False else answer
