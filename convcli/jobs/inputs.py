"""Reads files, folders, globs and stdin as documents, each with its position and dialect.

The content decides what a file is. A JSON document is one document, or an array of them. In JSON Lines, each line is a
document in dialects with the framing `records`; all lines form one document (`Rows`) in dialects with `events`. So do
SSE streams in dialects with `sse`. A table row (Parquet, Arrow) is like a line of JSON Lines. Records and members are
read one at a time, so a file of any length needs little memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias

from convcli import dialects
from convcli.engine import texts
from convcli.files.framing import MAX_LINE, Framing, Range, Record, Source
from convcli.files.names import is_lines, split_line
from convcli.files.opening import open_input
from convcli.jobs.choosing import (
    LOOK_AHEAD,
    LOOK_AHEAD_BYTES,
    ChosenDialect,
    choose,
    choose_lines_of_messages,
    choose_members,
    is_for_records,
)
from convcli.jobs.documents import Calls, Document, Item, Nulls, Outer, Skipped, without_transcript
from convcli.jobs.items import RecordReader, beginnings, several_answers
from convcli.model.dialect import Dialect
from convcli.model.errors import ContentError, JobError
from convcli.model.located import record_of
from convcli.wire.strict_json import DuplicateKeys

if TYPE_CHECKING:
    from convcli.files.opening import AnySource
    from convcli.files.tables import TableSource
    from convcli.jobs.envelopes import Passed, Pattern, Picker
    from convcli.jobs.joining import JoinedCalls
    from convcli.jobs.selection import Selection
    from convcli.jobs.storage import TableNotes
    from convcli.model.findings import Finding

Mask: TypeAlias = Callable[[Document], Document]

MOST_UNREADABLE = 64
"""Unreadable lines before the first readable one, beyond which the file is not JSON Lines."""
UNDETECTED = ("unknown-dialect", "ambiguous-dialect")
"""Codes of files that match no dialect or more than one."""
RANGE = 1 << 20
"""Minimum bytes of a file that a process reads at a time."""
WORTH = 32 << 20
"""Bytes from which it pays to start processes.

