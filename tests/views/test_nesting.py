"""Runs of subagents stand below the session that started them."""

from __future__ import annotations

import pytest

from convcli.views.nesting import nested


@pytest.mark.parametrize(
    ("items", "families"),
    [
        ("a b:a c d:c", ["a b", "c d"]),
        ("b:a a c:b", ["a b c"]),
        ("b:missing a", ["b", "a"]),
        ("a a:a b:a", ["a a b"]),
        ("a:b b:a c:a", ["a b c"]),
        ("", []),
    ],
)
def test_each_session_is_followed_by_its_runs(items: str, families: list[str]) -> None:
    pairs = [(name, parent) for name, _, parent in (word.partition(":") for word in items.split())]
    named = nested(pairs, lambda pair: pair[0], lambda pair: pair[1])
    assert [" ".join(name for name, _ in family) for family in named] == families
