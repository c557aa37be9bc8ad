"""Inspect archives (`.eval`) as records: the file of a sample is like a line of JSON Lines.

An archive is a zip with a file per sample under `samples/`, packed by deflate or zstd, which the standard library reads
only since Python 3.14. Samples are read one at a time, so an archive of any length needs little memory. A log of
version 3 may have a folder for a sample, with its lists in pieces (`chunked`).
Formats: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, https://inspect.aisi.org.uk/eval-logs.html,
inspect_ai/log/_recorders/chunked, read 2026-11-28."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, cast

from convcli.files.chunked import SAMPLES, joined_sample, samples_of
from convcli.files.framing import Framing, Range, Record
from convcli.files.json_values import JsonValues
from convcli.files.packed import CountedFile, SeekableBytes, decompressed, limited, within_bounds
from convcli.model.errors import ContentError
from convcli.wire.encodings import ARCHIVE, of_beginning
from convcli.wire.strict_json import DuplicateKeys

if TYPE_CHECKING:
    from zipfile import ZipInfo

OTHERS = ("header.json", "_journal/")
"""Members by which an Inspect archive is known."""
MOST_READ = 4
"""How often the bytes of an archive are read: files that share bytes have more content than any real archive."""
_METHODS = {0: "", 8: "deflate", 93: "zstd"}
"""Compression methods of members, by their number in an archive."""
_LOCAL, _CHUNK, _ENCRYPTED = 30, 1 << 16, 1
"""Size of a local file header, bytes that are unpacked at a time, and the encryption flag."""


class ArchiveSource:
    """An opened archive. Samples are counted from 1, like lines; `lines` of them were read.

    `others` are its other files and folders.
    Raises ContentError `not-json` for another archive, and `broken-compression` for one that is damaged."""

    framing: Framing = "jsonl"
    unpacked_size = 0
    grew = False
    blank = 0
    """An archive is never read in ranges, and ends with its directory of members; samples are never blank."""

    def __init__(self, stored: CountedFile, file: CountedFile, keys: DuplicateKeys) -> None:
        import struct
        from zipfile import BadZipFile, ZipFile  # slow to import, and few files are archives

        self.name, self._stored, self._file, self._json = stored.name, stored, file, JsonValues(keys)
        self._bytes, self.lines = SeekableBytes(file), 0
        try:
            members = ZipFile(cast(IO[bytes], self._bytes)).infolist()
        except (BadZipFile, ValueError, NotImplementedError, OSError, EOFError, struct.error) as error:
            raise self._damaged() from error
        if not any(member.filename.startswith(OTHERS) for member in members):
            other = of_beginning(ARCHIVE)
            assert other is not None
            raise ContentError(other.code, other.message, file=self.name, help=other.help)
        self._members = {member.filename: member for member in members}  # the last of a name counts, as for Inspect
        self._samples = samples_of(self._members)
        self.others = tuple(dict.fromkeys(self._others(members)))

    def __enter__(self) -> ArchiveSource:
        return self

    def __exit__(self, *_: object) -> None:
        self._stored.close()
        self._file.close()

    @property
    def bytes_read(self) -> int:
        """The number of stored bytes that were read."""
        return self._stored.count

    def each(self) -> Iterator[Record]:
        """Yields all samples."""
        return self.records()

    def records(self, start: int = 0, stop: int | None = None, before: int = 0) -> Iterator[Record]:
        """Yields all samples, whatever the range: there is only one. Unreadable ones are records with an error."""
        for number, (name, pieces) in enumerate(self._samples.items(), before + 1):
            record, self.lines = Record(number, 0, 0, b""), number - before
            try:
                record.value = self._parsed(name) if not pieces else joined_sample(name, pieces, self._parsed)
            except ContentError as error:
                record.error = self._in_sample(error, name, number)
            warning = self._json.take_warning()
            record.warning = None if warning is None else self._in_sample(warning, name, number)
            yield record

    def ranges(self, size: int) -> Iterator[Range]:
        """Yields one range for the whole archive."""
        yield Range(0, 1, 0)

    def _others(self, members: list[ZipInfo]) -> Iterator[str]:
        """Yields the files and folders that are not read, and samples that a later file of the same name replaces."""
        read = {name for sample, pieces in self._samples.items() for name in (sample, *pieces)}
        for member in members:
            name = member.filename
            if name in read:
                if member is not self._members[name]:
                    yield f"an earlier {name}"
            elif name != SAMPLES:
                yield name if name.startswith(SAMPLES) else name.split("/")[0]

    def _in_sample(self, error: ContentError, sample: str, number: int) -> ContentError:
        """Returns an error that names the file in the archive, and the position in it."""
        name = error.file or sample
        at = f":{error.line}:{error.column}" if error.line else ""
        place = f"in {name if name.isprintable() else ascii(name)}{at}: "
        return ContentError(error.code, place + error.message, file=self.name, line=number)

    def _parsed(self, name: str) -> Any:
        """Returns the value of a JSON file of the archive. Raises ContentError, which names that file."""
        try:
            return self._json.parse(self._read(self._members[name]), name)
        except ContentError as error:
            error.file = name
            raise

    def _read(self, member: ZipInfo) -> bytes:
        packer = _METHODS.get(member.compress_type)
        if packer is None or member.flag_bits & _ENCRYPTED:
            raise ContentError("broken-compression", "this file is encrypted, or packed neither by deflate nor by zstd")
        pieces = self._stored_bytes(member)
        chunks = within_bounds(decompressed(pieces, packer, self.name), self._file) if packer else pieces
        text = b"".join(limited(_as_long_as(member.file_size, chunks), self.name))
        if zlib.crc32(text) != member.CRC:
            raise self._damaged()
        return text

    def _stored_bytes(self, member: ZipInfo) -> Iterator[bytes]:
        """Yields the stored bytes of a member, which follow its own header of variable length."""
        if member.header_offset < 0:  # the directory is not where it should be
            raise self._damaged()
        self._bytes.seek(member.header_offset)
        local = self._bytes.read(_LOCAL)
        if not local.startswith(ARCHIVE) or len(local) < _LOCAL:
            raise self._damaged()
        lengths = (int.from_bytes(local[at : at + 2], "little") for at in (26, 28))
        at = member.header_offset + _LOCAL + sum(lengths)
        end = at + member.compress_size
        while at < end:
            if self._file.count > MOST_READ * self._file.unpacked_size + _CHUNK:
                raise ContentError("compression-bomb", "too many files of the zip archive share the same bytes")
            self._bytes.seek(at)
            piece = self._bytes.read(min(_CHUNK, end - at))
            if not piece:
                raise self._damaged()
            at += len(piece)
            yield piece

    def _damaged(self) -> ContentError:
        return ContentError("broken-compression", "the zip archive is damaged or cut off", file=self.name)


def _as_long_as(size: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yields chunks up to the recorded length, and one more if there are more: the checksum is then wrong."""
    for chunk in chunks:
        yield chunk
        size -= len(chunk)
        if size < 0:
            return
