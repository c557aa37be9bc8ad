"""Plots for a terminal: as high and as long as what they show, and no wider than the terminal."""

from __future__ import annotations

from convcli.report.plots import by_tool, over_time, spark
from convcli.report.text import Paint, cells
from convcli.views.timeline import Timeline


def test_a_sign_is_as_high_as_its_part_and_something_is_never_nothing() -> None:
    assert spark([0, 1, 500, 1000]) == " ▁▄█"
    assert spark([0, 0]) == "  "


def test_over_time_has_a_line_for_each_kind_that_there_is() -> None:
    timeline = Timeline()
    for hour in range(24):
        timeline.add(f"2026-01-01T{hour:02}:00:00Z", tokens=100 * hour, calls=hour % 3)
    lines = "".join(over_time(timeline, 80, Paint())).splitlines()
    assert [line[:6] for line in lines[1:3]] == ["tokens", "calls "]
    assert "at most 2,300" in lines[1]
    assert lines[-1].split() == ["2026-01-01", "01:00", "2026-01-01", "23:00"]
    assert len(lines) == 4
    assert "".join(over_time(Timeline(), 80, Paint())) == ""


def test_a_tool_has_a_bar_and_its_failures_are_part_of_it() -> None:
    calls = {"read": 40, "\x1b[31mbad": 4, **{f"tool {number}": 1 for number in range(20)}, "端末": 2}
    lines = "".join(by_tool(calls, {"read": 10}, 80, Paint())).splitlines()[1:]
    assert lines[0].count("█") + lines[0].count("▒") == 40
    assert lines[0].endswith("▒ 40, 10 failed")
    assert "\\x1b[31mbad" in lines[1]
    assert lines[-1] == "and 11 more tools with 11 calls"
    assert len({cells(line.partition("█")[0]) for line in lines[:3]}) == 1


def test_nothing_is_wider_than_the_terminal() -> None:
    timeline = Timeline()
    for day in range(1, 29):
        timeline.add(f"2026-01-{day:02}T00:00:00Z", tokens=10**9 + day, calls=day, errors=day)
    calls = {"a very long name of a tool that somebody has thought of": 10**6}
    for width in (60, 80, 200):
        reported = [*over_time(timeline, width, Paint()), *by_tool(calls, {}, width, Paint())]
        assert max(cells(line) for line in "".join(reported).splitlines()) <= width
