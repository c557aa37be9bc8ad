"""Dates as a person writes them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from convcli.views.times import ago, moment_of, period

NOW = datetime(2026, 3, 31, 12, 0).astimezone()


def local(*fields: int) -> datetime:
    return datetime(*fields).astimezone()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("2026", (2026, 1, 1), (2027, 1, 1)),
        ("2026-12", (2026, 12, 1), (2027, 1, 1)),
        ("2026-01-31", (2026, 1, 31), (2026, 2, 1)),
        ("today", (2026, 3, 31), (2026, 4, 1)),
        (" Yesterday ", (2026, 3, 30), (2026, 3, 31)),
        ("2026-01-31T12:30", (2026, 1, 31, 12, 30), (2026, 1, 31, 12, 30)),
        ("2 weeks ago", (2026, 3, 17, 12), (2026, 3, 17, 12)),
        ("90 min", (2026, 3, 31, 10, 30), (2026, 3, 31, 10, 30)),
        ("3h", (2026, 3, 31, 9), (2026, 3, 31, 9)),
    ],
)
def test_a_date_is_a_period_or_a_moment(text: str, begin: tuple[int, ...], end: tuple[int, ...]) -> None:
    assert period(text, NOW) == (local(*begin), local(*end))


def test_a_zone_is_kept() -> None:
    assert period("2026-01-31T12:00+05:00").begin == datetime(2026, 1, 31, 7, tzinfo=UTC)
    assert period("2026-01-31t12:00z").begin == datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("1 month ago", (2026, 2, 28, 12), (2026, 2, 28, 12)),
        ("3 May 2025", (2025, 5, 3), (2025, 5, 4)),
        ("December 2025", (2025, 12, 1), (2026, 1, 1)),
    ],
)
def test_other_forms_are_read_by_dateparser(text: str, begin: tuple[int, ...], end: tuple[int, ...]) -> None:
    pytest.importorskip("dateparser")
    assert period(text, NOW) == (local(*begin), local(*end))


@pytest.mark.parametrize("text", ["", "soon", "2026-13", "2026-02-30x", "not a date"])
def test_what_is_no_date_names_the_forms(text: str) -> None:
    with pytest.raises(ValueError, match="write 2026-01-31"):
        period(text, NOW)


def test_a_time_of_a_transcript_without_a_zone_is_utc() -> None:
    assert moment_of("2026-01-31T12:00:00.000Z") == moment_of("2026-01-31T12:00:00")
    assert moment_of("noon") is moment_of(None) is None


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2026-05-31T11:59:30", "just now"),
        ("2026-05-31T11:01:00", "59 min ago"),
        ("2026-05-30T12:00:01", "23 h ago"),
        ("2026-05-02T12:00:00", "29 d ago"),
        ("2026-05-01T12:00:00", "2026-05-01"),
        ("2026-06-01T12:00:00", "2026-06-01"),
    ],
)
def test_a_time_of_the_last_month_is_shown_by_its_age(moment: str, words: str) -> None:
    now = datetime(2026, 5, 31, 12, tzinfo=UTC)
    assert ago(datetime.fromisoformat(moment).replace(tzinfo=UTC), now) == words
