"""Turns the records of a file into documents, or into stretches that are not documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from convcli.engine import texts
from convcli.files.framing import Framing, Record, Source
from convcli.jobs.choosing import other_dialect
from convcli.jobs.documents import Document, Item, not_read, warning_of
from convcli.jobs.paths import companion
from convcli.model.dialect import BeginsAnswer, Dialect
from convcli.model.document import Rows
from convcli.model.errors import ContentError
from convcli.model.findings import Finding

if TYPE_CHECKING:
    from convcli.engine.detection import Detection


def beginnings(dialect: Dialect) -> BeginsAnswer:
    """Returns the function that finds, in one file, the records that begin another answer of a stream."""
    return (lambda _: False) if dialect.answer_boundaries is None else dialect.answer_boundaries()


def several_answers(source: Any, head: list[Record], dialect: Dialect) -> Iterator[Record] | None:
    """Returns the items of an array as records, if a file is one array and they begin more than one answer."""
    if dialect.answer_boundaries is None or not isinstance(source, Source) or not source.is_array:
        return None
    if len(head) != 1 or not isinstance(head[0].value, list):
        return None
    begins = beginnings(dialect)
    if not any([begins(value) for value in head[0].value][1:]):
        return None
    source.repeat(head[0].raw)
    return source.members()


class RecordReader(msgspec.Struct, frozen=True):
    """What is known of a file: name, dialect, layout, whether it `has_lines`, and the detection, if any.

    `is_packed`: it is compressed, so no program appends to it.
    """

    name: str
    dialect: Dialect
    layout: Framing
    has_lines: bool
    detection: Detection | None
    is_packed: bool = False

    def item(self, record: Record) -> Item:
        """Returns the document of a record, or the stretch that is none."""
        error = record.error or self._other_dialect(record)
        return self._document(record) if error is None else not_read(record, error)

    def whole(self, records: Iterable[Record]) -> Iterator[Item]:
        """Yields all records as one document, or those of each answer of a stream, after those that cannot be read."""
        rows, lines, notes, is_part = list[Any](), list[int](), list[Finding](), False
        begins = beginnings(self.dialect)
        for record in records:
            if record.error:
                yield not_read(record, is_growing=self._is_growing)
                continue
            if begins(record.value) and rows:
                is_part = True
                yield self._rows(rows, lines, notes, is_part)
                rows, lines, notes = [], [], []
            rows.append(record.value)
            lines.append(record.line)
            notes += [] if record.warning is None else [warning_of(record.warning)]
        yield self._rows(rows, lines, notes, is_part)

    @property
    def _is_growing(self) -> bool:
        """True if a program appends to such a file while it runs: a session, or the event log of an agent program."""
        return self.dialect.framings[0] == "events" and self.layout == "jsonl" and not self.is_packed

    def _rows(self, rows: list[Any], lines: list[int], notes: list[Finding], is_part: bool) -> Document:
        value = Rows(rows, lines, companion(self.name, self.dialect.companion))
        return Document(self.name, 0, value, b"", self.dialect, is_part=is_part, notes=tuple(notes))

    def _document(self, record: Record) -> Document:
        line = record.line if self.has_lines else 0
        value, names = texts.read(record.value, self.dialect)
        document = Document(self.name, line, value, record.raw, self.dialect, texts=names, unparsed=record.value)
        if record.warning is not None:
            document.notes = (warning_of(record.warning),)
        if self.layout == "array":
            document.at, document.begin = f"/{record.index}", (record.line, record.column, record.start)
        return document

    def _other_dialect(self, record: Record) -> ContentError | None:
        """Returns the error for a record that is clearly in another dialect than the file."""
        if self.detection is None or (not self.has_lines and self.layout != "array"):
            return None
        other = other_dialect(record.value, self.dialect, self.detection.evidence.strength)
        if other is None:
            return None
        name, evidence = other
        message = f"this record is in {name} ({evidence.reason}), the file in {self.dialect.name}"
        where = f"/{record.index}" if self.layout == "array" else ""
        return ContentError("other-dialect", message, file=self.name, line=record.line, where=where)
