"""Documents that are more than a JSON value: rows of a file that are one document together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Rows(list[Any]):
    """The rows of a JSONL file, or the events of an SSE stream, that are one document together.

    The class distinguishes them from a JSON array. `lines` are the line numbers of the rows in their file. `companion`
    is the JSON value of a second file with more data about them; None if there is none.
    """

    def __init__(self, rows: list[Any], lines: list[int] | None = None, companion: Any = None) -> None:
        super().__init__(rows)
        self.lines, self.companion = lines or [], companion


def with_items(document: list[Any], items: list[Any]) -> list[Any]:
    """Returns a list with other items; the rows of a file stay rows."""
    return Rows(items, document.lines, document.companion) if isinstance(document, Rows) else items


def with_value(document: Any, path: Sequence[str | int], value: Any) -> Any:
    """Returns the document with a value at a path, whose last key may be new; only what is on the way is copied.

    Raises LookupError if there is no other step of the path.
    """
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(document, dict):
        return {**document, step: with_value(document[step], rest, value) if rest else value}
    items = list(document)
    items[step] = with_value(document[step], rest, value)  # type: ignore[index]
    return with_items(document, items)
