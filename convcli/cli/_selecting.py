"""The options that choose transcripts: --where, --since, --until, --offset, --limit, --sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from convcli.cli._commands import add_option
from convcli.cli._types import Near, Number
from convcli.report.text import safe_text

if TYPE_CHECKING:
    from convcli.jobs.documents import Document
    from convcli.jobs.selection import Selection
    from convcli.report.screen import Screen

F = TypeVar("F", bound=Callable[..., Any])


def options(function: F) -> F:
    """Adds the options that choose transcripts by their columns, by date, by number and at random."""
    skipping = add_option(
        "--offset", "offset", type=Number(0), default=0, metavar="N", help="Skip the first N transcripts."
    )
    limit = add_option("--limit", "most", type=Number(0), metavar="N", help="At most this many transcripts.")
    dedupe = add_option(
        "--dedupe",
        type=Near("choice", lambda: ["exact", "prefix"]),
        is_flag=False,
        flag_value="exact",
        metavar="[=WAY]",
        help="Leave out repeated conversations: exact ones (the default), or with prefix also the beginnings of longer "
        "ones.",
    )
    return where(dated(dedupe(skipping(limit(sampling(function))))))


def where(function: F) -> F:
    """Adds the option that chooses transcripts by their columns."""
    option = add_option(
        "--where",
        "only",
        multiple=True,
        metavar="CONDITION",
        shell_complete=lambda _, __, word: completed(word, "=", _every_column()),
        help='Only transcripts that meet all conditions: model=gpt-4o,o3, "errors>0 and title~deploy". '
        "See convcli help selecting.",
    )
    return option(function)


def _every_column() -> list[str]:
    from convcli.views.columns import EVERY_OF_TRANSCRIPTS

    return list(EVERY_OF_TRANSCRIPTS)


def dated(function: F) -> F:
    """Adds the options that choose transcripts by date."""
    since = add_option(
        "--since", metavar="DATE", help='Only transcripts that ended at or after DATE: 2026-01-31, "2 weeks ago", 14d.'
    )
    until = add_option("--until", metavar="DATE", help="Only transcripts that began at or before DATE.")
    return since(until(function))


def sampling(function: F) -> F:
    """Adds the options that draw a sample."""
    sample = add_option("--sample", type=Number(0), metavar="N", help="N random transcripts.")
    seed = add_option("--seed", type=Number(), default=0, metavar="S", help="The seed of --sample.")
    return sample(seed(function))


def completed(word: str, sign: str, known: Iterable[str]) -> list[str]:
    """Returns the completions of the last word of a list."""
    before, comma, last = word.rpartition(",")
    return [f"{before}{comma}{name}{sign}" for name in dict.fromkeys(known) if name.startswith(last)]


def selection(
    only: tuple[str, ...],
    since: str | None,
    until: str | None,
    dedupe: Any,
    offset: int,
    most: int | None,
    sample: int | None,
    seed: int,
) -> Selection | None:
    """Returns what the options choose; None for everything. Raises JobError."""
    if not (only or since or until or dedupe or offset) and most is None and sample is None:
        return None
    from convcli.jobs.selection import Selection
    from convcli.report.tables.table import HEADS
    from convcli.views.conditions import of_transcripts

    condition = of_transcripts(only, since, until, HEADS)
    conditions: list[Callable[[Document], bool]] = [condition] if condition is not None else []
    if dedupe is not None:
        from convcli.views.duplicates import Duplicates

        conditions.append(Duplicates(dedupe))
    return Selection(conditions, most, sample, seed, offset=offset)


def announce_unused(screen: Screen, chosen: Selection | None) -> None:
    """Prints the notes of conditions: those that held for no transcript, and the number of duplicates."""
    if chosen is None or not chosen.conditions:
        return
    from convcli.views.conditions import Filter
    from convcli.views.duplicates import Duplicates

    noting = [condition for condition in chosen.conditions if isinstance(condition, (Filter, Duplicates))]
    announce_notes(screen, (note for each in noting for note in each.notes()))


def sentences(chosen: Selection | None) -> list[str]:
    """Returns what was left out by the options that choose, without the values of conditions."""
    if chosen is None:
        return []
    from convcli.views.duplicates import Duplicates

    counts = [note for each in chosen.conditions if isinstance(each, Duplicates) for note in each.notes()]
    return ["conversations that the options of the command do not choose", *counts]


def announce_notes(screen: Screen, notes: Iterable[str]) -> None:
    """Prints notes, each on a line."""
    screen.announce("".join(f"note: {safe_text(note)}\n" for note in notes))
