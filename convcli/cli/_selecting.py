"""The options that choose transcripts: --where, --limit, --sample."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from convcli.model.errors import JobError, RefusedError
from convcli.report.text import safe_text

if TYPE_CHECKING:
    from convcli.jobs.inputs import Document
    from convcli.jobs.selection import Selection
    from convcli.model.transcript import Transcript
    from convcli.report.screen import Screen
    from convcli.views.rows import Row

F = TypeVar("F", bound=Callable[..., Any])

MOST_SEEN = 1_000
"""Values of a column that are remembered, to suggest one if a condition matches no row."""
TRANSCRIPTS = ["file", "line", "dialect", "messages", "calls", "errors", "unpaired", "output", "model", "title"]
MORE_OF_TRANSCRIPTS = [
    "results", "reasoning", "images", "events", "system", "developer", "user", "assistant", "tool", "input", "id",
    "begin", "end",
]  # fmt: skip


def options(function: F) -> F:
    """Adds the options that choose transcripts by their columns, by number and at random."""
    where = click.option(
        "--where",
        "only",
        multiple=True,
        metavar="COLUMN=A,B",
        shell_complete=lambda _, __, word: completed(word, "=", TRANSCRIPTS + MORE_OF_TRANSCRIPTS),
        help='Only transcripts whose column of inspect is A or B, or matches a pattern: model=gpt-4o, "title~deploy".',
    )
    limit = click.option(
        "--limit", "most", type=click.IntRange(min=0), metavar="N", help="At most this many transcripts."
    )
    return where(limit(sampling(function)))


def sampling(function: F) -> F:
    """Adds the options that draw a sample."""
    sample = click.option("--sample", type=click.IntRange(min=0), metavar="N", help="N random transcripts.")
    seed = click.option("--seed", type=int, default=0, metavar="S", help="The seed of --sample.")
    return sample(seed(function))


def completed(word: str, sign: str, known: list[str]) -> list[str]:
    """Returns the completions of the last word of a list."""
    before, comma, last = word.rpartition(",")
    return [f"{before}{comma}{name}{sign}" for name in dict.fromkeys(known) if name.startswith(last)]


def selection(only: tuple[str, ...], most: int | None, sample: int | None, seed: int) -> Selection | None:
    """Returns what the options choose; None for everything."""
    if not only and most is None and sample is None:
        return None
    from convcli.jobs.selection import Selection

    return Selection([Condition(wanted, TRANSCRIPTS + MORE_OF_TRANSCRIPTS) for wanted in only], most, sample, seed)


def announce_unused(screen: Screen, chosen: Selection | None) -> None:
    """Prints the conditions that matched no transcript."""
    conditions = chosen.conditions if chosen is not None else ()
    screen.announce("".join(filter(None, (each.in_vain() for each in conditions if isinstance(each, Condition)))))


def column_named(name: str, known: list[str]) -> str:
    """Returns the name of a column, by its name or its head on a terminal. Raises JobError `unknown-column`."""
    from convcli.report.tables.table import HEADS

    name = name.strip()
    name = next((column for column in known if HEADS.get(column) == name), name)
    if name not in known:
        from convcli.validation.wording import unknown

        raise unknown("column", name, known, f"choose from {', '.join(known)}")
    return name


class Condition:
    """True for rows whose column has one of some values, or matches a pattern.

    `role=tool,error`: a cell with several values has each of them. `text~time ?out`: anywhere, in any case.
    """

    def __init__(self, wanted: str, known: list[str]) -> None:
        name, sign, words = _parted(wanted, "role=user,assistant" if "role" in known else "errors=0,1")
        self.column, self.accepted = column_named(name, known), words.split(",")
        self.pattern = _pattern(words) if sign == "~" else None
        self.seen, self.held = set[str](), False

    def holds(self, row: Row) -> bool:
        """True if the condition holds for a row."""
        words = _words(row[self.column])
        if self.pattern is not None:
            self.held = bool(self.pattern.search(words[0])) or self.held
            return bool(self.pattern.search(words[0]))
        holds = any(word in self.accepted for word in words)
        self.held = self.held or holds
        if not self.held and len(self.seen) < MOST_SEEN:
            self.seen.update(words)
        return holds

    def __call__(self, document: Document) -> bool:
        """True if the condition holds for a document. A refused one passes, so that it is reported."""
        try:
            return self.holds(row_of(document, document.lift_leniently()[0]))
        except RefusedError:
            return True

    def in_vain(self) -> str | None:
        """Returns a note if the condition held for no row, with the nearest value that rows have."""
        if self.pattern is not None:
            return None if self.held else f"note: no row has {self.column}~{safe_text(self.pattern.pattern)}\n"
        if self.held or not self.seen:
            return None
        from convcli.validation.wording import nearest

        words, seen = ",".join(self.accepted), sorted(self.seen)
        near = next(filter(None, (nearest(word, seen) for word in self.accepted)), None)
        hint = f'; did you mean "{safe_text(near)}"?' if near is not None else ""
        return f"note: no row has {self.column}={safe_text(words)}{hint}\n"


def _parted(wanted: str, example: str) -> tuple[str, str, str]:
    """Splits a condition into column, sign and the rest. Raises JobError `usage`."""
    parted = re.match(r"([^=~]*)([=~])(.*)", wanted, re.DOTALL)
    if parted is None:
        help_text = f'write COLUMN=A,B or COLUMN~PATTERN, as {example} or title~deploy; COLUMN~[1-9] is "above 0"'
        raise JobError("usage", f'"{wanted}" is no condition', help=help_text)
    return parted[1], parted[2], parted[3]


def _pattern(words: str) -> re.Pattern[str]:
    try:
        return re.compile(words, re.IGNORECASE)
    except re.error as error:
        raise JobError("usage", f'"{words}" is no regular expression: {error}') from None


def _words(value: Any) -> list[str]:
    return [""] if value is None else [str(value), *str(value).split(", ")]


def row_of(document: Document, transcript: Transcript) -> Row:
    """Returns the row of a transcript in `inspect`."""
    from convcli.views import rows as overview

    return overview.by_transcript(transcript, document.file, document.number, document.dialect.name)
