"""Writes JSON rows as a Parquet or Arrow file, which appears completely or not at all, like every output.

The rows are kept in a temporary file until all are known, because their types depend on all of them. Formats:
https://parquet.apache.org/docs/file-format, https://arrow.apache.org/docs/format/IPC.html"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import IO, Any

from convcli.files.columns import ALL, JSON, ColumnReader, Padding, Path, pyarrow
from convcli.files.outputs import Output, cannot_write
from convcli.files.shapes import PathFacts, Shape, Stored, as_json, field, of_type, storing
from convcli.model.errors import JobError, OutputError
from convcli.model.row_columns import ColumnType
from convcli.wire.exact_json import exact, parse
from convcli.wire.patterns import pattern
from convcli.wire.pointers import pointer

BATCH = 1 << 20
"""Bytes of rows that are converted to columns together."""
GROUP = 16 << 20
"""Bytes of columns that are written together."""
_HALF = pattern(rb"\\u[dD][89a-fA-F]")


class TableOutput:
    """Takes lines of JSON and writes a table.

    `types` are those of columns that may be null in every row. Once written, `texts` are the columns of JSON strings,
    and `changed` the fields that are read back as other values, each with the first row and pointer, and the count.

    Raises JobError `arrow-missing` where pyarrow is not installed."""

    def __init__(self, output: Output, known: PathFacts, types: Mapping[str, ColumnType] | None = None) -> None:
        self.name, self._output, self._types = output.name, output, types or {}
        self._is_parquet = output.name.lower().endswith(".parquet")
        self._arrow = pyarrow(output.name)
        self._shape, self._half = Shape((), known), set[str]()
        self._spool: IO[bytes] | None = None
        self._rest = b""
        self.texts, self.changed, self._is_written = list[str](), dict[Path, Padding](), False

    def write(self, data: bytes) -> None:
        """Takes rows, one per line. Raises OutputError, and JobError for a row that is not an object."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._add(line)
        try:
            if self._spool is None:
                from tempfile import TemporaryFile

                self._spool = TemporaryFile()  # noqa: SIM115
            self._spool.write(data)
        except OSError as error:
            raise cannot_write("a temporary file", error) from None

    def complete(self) -> None:
        """Writes the table, which does not appear yet. Raises OutputError."""
        self._is_written = True
        columns = {name: self._stored(name, shape) for name, shape in (self._shape.fields or {}).items()}
        columns |= dict.fromkeys(self._half, as_json())
        self.texts = [name for name, stored in columns.items() if stored.mark == JSON]
        with self._reporting_errors():
            schema = self._arrow.schema([field(name, stored) for name, stored in columns.items()])
            with self._writer(schema) as writer:
                for batch in self._batches(schema, storing(columns)):
                    writer.write(batch)

    def commit(self) -> None:
        """Writes the table, unless already written, and commits it. Raises as `Output.commit` does."""
        if not self._is_written:
            self.complete()
        self._output.commit()
        self.discard()

    def discard(self) -> None:
        """Discards an uncommitted table."""
        self._rest = b""
        if self._spool is not None:
            with suppress(OSError):
                self._spool.close()
            self._spool = None
        self._output.discard()

    def _add(self, line: bytes) -> None:
        row = parse(line)
        if not isinstance(row, dict):
            message = "a table row must be an object, not a bare list"
            raise JobError("usage", message, help="write to a FILE.jsonl")
        self._shape.add(row)
        if _HALF.search(line):
            self._half.update(name for name, value in row.items() if not _is_utf8(value))

    def _stored(self, name: str, shape: Shape) -> Stored:
        """Returns how a column is stored; one without values has the type that it would have with some."""
        kind = self._types.get(name)
        return shape.column() if kind is None or shape.has_values else of_type(kind)

    def _writer(self, schema: Any) -> Any:
        sink = self._arrow.PythonFile(_Sink(self._output), mode="w")
        if self._is_parquet:
            return import_module("pyarrow.parquet").ParquetWriter(sink, schema, compression="zstd")
        return self._arrow.ipc.new_file(sink, schema)

    def _batches(self, schema: Any, store: Callable[[Any], Any] | None) -> Iterator[Any]:
        """Yields the rows as tables of the size of a row group."""
        batches, size, reader, first = list[Any](), 0, ColumnReader(schema, self.name), 0
        for lines in self._lines():
            rows = list(map(parse, lines))
            stored = rows if store is None else list(map(store, rows))
            batches.append(self._arrow.RecordBatch.from_pylist(stored, schema))
            self._compare(rows, reader.rows(batches[-1], 1), first)
            first += len(rows)
            size += batches[-1].nbytes
            if size >= GROUP:
                yield self._arrow.Table.from_batches(batches)
                batches, size = [], 0
        if batches:
            yield self._arrow.Table.from_batches(batches)

    def _compare(self, rows: list[Any], read: list[Any], first: int) -> None:
        """Records values that column types have changed."""
        for number, (before, after) in enumerate(zip(rows, read, strict=True), first):
            for place in differences(before, after):
                path = tuple(ALL if isinstance(step, int) else step for step in place)
                known = self.changed.get(path, Padding(path, number, pointer(place), 0))
                self.changed[path] = known._replace(times=known.times + 1)

    def _lines(self) -> Iterator[list[bytes]]:
        """Yields the rows in batches."""
        if self._spool is not None:
            self._spool.seek(0)
            yield from iter(partial(self._spool.readlines, BATCH), [])

    @contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        try:
            yield
        except (self._arrow.ArrowException, OSError, ValueError) as error:
            message = f"cannot write {self.name} as a table: {type(error).__name__}"
            raise OutputError("cannot-write", message, help="write to a FILE.jsonl") from error


class _Sink(io.RawIOBase):
    """An output as Arrow writes it, sequentially."""

    def __init__(self, output: Output) -> None:
        self._output, self._at = output, 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def write(self, data: Any) -> int:
        self._output.write(bytes(data))
        self._at += len(data)
        return len(data)


def differences(before: Any, after: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yields the paths at which a row that was read back differs.

    No table keeps the order of keys, or whether a key is null or absent.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from differences(before.get(key), after.get(key), (*place, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from differences(*pair, (*place, index))
    elif not exact(before, after):
        yield place


def _is_utf8(value: Any) -> bool:
    """True if all strings in a value can be stored: none has half of a surrogate pair."""
    if isinstance(value, dict):
        return all(_is_utf8(name) and _is_utf8(child) for name, child in value.items())
    if isinstance(value, list):
        return all(map(_is_utf8, value))
    try:
        return not isinstance(value, str) or value.encode() is not None
    except UnicodeEncodeError:
        return False
