"""Turns the records of a file into documents, or into stretches that are not documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from convcli.engine import texts
from convcli.engine.detection import Detection
from convcli.files.framing import Framing, Record
from convcli.jobs.choosing import other_dialect
from convcli.jobs.documents import Document, Item, not_read
from convcli.jobs.paths import other_keys
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.errors import ContentError


class RecordReader(msgspec.Struct, frozen=True):
    """What is known of a file: name, dialect, layout, whether it `has_lines`, and the detection, if any."""

    name: str
    dialect: Dialect
    layout: Framing
    has_lines: bool
    detection: Detection | None

    def item(self, record: Record) -> Item:
        """Returns the document of a record, or the stretch that is none."""
        error = record.error or self._other_dialect(record)
        return self._document(record) if error is None else not_read(record, error)

    def whole(self, records: Iterable[Record]) -> Iterator[Item]:
        """Yields all records as one document, after those that cannot be read."""
        rows, lines = list[Any](), list[int]()
        for record in records:
            if record.error:
                yield not_read(record)
            else:
                rows.append(record.value)
                lines.append(record.line)
        yield Document(
            self.name, 0, Rows(rows, lines, other_keys(self.name, self.dialect.other_keys)), b"", self.dialect
        )

    def _document(self, record: Record) -> Document:
        line = record.line if self.has_lines else 0
        value, names = texts.read(record.value, self.dialect)
        document = Document(self.name, line, value, record.raw, self.dialect, texts=names, unparsed=record.value)
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
