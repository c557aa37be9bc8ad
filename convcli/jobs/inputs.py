"""Files, folders, globs and stdin as documents, each with its place and its dialect.

What a file holds is told by its content. A JSON document is one document, or an array of them. Of JSON Lines each line
is one document in dialects with the framing `records`, and all lines together are one (`Rows`) in dialects with
`events`; so is an SSE stream in dialects with `sse`. Records and members are read one at a time, so a file of any
length needs little memory."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import msgspec

from convcli import dialects
from convcli.engine import conversion, detection, pipeline
from convcli.files.framing import Framing, Record, Source, open_source
from convcli.jobs import programs
from convcli.jobs.choosing import (
    CERTAIN,
    LOOK_AHEAD,
    LOOK_AHEAD_BYTES,
    ChosenDialect,
    choose,
    choose_members,
    reads_each,
)
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import ContentError, JobError, RefusedError
from convcli.model.findings import Finding
from convcli.model.transcript import Transcript
from convcli.wire import exact_json
from convcli.wire.exact_json import BEGIN, Position
from convcli.wire.strict_json import DuplicateKeys

SUFFIXES = (".json", ".jsonl", ".ndjson", ".sse")
PACKED = (".gz", ".bz2", ".xz", ".zst")
MOST_UNREADABLE = 64
"""Lines that cannot be read before the first that can: beyond that, nobody would call it JSON Lines."""
RANGE = 1 << 20
"""Bytes of a file that a process reads at a time."""
WORTH = 8 << 20
"""Bytes that take longer than it takes to start processes for them."""


class Range(NamedTuple):
    """Bytes `start` to `stop` of a file, and how many newlines are before the last byte in front of them."""

    start: int
    stop: int
    newlines: int


class Document(msgspec.Struct):
    """One document of an input. `line` is its line in a file of records and 0 elsewhere; `raw` is its JSON text,
    empty for `Rows`, whose lines are their own. `at` is the JSON Pointer to it in what stands there, and `begin` the
    place of the file where its text begins."""

    file: str
    line: int
    value: Any
    raw: bytes
    dialect: Dialect
    at: str = ""
    begin: Position = BEGIN

    @property
    def first_line(self) -> int:
        """The line of the file where it begins, also as a member of an array; 0 for a file that is one document."""
        return self.begin[0] if self.at and not self.line else self.line

    @property
    def is_first(self) -> bool:
        """Is it the first document of its file?"""
        return self.line <= 1 and self.at in ("", "/0")

    def lift(self) -> Transcript:
        """The transcript of the document. Raises RefusedError with findings that tell file and place."""
        with self._locating():
            return conversion.lift(self.value, self.dialect)

    def convert(self, target: Dialect, options: Options) -> conversion.Conversion:
        """The document in another dialect, its losses and findings with file and place. Raises as `lift` does."""
        with self._locating():
            result = pipeline.convert(self.value, self.dialect, target, options)
        for loss in result.losses:
            loss.file = self.file
            loss.line, loss.where = self.place(loss.where)
        result.findings = self.located(result.findings)
        return result

    @contextmanager
    def _locating(self) -> Iterator[None]:
        try:
            yield
        except RefusedError as error:
            raise RefusedError(self.located(error.findings)) from None

    def place(self, pointer: str) -> tuple[int, str]:
        """The line of a pointer, 0 for a JSON document, and the pointer relative to that line."""
        if not isinstance(self.value, Rows):
            return self.line, self.at + pointer
        index, _, rest = pointer.removeprefix("/").partition("/")
        if not index.isdigit() or int(index) >= len(self.value.lines):
            return 0, pointer
        return self.value.lines[int(index)], f"/{rest}" if rest else ""

    def located(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings in the order of the document, with file, line and column; of rows that are one document only
        the line is known."""
        findings = list(findings)
        if not findings:
            return []
        order = exact_json.Order(self.value)
        findings.sort(key=lambda finding: order.of(finding.where))
        places = exact_json.locate_all(self.raw, {finding.where for finding in findings}) if self.raw else {}
        return [self._located(finding, places.get(finding.where)) for finding in findings]

    def _located(self, finding: Finding, place: exact_json.Position | None) -> Finding:
        line, where = self.place(finding.where)
        column, byte = 0, -1
        if place is not None and self.line:
            column = place[1]
        elif place is not None:
            line, column, byte = self._in_file(place)
        return msgspec.structs.replace(finding, file=self.file, line=line, column=column, byte=byte, where=where)

    def _in_file(self, place: Position) -> Position:
        """A place in the text of the document as one of the file."""
        if place[2] < 0:
            return place
        line, column, byte = self.begin
        return line + place[0] - 1, place[1] + (column - 1 if place[0] == 1 else 0), byte + place[2]


