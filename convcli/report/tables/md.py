"""A table in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from convcli.report.tables import View, cell
from convcli.wire.patterns import pattern

_MARKUP = pattern(
    r"[`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])|\\(?=[!-/:-@\[-`{-~])"  # emphasis, code, links, HTML, cells, escapes
    r"|\$|&(?=#|\w)|#(?=\d)|@(?=\w)|:(?=[\w+-]+:)"  # formulas, references, issues, mentions, emoji
    r"|(?i:(?<=\bhttp)|(?<=\bhttps)|(?<=\bftp)):|(?i:(?<=\bwww))\."  # links without brackets
)
"""Characters that are markup in this position; as character references they are text everywhere."""


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """Yields the header, then a line for each row."""
    yield f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}\n"
    for row in rows:
        yield f"| {' | '.join(_escaped(row.get(name)) for name in columns)} |\n"


def _escaped(value: Any) -> str:
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", cell(value))
