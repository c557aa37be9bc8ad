"""The list of sessions: a table in groups with their totals. It is the index of a folder, and a pane of its pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple
from urllib.parse import quote

from convcli.report.text import safe_text
from convcli.validation.wording import counted
from convcli.views.facts import dollars, duration, short
from convcli.views.session_rows import TEXTS, Group, ListView, SessionRow, Sort, families, grouped
from convcli.views.session_store import TextHit
from convcli.views.titles import plain

COLUMNS: Mapping[Sort, str] = {
    "title": "session", "project": "project", "program": "program", "model": "model", "begin": "begin",
    "seconds": "duration", "messages": "messages", "calls": "calls", "failures": "failures", "tokens": "tokens",
    "cost": "cost",
}  # fmt: skip
GROUPINGS = (("day", "by day"), ("project", "by project"), ("none", "all"))
MOST_IN_PANE = 300
"""Sessions in the pane of a page, without a search."""
DAYS = 120
"""Days of the plot."""
PLOT_WIDTH, PLOT_HEIGHT, WIDEST = 960, 64, 48
"""The size of the plot, and the width of the widest bar."""


class SessionList(NamedTuple):
    """What a list shows. `here` is the address of the page that contains it; the index of files has no controls.

    `hits` are those of a search, by the name of the page of their session; None without one.
    """

    rows: Mapping[str, SessionRow]
    view: ListView = ListView()
    hits: Mapping[str, TextHit] | None = None
    here: str = ""
    current: str = ""

    @property
    def found(self) -> Mapping[str, SessionRow]:
        """Returns the rows that the search leaves."""
        hits = self.hits
        return self.rows if hits is None else {name: row for name, row in self.rows.items() if name in hits}


def session_list(shown: SessionList) -> Iterator[str]:
    """Yields the controls and the table."""
    groups = grouped(shown.found, shown.view)
    yield f'<section id="sessions" aria-label="sessions"{" data-live" if shown.here else ""}>\n{_controls(shown)}'
    if shown.current:
        yield _pane_totals(shown)
    yield f'<div class="list" data-by="{shown.view.by}">\n<table>\n{_head(shown)}'
    left = MOST_IN_PANE if shown.current and shown.hits is None else len(shown.rows)
    for group in groups:
        if left <= 0:
            break
        yield from _group(group, shown, left)
        left -= len(group.rows)
    yield "</table>\n"
    if left < 0:
        yield f'<p class="dim"><a href="./{escape(shown.view.query)}">all sessions</a></p>\n'
    if not groups:
        yield '<p class="none">no session</p>\n'
    yield "</div>\n</section>\n"


def _pane_totals(shown: SessionList) -> str:
    words = counted(len(families(shown.rows)), "session")
    return f'<p class="dim totals"><a href="./{escape(shown.view.query)}">{words}</a></p>\n'


def _controls(shown: SessionList) -> str:
    """Returns the search and the choice of groups. Without a server, only the search in titles."""
    words = "search all text (press /)" if not shown.current else "search all sessions (press s)"
    words = words if shown.here else "search titles (press /)"
    value = f' value="{escape(safe_text(shown.view.find))}"' if shown.view.find else ""
    count = counted(len(shown.found), "session") if shown.hits is not None else ""
    links = "".join(_choice(shown, by, text) for by, text in GROUPINGS) if shown.here else ""
    theme = '<button type="button" name="theme" aria-label="dark or light" title="dark or light (t)" hidden>◐</button>'
    return (
        f'<div class="controls"><form class="find" hidden><input type="search" aria-label="{words}" '
        f'placeholder="{words}"{value}><output>{count}</output></form>'
        f'<nav class="views" aria-label="groups">{links}</nav>{theme if not shown.current else ""}</div>\n'
    )


def _choice(shown: SessionList, by: str, text: str) -> str:
    view = shown.view._replace(by=by)  # type: ignore[arg-type]
    current = ' aria-current="true"' if by == shown.view.by else ""
    return f'<a data-view href="{escape(shown.here + view.query)}"{current}>{text}</a>'


def _head(shown: SessionList) -> str:
    return f"<thead><tr>{''.join(_heading(shown, sort, name) for sort, name in COLUMNS.items())}</tr></thead>\n"


def _heading(shown: SessionList, sort: Sort, name: str) -> str:
    if not shown.here:
        return f'<th class="{_class(sort)}" scope="col">{name}</th>'
    view, is_sorted = shown.view, sort == shown.view.sort
    order = f' aria-sort="{"descending" if view.is_descending else "ascending"}"' if is_sorted else ""
    link = f'<a data-view href="{escape(shown.here + view.sorted_by(sort).query)}">{name}</a>'
    return f'<th class="{_class(sort)}" scope="col"{order}>{link}</th>'


def _group(group: Group, shown: SessionList, most: int) -> Iterator[str]:
    yield "<tbody>\n"
    if group.label:
        words = f'{escape(safe_text(group.label))} <span class="dim">{counted(group.sessions, "session")}</span>'
        place = f' id="day-{group.label[-10:]}"' if shown.view.by == "day" and group.total.begin else ""
        cells = _cells(group.total, day=False)
        yield f'<tr class="group"{place}><th class="title" scope="rowgroup">{words}</th>{cells}</tr>\n'
    for name, row in group.rows[:most]:
        yield _row(name, row, shown, is_run=name in group.runs)
    yield "</tbody>\n"


def _row(name: str, row: SessionRow, shown: SessionList, *, is_run: bool) -> str:
    hit = (shown.hits or {}).get(name)
    place = "" if hit is None else f"#m{hit.message}&q={quote(shown.view.find, safe='')}"
    link = escape(f"{name}{shown.view.query if shown.here else ''}{place}")
    current = ' aria-current="page"' if name == shown.current else ""
    title = escape(safe_text(row.title))
    kind = '<span class="unseen">run of a subagent: </span>' if is_run else ""
    about = f'<a href="{link}" title="{title}"{current}>{kind}{title}</a>{_snippet(hit)}'
    classes = f"item{' failed' if row.failures else ''}{' sub' if is_run else ''}"
    return f'<tr class="{classes}"><td class="title">{about}</td>{_cells(row, day=shown.view.by != "day")}</tr>\n'


def _snippet(hit: TextHit | None) -> str:
    if hit is None:
        return ""
    before, text, after = (escape(safe_text(part)) for part in (hit.before, hit.text, hit.after))
    more = f'<span class="more">{hit.messages:,} messages</span>' if hit.messages > 1 else ""
    return f'<span class="hit">{more}{before}<mark>{text}</mark>{after}</span>'


def _cells(row: SessionRow, *, day: bool) -> str:
    """Returns the cells after the title. Counts that are not known yet are dots."""
    time = row.begin[:16].replace("T", " ")
    words = {
        "project": row.project,
        "program": row.program,
        "model": row.model,
        "begin": (time if day else time[11:]) if row.program else "",
        "seconds": duration(row.seconds) or ("…" if row.messages is None else ""),
        **{name: _count(getattr(row, name)) for name in ("messages", "calls")},
        "failures": _count(row.failures) if row.failures != 0 else "",
        "tokens": "…" if row.tokens is None else short(row.tokens) if row.tokens else "",
        "cost": dollars(row.cost),
    }
    shown = {name: plain(text, 60) if name in TEXTS else text for name, text in words.items()}
    return "".join(f'<td class="{_class(name)}">{escape(safe_text(text))}</td>' for name, text in shown.items())


def _class(column: str) -> str:
    return "agent" if column == "program" else column  # a page has another meaning for this class


def _count(value: int | None) -> str:
    return "…" if value is None else f"{value:,}"


# ---------------------------------------------------------------- the plot


def days_plots(groups: Sequence[Group]) -> str:
    """Returns plots with a bar for each day with sessions, the newest at the right: of cost and tokens, else messages.

    `groups` are those by day.
    """
    days = {group.label[-10:]: group.total for group in groups if group.total.begin}
    if len(days) < 2:
        return ""
    span = {day: days[day] for day in sorted(days)[-DAYS:]}
    known = [what for what in ("cost", "tokens") if any(getattr(row, what) for row in span.values())]
    return f'<div class="days">{"".join(_plot(what, span) for what in known or ["messages"])}</div>\n'


def _plot(what: str, days: Mapping[str, SessionRow]) -> str:
    values = [float(getattr(row, what) or 0) for row in days.values()]
    most, step = max(*values, 1e-9), min(PLOT_WIDTH / len(days), WIDEST)
    bars = "".join(
        _bar(day, row, at * step, step, value / most)
        for at, ((day, row), value) in enumerate(zip(days.items(), values, strict=True))
    )
    first, *_, last = days
    top = f"${most:,.2f}" if what == "cost" else short(round(most))
    words = "".join(f"<span>{each}</span>" for each in (first, f"{what} per day, at most {top}", last))
    return (
        f'<figure><figcaption class="dim">{words}</figcaption>'
        f'<svg viewBox="0 0 {PLOT_WIDTH} {PLOT_HEIGHT}" preserveAspectRatio="none" role="group" '
        f'aria-label="{what} per day">'
        f'<path class="axis" d="M0 {PLOT_HEIGHT}H{PLOT_WIDTH}"/>{bars}</svg></figure>'
    )


def _bar(day: str, row: SessionRow, x: float, width: float, share: float) -> str:
    high = max(share * (PLOT_HEIGHT - 4), 2)
    tokens = f"{short(row.tokens)} tokens" if row.tokens else ""
    counts = [counted(row.messages or 0, "message"), counted(row.failures or 0, "failure"), tokens, dollars(row.cost)]
    words = escape(f"{day}: {', '.join(filter(None, counts))}")
    wide = f"{max(width * 0.85, 1):.1f}"
    return (
        f'<a href="#day-{day}" tabindex="-1"><title>{words}</title>'
        f'<rect class="hit" x="{x:.1f}" y="0" width="{width:.1f}" height="{PLOT_HEIGHT}"/>'
        f'<rect class="day" x="{x:.1f}" y="{PLOT_HEIGHT - high:.1f}" width="{wide}" height="{high:.1f}"/></a>'
    )
