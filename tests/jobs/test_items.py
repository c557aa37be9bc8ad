"""A record is a document of the dialect of its file, or reported to be none."""

from __future__ import annotations

from typing import Any

from convcli import dialects
from convcli.engine.detection import Detection
from convcli.files.framing import Framing, Record
from convcli.jobs.documents import Document, Skipped
from convcli.jobs.items import RecordReader
from convcli.model.dialect import Evidence
from convcli.model.errors import ContentError
from tests.cli_cases import CLEAN, LOSSY, OTHER


def record(value: Any, index: int = -1) -> Record:
    """The second line of a file, or a member that begins there."""
    return Record(2, 40, 90, b"{}", value, index=index, column=3)


def reader(layout: Framing = "jsonl", strength: int = 0) -> RecordReader:
    """Of a file whose dialect is named, or was detected with such a strength."""
    detected = Detection(OTHER, Evidence(strength, "it looks so")) if strength else None
    return RecordReader("f", dialects.get(OTHER), layout, layout == "jsonl", detected)


def test_a_line_and_a_member_know_their_places() -> None:
    line, member = reader().item(record(CLEAN)), reader("array").item(record(CLEAN, 7))
    assert isinstance(line, Document)
    assert isinstance(member, Document)
    assert (line.line, line.at) == (2, "")
    assert (member.line, member.at, member.begin) == (0, "/7", (2, 3, 40))


def test_a_record_of_another_dialect_is_reported_where_nobody_has_named_one() -> None:
    assert isinstance(reader().item(record(LOSSY)), Document)
    stranger = reader(strength=90).item(record(LOSSY))
    assert isinstance(stranger, Skipped)
    assert (stranger.error.code, stranger.error.line, stranger.start, stranger.end) == ("other-dialect", 2, 40, 90)


def test_what_cannot_be_read_stands_before_the_one_document_of_all_others() -> None:
    broken = Record(3, 90, 95, b"{", error=ContentError("not-json", "no"), torn=True)
    skipped, document = reader().whole([record("a"), broken, record("b")])
    assert isinstance(skipped, Skipped)
    assert isinstance(document, Document)
    assert (skipped.torn, skipped.error.code) == (False, "torn-record")
    assert (document.value, document.value.lines) == (["a", "b"], [2, 2])