class Skipped(NamedTuple):
    """A stretch of an input that is no document: bytes `start` to `end`. `torn`: its writer had not finished it."""

    error: ContentError
    torn: bool
    start: int
    end: int


Item: TypeAlias = Document | Skipped


# --- which files -----------------------------------------------------------------------------------------------------


class InputFile(NamedTuple):
    """An input and its path below the folder that was named, for a tree of outputs like that of the inputs."""

    path: str
    relative: str


def find(paths: Iterable[str]) -> list[InputFile]:
    """The files that these paths mean: files and "-" as they are, folders and globs as what they hold, sorted.

    Raises JobError `no-input` for a folder or a glob that holds no file of ours.
    """
    return list(dict.fromkeys(file for path in paths for file in _find(path)))


def _find(path: str) -> list[InputFile]:
    if ":" in path and not os.path.lexists(path):
        path = programs.file_of(path) or path
    if path == "-":
        return [InputFile("-", "stdin.json")]
    if os.path.isdir(path):
        return _walk(path)
    if not os.path.lexists(path) and glob.has_magic(path):
        return _matches(path)
    return [InputFile(path, os.path.basename(path))]


def _walk(folder: str) -> list[InputFile]:
    files = []
    for place, below, names in os.walk(folder):
        below.sort()
        paths = (os.path.join(place, name) for name in sorted(names) if _is_ours(name))
        files += [InputFile(path, os.path.relpath(path, folder)) for path in paths]
    if not files:
        raise JobError("no-input", f"there is no {', '.join(SUFFIXES)} file in the folder {folder}")
    return files


def _matches(pattern: str) -> list[InputFile]:
    matches = sorted(glob.glob(pattern, recursive=True))
    files = [below for match in matches for below in (_walk(match) if os.path.isdir(match) else _find(match))]
    if not files:
        raise JobError("no-input", f"no file matches {pattern}")
    return files


def _is_ours(name: str) -> bool:
    return without_packing(name).lower().endswith(SUFFIXES)


def without_packing(name: str) -> str:
    """A file name without the suffix of a compression."""
    stem, suffix = os.path.splitext(name)
    return stem if suffix.lower() in PACKED else name


def is_lines(name: str) -> bool:
    """Does the name of a file say that it holds JSON Lines?"""
    return without_packing(name).lower().endswith((".jsonl", ".ndjson"))


# --- one file --------------------------------------------------------------------------------------------------------


def documents(path: str, dialect: str | None = None) -> Iterator[Document]:
    """The documents of one input, in order. Raises ContentError at the first stretch that is none."""
    with opened(path, dialect) as source:
        for item in source:
            if isinstance(item, Skipped):
                raise item.error
            yield item


@contextmanager
def opened(path: str, dialect: str | None = None, *, duplicate_keys: DuplicateKeys = "error") -> Iterator[Input]:
    """An input whose dialect is known. Raises JobError when it cannot be opened or there is no such dialect, and
    ContentError when no dialect or more than one fits, or when it is one JSON document that cannot be read."""
    with open_source(path, duplicate_keys=duplicate_keys) as source:
        among = dialects.builtin() if dialect is None else [dialects.get(dialect)]
        try:
            yield Input(path, source, among, is_named=dialect is not None)
        except ContentError as error:
            error.file = error.file or source.name
            raise


