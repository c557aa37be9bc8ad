"""Rows of JSON as a Parquet or Arrow file, which appears whole or not at all as every output.

The rows are kept in a temporary file until all are there, for only then it is known which types hold them. Formats:
https://parquet.apache.org/docs/file-format, https://arrow.apache.org/docs/format/IPC.html"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import IO, Any

from convcli.files.columns import JSON, Path, pyarrow
from convcli.files.outputs import Output, cannot_write
from convcli.files.shapes import PathFacts, Shape, as_json, field, storing
from convcli.model.errors import JobError, OutputError
from convcli.wire.exact_json import parse

BATCH = 1 << 20
"""Bytes of rows that are made to columns together."""
GROUP = 16 << 20
"""Bytes of columns that are written together."""
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


class TableOutput:
    """Takes lines of JSON, and becomes a table. Once it is written, `texts` are the columns that hold JSON in texts,
    and `doubles` the numbers that are doubles because some of them have a fraction.

    Raises JobError `arrow-missing` where pyarrow is not installed."""

    def __init__(self, output: Output, known: PathFacts) -> None:
        self.name, self._output = output.name, output
        self._is_parquet = output.name.lower().endswith(".parquet")
        self._arrow = pyarrow(output.name)
        self._shape, self._half = Shape((), known), set[str]()
        self._spool: IO[bytes] | None = None
        self._rest = b""
        self.texts, self.doubles = list[str](), list[Path]()

    def write(self, data: bytes) -> None:
        """Take rows, each on a line. Raises OutputError, and JobError for a row that is no object."""
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

    def commit(self) -> None:
        """Write the table and let it appear. Raises as `Output.commit` does."""
        columns = {name: shape.column() for name, shape in (self._shape.fields or {}).items()}
        columns |= dict.fromkeys(self._half, as_json())
        self.texts = [name for name, stored in columns.items() if stored.mark == JSON]
        self.doubles = [path for name, shape in (self._shape.fields or {}).items() for path in shape.doubles()]
        with self._telling():
            schema = self._arrow.schema([field(name, stored) for name, stored in columns.items()])
            with self._writer(schema) as writer:
                for batch in self._batches(schema, storing(columns)):
                    writer.write(batch)
        self._output.commit()
        self.discard()

    def discard(self) -> None:
        """Give up what was not committed."""
        self._rest = b""
        if self._spool is not None:
            with suppress(OSError):
                self._spool.close()
            self._spool = None
        self._output.discard()

    def _add(self, line: bytes) -> None:
        row = parse(line)
        if not isinstance(row, dict):
            message = "a row of a table is an object, and a transcript that is a bare list is none"
            raise JobError("usage", message, help="write to a FILE.jsonl")
        self._shape.add(row)
        if _HALF.search(line):
            self._half.update(name for name, value in row.items() if not _is_utf8(value))

    def _writer(self, schema: Any) -> Any:
        sink = self._arrow.PythonFile(_Sink(self._output), mode="w")
        if self._is_parquet:
            return import_module("pyarrow.parquet").ParquetWriter(sink, schema, compression="zstd")
        return self._arrow.ipc.new_file(sink, schema)

    def _batches(self, schema: Any, store: Callable[[Any], Any] | None) -> Iterator[Any]:
        """The rows as tables that are as large as a row group should be."""
        batches, size = list[Any](), 0
        for lines in self._lines():
            rows = [parse(line) if store is None else store(parse(line)) for line in lines]
            batches.append(self._arrow.RecordBatch.from_pylist(rows, schema))
            size += batches[-1].nbytes
            if size >= GROUP:
                yield self._arrow.Table.from_batches(batches)
                batches, size = [], 0
        if batches:
            yield self._arrow.Table.from_batches(batches)

    def _lines(self) -> Iterator[list[bytes]]:
        """The rows some at a time."""
        if self._spool is not None:
            self._spool.seek(0)
            yield from iter(partial(self._spool.readlines, BATCH), [])

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except (self._arrow.ArrowException, OSError, ValueError) as error:
            message = f"cannot write {self.name} as a table: {type(error).__name__}"
            raise OutputError("cannot-write", message, help="write to a FILE.jsonl") from error


class _Sink(io.RawIOBase):
    """An output as Arrow writes it: from the beginning to the end."""

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


def _is_utf8(value: Any) -> bool:
    """Can all texts in a value be stored? Not those that hold half of a surrogate pair."""
    if isinstance(value, dict):
        return all(_is_utf8(name) and _is_utf8(child) for name, child in value.items())
    if isinstance(value, list):
        return all(map(_is_utf8, value))
    try:
        return not isinstance(value, str) or value.encode() is not None
    except UnicodeEncodeError:
        return False
