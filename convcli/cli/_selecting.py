"""Which transcripts a command works on, as the command line says it: --where, --limit, --sample."""

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
"""Words of a column that are remembered for the case that a condition holds for no row."""
TRANSCRIPTS = ["file", "line", "dialect", "messages", "calls", "errors", "unpaired", "output", "model", "title"]
MORE_OF_TRANSCRIPTS = [
    "results", "reasoning", "images", "events", "system", "developer", "user", "assistant", "tool", "input", "id",
    "begin", "end",
]  # fmt: skip


def options(function: F) -> F:
    """The options that choose transcripts by what they are, by their number, and by chance."""
    where = click.option(
        "--where",
        "only",
        multiple=True,
        metavar="COLUMN=A,B",
        shell_complete=lambda _, __, word: completed(word, "=", TRANSCRIPTS + MORE_OF_TRANSCRIPTS),
        help="Only transcripts whose column of inspect is A or B; with ~ a pattern: title~deploy.",
    )
    limit = click.option(
        "--limit", "most", type=click.IntRange(min=0), metavar="N", help="At most this many transcripts."
    )
    return where(limit(sampling(function)))


def sampling(function: F) -> F:
    """The options that draw a sample."""
    sample = click.option("--sample", type=click.IntRange(min=0), metavar="N", help="N transcripts, chosen at random.")
    seed = click.option("--seed", type=int, default=0, metavar="S", help="The seed of the random choice.")
    return sample(seed(function))


def completed(word: str, sign: str, known: list[str]) -> list[str]:
    """The columns that may be meant by the last word of a list."""
    before, comma, last = word.rpartition(",")
    return [f"{before}{comma}{name}{sign}" for name in dict.fromkeys(known) if name.startswith(last)]


def selection(only: tuple[str, ...], most: int | None, sample: int | None, seed: int) -> Selection | None:
    """What a command line chooses; None where it is everything."""
    if not only and most is None and sample is None:
        return None
    from convcli.jobs.selection import Selection

    return Selection([Condition(wanted, TRANSCRIPTS + MORE_OF_TRANSCRIPTS) for wanted in only], most, sample, seed)


def tell_in_vain(screen: Screen, chosen: Selection | None) -> None:
    """Say which conditions held for no transcript."""
    conditions = chosen.conditions if chosen is not None else ()
    screen.tell("".join(filter(None, (each.in_vain() for each in conditions if isinstance(each, Condition)))))


def column_named(name: str, known: list[str]) -> str:
    """The name of a column that is known, by its name or its head on a terminal. Raises JobError `unknown-column`."""
    from convcli.report.tables.table import HEADS

    name = name.strip()
    name = next((column for column in known if HEADS.get(column) == name), name)
    if name not in known:
        from convcli.validation.wording import unknown

        raise unknown("column", name, known, f"choose from {', '.join(known)}")
    return name


class Condition:
    """Does a column say one of some words (`role=tool,error`; a cell with several words says each of them), or does a
    pattern match somewhere in it, whatever the case of its letters (`text~time ?out`)?"""

    def __init__(self, wanted: str, known: list[str]) -> None:
        name, sign, words = _parted(wanted, "role=user,assistant" if "role" in known else "errors=0,1")
        self.column, self.accepted = column_named(name, known), words.split(",")
        self.pattern = _pattern(words) if sign == "~" else None
        self.seen, self.held = set[str](), False

    def holds(self, row: Row) -> bool:
        """Does it hold for a row?"""
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
        """Does it hold for a document? Of one that is refused it is not known, and it is passed on to be told."""
        try:
            return self.holds(row_of(document, document.lift()))
        except RefusedError:
            return True

    def in_vain(self) -> str | None:
        """What to say when it held for no row, with the nearest word of those that the rows have."""
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
    """The column, the sign, and what stands behind it. Raises JobError `usage`."""
    parted = re.match(r"([^=~]*)([=~])(.*)", wanted, re.DOTALL)
    if parted is None:
        raise JobError("usage", f'"{wanted}" is no condition', help=f"say --where {example} or title~PATTERN")
    return parted[1], parted[2], parted[3]


def _pattern(words: str) -> re.Pattern[str]:
    try:
        return re.compile(words, re.IGNORECASE)
    except re.error as error:
        raise JobError("usage", f'"{words}" is no regular expression: {error}') from None


def _words(value: Any) -> list[str]:
    return [""] if value is None else [str(value), *str(value).split(", ")]


def row_of(document: Document, transcript: Transcript) -> Row:
    """What inspect says of a transcript."""
    from convcli.views import rows as overview

    return overview.by_transcript(transcript, document.file, document.number, document.dialect.name)
