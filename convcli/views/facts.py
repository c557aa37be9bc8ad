"""What one wants to know of a session first: its title, where it ran, how long it took, what it cost, what failed."""

from __future__ import annotations

import os
from typing import NamedTuple

from convcli.jobs.documents import Document
from convcli.model.transcript import Transcript
from convcli.validation.wording import counted
from convcli.views import columns
from convcli.views.changes import files_changed
from convcli.views.costs import Prices
from convcli.views.rows import CallPairs, Row, is_error, seconds_between


class Fact(NamedTuple):
    """A fact in a few words. Its kind is `project`, `branch`, `model`, `error` and so on; `hint` says more."""

    text: str
    kind: str = ""
    hint: str = ""


def facts_of(document: Document, transcript: Transcript, row: Row, prices: Prices) -> list[Fact]:
    """Returns the facts below a title, from the session alone: a page says nothing of where its file is.

    `row` is that of `views.rows.by_transcript`. A cost that the session does not record is estimated with `prices`.
    """
    project, branch = columns.project_of(transcript.cwd), columns.branch_of(document, transcript)
    pairs = CallPairs(transcript)
    files = files_changed(pairs)
    failures = failures_of(transcript)
    facts = [
        Fact(project or "", "project", f"ran in {transcript.cwd}"),
        Fact(branch or "", "branch", "git branch"),
        Fact(program_of(document), "program"),
        Fact(row["model"] or "", "model"),
        Fact(_day(row["begin"]), "time", f"{row['begin'] or ''} to {row['end'] or ''}"),
        Fact(duration(seconds_between(row["begin"], row["end"])), "duration", "from the first to the last message"),
        _cost(transcript, prices),
        Fact(counted(row["messages"], "message"), "messages"),
        Fact(counted(row["calls"], "call") if row["calls"] else "", "calls"),
        Fact(f"{counted(len(files), 'file')} changed" if files else "", "files"),
        Fact(f"{counted(failures, 'failure')}" if failures else "", "error", "failed calls and answers"),
        Fact(_tokens(row), "tokens", _all_tokens(transcript)),
    ]
    return [fact for fact in facts if fact.text]


def program_of(document: Document) -> str:
    """Returns the name of the agent program or of the format, as people call it."""
    dialect = document.dialect
    parts = os.path.abspath(document.file).split(os.sep)
    names = [program.name for program in dialect.programs if program.root in parts]
    names += [program.name for program in dialect.programs]
    return names[0] if names and names[0] not in (dialect.name, dialect.title.lower()) else dialect.title


def recorded_cost(transcript: Transcript) -> float | None:
    """Returns the cost in US dollars that the session itself records; None if it records none."""
    costs = [message.cost for message in transcript.messages if message.cost is not None]
    return sum(costs) if costs else None


def _cost(transcript: Transcript, prices: Prices) -> Fact:
    recorded = recorded_cost(transcript)
    if recorded is not None:
        return Fact(dollars(recorded), "cost", "as the session records it")
    estimated = dollars(prices.of_transcript(transcript))
    return Fact(f"~{estimated}" if estimated.startswith("$") else estimated, "cost", "estimated by list prices")


def failures_of(transcript: Transcript) -> int:
    """Returns the number of failed calls and of answers that ended with an error."""
    failed = sum(is_error(part) for message in transcript.messages for part in message.parts)
    return failed + sum(message.error is not None for message in transcript.messages)


def duration(seconds: float | None) -> str:
    """Returns a duration in words of two units; empty if it is unknown or less than a second."""
    if seconds is None or seconds < 1:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{counted(days, 'day')} {hours} h"
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def dollars(cost: float | None) -> str:
    """Returns a cost in US dollars; empty if it is zero or unknown."""
    return "" if not cost else "<$0.01" if cost < 0.01 else f"${cost:,.2f}"


def _day(time: str | None) -> str:
    if not time or len(time) < 16:
        return time or ""
    zone = " UTC" if time.endswith(("Z", "+00:00")) else time[19:] if time[19:20] in ("+", "-") else ""
    return f"{time[:10]} {time[11:16]}{zone}"


def _tokens(row: Row) -> str:
    return f"{short(row['input'])} tokens in, {short(row['output'])} out" if row["input"] or row["output"] else ""


def _all_tokens(transcript: Transcript) -> str:
    totals = dict[str, int]()
    for message in transcript.messages:
        for name, count in (message.usage or {}).items():
            totals[name] = totals.get(name, 0) + count
    return ", ".join(f"{name} {count:,}" for name, count in totals.items())


def short(count: int) -> str:
    """Returns a count with three significant digits."""
    for limit, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= limit:
            value = count / limit
            return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}"
    return f"{count:,}"
