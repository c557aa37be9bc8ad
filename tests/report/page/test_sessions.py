"""The list of sessions as HTML: inert, with links that keep the view, and a plot of the days."""

from __future__ import annotations

import re

from msgspec import structs

from convcli.report import page
from convcli.report.page.sessions import MOST_IN_PANE, SessionList, days_plots, session_list
from convcli.views.session_rows import ListView, SessionRow, grouped
from convcli.views.session_store import TextHit
from tests.report.page.test_page import HOSTILE, Tags

ROW = SessionRow("A title", "shop", "Claude Code", "m", "2026-01-02T08:00:00Z", 65.0, 12, 3, 1, 1200, 0.006)


def html(shown: SessionList) -> str:
    return "".join(session_list(shown))


def test_an_index_of_hostile_titles_is_inert() -> None:
    row = SessionRow(*[HOSTILE] * 5)
    shown = SessionList({"a.html": row}, ListView(find=HOSTILE), {"a.html": TextHit(2, 1, *[HOSTILE] * 3)}, "./")
    for text in ("".join(page.index(HOSTILE, shown, [HOSTILE])), html(shown._replace(here="a.html", current="a.html"))):
        tags = Tags(text)
        assert tags.seen["script"] == text.count("</script>")
        assert tags.sources == set()
        assert not {name for name in tags.seen if name.startswith("on")} | set(tags.seen) & {"img", "iframe", "style="}
        assert {link.partition("?")[0] for link in tags.links} <= {"a.html", "./"}


def test_a_row_has_all_columns_and_a_group_its_totals() -> None:
    text = html(SessionList({"a.html": ROW, "b.html": ROW}, here="./"))
    cells = {"messages": "12", "failures": "1", "cost": "&lt;$0.01", "begin": "08:00", "seconds": "1 min 05 s"}
    for name, value in cells.items():
        assert text.count(f'<td class="{name}">{value}</td>') == 2
    group = re.search(r'<tr class="group" id="day-2026-01-02">.*?</tr>', text)
    assert group is not None
    assert "Fri 2026-01-02" in group[0]
    assert '<td class="messages">24</td>' in group[0]
    assert '<td class="cost">$0.01</td>' in group[0]
    assert '<td class="begin"></td>' in group[0]


def test_links_keep_the_view_and_a_hit_leads_to_its_message() -> None:
    view = ListView("project", "cost", find="a&b")
    text = html(SessionList({"a.html": ROW}, view, {"a.html": TextHit(1, 7, "x ", "a&b", " y")}, "./"))
    query = "by=project&amp;sort=cost&amp;find=a%26b"
    assert f'href="a.html?{query}#m7&amp;q=a%26b"' in text
    assert "x <mark>a&amp;b</mark> y" in text
    assert 'href="./?sort=cost&amp;find=a%26b"' in text
    assert 'class="cost" scope="col" aria-sort="descending"><a data-view href="./?by=project&amp;sort=-cost' in text


def test_files_have_no_links_that_need_a_server() -> None:
    text = "".join(page.index("Sessions", SessionList({"a.html": ROW})))
    assert Tags(text).links == {"a.html"}
    assert "connect-src" not in text


def test_the_pane_of_a_page_is_bounded_and_marks_the_open_session() -> None:
    rows = {f"{number}.html": ROW for number in range(MOST_IN_PANE + 5)}
    text = html(SessionList(rows, here="3.html", current="3.html"))
    assert text.count('<tr class="item') == MOST_IN_PANE
    assert text.count('aria-current="page"') == 1
    assert ">all sessions</a>" in text
    assert html(SessionList(rows, here="./")).count('<tr class="item') == len(rows)


def test_the_plot_has_a_bar_for_each_day_with_sessions() -> None:
    rows = {str(day): SessionRow(begin=f"2026-01-{day:02}T00:00:00Z", messages=day) for day in (1, 2, 9)}
    plot = days_plots(grouped(rows, ListView()))
    assert plot.count('class="day"') == 3
    assert 'href="#day-2026-01-09" tabindex="-1"><title>2026-01-09: 9 messages, 0 failures</title>' in plot
    assert "messages per day, at most 9<" in plot
    assert days_plots(grouped({"1": rows["1"]}, ListView())) == ""


def test_cost_and_tokens_have_a_plot_each_where_they_are_known() -> None:
    rows = {str(day): SessionRow(begin=f"2026-01-{day:02}T00:00:00Z", tokens=1_000 * day) for day in (1, 2)}
    plots = days_plots(grouped({**rows, "3": structs.replace(rows["2"], cost=0.5)}, ListView()))
    assert plots.count("<figure>") == 2
    assert plots.index("cost per day, at most $0.50") < plots.index("tokens per day, at most 4.0k")
    assert days_plots(grouped(rows, ListView())).count("<figure>") == 1


def test_the_run_of_a_subagent_stands_below_its_session() -> None:
    session, run = structs.replace(ROW, id="s"), structs.replace(ROW, title="A run", id="r", parent="s")
    text = html(SessionList({"r.html": run, "s.html": session}, here="./"))
    assert text.index('href="s.html"') < text.index('<tr class="item failed sub">') < text.index('href="r.html"')
    assert '<span class="unseen">run of a subagent: </span>A run' in text
    assert "1 session<" in text
