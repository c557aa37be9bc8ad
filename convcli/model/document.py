"""Where documents come from: files and stdin, plain or compressed, as one JSON document, JSON Lines or an SSE stream.

The content decides what a file is, never its name. Lines are split at 0x0A only, since U+2028 and its like are text.
A session file may still be growing: its size at opening is the limit, and an incomplete last line is `torn`, which
is safe to tell because no proper prefix of a JSON object is JSON. Formats: RFC 8259, jsonlines.org, and
"Server-sent events" of the HTML standard.
"""

from __future__ import annotations

from typing import Any


class Rows(list[Any]):
    """The rows of a JSONL file or the events of an SSE stream that is one document as a whole.

    A dialect tells them from a JSON array by this class. `lines` holds the line of each row in its file.
    """

    def __init__(self, rows: list[Any], lines: list[int] | None = None) -> None:
        super().__init__(rows)
        self.lines = lines or []
