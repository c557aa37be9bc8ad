"""One document of an input with its dialect and position: its findings and losses point into the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from convcli.engine import conversion, pipeline, reading, texts
from convcli.engine.texts import ArgumentStyle
from convcli.files.framing import Record
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import ContentError, ConvcliError, RefusedError
from convcli.model.findings import Finding
from convcli.model.transcript import Transcript
from convcli.proof.reasons import Loss
from convcli.wire import exact_json
from convcli.wire.exact_json import BEGIN, Position

if TYPE_CHECKING:
    from convcli.files.tables import RowGroups


class Outer(msgspec.Struct):
    """A record from which documents were picked, and its pointer in the file.

    `kept`: pointers, within the record, to the documents that are restored.
    """

    value: Any
    at: str
    kept: list[str] = []


def route(routes: tuple[tuple[str, str], ...], pointer: str) -> str:
    """Returns the pointer in the record for one in a composed document; the first route that leads to it counts."""
    for inner, outer in routes:
        if pointer == inner or pointer.startswith(f"{inner}/"):
            return outer + pointer[len(inner) :]
    return routes[-1][1]


class Document(msgspec.Struct):
    """One document of an input.

    `line`: in a file of records, otherwise 0 · `raw`: JSON text, empty for `Rows`, whose lines have their own · `at`:
    JSON Pointer in the record · `begin`: position in the file where its text begins · `texts`: columns that are
    JSON strings, parsed in `value` · `node_path`: of a picked document, its position in `raw`, which is the whole
    record · `shell`: for the first of several in one document, that document without them · `outer`: the record that
    it was picked from · `is_alone`: a single message; `value` is a list of it · `is_part`: one of several answers of a
    stream · `groups`: for a table, maps records to rows · `notes`: findings that concern other documents of the file ·
    `others`: for the first of an archive, its files without transcripts · `routes`: of a document composed from several
    values of a record, its pointers and those in the record · `merged`: what earlier calls of the conversation have and
    this one has not · `lifted`: what `lift_once` returned.
    """

    file: str
    line: int
    value: Any
    raw: bytes
    dialect: Dialect
    at: str = ""
    begin: Position = BEGIN
    texts: tuple[str, ...] = ()
    unparsed: Any = None
    node_path: Callable[[], Position] | None = None
    shell: Any = None
    outer: Outer | None = None
    is_alone: bool = False
    is_part: bool = False
    notes: tuple[Finding, ...] = ()
    others: tuple[str, ...] = ()
    groups: RowGroups | None = None
    routes: tuple[tuple[str, str], ...] = ()
    merged: tuple[Loss, ...] = ()
    lifted: tuple[Transcript, list[Finding]] | None = None

    @property
    def original(self) -> Any:
        """The document as it was written, with its JSON strings."""
        return self.unparsed if self.texts or self.is_alone else self.value

    @property
    def first_line(self) -> int:
        """The line where it begins, also as a member of an array; 0 for a file that is one document."""
        if self.is_part:
            return self._row_lines[0]
        if self.node_path is not None and not self.line:
            return self._in_file(self.node_path())[0]
        return self.begin[0] if self.at and not self.line else self.line

    @property
    def lines(self) -> tuple[int, int]:
        """The first and last line of the document in the file."""
        if isinstance(self.value, Rows) and not self.line:
            return (min(self._row_lines) if self.is_part else 1), max(self._row_lines)
        begin = self.first_line or 1
        return begin, begin + self.raw.rstrip().count(b"\n")

    @property
    def is_first(self) -> bool:
        """True if it is the first document of its file."""
        return self.line <= 1 and self.at in ("", "/0") and (not self.is_part or self.first_line <= 1)

    @property
    def _row_lines(self) -> list[int]:
        """The lines of the rows that form the document."""
        return getattr(self.value, "lines", None) or [1]

    @property
    def number(self) -> int | None:
        """The document's number in the file: a line from 1, or a row from 0; None if it is the whole file."""
        return self.number_of(self.first_line)

    def number_of(self, line: int) -> int | None:
        """Returns the number for one of the document's lines."""
        return line - 1 if line and self.groups is not None else line or None

    def lift(self) -> Transcript:
        """Returns the document's transcript. Raises RefusedError whose findings have file and pointer."""
        with self._locating():
            return reading.lift(self.value, self.dialect)

    def lift_leniently(self) -> tuple[Transcript, list[Finding]]:
        """Returns the transcript as `lift` does, with findings on values of a wrong type that were set aside."""
        with self._locating():
            transcript, findings = reading.lift_leniently(self.value, self.dialect)
        return transcript, self.located(findings)

    def lift_once(self) -> tuple[Transcript, list[Finding]]:
        """Returns what `lift_leniently` returns, for all conditions that choose among documents."""
        if self.lifted is None:
            self.lifted = self.lift_leniently()
        return self.lifted

    def convert(
        self,
        target: Dialect,
        options: Options,
        arguments: ArgumentStyle | None = None,
        transcript: Transcript | None = None,
    ) -> conversion.Conversion:
        """Converts the document, or a known `transcript` of it; losses and findings have file and pointer.

        Raises as `lift` does.
        """
        with self._locating():
            if transcript is not None:
                result = pipeline.of_transcript(self.value, transcript, self.dialect, target, options)
            elif self.routes:
                result = pipeline.convert_in_full(self.value, self.dialect, target, options, is_composed=True)
            else:
                result = pipeline.convert(self.value, self.dialect, target, options)
            if arguments is not None:
                result = texts.with_arguments(result, self.dialect, target, arguments)
        if target is self.dialect and self.texts and not self.routes:
            result.document = texts.rewritten(result.document, self.value, self.original, self.texts)
        result.locate(self.locate)
        result.findings = self.located(result.findings)
        return result

    def locate(self, losses: Iterable[Loss]) -> None:
        """Adds file and line to losses with pointers into the document."""
        is_in_table = self.groups is not None
        for loss in losses:
            loss.file = self.file
            loss.line, loss.where = self.place(loss.where)
            if is_in_table:
                loss.line, loss.row, loss.group = self._in_table(loss.line)

    @contextmanager
    def _locating(self) -> Iterator[None]:
        try:
            yield
        except RefusedError as error:
            raise RefusedError(self.located(error.findings)) from None

    def place(self, pointer: str) -> tuple[int, str]:
        """Returns the line of a pointer, 0 for a JSON document, and the pointer relative to that line."""
        if self.routes:
            return self.line, route(self.routes, pointer)
        if not isinstance(self.value, Rows) or self.line:  # rows of one session of a database
            return self.line, self.at + (pointer.removeprefix("/0") if self.is_alone else pointer)
        index, _, rest = pointer.removeprefix("/").partition("/")
        if not index.isdigit() or int(index) >= len(self.value.lines):
            return 0, pointer
        return self.value.lines[int(index)], f"/{rest}" if rest else ""

    def located(self, findings: Iterable[Finding]) -> list[Finding]:
        """Returns the findings in document order, with file, line and column.

        For rows that form one document, only the line is known."""
        findings = list(findings)
        if not findings:
            return []
        order = exact_json.Order(self.value)
        findings.sort(key=lambda finding: order.of(finding.where))
        if self.node_path is not None:
            return [self._located(finding, self.node_path()) for finding in findings]
        written = {finding.where: self._written(finding.where) for finding in findings}
        places = exact_json.locate_all(self.raw, set(written.values())) if self.raw else {}
        return [self._located(finding, places.get(written[finding.where])) for finding in findings]

    def _written(self, pointer: str) -> str:
        """Returns the pointer to a value that the file spells out: values inside a JSON string have no position."""
        column = pointer.split("/")[1] if pointer else ""
        return f"/{column}" if column in self.texts else pointer

    def _located(self, finding: Finding, place: exact_json.Position | None) -> Finding:
        line, where = self.place(finding.where)
        column, byte = 0, -1
        if place is not None and self.line:
            column = place[1]
        elif place is not None:
            line, column, byte = self._in_file(place)
        line, row, group = self._in_table(line)
        return msgspec.structs.replace(
            finding, file=self.file, line=line, column=column, byte=byte, where=where, row=row, group=group
        )

    def _in_table(self, line: int) -> tuple[int, int, int]:
        """Returns line, row and row group: either the line or the others are known."""
        return (0, *self.groups.place(line)) if line and self.groups is not None else (line, -1, -1)

    def _in_file(self, place: Position) -> Position:
        """Converts a position in the document's text to one in the file."""
        if place[2] < 0:
            return place
        line, column, byte = self.begin
        return line + place[0] - 1, place[1] + (column - 1 if place[0] == 1 else 0), byte + place[2]


