"""The sizes of Parquet pages, read before Arrow allocates them: a page of 20 KB can claim and become 2 GB.

The footer repeats these sizes, but Arrow believes the headers of the pages, so these are what is read here.
Format: https://parquet.apache.org/docs/file-format/data-pages,
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from convcli.files.packed import MAX_RATIO, CountedFile
from convcli.model.errors import ContentError

_PAGE, _PAGE_RATIO = 128 << 20, 50
"""Bytes of a page that need no reason, and how much larger than its stored bytes a page may be beyond them. Most
writers end a page after about 1 MiB, DuckDB after 100 MB; texts with the same beginning are stored in 1 % of that."""
_GROUP = 128 << 20
"""Bytes of a row group that need no reason; beyond them, the ratio of any other file is the limit."""
_VALUES = 16 << 20
"""Values of a row group that need no reason; beyond them, the ratio is the limit, as if each were a byte.

A run of nulls or equal numbers takes a few bytes, whatever its length."""
_REPEATED = 256 << 20
"""Bytes that the values of a column may become if each is the whole dictionary."""
_HEADERS = (1 << 12, 1 << 16, 1 << 24)
"""Bytes in which the header of a page is looked for: statistics in it can repeat long values."""
_DICTIONARY = 2
_OF_PAGE = (5, 7, 8)
"""The fields of a header that depend on the kind of page: data, dictionary, data of version 2."""
_DEPTH = 16
_BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 3, 4, 5, 6, 7, 8, 9, 10, 12


class GroupSize(NamedTuple):
    """The unpacked bytes of all pages of a row group, and of those with the values of dictionaries.

    `repeated`: the columns whose values may repeat those of a dictionary very often, even in one row of lists."""

    total: int
    dictionaries: int
    repeated: tuple[int, ...]


class _Page(NamedTuple):
    kind: int
    unpacked: int
    stored: int
    values: int
    header: int


def group_size(file: CountedFile, group: Any) -> GroupSize:
    """Returns the size of a row group. Raises ContentError `compression-bomb`, and ValueError for a damaged header."""
    total = stored = dictionaries = values = 0
    repeated = list[int]()
    for index in range(group.num_columns):
        of_column = dictionary = 0
        for page in _pages(file, group.column(index)):
            if page.unpacked > max(_PAGE, _PAGE_RATIO * page.stored):
                raise _bomb(file.name, f"a page of the table is more than {_PAGE_RATIO} times larger than its bytes")
            total, stored = total + page.unpacked, stored + page.stored
            is_dictionary = page.kind == _DICTIONARY
            dictionary += page.unpacked * is_dictionary
            of_column += page.values * (not is_dictionary)
        if of_column * dictionary > _REPEATED:
            repeated.append(index)
        dictionaries, values = dictionaries + dictionary, values + of_column
    if total > max(_GROUP, MAX_RATIO * stored):
        raise _bomb(file.name, f"a row group is more than {MAX_RATIO} times larger than its bytes")
    if values > max(_VALUES, MAX_RATIO * stored):
        raise _bomb(file.name, f"a row group has more than {MAX_RATIO} values for each of its bytes")
    return GroupSize(total, dictionaries, tuple(repeated))


def _bomb(name: str, message: str) -> ContentError:
    return ContentError("compression-bomb", f"unpacked, {message}", file=name)


def _pages(file: CountedFile, column: Any) -> Iterator[_Page]:
    """Yields the pages of a column chunk, which follow one another."""
    first = column.dictionary_page_offset
    at = column.data_page_offset if first is None else min(first, column.data_page_offset)
    end = at + column.total_compressed_size
    while at < end:
        page = _page(file, at)
        yield page
        at += page.header + page.stored


def _page(file: CountedFile, at: int) -> _Page:
    for size in _HEADERS:
        data = b"".join(file.chunks(at, at + size))
        try:
            return _read_page(data)
        except IndexError:
            if len(data) < size:
                break
    raise ValueError("the header of a page is cut off")


def _read_page(data: bytes) -> _Page:
    """Reads the header of a page. Raises IndexError if it is longer, and ValueError if it is damaged."""
    reader, numbers, values = _Compact(data), {1: 0, 2: 0, 3: 0}, 0
    for field, kind in reader.fields():
        if kind == _I32 and field in numbers:
            numbers[field] = reader.number()
        elif kind == _STRUCT and field in _OF_PAGE:
            values = _number_of_values(reader)
        else:
            reader.skip(kind)
    if min(*numbers.values(), values) < 0:
        raise ValueError("a page has a negative size")
    return _Page(numbers[1], numbers[2], numbers[3], values, reader.at)


def _number_of_values(reader: _Compact) -> int:
    """Reads the part of a header that depends on the kind of page, and returns the number of values."""
    values = 0
    for field, kind in reader.fields():
        if field == 1 and kind == _I32:
            values = reader.number()
        else:
            reader.skip(kind)
    return values


class _Compact:
    """Bytes in Thrift's compact protocol, and the position in them."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yields the number and type of each field of a structure; its value must be read or skipped."""
        field = 0
        while head := self._byte():
            delta = head >> 4
            field = field + delta if delta else self.number()
            yield field, head & 15

    def number(self) -> int:
        """Reads a signed number."""
        value = self._varint()
        return value >> 1 ^ -(value & 1)

    def skip(self, kind: int, depth: int = 0) -> None:
        """Skips a value. Booleans are stored in the type of their field."""
        if depth > _DEPTH:
            raise ValueError("the header of a page is nested too deep")
        if kind in (_I16, _I32, _I64):
            self._varint()
        elif kind == _BINARY:
            self._move(self._varint())
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner, depth + 1)
        elif kind in (_LIST, _SET):
            self._skip_items(depth)
        elif kind in (_BYTE, _DOUBLE):
            self._move(1 if kind == _BYTE else 8)
        elif kind not in (1, 2):
            raise ValueError("the header of a page has an unknown type")

    def _skip_items(self, depth: int) -> None:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        for _ in range(count):
            if head & 15 in (1, 2):
                self._move(1)
            else:
                self.skip(head & 15, depth + 1)

    def _byte(self) -> int:
        value = self._data[self.at]
        self.at += 1
        return value

    def _move(self, size: int) -> None:
        self.at += size
        if self.at > len(self._data):
            raise IndexError

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a number in the header of a page is too long")
