"""Picks a session on the terminal, and what to do with it: `convcli sessions -i`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from convcli.cli._inspecting import age
from convcli.model.errors import DONE, JobError
from convcli.report.screen import Screen
from convcli.report.text import cut, safe_text
from convcli.views.columns import project_of

if TYPE_CHECKING:
    from convcli.views.rows import Row

MOST_LISTED = 500
"""Sessions that are offered: a person narrows the list with options and by typing."""
INSPECT, SHARE = "inspect it", "share it: write one page without private data"
RESUME = "resume it in "


def run(screen: Screen, rows: Iterable[Row], home: str | None) -> int:
    """Asks for a session and for what to do with it, and does that. Returns the exit code."""
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise JobError("usage", "-i needs a terminal")
    listed = list(islice(rows, MOST_LISTED))
    if not listed:
        screen.announce("no sessions found\n")
        return DONE
    row = ask("Which session?", [(line(row), row) for row in listed])
    if row is None:
        return DONE
    words = ask("What now?", actions(row, home))
    return DONE if words is None else call(screen, words)


def line(row: Row) -> str:
    """Returns the line of a session in the list."""
    title = cut(safe_text(f"{'↳ ' * bool(row.get('below'))}{row['title'] or 'no text'}"), 60)
    about = [age(row["end"]), row["program"], project_of(row["cwd"]), f"{row['messages']:,} messages"]
    return f"{title}  {safe_text(' · '.join(filter(None, about)))}"


def actions(row: Row, home: str | None) -> list[tuple[str, list[str]]]:
    """Returns what can be done with a session: a description, and the words of the command."""
    from convcli.jobs import programs

    name = f"{row['file']}:{row['line']}" if row["line"] else row["file"]
    where = [] if home is None else ["--home", home]
    others = [other for other in programs.resumable() if other != row["program"]]
    resumed = [(f"{RESUME}{other}", ["resume", name, "--in", other, *where]) for other in others]
    return [(INSPECT, ["inspect", name]), (SHARE, ["share", name]), *resumed]


def ask(question: str, choices: Sequence[tuple[str, Any]], **terminal: Any) -> Any:
    """Returns the value of the choice that a person picks, None if they give up; typing narrows the list.

    `terminal` are input and output of prompt_toolkit. Raises JobError without the package questionary.
    """
    try:
        import questionary
    except ImportError:
        message = "-i needs the package questionary"
        raise JobError("package-not-installed", message, help="pip install 'convcli[pick]'") from None
    listed = [questionary.Choice(title, value=index) for index, (title, _) in enumerate(choices)]
    asked = questionary.select(
        question, choices=listed, use_search_filter=True, use_jk_keys=False, instruction="(type to search)", **terminal
    )
    try:
        return choices[asked.application.run()][1]
    except (KeyboardInterrupt, EOFError):
        return None


def call(screen: Screen, words: Sequence[str]) -> int:
    """Runs a command of convcli and returns its exit code."""
    from shlex import join

    from convcli.cli import _commands

    screen.announce(f"convcli {safe_text(join(words))}\n")
    return _commands.call(words, screen)
