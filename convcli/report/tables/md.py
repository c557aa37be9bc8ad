"""A table in GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from convcli.report.tables import View, cell

_MARKUP = re.compile(r"[\\`*_{}\[\]()<>#|!~&$:@]")
"""What could begin markup, a link, a mention or HTML: as a character reference it is text everywhere."""


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """The head, and then a line for each row."""
    yield f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}\n"
    for row in rows:
        yield f"| {' | '.join(_escaped(row.get(name)) for name in columns)} |\n"


def _escaped(value: Any) -> str:
    text = re.sub(
        r"(?i)\b(https?|ftp|www)(?=:|\.)", lambda found: f"{found[0][:-1]}&#{ord(found[0][-1])};", cell(value)
    )
    return "".join(
        piece if at % 2 else _MARKUP.sub(lambda found: f"&#{ord(found[0])};", piece)
        for at, piece in enumerate(re.split(r"(&#\d+;)", text))
    )
