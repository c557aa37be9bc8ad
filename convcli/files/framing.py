"""Splits bytes into documents and back: one JSON document, JSON Lines or an SSE stream; plain or compressed; files or
stdin.

The content decides what a file is, never its name. Lines are split at 0x0A only, since U+2028 and its like are text.
A session file may still be growing: its size at opening is the limit, and an incomplete last line is `torn`. That is
certain, because no proper prefix of a JSON object is JSON. Formats: https://www.rfc-editor.org/rfc/rfc8259,
https://jsonlines.org, https://html.spec.whatwg.org/multipage/server-sent-events.html"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, takewhile
from typing import Any, BinaryIO

import msgspec

from convcli.files.json_values import JsonValues
from convcli.files.lines import BLANK, SSE_FIELDS, TEXT_MARK, Line, Omitted, sniff, split_lines, too_long
from convcli.files.lines import Framing as Framing
from convcli.files.members import split_members
from convcli.files.packed import CountedFile, joined, open_file, open_stdin, unpacked
from convcli.model.document import Rows
from convcli.model.errors import ContentError
from convcli.wire.encodings import BOM
from convcli.wire.exact_json import BEGIN, DuplicateKeys, Position, parse, write

MAX_LINE = 256 << 20
_DONE = b"[DONE]"


class Record(msgspec.Struct):
    """One line of a JSONL file, one event of an SSE stream or one member of an array: bytes `start` to `end` of the
    decompressed stream. A member has its `index`, and the `column` at which it begins.

    `raw` is its JSON text. It has either a `value` or an `error` with a position in the file; `torn` marks an error at
    the end of a stream that was still being written. An SSE event has an `event` name, an `id` and `comments` as sent;
    without data its `raw` is empty and its value None. The end mark `[DONE]`, which is not JSON, has the value
    "[DONE]". `warning` names a key that occurs twice, or a value that is kept as a string.
    """

    line: int
    start: int
    end: int
    raw: bytes
    value: Any = None
    error: ContentError | None = None
    warning: ContentError | None = None
    torn: bool = False
    event: str | None = None
    id: str | None = None
    comments: tuple[str, ...] = ()
    index: int = -1
    column: int = 1


class Range(msgspec.Struct, frozen=True):
    """A part of a file: bytes `start` to `stop`, and the number of newlines before byte `start - 1`. For a table: row
    groups, and the number of rows before them."""

    start: int
    stop: int
    before: int


class Source:
    """An opened input, to be read once by `document`, `records`, `events` or `members`.

    `framing` is what the content looks like. One line with one value is "json", and `records` reads it too. An array is
    "json" as well, with `is_array`: only its members show whether it is one document or several. Text between the
    marks of a chat template is read as a row: `{"text": …}`. `lines` of JSON Lines were read last, `blank` of them are
    empty; one document counts as a line.
    """

    def __init__(
        self, name: str, file: CountedFile, chunks: Iterator[bytes], max_line: int, keys: DuplicateKeys
    ) -> None:
        self.name, self._file, self._max_line, self._json = name, file, max_line, JsonValues(keys)
        self.framing: Framing
        self.framing, self.is_array, self._chunks = sniff(chunks, max_line)
        self._taken: list[bytes] | None = []
        self.lines = self.blank = 0

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getstate__(self) -> dict[str, Any]:
        """Prepares the source for another process, which reads only ranges."""
        return {**self.__dict__, "_chunks": iter(())}

    @property
    def unpacked_size(self) -> int:
        """The bytes of the file if it can be read in ranges, otherwise 0."""
        return self._file.unpacked_size

    @property
    def is_packed(self) -> bool:
        """True if the file is compressed."""
        return bool(self._file.packer)

    @property
    def bytes_read(self) -> int:
        """The number of stored bytes that were read."""
        return self._file.count

    @property
    def grew(self) -> bool:
        """True if the file is now longer than it was when it was opened."""
        return self._file.grew()

    def each(self) -> Iterator[Record]:
        """Yields documents, or rows of one; a JSON document is the only record of its file."""
        if self.framing == "json":
            value, raw = self.document()
            self.lines = 1
            yield Record(1, 0, len(raw), raw, value, warning=self._json.take_warning())
        else:
            records = self.records() if self.framing == "jsonl" else self.events()
            yield from (record for record in records if record.raw or record.error)

    def ranges(self, size: int) -> Iterator[Range]:
        """Yields all bytes of the file in ranges of this size."""
        counted = newlines = 0
        for start in range(0, self.unpacked_size, size):
            counted, before = max(start - 1, 0), counted
            newlines += self.newlines(before, counted)
            yield Range(start, min(start + size, self.unpacked_size), newlines)

    def document(self) -> tuple[Any, bytes]:
        """Returns the whole input as one document, and its bytes; `Rows` for JSONL and SSE. Raises ContentError."""
        raw = joined(self._chunks, self._file)
        if raw.startswith(TEXT_MARK):
            raw = self._as_row(raw)
        if self.framing == "json":
            return self._parse(raw, BEGIN), raw
        self._chunks = iter([raw])
        read = self.records() if self.framing == "jsonl" else self.events()
        rows = [record for record in read if record.raw or record.error]
        for record in rows:
            if record.error:
                raise record.error
        return Rows([record.value for record in rows], [record.line for record in rows]), raw

    def _as_row(self, raw: bytes) -> bytes:
        try:
            return write({"text": raw.decode("utf-8")})
        except UnicodeDecodeError as error:
            message = f"byte 0x{raw[error.start]:02x} is not UTF-8 here"
            raise ContentError("not-utf8", message, file=self.name, byte=error.start) from None

    def records(self, start: int = 0, stop: int | None = None, newlines: int | None = None) -> Iterator[Record]:
        """Yields the records of JSON Lines; bad lines are records with an error. Blank lines are skipped.

        A byte range yields those whose line begins in it, for plain regular files only (otherwise JobError);
        `newlines` is the number before byte `start - 1`, if already counted.
        """
        readable, self.lines, self.blank = start > 0, 0, 0
        for number, offset, text, is_ended in self._lines_between(start, stop, newlines):
            raw = text.removesuffix(b"\r")
            self.lines += 1
            if text.__class__ is Omitted:
                error = too_long(self._max_line, number, offset)
                error.file = self.name
                yield Record(number, offset, offset + text.size, b"", error=error)
            elif not raw.strip(BLANK):
                self.blank += 1
            else:
                record = Record(number, offset, offset + len(text), raw)
                self._read(record, (number, 1, offset))
                if record.error:
                    record.torn = not is_ended and readable and _is_cut(record, offset)
                else:
                    readable = True
                yield record

    def events(self) -> Iterator[Record]:
        """Yields the events of an SSE stream; the last one may lack its blank line."""
        readable, block = False, list[tuple[int, int, bytes]]()
        for number, offset, text, _ in split_lines(self._chunks, self._max_line):
            line = text.removesuffix(b"\r").removeprefix(b"" if offset else BOM)
            if line:
                block.append((number, offset + len(text.removesuffix(b"\r")) - len(line), line))
            elif block:
                record, block = self._event(block)[0], []
                readable = readable or not record.error
                yield record
        if block:
            record, origin = self._event(block)
            record.torn = bool(record.error) and readable and (_is_cut(record, origin) or _DONE.startswith(record.raw))
            yield record

    def members(self) -> Iterator[Record]:
        """Yields the members of a JSON array; bad ones are records with an error.

        Until `keep` is called, `rewind` restarts the input. Raises ContentError `line-too-long`, after which nothing
        can be read.
        """
        for member in split_members(self._remembered(), self._max_line):
            line, column, start = member.begin
            record = Record(line, start, start + len(member.raw), member.raw, index=member.number, column=column)
            if member.problem:
                record.error = ContentError(
                    "not-json", member.problem, file=self.name, line=line, column=column, byte=start
                )
            else:
                self._read(record, member.begin)
            yield record

    def keep(self) -> None:
        """Frees what was kept for `rewind`."""
        self._taken = None

    def rewind(self) -> None:
        """Starts again at the first byte; only before `keep` was called."""
        self._chunks, self._taken = chain(self._taken or (), self._chunks), None

    def repeat(self, document: bytes) -> None:
        """Reads the bytes of the whole document again."""
        self._chunks, self._taken = iter((document,)), None

    def _remembered(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            if self._taken is not None:
                self._taken.append(chunk)
            yield chunk

    def newlines(self, start: int, stop: int) -> int:
        """Counts the newlines in a range of bytes."""
        return sum(map(_newlines, self._file.chunks(start, stop)))

    def _lines_between(self, start: int, stop: int | None, newlines: int | None) -> Iterator[Line]:
        if not start and stop is None:
            return split_lines(self._chunks, self._max_line, skips=True)
        begin = max(start - 1, 0)
        before = self.newlines(0, begin) if newlines is None else newlines
        lines = split_lines(self._file.chunks(begin), self._max_line, begin, before + 1, skips=True)
        if start:  # the rest of the line before, or just its newline, belongs to the range before
            next(lines, None)
        return takewhile(lambda line: stop is None or line[1] < stop, lines)

    def _event(self, block: list[tuple[int, int, bytes]]) -> tuple[Record, int]:
        """Returns the event of a block of lines, and the offset of its data."""
        last, data = block[-1], list[bytes]()
        record, begin = Record(block[0][0], block[0][1], last[1] + len(last[2]), b""), BEGIN
        comments = list[str]()
        for number, offset, line in block:
            field, _, rest = line.partition(b":")
            value = rest.removeprefix(b" ")
            if field == b"data":
                column = 1 + len(line) - len(value)
                begin = begin if data else (number, column, offset + column - 1)
                data.append(value)
            elif not _note(record, field, value, comments):
                return self._no_field(record, number, offset, line), offset
        record.comments = tuple(comments)
        record.raw = b"\n".join(data)
        if record.raw == _DONE:
            record.value = _DONE.decode()
        elif record.raw:
            self._read(record, begin)
        return record, begin[2]

    def _no_field(self, record: Record, number: int, offset: int, line: bytes) -> Record:
        record.raw = line
        at = offset + len(line) if any(field.startswith(line) for field in SSE_FIELDS) else offset
        record.error = ContentError(
            "not-sse", "this is not a field of a server-sent event", file=self.name, line=number, column=1, byte=at
        )
        return record

    def _read(self, record: Record, begin: Position) -> None:
        try:
            record.value = self._parse(record.raw, begin)
            record.warning = self._json.take_warning()
        except ContentError as error:
            record.error = error

    def _parse(self, raw: bytes, begin: Position) -> Any:
        if begin[2] and raw.startswith(BOM):
            line, column, byte = begin
            message = "a byte order mark is not allowed here"
            raise ContentError("misplaced-bom", message, file=self.name, line=line, column=column, byte=byte)
        return self._json.parse(raw, self.name, begin)


def open_source(
    path: str, *, stdin: BinaryIO | None = None, max_line: int = MAX_LINE, duplicate_keys: DuplicateKeys = "error"
) -> Source:
    """Opens an input by path, "-" for stdin; gzip, bzip2, xz and zstandard are recognised by their first bytes.

    Raises JobError `no-such-file`, `is-a-directory`, `unreadable-input` or `zstd-missing`, and ContentError
    `line-too-long`, `compression-bomb` or `broken-compression` if the beginning cannot be read.
    """
    stored = open_stored(path, stdin)
    with closed_on_error(stored):
        return Source(stored.name, stored, unpacked(stored), max_line, duplicate_keys)


def open_stored(path: str, stdin: BinaryIO | None = None) -> CountedFile:
    """Opens the stored bytes of an input by path, "-" for stdin. Raises JobError as `open_source` does."""
    name, file = ("<stdin>", stdin or open_stdin()) if path == "-" else (path, open_file(path))
    return CountedFile(name, file, owned=path != "-")


@contextmanager
def closed_on_error(stored: CountedFile) -> Iterator[None]:
    """Closes the file if an error ends the block, and adds its name to one of its content."""
    try:
        yield
    except BaseException as error:
        stored.close()
        if isinstance(error, ContentError):
            error.file = stored.name
        raise


def _newlines(chunk: bytes) -> int:
    """Counts newlines. `find` skips from one to the next and takes a fifth of the time of `count` for long lines."""
    count, at = 0, chunk.find(b"\n")
    while at >= 0:
        count, at = count + 1, chunk.find(b"\n", at + 1)
    return count


def _is_cut(record: Record, origin: int) -> bool:
    """True if the raw bytes, which begin at `origin`, break off before their JSON is complete, or end in zero bytes."""
    error, raw = record.error, record.raw
    if raw.endswith(b"\0"):
        return True
    if error and error.code == "not-utf8" and origin + len(raw) - error.byte < 4:  # perhaps inside a character
        raw = raw[: error.byte - origin]
        try:
            parse(raw, start=(record.line, 1, origin))
        except ContentError as before:
            error = before
    return error is not None and error.byte >= origin + len(raw)


def _note(record: Record, field: bytes, value: bytes, comments: list[str]) -> bool:
    """Stores a field of an event other than its data; False if there is no such field."""
    text = value.decode("utf-8", "surrogateescape")
    if field == b"event":
        record.event = text
    elif field == b"id":
        record.id = text
    elif field == b"":
        comments.append(text)
    return field in (b"event", b"id", b"", b"retry")
