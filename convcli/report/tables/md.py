"""A table in GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from convcli.report.tables import View, cell

_MARKUP = re.compile(
    r"[`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])|\\(?=[!-/:-@\[-`{-~])"  # emphasis, code, links, HTML, cells, escapes
    r"|\$|&(?=#|\w)|#(?=\d)|@(?=\w)|:(?=[\w+-]+:)"  # formulas, references, issues, mentions, emoji
    r"|(?i:(?<=\bhttp)|(?<=\bhttps)|(?<=\bftp)):|(?i:(?<=\bwww))\."  # links without brackets
)
"""What is markup, and only where it is: as a character reference it is text everywhere."""


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """The head, and then a line for each row."""
    yield f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}\n"
    for row in rows:
        yield f"| {' | '.join(_escaped(row.get(name)) for name in columns)} |\n"


def _escaped(value: Any) -> str:
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", cell(value))