class Input:
    """One opened input, to be iterated once: documents, and the stretches that are none.

    `detection` says why `dialect` is what it is, None when the user named it; `layout` is how the documents stand in
    the file; `is_whole` is true when they are all one; `at` is where the last record ends. A single line is JSON
    Lines only if the name says so.
    """

    def __init__(self, path: str, source: Source, among: list[Dialect], *, is_named: bool) -> None:
        self.name, self._source = source.name, source
        self._items: Iterator[Record] = iter(())
        self._head, self.at = list[Record](), 0
        self.read_elsewhere = 0
        self._lines = source.framing != "json"
        reading = self._members(among, is_named) if source.is_array else None
        self.layout: Framing = source.framing if reading is None else "array"
        self.dialect, self.is_whole, self.detection = reading or self._documents(among, is_named)
        if self.layout == "json" and is_lines(path) and self._is_one_line():
            self.layout = "jsonl"

    def __getstate__(self) -> dict[str, Any]:
        """For another process, which reads parts only."""
        return {**self.__dict__, "_items": iter(()), "_head": []}

    def __iter__(self) -> Iterator[Item]:
        records = chain(self._head, self._items)
        return self._as_whole(records) if self.is_whole else self._one_by_one(records)

    @property
    def grew(self) -> bool:
        """True if the file is now longer than what was read of it."""
        return self._source.grew

    @property
    def bytes_read(self) -> int:
        """How many bytes of the file, as it is stored, were read, here or by other processes."""
        return max(self._source.bytes_read, min(self.read_elsewhere, self._source.plain_size))

    @property
    def is_large(self) -> bool:
        """Does it pay that several processes read its ranges, and can they?"""
        can = self.layout == "jsonl" and self._lines and not self.is_whole
        return can and self._source.plain_size >= WORTH

    @property
    def may_be_several(self) -> bool:
        """Can there be several documents in such a file?"""
        return self.layout in ("jsonl", "array") and not self.is_whole

    @property
    def is_several(self) -> bool:
        """Is there more than one document, as far as can be told before they are read?"""
        return self.may_be_several and len(self._head) > 1

    def ranges(self) -> Iterator[Range]:
        """All bytes of the file, range by range."""
        counted = newlines = 0
        for start in range(0, self._source.plain_size, RANGE):
            counted, before = max(start - 1, 0), counted
            newlines += self._source.newlines(before, counted)
            yield Range(start, min(start + RANGE, self._source.plain_size), newlines)

    def part(self, place: Range) -> Input:
        """What begins in a range of bytes, as it is when all is read; processes may read the parts at the same time."""
        part = copy(self)
        part._items = self._source.records(*place)
        return part

    def _members(self, among: list[Dialect], is_named: bool) -> ChosenDialect | None:
        """What an array holds that is several documents; None where it is one, which is then read from the beginning.

        What is wrong with an array of which nothing can be read is told of the whole."""
        self._items = self._source.members()
        values = self._look_ahead()
        reading = choose_members(values, among, is_named) if values else None
        if reading is None:
            self._source.rewind()
            self._head = []
        else:
            self._source.keep()
        return reading

    def _documents(self, among: list[Dialect], is_named: bool) -> ChosenDialect:
        self._items = _read(self._source)
        values = self._look_ahead()
        if not values:
            raise (self._head[0].error if self._head else None) or self._nothing()
        return choose(values, among, self._source.framing, self._is_one_line(), is_named)

    def _look_ahead(self) -> list[Any]:
        """The values of the first records; what cannot be read is remembered, and told in its turn."""
        values, size = list[Any](), 0
        for record in self._items:
            self._head.append(record)
            size += len(record.raw)
            if record.error is None:
                values.append(record.value)
            enough = len(values) == LOOK_AHEAD or size > LOOK_AHEAD_BYTES
            if (values and enough) or (not values and len(self._head) == MOST_UNREADABLE):
                break
        return values

    def _is_one_line(self) -> bool:
        return len(self._head) == 1 and b"\n" not in self._head[0].raw.strip()

    def _nothing(self) -> ContentError:
        return ContentError("empty-input", "there is no transcript in it", file=self.name)

    def _one_by_one(self, records: Iterable[Record]) -> Iterator[Item]:
        for record in records:
            self.at = record.end
            stranger = None if record.error else self._stranger(record)
            if record.error or stranger:
                yield _skipped(record, stranger)
            else:
                yield self._document(record)

    def _document(self, record: Record) -> Document:
        line = record.line if self._lines else 0
        document = Document(self.name, line, record.value, record.raw, self.dialect)
        if self.layout == "array":
            document.at, document.begin = f"/{record.index}", (record.line, record.column, record.start)
        return document

    def _stranger(self, record: Record) -> ContentError | None:
        """What is wrong with a record that is clearly in another dialect than the rest of the file."""
        if self.detection is None or (not self._lines and self.layout != "array"):
            return None
        own = self.dialect.detect(record.value)
        if own is not None and own.strength >= self.detection.clue.strength:
            return None
        best = detection.candidates(record.value, [dialect for dialect in dialects.builtin() if reads_each(dialect)])
        if not best or best[0][1].strength < CERTAIN or (own is not None and own.strength >= best[0][1].strength):
            return None
        name, clue = best[0]
        message = f"this record is in {name} ({clue.reason}), the file in {self.dialect.name}"
        where = f"/{record.index}" if self.layout == "array" else ""
        return ContentError("other-dialect", message, file=self.name, line=record.line, where=where)

    def _as_whole(self, records: Iterable[Record]) -> Iterator[Item]:
        rows, lines = list[Any](), list[int]()
        for record in records:
            if record.error:
                yield _skipped(record)
            else:
                rows.append(record.value)
                lines.append(record.line)
        yield Document(self.name, 0, Rows(rows, lines), b"", self.dialect)


def _read(source: Source) -> Iterator[Record]:
    """The records of an input; a JSON document is the only record of its file."""
    if source.framing == "json":
        value, raw = source.document()
        yield Record(1, 0, len(raw), raw, value)
    else:
        records = source.records() if source.framing == "jsonl" else source.events()
        yield from (record for record in records if record.raw)


def _skipped(record: Record, error: ContentError | None = None) -> Skipped:
    error = error or record.error
    assert error is not None
    return Skipped(error, record.torn, record.start, record.end)
