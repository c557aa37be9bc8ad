"""The rows of a list of sessions, and their order: grouped by day or project, with totals, sorted by any column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import reduce
from typing import Any, Literal, NamedTuple, TypeAlias, get_args
from urllib.parse import parse_qs, urlencode

from msgspec import Struct, structs

from convcli.jobs.documents import Document
from convcli.jobs.portions import portions
from convcli.model.transcript import Transcript
from convcli.validation.wording import counted
from convcli.views import facts
from convcli.views.columns import directory_of, project_of
from convcli.views.costs import Prices, undated
from convcli.views.nesting import nested
from convcli.views.rows import by_transcript, seconds_between
from convcli.views.timeline import day_of

Grouping: TypeAlias = Literal["day", "project", "none"]
Sort: TypeAlias = Literal[
    "title", "project", "program", "model", "begin", "seconds", "messages", "calls", "failures", "tokens", "cost"
]
SORTS: tuple[Sort, ...] = get_args(Sort)
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
TEXTS = frozenset(("title", "project", "program", "model"))
"""Columns that are sorted from A to Z at first; others begin with the largest value."""
LONGEST_SEARCH = 200
"""Characters of a search; the others are ignored."""


class SessionRow(Struct, frozen=True):
    """A session in a list. Counts are None if only the beginning of the session was read; `cost` if no price is known.

    `id` is its own, and `parent` that of the session that started it, for the run of a subagent · `failures` are failed
    calls and answers · `tokens` are those read and written · `seconds` from the first to the last message · `cost` in
    US dollars.
    """

    title: str = ""
    project: str = ""
    program: str = ""
    model: str = ""
    begin: str = ""
    seconds: float | None = None
    messages: int | None = None
    calls: int | None = None
    failures: int | None = None
    tokens: int | None = None
    cost: float | None = None
    id: str = ""
    parent: str = ""

    @property
    def day(self) -> str:
        """Returns the day on which the session began, in UTC; empty if it is unknown."""
        return day_of(self.begin) or ""


COUNTS = ("seconds", "messages", "calls", "failures", "tokens", "cost")


def session_row(document: Document, transcript: Transcript, title: str, prices: Prices) -> SessionRow:
    """Returns the row of a session."""
    row = by_transcript(transcript, document.file, document.number, document.dialect.name)
    seconds = seconds_between(row["begin"], row["end"])
    first = portions(transcript, document.dialect, None)[0]
    return SessionRow(
        id=first.id or transcript.id or "",
        parent=first.parent or "",
        title=title,
        project=project_of(directory_of(document, transcript)) or "",
        program=facts.program_of(document),
        model=undated(row["model"] or ""),
        begin=row["begin"] or "",
        seconds=seconds if seconds is not None and seconds >= 0 else None,
        messages=row["messages"],
        calls=row["calls"],
        failures=facts.failures_of(transcript),
        tokens=row["input"] + row["output"],
        cost=prices.of_transcript(transcript),
    )


def uncounted(row: SessionRow) -> SessionRow:
    """Returns the row without counts, for a session that is read only in part."""
    return structs.replace(row, **dict.fromkeys(COUNTS))


def total(rows: Iterable[SessionRow]) -> SessionRow:
    """Returns a row with the sums of the known counts and the latest time."""
    return reduce(_sum, rows, SessionRow())


def _sum(first: SessionRow, second: SessionRow) -> SessionRow:
    pairs = ((name, getattr(first, name), getattr(second, name)) for name in COUNTS)
    sums = {name: one if other is None else (one or 0) + other for name, one, other in pairs}
    return SessionRow(begin=max(first.begin, second.begin), **sums)


class ListView(NamedTuple):
    """How a list of sessions is shown; it stands in the address. `find` is text that the sessions contain."""

    by: Grouping = "day"
    sort: Sort = "begin"
    is_reversed: bool = False
    find: str = ""

    @classmethod
    def of_query(cls, query: str) -> ListView:
        """Returns what the query of an address chooses; what it does not know is ignored."""
        chosen = {name: values[-1] for name, values in parse_qs(query).items()}
        sort = chosen.get("sort", "")
        return cls(
            next((name for name in GROUPINGS if name == chosen.get("by")), "day"),
            next((name for name in SORTS if name == sort.removeprefix("-")), "begin"),
            sort.startswith("-"),
            " ".join(chosen.get("find", "").split())[:LONGEST_SEARCH],
        )

    @property
    def query(self) -> str:
        """Returns the query of the address, with its question mark; empty for the usual view."""
        usual = ListView()
        chosen = {
            "by": self.by if self.by != usual.by else "",
            "sort": f"{'-' * self.is_reversed}{self.sort}" if (self.sort, self.is_reversed) != usual[1:3] else "",
            "find": self.find,
        }
        chosen = {name: value for name, value in chosen.items() if value}
        return f"?{urlencode(chosen)}" if chosen else ""

    @property
    def is_descending(self) -> bool:
        """True if the largest value, or the last letter, comes first."""
        return (self.sort in TEXTS) == self.is_reversed

    def sorted_by(self, sort: Sort) -> ListView:
        """Returns the view after a click on the heading of a column."""
        return self._replace(sort=sort, is_reversed=sort == self.sort and not self.is_reversed)


Named: TypeAlias = tuple[str, SessionRow]
"""A row and the name of its page."""


class Group(NamedTuple):
    """Sessions of one day or project, each followed by the runs of its subagents, with their totals.

    `label` is empty if nothing is grouped. `runs` are the names of the rows that stand below a session.
    """

    label: str
    rows: Sequence[Named]
    total: SessionRow
    runs: frozenset[str] = frozenset()

    @property
    def sessions(self) -> int:
        """Returns the number of sessions without the runs below them."""
        return len(self.rows) - len(self.runs)


def grouped(rows: Mapping[str, SessionRow], view: ListView) -> list[Group]:
    """Returns the groups, and the rows in each, in the order of the view. `rows` are by the name of their page."""
    groups = dict[str, list[list[Named]]]()
    for family in families(rows):
        row = family[0][1]
        groups.setdefault({"day": row.day, "project": row.project, "none": ""}[view.by], []).append(family)
    made = [_group(_label(label, view.by), each, view) for label, each in groups.items()]
    if view.sort in TEXTS:
        return sorted(made, key=lambda group: group.label.casefold(), reverse=view.is_descending)
    return sorted(made, key=lambda group: _key(group.total, view), reverse=view.is_descending)


def families(rows: Mapping[str, SessionRow]) -> list[list[Named]]:
    """Returns each session with the runs that it started, the oldest first."""
    oldest_first = sorted(rows.items(), key=lambda pair: pair[1].begin)
    return nested(oldest_first, lambda pair: pair[1].id, lambda pair: pair[1].parent)


def _group(label: str, families_: list[list[Named]], view: ListView) -> Group:
    rows = [pair for family in _in_order(families_, view) for pair in family]
    runs = frozenset(name for family in families_ for name, _ in family[1:])
    latest = max(family[0][1].begin for family in families_)
    return Group(label, rows, structs.replace(total(row for _, row in rows), begin=latest), runs)


def _label(label: str, by: Grouping) -> str:
    if by == "day":
        return f"{date.fromisoformat(label):%a} {label}" if label else "no time"
    return label or ("no project" if by == "project" else "")


def _in_order(families_: list[list[Named]], view: ListView) -> list[list[Named]]:
    newest_first = sorted(families_, key=lambda family: family[0][1].begin, reverse=True)
    return sorted(newest_first, key=lambda family: _key(family[0][1], view), reverse=view.is_descending)


def _key(row: SessionRow, view: ListView) -> tuple[bool, Any]:
    """Returns the key of a row; rows without a value come last in both directions."""
    value = getattr(row, view.sort)
    is_known = value not in (None, "")
    return is_known == view.is_descending, (value.casefold() if isinstance(value, str) else value) if is_known else 0


def about(named: Mapping[str, SessionRow]) -> list[facts.Fact]:
    """Returns the totals of a list of sessions; what there is none of is left out."""
    rows, sessions = list(named.values()), len(families(named))
    sums, unread = total(rows), sum(row.messages is None for row in rows)
    runs = len(rows) - sessions
    projects = len({row.project for row in rows if row.project})
    words = [
        facts.Fact(counted(sessions, "session")),
        facts.Fact(counted(runs, "subagent run") if runs else ""),
        facts.Fact(f"{unread:,} still being counted" if unread else ""),
        facts.Fact(counted(projects, "project") if projects else "", "project"),
        facts.Fact(counted(sums.messages or 0, "message")),
        facts.Fact(counted(sums.calls, "call") if sums.calls else ""),
        facts.Fact(counted(sums.failures, "failure") if sums.failures else "", "failures"),
        facts.Fact(f"{facts.short(sums.tokens)} tokens" if sums.tokens else ""),
        facts.Fact(facts.dollars(sums.cost), "cost", "recorded, or estimated by list prices"),
    ]
    return [word for word in words if word.text]
