"""Which differences are only of ids and times."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.engine.compare import Difference
from convcli.engine.identities import is_identity
from convcli.proof.reasons import MISSING

FIRST, SECOND = "0b5c6f1e-0000-4000-8000-000000000001", "0b5c6f1e-0000-4000-8000-000000000002"


def of(field: str, before: Any, after: Any, level: Any = "envelope") -> bool:
    return is_identity(Difference(level, "changed", field, "/a", "/b", before, after))


@pytest.mark.parametrize(
    ("field", "before", "after"),
    [
        ("message.createdAt", "2026-01-01T00:00:00Z", "yesterday"),
        ("extras.claude-code.row.sourceToolAssistantUUID", "x", "y"),
        ("extras.claude-code.line.uuid", FIRST, MISSING),
        ("extras.x.reference", FIRST, SECOND),
        ("extras.x.reference", "msg_01AbCdEfGhIjKl", "msg_02AbCdEfGhIjKl"),
        ("extras.x.durationMs", 12, 13),
        ("opaque.value", {"a": [{"messageId": 1, "n": 2}]}, {"a": [{"messageId": 2, "n": 2}]}),
    ],
)
def test_ids_and_times_are_known_by_their_names_or_values(field: str, before: Any, after: Any) -> None:
    assert of(field, before, after, "content" if field == "opaque.value" else "envelope")


@pytest.mark.parametrize(
    ("field", "before", "after"),
    [
        ("extras.x.paid", 1, 2),
        ("extras.x.format", "a", "b"),
        ("extras.x.reference", "msg_01AbCdEfGhIjKl", "req_01AbCdEfGhIjKl"),
        ("extras.x.list", [1], [1, 2]),
        ("opaque.value", {"id": 1, "n": 2}, {"id": 1, "n": 3}),
        ("opaque.value", {"id": 1}, {"id": 1, "more": 3}),
        ("message.name", "ann", MISSING),
    ],
)
def test_other_values_count(field: str, before: Any, after: Any) -> None:
    assert not of(field, before, after)


def test_content_counts_even_where_it_looks_like_a_time() -> None:
    assert not of("text.text", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "content")
    assert not of("tool_call.arguments", {"id": FIRST}, {"id": SECOND}, "content")
