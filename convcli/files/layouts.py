"""Documents as bytes: how one or several of them are laid out in a file."""

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
"""How rows that are one document are laid out, by the framing that a dialect names."""
SUFFIXES: dict[Framing, str] = {"json": ".json", "array": ".json", "jsonl": ".jsonl", "sse": ".sse"}
"""What the name of a file ends in."""
TABLES = (".parquet", ".arrow")
"""What the name of a table ends in."""


def row_layouts(framings: Sequence[str]) -> list[Framing]:
    """How the rows of a dialect are laid out whose file is one transcript; empty where documents are written, which are
    the framing that it names first."""
    return [LAYOUTS[framing] for framing in framings if framing in LAYOUTS] if framings[0] in LAYOUTS else []


def is_table(path: str) -> bool:
    """Does the name of an output say that it is a table?"""
    return path.lower().endswith(TABLES)


class DocumentWriter:
    """Writes documents into an output, one after the other, in one layout.

    With `many` a file holds several of them in one document (`Dialect.many`), and each line of JSON Lines one;
    `names_events` is that of their dialect."""

    def __init__(self, output: Output, layout: Framing, many: str = "", *, names_events: bool = False) -> None:
        self.output, self._layout, self._is_empty = output, layout, True
        self._names_events = names_events
        self._opening, self._closing = _around(many or "*")
        self._is_wrapped = bool(many)

    def add(self, document: Any) -> None:
        """Write one document. Raises OutputError."""
        if self._layout == "array":
            self._member(write(document))
        elif self._is_wrapped and not isinstance(document, Rows):
            self.add_line(write_line(document))
        else:
            for piece in encoded(document, f".{self._layout}", names_events=self._names_events):
                self.output.write(piece)

    def add_line(self, line: bytes) -> None:
        """Write one document that is already a line of JSON. Raises OutputError."""
        if self._layout == "array":
            self._member(line.rstrip(b"\n"))
        elif self._is_wrapped:
            self.output.write(self._opening + line.rstrip(b"\n") + self._closing + b"\n")
        else:
            self.output.write(line)

    def changes(self) -> Iterator[tuple[Path, int, str, int]]:
        """What the types of the columns of a table have changed in it: the field, the first row and place, and how
        often. The table is complete then, and does not appear yet. Raises OutputError."""
        complete = getattr(self.output, "complete", None)
        if complete is not None:
            complete()
            yield from self.output.changed.values()  # type: ignore[attr-defined]

    def commit(self) -> None:
        """End it and let the output appear. Raises as `Output.commit` does."""
        if self._layout == "array":
            self.output.write((self._opening if self._is_empty else b"\n") + self._closing + b"\n")
        self.output.commit()

    def _member(self, text: bytes) -> None:
        self.output.write((self._opening + b"\n" if self._is_empty else b",\n") + text)
        self._is_empty = False


def _around(many: str) -> tuple[bytes, bytes]:
    """What stands before and behind the members of a document that holds several transcripts."""
    names = many.split("/")[:-1]
    return b"".join(b"{" + write(name) + b":" for name in names) + b"[", b"]" + b"}" * len(names)


def layout(documents: list[Any]) -> Framing:
    """How documents are laid out that have no input to be like: one as JSON, more or rows as JSONL."""
    return "json" if len(documents) == 1 and not isinstance(documents[0], Rows) else "jsonl"


def encoded(document: Any, suffix: str, *, names_events: bool = False) -> Iterator[bytes]:
    """The bytes of one document, as the suffix of its file says; `names_events` is that of its dialect."""
    if suffix == ".sse":
        yield from (_event_bytes(row, names_events) for row in document)
    elif isinstance(document, Rows):
        yield from map(write_line, document)
    else:
        yield write_line(document, indent=suffix == ".json")


def _event_bytes(row: Any, is_named: bool) -> bytes:
    """One event of an SSE stream, which may be named by its `type`; the end mark is bare."""
    kind = row.get("type") if is_named and isinstance(row, dict) else None
    is_name = isinstance(kind, str) and kind.isascii() and kind.isprintable()
    name = f"event: {kind}\n".encode() if is_name else b""
    return name + b"data: " + (row.encode() if isinstance(row, str) else write(row)) + b"\n\n"
