"""Lists of sessions: their groups, totals and order, and the address that chooses them."""

from __future__ import annotations

import pytest
from msgspec import structs

from convcli.views.session_rows import ListView, SessionRow, about, grouped, total, uncounted

ROWS = {
    "a": SessionRow("Zoo", "shop", begin="2026-01-02T23:30:00-02:00", seconds=5, messages=3, failures=1, cost=0.5),
    "b": SessionRow("apple", "shop", begin="2026-01-02T08:00:00Z", seconds=7, messages=9, failures=0),
    "c": SessionRow("Mole", begin="2026-01-01T08:00:00Z", messages=4, failures=2, cost=2.0),
    "d": SessionRow("none"),
}


def order(**view: object) -> list[tuple[str, list[str]]]:
    return [(group.label, [name for name, _ in group.rows]) for group in grouped(ROWS, ListView(**view))]  # type: ignore[arg-type]


def test_sessions_are_grouped_by_their_day_in_utc_the_newest_first() -> None:
    assert order() == [
        ("Sat 2026-01-03", ["a"]), ("Fri 2026-01-02", ["b"]), ("Thu 2026-01-01", ["c"]), ("no time", ["d"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("view", "names"),
    [
        ({}, "abcd"), ({"is_reversed": True}, "cbad"), ({"sort": "title"}, "bcda"), ({"sort": "cost"}, "cabd"),
        ({"sort": "messages", "is_reversed": True}, "acbd"), ({"sort": "project"}, "abcd"),
    ],
)  # fmt: skip
def test_each_column_sorts_numbers_from_the_largest_and_texts_from_a(view: dict[str, object], names: str) -> None:
    assert order(by="none", **view) == [("", list(names))]


def test_groups_are_sorted_as_their_totals() -> None:
    assert order(by="project", sort="messages") == [("shop", ["b", "a"]), ("no project", ["c", "d"])]
    assert order(by="project", sort="cost") == [("no project", ["c", "d"]), ("shop", ["a", "b"])]


def test_totals_are_of_what_is_known() -> None:
    sums = total(ROWS.values())
    assert (sums.messages, sums.failures, sums.cost, sums.seconds, sums.calls) == (16, 3, 2.5, 12, None)
    words = [fact.text for fact in about({**ROWS, "e": uncounted(ROWS["a"])})]
    assert words[:3] == ["5 sessions", "2 still being counted", "1 project"]
    assert "$2.50" in words


@pytest.mark.parametrize(
    ("query", "view"),
    [
        ("", ListView()), ("by=project&sort=-title&find=a+b%26c", ListView("project", "title", True, "a b&c")),
        ("by=week&sort=nothing&x=1", ListView()), ("find=+", ListView()), ("sort=-begin", ListView(is_reversed=True)),
    ],
)  # fmt: skip
def test_the_query_of_an_address_chooses_the_view(query: str, view: ListView) -> None:
    assert ListView.of_query(query) == view
    assert ListView.of_query(view.query.removeprefix("?")) == view


def test_a_search_has_a_longest_length_and_hostile_queries_are_none() -> None:
    assert len(ListView.of_query(f"find={'a' * 9_999}").find) == 200
    assert ListView.of_query("&".join(f"a{number}=1" for number in range(99))) == ListView()


def test_a_second_click_on_a_column_reverses_it() -> None:
    once = ListView().sorted_by("cost")
    assert (once.sort, once.is_descending, once.sorted_by("cost").is_descending) == ("cost", True, False)
    assert ListView().sorted_by("title").is_descending is False


def test_the_runs_of_a_session_stand_below_it_and_count_as_no_sessions() -> None:
    runs = {
        "f": SessionRow("run 2", begin="2026-01-05", id="r2", parent="s", cost=1.0),
        "e": SessionRow("run 1", begin="2026-01-04", id="r1", parent="s"),
        "g": SessionRow("alone", begin="2026-01-02T09:00:00Z", id="r3", parent="gone"),
    }
    rows = {**runs, **ROWS, "b": structs.replace(ROWS["b"], id="s")}
    group = grouped(rows, ListView())[1]
    assert [name for name, _ in group.rows] == ["g", "b", "e", "f"]
    assert (group.runs, group.sessions, group.total.cost) == ({"e", "f"}, 2, 1.0)
    assert [fact.text for fact in about(rows)][:2] == ["5 sessions", "2 subagent runs"]
