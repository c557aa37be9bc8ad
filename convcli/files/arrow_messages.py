"""The sizes of Arrow's compressed buffers, read before Arrow allocates them: 1 KB can claim and become 2 GB.

Each compressed buffer begins with its unpacked size, which Arrow believes. The positions of the buffers are in the
metadata of their message, in the format of flatbuffers.
Formats: https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc,
https://flatbuffers.dev/internals"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from convcli.files.packed import MAX_RATIO, CountedFile
from convcli.model.errors import ContentError

MOST_MEMORY = 192 << 20
"""Bytes of a batch and all dictionaries that need no reason; beyond them, the ratio of any other file is the limit.
Polars and Arrow may write a whole table as one batch, and texts with the same beginning are stored in 1 % of it."""
_IN_ALL = 1 << 30
"""The same for all batches together."""
_METADATA = 64 << 20
"""Bytes of metadata that a message may have."""
_CONTINUED = 0xFFFFFFFF
_DICTIONARY, _BATCH = 2, 3
"""Types of messages that have buffers."""
_END = 10
"""The bytes after the footer of a file: its length, and the mark of the format."""
_OLD_COMPRESSION = b"ARROW:experimental_compression"
"""The key in the metadata of a message that had this function in Arrow 0.17."""


class _Buffer(NamedTuple):
    start: int
    size: int


class _Block(NamedTuple):
    kind: int
    end: int


class _Size(NamedTuple):
    """The bytes of buffers, unpacked and stored."""

    unpacked: int = 0
    stored: int = 0

    def plus(self, other: _Size) -> _Size:
        return _Size(self.unpacked + other.unpacked, self.stored + other.stored)

    def is_bomb(self, least: int) -> bool:
        return self.unpacked > max(least, MAX_RATIO * self.stored)


class _Sizes:
    """The sizes of the messages so far. Dictionaries stay in memory, batches do not."""

    def __init__(self, name: str) -> None:
        self._name, self._dictionaries, self._all = name, _Size(), _Size()

    def add(self, kind: int, size: _Size) -> None:
        """Adds a message. Raises ContentError `compression-bomb`."""
        together, self._all = self._dictionaries.plus(size), self._all.plus(size)
        if together.is_bomb(MOST_MEMORY):
            raise _bomb(self._name, f"a batch of rows is more than {MAX_RATIO} times larger than its bytes")
        if self._all.is_bomb(_IN_ALL):
            raise _bomb(self._name, f"the table is more than {MAX_RATIO} times larger than its bytes")
        if kind == _DICTIONARY:
            self._dictionaries = together


def check_file(file: CountedFile) -> None:
    """Checks the buffers of an Arrow file. Raises ContentError `compression-bomb`, and ValueError for damage."""
    end, sizes = file.unpacked_size - _END, _Sizes(file.name)
    with _reporting_cuts():
        (size,) = struct.unpack("<i", _bytes(file, end, 4))
        if not 0 < size <= end:
            raise ValueError("the footer has a wrong length")
        footer = _Table.root(_bytes(file, end - size, size))
        for field in (2, 3):  # the blocks of dictionaries, and of batches
            for block in footer.structs(field, 24):
                (start,) = struct.unpack_from("<q", block)
                _checked(file, start, sizes)


def checked_batches(file: CountedFile) -> Iterator[None]:
    """Checks the messages of an Arrow stream, and pauses after each batch of rows. Raises as `check_file`."""
    at, sizes = 0, _Sizes(file.name)
    with _reporting_cuts():
        while (message := _checked(file, at, sizes)) is not None:
            at = message.end
            if message.kind == _BATCH:
                yield


@contextmanager
def _reporting_cuts() -> Iterator[None]:
    """Turns the errors of reading beyond the end into a ValueError."""
    try:
        yield
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError("a message is cut off") from error


def _checked(file: CountedFile, at: int, sizes: _Sizes) -> _Block | None:
    """Checks the buffers of the message at this position and returns it; None at the end of a stream."""
    head = _bytes(file, at, 8)
    if len(head) < 4:
        return None
    (size,) = struct.unpack_from("<I", head)
    prefix = 4
    if size == _CONTINUED:
        prefix, (size,) = 8, struct.unpack_from("<I", head, 4)
    if size == 0:
        return None
    if size > _METADATA:
        raise ValueError("the metadata of a message are too long")
    data, body = _bytes(file, at + prefix, size), at + prefix + size
    root = _Table.root(data)
    kind = root.number(1, "<B")
    batch = root.table(2) if kind in (_DICTIONARY, _BATCH) else None
    if batch is not None and kind == _DICTIONARY:
        batch = batch.table(1)
    if batch is not None and (batch.table(3) is not None or _OLD_COMPRESSION in data):
        buffers = (_Buffer(*struct.unpack("<qq", one)) for one in batch.structs(2, 16))
        sizes.add(kind, _size_of(file, body, buffers))
    return _Block(kind, body + max(root.number(3, "<q"), 0))


def _size_of(file: CountedFile, body: int, buffers: Iterable[_Buffer]) -> _Size:
    size = _Size()
    for buffer in buffers:
        if buffer.size >= 8:
            (unpacked,) = struct.unpack("<q", _bytes(file, body + buffer.start, 8))
            size = size.plus(_Size(max(unpacked, 0), buffer.size))
    return size


def _bomb(name: str, message: str) -> ContentError:
    return ContentError("compression-bomb", f"unpacked, {message}", file=name)


def _bytes(file: CountedFile, start: int, size: int) -> bytes:
    if start < 0:
        raise ValueError("a message begins before the file")
    return b"".join(file.chunks(start, start + size))


class _Table(NamedTuple):
    """A table of flatbuffers: its fields by number, in the order of the schema."""

    data: bytes
    at: int

    @classmethod
    def root(cls, data: bytes) -> _Table:
        """Returns the table that the bytes hold."""
        return cls(data, struct.unpack_from("<I", data)[0])

    def table(self, field: int) -> _Table | None:
        """Returns a table in a field, None if it is missing."""
        at = self._field(field)
        return None if at is None else _Table(self.data, self._target(at))

    def number(self, field: int, code: str) -> int:
        """Returns a number, 0 if it is missing."""
        at = self._field(field)
        return 0 if at is None else int(struct.unpack_from(code, self.data, at)[0])

    def structs(self, field: int, size: int) -> Iterator[bytes]:
        """Yields the structures of a vector, each of this size."""
        at = self._field(field)
        if at is None:
            return
        start = self._target(at)
        (count,) = struct.unpack_from("<I", self.data, start)
        if start + 4 + count * size > len(self.data):
            raise ValueError("a list in the metadata of a message is cut off")
        for index in range(count):
            yield self.data[start + 4 + index * size :][:size]

    def _field(self, field: int) -> int | None:
        (distance,) = struct.unpack_from("<i", self.data, self.at)
        names = self._inside(self.at - distance)
        (length,) = struct.unpack_from("<H", self.data, names)
        if 4 + 2 * field + 2 > length:
            return None
        (offset,) = struct.unpack_from("<H", self.data, names + 4 + 2 * field)
        return self._inside(self.at + offset) if offset else None

    def _target(self, at: int) -> int:
        return self._inside(at + int(struct.unpack_from("<I", self.data, at)[0]))

    def _inside(self, at: int) -> int:
        if not 0 <= at < len(self.data):
            raise ValueError("a position in the metadata of a message is outside of it")
        return at