To start two of them takes 0.4 s of CPU, and to bring their output together up to a third of the work. Measured on
2026-11-28, seconds of CPU in one and in two processes: sessions, 32 MB 2.5 and 3.4, 8 MB 0.8 and 1.5; long messages,
32 MB 0.65 and 1.1, 8 MB 0.27 and 0.65."""


def documents(path: str, dialect: str | None = None, *, duplicate_keys: DuplicateKeys = "error") -> Iterator[Document]:
    """Yields the documents of one input, in order. Raises ContentError at the first stretch that is none."""
    with opened(path, dialect, duplicate_keys=duplicate_keys) as source:
        for item in source:
            if isinstance(item, Skipped):
                raise item.error
            yield item


@contextmanager
def opened(
    path: str,
    dialect: str | None = None,
    *,
    duplicate_keys: DuplicateKeys = "error",
    at: Sequence[Pattern] = (),
    selection: Selection | None = None,
    restores: bool = False,
    nulls: Nulls = "drop",
    otherwise: Dialect | None = None,
    masked: Mask | None = None,
    calls: Calls = "apart",
    max_line: int = MAX_LINE,
) -> Iterator[Input]:
    """Opens an input and chooses its dialect.

    FILE:LINE has only the transcript on that line. `at`: each value that these patterns pick is a document ·
    `selection`: chooses among the documents · `restores`: keeps what surrounds picked documents · `nulls`: whether
    nulls in open objects of a table are padding or values · `masked`: returns a document without private data ·
    `calls`: whether a request is read with its answer, and the calls of one conversation are joined · `otherwise`: the
    dialect if none or more than one matches.

    Raises JobError if it cannot be opened or there is no such dialect, and ContentError if no dialect or more than one
    matches, or if it is one JSON document that cannot be read."""
    named, (path, line) = path, split_line(path)
    open_as = partial(Input, line=line, at=at, restores=restores, calls=calls, otherwise=otherwise)
    with open_input(path, duplicate_keys=duplicate_keys, max_line=max_line) as source:
        named_dialect = None if dialect is None else dialects.get(dialect)
        try:
            opened = open_as(path, source, named_dialect)
            if nulls == "keep" and opened.keep_nulls():
                opened = open_as(path, source, named_dialect)
            opened.masked = masked
            if selection is not None:
                opened.select(partial(selection.choose, named))
            yield opened
        except ContentError as error:
            error.file = error.file or source.name
            raise


class Input:
    """One opened input, to be iterated once: documents, and the stretches that are not documents.

    `detection` explains `dialect`, None if the user named it; `layout` is how the documents are stored;
    `is_named_lines` is true for the name of JSON Lines; `is_whole` is true if they form one document; `at` is where the
    last record ends. A single line is JSON Lines only if the file name says so. With a `line`, only the document on it
    is included.
    """

    def __init__(
        self,
        path: str,
        source: AnySource,
        dialect: Dialect | None,
        line: int | None = None,
        at: Sequence[Pattern] = (),
        restores: bool = False,
        otherwise: Dialect | None = None,
        calls: Calls = "apart",
    ) -> None:
        self.name, self._source, self._patterns = source.name, source, at
        self._line = line + 1 if line is not None and self.is_table else line
        self._named, self._otherwise = dialect, otherwise
        self.undetected: ContentError | None = None  # why the file is read as `otherwise`
        self._items: Iterator[Record] = iter(())
        self._head, self.at = list[Record](), 0
        self._has_answers = False
        self.read_elsewhere = 0
        self._notes: TableNotes | None = None
        self._choose: Callable[[Iterator[Item]], Iterator[Item]] | None = None
        self.masked: Mask | None = None
        self.joined: JoinedCalls | None = None
        self.layout: Framing
        self._lines, self.is_named_lines = source.framing != "json", is_lines(path)
        self._picker: Picker | None = None
        self._picked: Iterator[Item] = iter(())
        if at:
            from convcli.jobs.envelopes import ALL, Picker

            self._picker = Picker(source.name, at, dialect)
            self._picker.first, self._picker.pairs = 0 if self.is_table else 1, calls != "apart"
            self._picker.outer = deque() if restores else None
            is_array = len(at) > 1 or ALL in at[0]
            layout: Framing = "jsonl" if self.is_named_lines else "array" if is_array else "json"
            self.layout = source.framing if self._lines else layout
            self._take(self._pick(self._picker, at))
            self._join(calls)
            return
        reading = self._members(source) if isinstance(source, Source) and source.is_array else None
        self.layout = source.framing if reading is None else "array"
        self._take(reading or self._documents())
        if self.layout == "json" and self.is_named_lines and self._is_one_line():
            self.layout = "jsonl"
        self._join(calls)

    def _join(self, calls: Calls) -> None:
        """Decides whether the calls of one conversation are joined: on request, and where the file is a log."""
        is_one = self._picker is None and self.layout == "json"
        if calls in ("apart", "each") or self.is_whole or is_one:
            return
        from convcli.jobs import joining, presets

        values = [record.value for record in self._head if record.error is None]
        is_log = (
            presets.is_log(tuple(self._patterns)) if self._picker is not None else joining.repeats(values, self.dialect)
        )
        if calls == "join" or is_log:
            self.joined = joining.JoinedCalls()

    def __getstate__(self) -> dict[str, Any]:
        """Prepares the input for another process, which reads only parts."""
        return {**self.__dict__, "_items": iter(()), "_head": []}

    def __iter__(self) -> Iterator[Item]:
        records = chain(self._head, self._items)
        items = self._reader.whole(records) if self.is_whole else self._one_by_one(records)
        items = self._picked if self._picker is not None else items
        items = self._mask(items)
        if self._table is not None:
            from convcli.jobs.storage import TableNotes

            self._notes = TableNotes(self._table, self.dialect, self._patterns, is_whole=self.is_whole)
            items = self._notes.watched(items)
        items = items if self._line is None else self._on_line(items, self._line)
        if self.joined is not None:
            from convcli.jobs.joining import joined

            items = joined(items, self.joined)
        items = items if self._choose is None else self._choose(items)
        if self.dialect.unique:
            from convcli.jobs.repeats import with_repeats

            items = with_repeats(items, self.dialect.unique)
        return items

    def keep_nulls(self) -> bool:
        """Keeps nulls in open objects of the dialect as values when read again. False if it is not a table."""
        if self._table is not None:
            from convcli.jobs.storage import ColumnPaths

            self._table.keep(ColumnPaths(self.dialect, self._patterns, is_whole=self.is_whole).is_open)
        return self.is_table

    @property
    def notes(self) -> list[Finding]:
        """Findings about how the file stores the documents read so far, to be reported once."""
        return [] if self._notes is None else self._notes.findings()

    @property
    def _table(self) -> TableSource | None:
        """The table, if the input is one; table code is loaded only for tables."""
        if isinstance(self._source, Source):
            return None
        from convcli.files.tables import TableSource

        return self._source if isinstance(self._source, TableSource) else None

    def beginning(self, most: int) -> Iterator[Item]:
        """Yields the session as if it ended after `most` records; nothing if it is no session, or filtered."""
        if self._is_session:
            yield from self._mask(self._reader.whole(islice(chain(self._head, self._items), most)))

    def ending(self, start: int) -> Iterator[Item]:
        """Yields the session without the records between the first ones and this byte."""
        if self._is_session and isinstance(self._source, Source) and self._source.unpacked_size:
            yield from self._mask(self._reader.whole(chain(self._head, self._source.records(start, None, 0))))

    def _mask(self, items: Iterator[Item]) -> Iterator[Item]:
        """Masks the documents among some items, if they are to be masked."""
        if self.masked is None:
            return items
        masked = self.masked
        return (masked(item) if isinstance(item, Document) else item for item in items)

    @property
    def _is_session(self) -> bool:
        is_part = self._picker is not None or self._line is not None or self.is_selected
        is_read = self.dialect.answer_boundaries is not None
        return self.is_whole and self.layout == "jsonl" and not is_part and not is_read

    def select(self, choose: Callable[[Iterator[Item]], Iterator[Item]]) -> None:
        """Restricts the input to the items that `choose` yields."""
        self._choose = choose

    @property
    def is_selected(self) -> bool:
        """True if possibly none of its documents is wanted."""
        return self._choose is not None

    @property
    def is_one_line(self) -> bool:
        """True if only the transcript on one line is wanted."""
        return self._line is not None

    @property
    def has_container(self) -> bool:
        """True if its transcripts are in one JSON document with other keys around them."""
        return self._picker is not None and self._picker.keeps_shell and not self._lines

    @property
    def grew(self) -> bool:
        """True if the file is now longer than what was read of it."""
        return self._source.grew

    @property
    def bytes_read(self) -> int:
        """The stored bytes of the file that were read, here or by other processes."""
        return max(self._source.bytes_read, min(self.read_elsewhere, self._source.unpacked_size))

    @property
    def lines_read(self) -> tuple[int, int]:
        """The number of lines or rows read of the file or part, and of blank ones among them."""
        return self._source.lines, self._source.blank

    @property
    def is_large(self) -> bool:
        """True if several processes can read its ranges and it is large enough to pay off."""
        return self.has_ranges and self.size >= WORTH

    @property
    def size(self) -> int:
        """The bytes of the file if it can be read in ranges, otherwise 0."""
        return self._source.unpacked_size

    @property
    def has_ranges(self) -> bool:
        """True if its lines or row groups can be read independently. False if all of them must be seen."""
        can = self.layout == "jsonl" and self._lines and not self.is_whole and not self.dialect.unique
        is_all = self._line is None and self._picker is None and self._choose is None
        is_all = is_all and self.joined is None and self.masked is None
        return can and is_all and self.size > 0

    @property
    def is_table(self) -> bool:
        """True if its ranges consist of row groups, not bytes."""
        return self._table is not None

    @property
    def may_be_several(self) -> bool:
        """True if such a file can have several documents."""
        is_several = self._has_answers if self.is_whole else self.layout in ("jsonl", "array")
        return is_several and self._line is None

    @property
    def passed(self) -> Passed | None:
        """The picked values that are not transcripts; None if nothing was to be picked."""
        return None if self._picker is None else self._picker.passed

    @property
    def outer(self) -> deque[Outer] | None:
        """The records that documents were picked from; the restore file removes them from here."""
        return None if self._picker is None else self._picker.outer

    @property
    def is_several(self) -> bool:
        """True if there is more than one document, as far as is known before reading."""
        if self._has_answers:
            return self.may_be_several
        rows = len(self._head) if self._table is None else max(len(self._head), self._table.rows)
        return self.may_be_several and (self._picker is not None or rows > 1)

    def ranges(self, size: int) -> Iterator[Range]:
        """Yields the ranges of the file, each of this size."""
        return self._source.ranges(size)

    def part(self, place: Range) -> Input:
        """Returns the input restricted to a range; processes may read parts at the same time."""
        part = copy(self)
        part._items = self._source.records(place.start, place.stop, place.before)
        return part

    def _take(self, chosen: ChosenDialect) -> None:
        self.dialect, self.is_whole, self.detection = chosen.dialect, chosen.is_whole, chosen.detection

    def _pick(self, picker: Picker, at: Sequence[Pattern]) -> ChosenDialect:
        """Picks documents and returns the dialect of the first. Members of an array are picked one at a time."""
        source = self._source
        records = source.each()
        if isinstance(source, Source) and source.is_array:
            source.keep()
            records = source.members() if all(at) else records
        items = (item for record in records for item in picker.items(record, is_line=self._lines))
        head = list[Item]()
        for item in items:
            head.append(item)
            if isinstance(item, Document):
                self._picked = chain(head, items)
                return ChosenDialect(item.dialect, False, None)
        if head:
            raise head[0].error if isinstance(head[0], Skipped) else without_transcript(self.name)
        from convcli.jobs.envelopes import no_transcripts

        raise no_transcripts(self.name, picker, at)

    def _members(self, source: Source) -> ChosenDialect | None:
        """Returns the dialect of an array of documents; None if the array is one document, to be read from the start.

        Errors of an array without readable members are reported for the whole."""
        self._items = source.members()
        values = self._look_ahead()
        reading = choose_members(values, self._named) if values else None
        if values and reading is None:
            rows = list(map(texts.opened, values))
            reading = choose_members(rows, self._named) if rows != values else None
        if reading is None:
            source.rewind()
            self._head = []
        else:
            source.keep()
        return reading

    def _documents(self) -> ChosenDialect:
        self._items = self._source.each()
        if self._named is not None and self._table is not None and self._table.rows and is_for_records(self._named):
            return ChosenDialect(self._named, False, None)  # a look ahead costs as much as all of a small part
        values = self._look_ahead()
        if not values:
            raise (self._head[0].error if self._head else None) or without_transcript(self.name)
        reading = self._chosen(values)
        if reading.dialect.many and not reading.is_whole:
            self._hold_many(reading.dialect, values)
        if reading.dialect.answer_boundaries is not None and reading.is_whole:
            self._find_answers(reading.dialect)
        elif (members := several_answers(self._source, self._head, reading.dialect)) is not None:
            self._head, self._items, self._has_answers, self.layout = [], members, True, "array"
            return ChosenDialect(reading.dialect, True, reading.detection)
        return reading

    def _find_answers(self, dialect: Dialect) -> None:
        """Reads all records of a stream, to know whether it has several answers."""
        self._head.extend(self._items)
        begins = beginnings(dialect)
        starts = [begins(record.value) for record in self._head if record.error is None]
        self._has_answers = any(starts[1:])

    def _hold_many(self, dialect: Dialect, values: list[Any]) -> None:
        """Makes each transcript an item of the input if its records contain several."""
        from convcli.jobs.envelopes import Picker, holds

        pattern = tuple(dialect.many.split("/"))
        if not any(holds(value, pattern) for value in values):
            return
        self._picker = picker = Picker(self.name, [pattern], dialect, keeps_shell=True)
        records = chain(self._head, self._items)
        self._picked = (item for record in records for item in picker.items(record, is_line=self._lines))
        self.layout = self.layout if self._lines else "array"

    def _chosen(self, values: list[Any]) -> ChosenDialect:
        try:
            return self._detected(values)
        except ContentError as error:
            if self._otherwise is None or error.code not in UNDETECTED:
                raise
            self._named, self.undetected = self._otherwise, error
            return self._detected(values)

    def _detected(self, values: list[Any]) -> ChosenDialect:
        is_line = self._is_one_line()
        how = self._named, self._source.framing, is_line, is_line and self.is_named_lines
        if self._named is not None and self._has_messages(values):
            return choose_lines_of_messages(values, self._named) or choose(values, *how)
        try:
            return choose(values, *how)
        except ContentError as error:
            lines = choose_lines_of_messages(values, None) if self._has_messages(values) else None
            if lines is not None:
                return lines
            rows = list(map(texts.opened, values))
            if error.code != "unknown-dialect" or all(row is value for row, value in zip(rows, values, strict=True)):
                raise
            return choose(rows, *how)

    def _has_messages(self, values: list[Any]) -> bool:
        """True if each line may be a message of one conversation."""
        return self._source.framing == "jsonl" and isinstance(values[0], dict) and "role" in values[0]

    def _look_ahead(self) -> list[Any]:
        """Returns the values of the first records; errors are kept and reported in order."""
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

    def _on_line(self, items: Iterator[Item], line: int) -> Iterator[Item]:
        """Yields the document or stretch on the requested line, and nothing after it."""
        for item in items:
            begin, last = item.lines if isinstance(item, Document) else (record_of(item.error), record_of(item.error))
            if begin <= line <= last:
                yield item
                return
            if begin > line:
                break
        at = f"on line {line:,}" if self._table is None else f"in row {line - 1:,}"
        message = f"there is no transcript {at}"
        raise JobError("unknown-line", message, file=self.name, help="expected FILE:LINE, as printed in findings")

    def _one_by_one(self, records: Iterable[Record]) -> Iterator[Item]:
        reader, others = self._reader, getattr(self._source, "others", ())  # those of an archive
        for record in records:
            self.at = record.end
            item = reader.item(record)
            if others and isinstance(item, Document):
                item.others, others = others, ()
            yield item

    @property
    def _reader(self) -> RecordReader:
        is_packed = isinstance(self._source, Source) and self._source.is_packed
        return RecordReader(self.name, self.dialect, self.layout, self._lines, self.detection, is_packed)
