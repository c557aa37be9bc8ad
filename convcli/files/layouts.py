"""Layouts of documents in files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from convcli.files.framing import Framing
from convcli.files.outputs import Output
from convcli.model.document import Rows
from convcli.wire.exact_json import write, write_line

if TYPE_CHECKING:
    from convcli.files.columns import Path

LAYOUTS: dict[str, Framing] = {"sse": "sse", "events": "jsonl"}
"""The layout of rows that form one document, by a dialect's framing."""
SUFFIXES: dict[Framing, str] = {"json": ".json", "array": ".json", "jsonl": ".jsonl", "sse": ".sse"}
"""File suffixes by layout."""


def row_layouts(framings: Sequence[str]) -> list[Framing]:
    """Returns the layouts of a dialect whose files are one transcript; empty if it writes documents.

    The first framing that a dialect names is the one that is written.
    """
    return [LAYOUTS[framing] for framing in framings if framing in LAYOUTS] if framings[0] in LAYOUTS else []


class DocumentWriter:
    """Writes documents to an output in one layout.

    With `many`, a file has several of them in one document (`Dialect.many`), and each line of JSON Lines has one;
    `names_events` is that of their dialect. `container` is that document with an empty list, if it has other keys."""

    def __init__(
        self, output: Output, layout: Framing, many: str = "", *, names_events: bool = False, container: Any = None
    ) -> None:
        self.output, self._layout, self._is_empty = output, layout, True
        self._names_events = names_events
        self._opening, self._closing = _around(many or "*", container)
        self._is_wrapped = bool(many)

    def add(self, document: Any) -> None:
        """Writes one document. Raises OutputError."""
        if self._layout == "array":
            self._member(write(document))
        elif self._is_wrapped and not isinstance(document, Rows):
            self.add_line(write_line(document))
        else:
            for piece in encoded(document, f".{self._layout}", names_events=self._names_events):
                self.output.write(piece)

    def add_line(self, line: bytes) -> None:
        """Writes one document that is already a line of JSON. Raises OutputError."""
        if self._layout == "array":
            self._member(line.rstrip(b"\n"))
        elif self._is_wrapped:
            self.output.write(self._opening + line.rstrip(b"\n") + self._closing + b"\n")
        else:
            self.output.write(line)

    def changes(self) -> Iterator[tuple[Path, int, str, int]]:
        """Yields what table column types have changed: the field, the first row and pointer, and the count.

        This completes the table, which does not appear yet. Raises OutputError.
        """
        complete = getattr(self.output, "complete", None)
        if complete is not None:
            complete()
            yield from self.output.changed.values()  # type: ignore[attr-defined]

    def commit(self) -> None:
        """Ends the file and commits the output. Raises as `Output.commit` does."""
        if self._layout == "array":
            self.output.write((self._opening if self._is_empty else b"\n") + self._closing + b"\n")
        self.output.commit()

    def _member(self, text: bytes) -> None:
        self.output.write((self._opening + b"\n" if self._is_empty else b",\n") + text)
        self._is_empty = False


def _around(many: str, container: Any = None) -> tuple[bytes, bytes]:
    """Returns the bytes before and after the members of a document with several transcripts."""
    opening, closing = b"", b""
    for name in many.split("/")[:-1]:
        keys = list(container) if isinstance(container, dict) else [name]
        at = keys.index(name)
        before, after = ([write(key) + b":" + write(container[key]) for key in each] for each in _split(keys, at))
        opening += b"{" + b",".join([*before, write(name) + b":"])
        closing = b",".join([b"", *after]) + b"}" + closing
        container = container[name] if isinstance(container, dict) else None
    return opening + b"[", b"]" + closing


def _split(keys: list[str], at: int) -> tuple[list[str], list[str]]:
    return keys[:at], keys[at + 1 :]


def layout(documents: list[Any]) -> Framing:
    """Returns the layout for documents without an input: JSON for one, JSONL for rows or several."""
    return "json" if len(documents) == 1 and not isinstance(documents[0], Rows) else "jsonl"


def encoded(document: Any, suffix: str, *, names_events: bool = False) -> Iterator[bytes]:
    """Yields the bytes of one document, by the suffix of its file; `names_events` is that of its dialect."""
    if suffix == ".sse":
        yield from (_event_bytes(row, names_events) for row in document)
    elif isinstance(document, Rows):
        yield from map(write_line, document)
    else:
        yield write_line(document, indent=suffix == ".json")


def _event_bytes(row: Any, is_named: bool) -> bytes:
    """Returns one event of an SSE stream, optionally named by its `type` or `event_type`; the end mark is bare."""
    kind = row.get("type", row.get("event_type")) if is_named and isinstance(row, dict) else None
    is_name = isinstance(kind, str) and kind.isascii() and kind.isprintable()
    name = f"event: {kind}\n".encode() if is_name else b""
    return name + b"data: " + (row.encode() if isinstance(row, str) else write(row)) + b"\n\n"
