"""Texts among parts are joined, and one text alone is distinguished from everything else."""

from __future__ import annotations

import pytest

from convcli.kit.texts import is_bare, only_text, text_of
from convcli.model.transcript import Part, Reasoning, Text


def test_texts_are_joined_and_other_parts_are_passed_over() -> None:
    parts: list[Part] = [Text("a"), Reasoning("thought"), Text("b")]
    assert (text_of(parts), text_of(parts, "\n"), text_of([])) == ("ab", "a\nb", "")


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([Text("a")], "a"),
        ([Text("")], ""),
        ([], None),
        ([Text("a"), Text("b")], None),
        ([Text("a", extras={"openai-chat": {"key": 1}})], None),
        ([Reasoning("a")], None),
    ],
)
def test_a_text_alone_has_no_other_fields(parts: list[Part], text: str | None) -> None:
    assert only_text(parts) == text


def test_a_bare_text_is_distinguished_from_one_with_more() -> None:
    parts: list[Part] = [Text("a"), Text("b", metadata={"key": 1}), Reasoning("c")]
    assert [is_bare(part) for part in parts] == [True, False, False]
