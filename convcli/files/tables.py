"""Parquet and Arrow files as records: a row is like a line of JSON Lines. Records count from 1, like lines; reported
rows count from 0, as in other programs for tables.

Rows are read in batches, so a file of any length needs little memory.
Formats: https://parquet.apache.org/docs/file-format, https://arrow.apache.org/docs/format/IPC.html"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import accumulate
from typing import Any, NamedTuple

from convcli.files.arrow_messages import check_file, checked_batches
from convcli.files.columns import ColumnReader, Path, pyarrow
from convcli.files.framing import Framing, Range, Record
from convcli.files.packed import MAX_RATIO, CountedFile, SeekableBytes
from convcli.files.parquet_pages import group_size
from convcli.files.repeated import may_repeat, read_size
from convcli.model.errors import ContentError


class RowGroups(NamedTuple):
    """The first row of each row group of a table."""

    starts: tuple[int, ...]

    def place(self, record: int) -> tuple[int, int]:
        """Returns the row from 0 and the row group of a record that counts from 1; -1 if there is no group."""
        return record - 1, bisect_right(self.starts, record - 1) - 1


_ROWS = 256
"""Rows that are converted to values together."""
_BATCH = 2 << 20
"""Approximate bytes of columns that are read together: allocating new memory costs as much as using it."""
_REPEATED = 64 << 20
"""Bytes that values of dictionaries may become in rows that are read together: each row can repeat all of them."""
_REPEATED_RATIO = 20
"""How much larger than the file a row with repeated values may be beyond these bytes."""
_REPEATED_IN_ALL = 1 << 30
"""Bytes that rows with repeated values may become in all; beyond them, the ratio of any other file is the limit."""
_EMPTY_ROWS = 1 << 22
"""Rows that need no reason; beyond them, there must be a byte of the file for some of them."""
_BUFFER = 1 << 18


class TableSource:
    """An opened table. `columns` knows what the column types have filled in or changed in the rows read last; `lines`
    is their number, and none is `blank`."""

    framing: Framing = "jsonl"

    def __init__(self, stored: CountedFile, kind: str, file: CountedFile) -> None:
        self.name, self._kind, self._stored, self._file = stored.name, kind, stored, file
        self._table: _ParquetBatches | _ArrowBatches | None = None
        self._reader: ColumnReader | None = None
        self._keeps: Callable[[Path], bool] = _never
        self._may_repeat, self._repeated = False, 0
        self.lines = self.blank = 0
        self._opened()

    def __enter__(self) -> TableSource:
        return self

    def __exit__(self, *_: object) -> None:
        self._stored.close()
        self._file.close()

    def __getstate__(self) -> dict[str, Any]:
        """Prepares the table for another process, which reads only row groups."""
        return {**self.__dict__, "_table": None, "_reader": None}

    @property
    def unpacked_size(self) -> int:
        """The bytes of the file if it can be read in ranges, otherwise 0."""
        return self._stored.unpacked_size if len(self._opened().groups) > 1 else 0

    @property
    def bytes_read(self) -> int:
        """The number of stored bytes that were read."""
        return self._stored.count

    @property
    def grew(self) -> bool:
        """Always False: a table ends with the index of its rows."""
        return False

    @property
    def rows(self) -> int:
        """The number of rows if it is known before reading, otherwise 0."""
        return sum(count for count, _ in self._opened().groups)

    @property
    def row_groups(self) -> RowGroups:
        """The start of each row group; an Arrow file has none."""
        return RowGroups(tuple(accumulate((count for count, _ in self._opened().groups), initial=0))[:-1])

    @property
    def columns(self) -> ColumnReader:
        """The reader of the columns."""
        if self._reader is None:
            self._reader = ColumnReader(self._opened().schema, self.name, self._keeps)
        return self._reader

    def keep(self, keeps: Callable[[Path], bool]) -> None:
        """Restarts reading with nulls as values in the objects at these paths."""
        self._keeps, self._table, self._reader = keeps, None, None

    def each(self) -> Iterator[Record]:
        """Yields all rows."""
        return self.records()

    def records(self, start: int = 0, stop: int | None = None, before: int = 0) -> Iterator[Record]:
        """Yields the rows, or those of a range of row groups; unreadable rows are records with an error.

        Raises ContentError `damaged-table`, after which nothing can be read.
        """
        row, self.lines, self._reader, self._repeated = before + 1, 0, None, 0
        with _reporting_damage(self.name, self._kind):
            self._check_rows(self.rows)
            for batch in self._opened().batches(start, stop):
                self._may_repeat = any(map(may_repeat, batch.schema.types))
                self._check_rows(self.lines + batch.num_rows)
                for at in range(0, batch.num_rows, _ROWS):
                    piece = batch.slice(at, _ROWS)
                    self.lines += piece.num_rows
                    yield from self._records(piece, row)
                    self._check_total()
                    row += piece.num_rows

    def ranges(self, size: int) -> Iterator[Range]:
        """Yields all row groups, grouped into ranges of about this stored size."""
        groups = self._opened().groups
        start = rows = before = total = 0
        for number, (count, length) in enumerate(groups, 1):
            rows, total = rows + count, total + length
            if total >= size or number == len(groups):
                yield Range(start, number, before)
                start, before, total = number, rows, 0

    def _check_rows(self, count: int) -> None:
        """Raises ContentError if the file has too few bytes for so many rows: empty ones take nearly none."""
        if count > max(_EMPTY_ROWS, _REPEATED_RATIO * self._stored_size):
            message = f"the table has more than {_REPEATED_RATIO} rows for each byte of the file"
            raise ContentError("compression-bomb", message, file=self.name)

    def _check_total(self) -> None:
        """Raises ContentError if rows that repeat their values became far larger than the file."""
        _check_size(self._repeated, self._stored_size, self.name)

    @property
    def _stored_size(self) -> int:
        """The bytes of the file as it is stored, or as many of them as were read."""
        return max(self._stored.unpacked_size, self._stored.count)

    def _check_size(self, batch: Any) -> None:
        """Raises ContentError if rows are so long, or repeat their values so often, that they would fill the memory."""
        most = max(_REPEATED, _REPEATED_RATIO * self._stored_size) if batch.num_rows == 1 else _REPEATED
        size = sum(map(read_size, batch.columns)) if self._may_repeat else batch.nbytes
        if size > most:
            message = f"read, this row is more than {_REPEATED_RATIO} times larger than the file"
            raise ContentError("compression-bomb", message)
        self._repeated += size * self._may_repeat

    def _records(self, batch: Any, row: int) -> Iterator[Record]:
        try:
            self._check_size(batch)
            values = self.columns.rows(batch, row)
        except (ValueError, OverflowError, ContentError) as error:
            if batch.num_rows > 1:
                for index in range(batch.num_rows):
                    yield from self._records(batch.slice(index, 1), row + index)
                return
            yield Record(row, 0, 0, b"", error=self._unreadable(error, row))
            return
        for number, value in enumerate(values, row):
            yield Record(number, 0, 0, b"", value)

    def _unreadable(self, error: Exception, record: int) -> ContentError:
        row, group = self.row_groups.place(record)
        if isinstance(error, ContentError):
            return ContentError(error.code, error.message, file=self.name, row=row, group=group)
        if isinstance(error, UnicodeDecodeError):
            return ContentError("not-utf8", "a string is not UTF-8", file=self.name, row=row, group=group)
        return ContentError("damaged-table", "a value of this row cannot be read", file=self.name, row=row, group=group)

    def _opened(self) -> _ParquetBatches | _ArrowBatches:
        if self._table is None:
            with _reporting_damage(self.name, self._kind):
                kind = _ParquetBatches if self._kind == "a Parquet file" else _ArrowBatches
                self._table = kind(self._file, self._kind)
        return self._table


class _ParquetBatches:
    """A Parquet file: `groups` has the number of rows and bytes of each row group."""

    def __init__(self, file: CountedFile, _: str) -> None:
        parquet = import_module("pyarrow.parquet")
        self._stored = file
        self._file = parquet.ParquetFile(_opened_for_arrow(file), buffer_size=_BUFFER, pre_buffer=False)
        self.schema = self._file.schema_arrow
        groups = (self._file.metadata.row_group(i) for i in range(self._file.num_row_groups))
        self.groups = [(group.num_rows, group.total_byte_size) for group in groups]

    def batches(self, start: int, stop: int | None) -> Iterator[Any]:
        total = 0
        for group in range(len(self.groups))[start:stop]:
            rows, _ = self.groups[group]
            size = group_size(self._stored, self._file.metadata.row_group(group))
            total += size.total
            _check_size(total, self._stored.unpacked_size, self._stored.name)
            most = _REPEATED // max(size.dictionaries, 1)
            together = max(min(_ROWS, rows * _BATCH // max(size.total, 1), most), 1)
            file = self._with_dictionaries(size.repeated) if size.repeated else self._file
            yield from file.iter_batches(together, row_groups=[group], use_threads=False)

    def _with_dictionaries(self, columns: Sequence[int]) -> Any:
        """Opens the file again, to read strings as references to dictionaries: one list may repeat a long string."""
        paths = [self._file.schema.column(index).path for index in columns]
        options = {"buffer_size": _BUFFER, "pre_buffer": False, "read_dictionary": paths}
        return import_module("pyarrow.parquet").ParquetFile(_opened_for_arrow(self._stored), **options)


class _ArrowBatches:
    """An Arrow file or stream."""

    groups: tuple[tuple[int, int], ...] = ()

    def __init__(self, file: CountedFile, kind: str) -> None:
        arrow, opened = pyarrow(), _opened_for_arrow(file)
        self._stored, self._is_file = file, kind == "an Arrow file"
        if self._is_file:
            check_file(file)
        self._reader = (arrow.ipc.open_file if self._is_file else arrow.ipc.open_stream)(opened)
        self.schema = self._reader.schema

    def batches(self, _: int, __: int | None) -> Iterator[Any]:
        """Yields checked batches: Arrow trusts the lengths in a file, and a wrong one would crash the process."""
        read = self._reader
        for batch in map(read.get_batch, range(read.num_record_batches)) if self._is_file else self._streamed():
            batch.validate()
            if any(map(may_repeat, batch.schema.types)):  # otherwise the next check might take hours
                _check_size(sum(map(read_size, batch.columns)), self._stored.unpacked_size, self._stored.name)
            batch.validate(full=True)
            yield batch

    def _streamed(self) -> Iterator[Any]:
        """Yields the batches of a stream, each after a check of its messages."""
        checked = checked_batches(self._stored)
        next(checked, None)
        for batch in self._reader:
            yield batch
            next(checked, None)


def _check_size(size: int, stored: int, name: str) -> None:
    """Raises ContentError if rows that repeat their values become far larger than the file."""
    if size > max(_REPEATED_IN_ALL, MAX_RATIO * stored):
        message = f"read, the table is more than {MAX_RATIO} times larger than the file"
        raise ContentError("compression-bomb", message, file=name)


def _never(_: Path) -> bool:
    return False


def _opened_for_arrow(file: CountedFile) -> Any:
    return pyarrow().PythonFile(SeekableBytes(file), mode="r")


@contextmanager
def _reporting_damage(name: str, kind: str) -> Iterator[None]:
    """Replaces Arrow's errors, which do not help users."""
    arrow = pyarrow(name)
    try:
        yield
    except (arrow.ArrowException, OSError, ValueError, OverflowError, EOFError) as error:
        message = f"this is {kind}, but it is damaged or cut off"
        raise ContentError("damaged-table", message, file=name, help="copy or write the file again") from error
