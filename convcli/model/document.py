"""What a document is besides a JSON value: the rows of a file that are one document together."""

from __future__ import annotations

from typing import Any


class Rows(list[Any]):
    """The rows of a JSONL file or the events of an SSE stream that is one document as a whole.

    A dialect tells them from a JSON array by this class. `lines` holds the line of each row in its file; `beside` is
    the JSON value of the file that says more of them, None where there is none.
    """

    def __init__(self, rows: list[Any], lines: list[int] | None = None, beside: Any = None) -> None:
        super().__init__(rows)
        self.lines, self.beside = lines or [], beside
