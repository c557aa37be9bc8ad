"""What happened when: in spans of equal length, all of it, in any zone."""

from __future__ import annotations

import pytest

from convcli.views.timeline import Timeline, day_of


def test_each_span_has_what_happened_in_it() -> None:
    timeline = Timeline()
    timeline.add("2026-01-01T00:00:10Z", tokens=5, calls=1)
    timeline.add("2026-01-01T01:00:50+01:00", tokens=7, errors=1)
    timeline.add("2026-01-01T00:03:00", tokens=1)
    spans = timeline.spans(2)
    assert spans is not None
    assert (spans.begin, spans.end) == ("2026-01-01 00:00", "2026-01-01 00:03")
    assert spans.counts == {"tokens": [12, 1], "calls": [1, 0], "errors": [1, 0]}
    assert [len(each) for each in timeline.spans(60).counts.values()] == [4, 4, 4]  # type: ignore[union-attr]


PLACEHOLDERS = ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")


@pytest.mark.parametrize("time", PLACEHOLDERS)
def test_a_time_at_the_limits_of_dates_is_no_time(time: str) -> None:
    assert day_of(time) is None


def test_what_has_no_time_is_in_no_span() -> None:
    timeline = Timeline()
    for time in (None, "yesterday", "", *PLACEHOLDERS):
        timeline.add(time, tokens=5)
    timeline.add("2026-01-01T00:00:10Z", tokens=0)
    assert timeline.spans(60) is None