class Skipped(msgspec.Struct, frozen=True):
    """A stretch of an input that is not a document: bytes `start` to `end`, with `raw` in JSON Lines.

    `torn`: the last record of a file to which its program still appends; the records before it are used.
    """

    error: ContentError
    torn: bool
    start: int
    end: int
    raw: bytes = b""


Calls: TypeAlias = Literal["apart", "each", "auto", "join"]
"""How the calls in a log are read: requests and answers apart, each request with its answer, or joined to conversations
(`auto`: if the file is a log of calls)."""
Item: TypeAlias = Document | Skipped
Nulls: TypeAlias = Literal["drop", "keep"]
"""How null in open objects of a table is read: as absent, or as a value."""


def not_read(record: Record, error: ContentError | None = None, *, is_growing: bool = False) -> Skipped:
    """Returns the stretch of a record that is not a document.

    `is_growing`: its program appends to the file while it runs, so an incomplete last record is not an error.
    """
    error = error or record.error
    assert error is not None
    if record.torn and not is_growing:
        message = f"incomplete record, bytes {record.start}–{record.end} (was the file cut off?)"
        error = ContentError("torn-record", message, file=error.file, line=error.line)
    return Skipped(error, record.torn and is_growing, record.start, record.end, record.raw)


def without_transcript(file: str) -> ContentError:
    """Returns the error for an input in which nothing was found."""
    return ContentError("empty-input", "the input has no transcript", file=file)


def finding_of(error: ConvcliError) -> Finding:
    """Returns an error as a finding with the same position."""
    place = error.where, error.file, error.line, error.column, error.byte
    return Finding(error.code, "error", error.message, *place, error.help, row=error.row, group=error.group)


def warning_of(error: ContentError) -> Finding:
    """Returns the warning on a defect that did not stop the reading."""
    return msgspec.structs.replace(finding_of(error), severity="warning")


def skipped(item: Skipped) -> Finding:
    """Returns a finding that explains why a stretch of an input is not a document."""
    finding = finding_of(item.error)
    return msgspec.structs.replace(finding, code="torn-record", message=torn(item), help="") if item.torn else finding


def torn_warning(item: Skipped) -> Finding:
    """Returns the warning about an incomplete last record, if the records before it are used."""
    return msgspec.structs.replace(skipped(item), severity="warning")


def torn(item: Skipped) -> str:
    """Returns the message for a record whose end is missing."""
    return f"incomplete record, bytes {item.start}–{item.end} not used (is the file still being written?)"
