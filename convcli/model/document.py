"""Documents that are more than a JSON value: rows of a file that are one document together."""

from __future__ import annotations

from typing import Any


class Rows(list[Any]):
    """The rows of a JSONL file, or the events of an SSE stream, that are one document together.

    The class distinguishes them from a JSON array. `lines` are the line numbers of the rows in their file. `companion`
    is the JSON value of a second file with more data about them; None if there is none.
    """

    def __init__(self, rows: list[Any], lines: list[int] | None = None, companion: Any = None) -> None:
        super().__init__(rows)
        self.lines, self.companion = lines or [], companion
