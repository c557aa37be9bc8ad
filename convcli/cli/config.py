"""convcli config."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.cli import _shared
from convcli.cli._commands import add_option, declare
from convcli.cli._types import format_of
from convcli.report import tables
from convcli.report.screen import Screen

EXAMPLES = """\
convcli config
convcli config -O json
"""

COLUMNS = ["key", "value", "from", "commands"]


@declare(EXAMPLES)
@add_option("-O", "--output-format", "form", type=format_of(tables), default="table", help="The format of the table.")
def command(screen: Screen, form: str) -> int:
    """Show the configuration that applies here, and its file.

    It is the nearest convcli.toml, or pyproject.toml with [tool.convcli], from the working directory upwards.
    """
    from convcli.files import project
    from convcli.jobs import config

    configuration = config.load()
    rows: Iterator[dict[str, Any]] = config.in_force(configuration)
    if form not in ("json", "jsonl"):
        rows = ({**row, "value": _shown(row["value"])} for row in rows)
    _shared.show_table(screen, form, COLUMNS, rows)
    if not configuration.file:
        screen.announce(f"note: no {project.OWN}, and no {project.SHARED} with [tool.convcli], from here upwards\n")
    return 0


def _shown(value: Any) -> str:
    """Returns a value as TOML writes it on one line."""
    from convcli.report.text import json_text

    return json_text(value)
