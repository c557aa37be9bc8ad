"""convcli dialects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli import dialects
from convcli.cli import _shared
from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._types import DIALECT, format_of
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError
from convcli.report import tables
from convcli.report.screen import Screen

NARROW = 120
"""Narrower terminals show only the name and the description of a dialect."""

EXAMPLES = """\
convcli dialects
convcli dialects openai-chat
convcli dialects --matrix             # what each of them can store
convcli samples chat -o chat.json
convcli dialects --draft chat.json > my-log.toml   # a table that describes the log of your own program
"""


@declare(EXAMPLES)
@add_argument("words", nargs=-1, metavar="[DIALECT | FILE...]")
@add_option("-O", "--output-format", "form", type=format_of(tables), default="table", help="The format of the table.")
@add_option("--matrix", is_flag=True, help="A table of what each dialect can store.")
@add_option("--draft", is_flag=True, help="Write the first draft of a table that describes the log in FILE...")
@add_option(
    "--check", type=DIALECT, metavar="NAME.toml", help="List the values of FILE... that this table does not explain."
)
def command(screen: Screen, words: tuple[str, ...], form: str, matrix: bool, draft: bool, check: Dialect | None) -> int:
    """List the dialects, or describe one.

    A table in a TOML file describes the log of your own program: convcli help own-logs.
    """
    if draft or check is not None:
        from convcli.cli import _own_logs

        if not words:
            raise JobError("usage", 'missing argument "FILE..."', help="name files of the log")
        return _own_logs.draft(screen, words) if check is None else _own_logs.check(screen, form, check, words)
    if len(words) > 1:
        raise JobError("usage", "several words", help="name one dialect")
    _show(screen, form, DIALECT.convert(words[0]) if words else None, matrix=matrix)
    return 0


def _show(screen: Screen, form: str, dialect: Dialect | None, *, matrix: bool) -> None:
    if matrix:
        _show_matrix(screen, form, None if dialect is None else dialect.name)
    elif dialect is None:
        columns = ["dialect", "about", "framings", "forms", "reads", "writes", "title"]
        if form == "table" and _shared.width() is not None:
            columns = columns[: 2 if (_shared.width() or NARROW) < NARROW else 3]
        every = [*dialects.builtin(), *dialects.brought(), *dialects.own()]
        _shared.show_table(screen, form, columns, map(_row, every))
    elif form == "table":
        screen.show(_described(dialect))
    else:
        more = {"specification": dialect.specification, "reasons": dict(dialect.reasons)}
        _shared.show_table(screen, form, [], [_row(dialect) | more])


def _row(dialect: Dialect) -> dict[str, Any]:
    return {
        "dialect": dialect.name,
        "about": _about(dialect),
        "reads": "yes",
        "writes": "no" if not dialect.is_written else "yes",
        "framings": ", ".join(dialect.framings),
        "forms": ", ".join(dialect.forms),
        "title": dialect.title,
    }


def _about(dialect: Dialect) -> str:
    """Returns a dialect in one line, with a note if it is read-only."""
    about = dialects.about(dialect.name)
    return about if dialect.is_written or "read-only" in about.lower() else f"{about}; read-only"


def _described(dialect: Dialect) -> Iterator[str]:
    yield f"{dialect.name}: {dialect.title}\n{dialect.specification}\n"
    for name, value in list(_row(dialect).items())[2:6]:
        yield f"  {name}: {value}\n"
    for convention in dialect.conventions:
        for kind, (loss, why) in convention.loss.items():
            yield f"  result {kind} is {loss}: {why}\n"
    for field, why in dialect.reasons.items():
        yield f"  not stored: {field}: {why}\n"


def _show_matrix(screen: Screen, form: str, only: str | None) -> None:
    """Draws the matrix on a terminal, prints rows elsewhere."""
    from convcli.report import matrix
    from convcli.views import probes

    names = probes.shown() if only is None else [only]
    rows = {name: [probes.written(name, each).outcome for each in names] for name in probes.PROBES}
    width = _shared.width()
    if form == "table" and width is not None:
        screen.show(matrix.drawn(names, rows, width, screen.out))
        return
    cells = ({"feature": name, **dict(zip(names, outcomes, strict=True))} for name, outcomes in rows.items())
    _shared.show_table(screen, form, ["feature", *names], cells)
