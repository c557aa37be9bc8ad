"""Inspect archives (`.eval`) as records: the file of a sample is like a line of JSON Lines.

An archive is a zip with a file per sample under `samples/`, packed by deflate or zstd, which the standard library reads
only since Python 3.14. Samples are read one at a time, so an archive of any length needs little memory.
Formats: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, https://inspect.aisi.org.uk/eval-logs.html"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, cast

from convcli.files.framing import Framing, Range, Record
from convcli.files.json_values import JsonValues
from convcli.files.packed import CountedFile, SeekableBytes, decompressed, within_bounds
from convcli.model.errors import ContentError
from convcli.wire.encodings import ARCHIVE, of_beginning
from convcli.wire.strict_json import DuplicateKeys

if TYPE_CHECKING:
    from zipfile import ZipInfo

SAMPLES, OTHERS = "samples/", ("header.json", "_journal/")
"""The folder of the samples, and other members by which an Inspect archive is known."""
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
        names = [member.filename for member in members]
        self._samples = [one for one in members if one.filename.startswith(SAMPLES) and one.filename.endswith(".json")]
        self.others = tuple(dict.fromkeys(name.split("/")[0] for name in names if not name.startswith(SAMPLES)))
        if not any(name.startswith(OTHERS) for name in names):
            other = of_beginning(ARCHIVE)
            assert other is not None
            raise ContentError(other.code, other.message, file=self.name, help=other.help)

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
        for number, member in enumerate(self._samples, before + 1):
            record, self.lines = Record(number, 0, 0, b""), number - before
            try:
                record.value = self._read(member)
            except ContentError as error:
                record.error = self._in_sample(error, member, number)
            warning = self._json.take_warning()
            record.warning = None if warning is None else self._in_sample(warning, member, number)
            yield record

    def ranges(self, size: int) -> Iterator[Range]:
        """Yields one range for the whole archive."""
        yield Range(0, 1, 0)

    def _in_sample(self, error: ContentError, member: ZipInfo, number: int) -> ContentError:
        place = f"in {member.filename}: " if member.filename.isprintable() else ""
        return ContentError(error.code, place + error.message, file=self.name, line=number)

    def _read(self, member: ZipInfo) -> Any:
        packer = _METHODS.get(member.compress_type)
        if packer is None or member.flag_bits & _ENCRYPTED:
            raise ContentError("broken-compression", "this file is encrypted, or packed neither by deflate nor by zstd")
        pieces = self._stored_bytes(member)
        chunks = within_bounds(decompressed(pieces, packer, self.name), self._file) if packer else pieces
        text = b"".join(_as_long_as(member.file_size, chunks))
        if zlib.crc32(text) != member.CRC:
            raise self._damaged()
        return self._json.parse(text, self.name)

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
