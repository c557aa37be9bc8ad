"""Archives of Inspect (`.eval`) as records: the file of a sample is what a line is in JSON Lines.

An archive is a zip with a file for each sample under `samples/`, packed by deflate or zstd, which the standard library
reads only since Python 3.14. They are read one at a time, so an archive of any length needs little memory.
Formats: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, https://inspect.aisi.org.uk/eval-logs.html"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, cast

from convcli.files.framing import Framing, Range, Record
from convcli.files.packed import CountedFile, SeekableBytes, decompressed, within_bounds
from convcli.model.errors import ContentError
from convcli.wire.encodings import ARCHIVE, of_beginning
from convcli.wire.exact_json import parse
from convcli.wire.strict_json import DuplicateKeys

if TYPE_CHECKING:
    from zipfile import ZipInfo

SAMPLES, BESIDE = "samples/", ("header.json", "_journal/")
"""Under which name the samples stand, and what stands beside them."""
_METHODS = {0: "", 8: "deflate", 93: "zstd"}
"""How members are packed, by the number that an archive has for it."""
_LOCAL, _CHUNK, _ENCRYPTED = 30, 1 << 16, 1
"""The bytes before the name of a member, where it stands; how many are unpacked at a time; and the flag of a secret."""


class ArchiveSource:
    """An opened archive, whose samples are counted from 1 as lines are; `lines` of them were read.

    Raises ContentError `not-json` for another archive, and `broken-compression` for one that is damaged."""

    framing: Framing = "jsonl"
    plain_size = 0
    grew = False
    blank = 0
    """An archive is never read in ranges, and ends with what says where its members are; a sample is never blank."""

    def __init__(self, stored: CountedFile, file: CountedFile, keys: DuplicateKeys) -> None:
        from zipfile import BadZipFile, ZipFile  # dear to load, and few files are archives

        self.name, self._stored, self._file, self._keys = stored.name, stored, file, keys
        self._bytes, self.lines = SeekableBytes(file), 0
        try:
            members = ZipFile(cast(IO[bytes], self._bytes)).infolist()
        except (BadZipFile, ValueError, NotImplementedError) as error:
            raise self._damaged() from error
        names = [member.filename for member in members]
        self._samples = [one for one in members if one.filename.startswith(SAMPLES) and one.filename.endswith(".json")]
        if not any(name.startswith(BESIDE) for name in names):
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
        """How many bytes of the file, as it is stored, were read."""
        return self._stored.count

    def each(self) -> Iterator[Record]:
        """All samples."""
        return self.records()

    def records(self, start: int = 0, stop: int | None = None, before: int = 0) -> Iterator[Record]:
        """All samples, whatever the range: there is only one. Those that cannot be read are records with an error."""
        for number, member in enumerate(self._samples, before + 1):
            record, self.lines = Record(number, 0, 0, b""), number - before
            try:
                record.value = self._read(member)
            except ContentError as error:
                place = f"in {member.filename}: " if member.filename.isprintable() else ""
                record.error = ContentError(error.code, place + error.message, file=self.name, line=number)
            yield record

    def ranges(self, size: int) -> Iterator[Range]:
        """All of it."""
        yield Range(0, 1, 0)

    def _read(self, member: ZipInfo) -> Any:
        packer = _METHODS.get(member.compress_type)
        if packer is None or member.flag_bits & _ENCRYPTED:
            raise ContentError("broken-compression", "this file is encrypted, or packed neither by deflate nor by zstd")
        pieces = self._stored_bytes(member)
        chunks = within_bounds(decompressed(pieces, packer, self.name), self._file) if packer else pieces
        text = b"".join(_as_long_as(member.file_size, chunks))
        if zlib.crc32(text) != member.CRC:
            raise self._damaged()
        return parse(text, duplicate_keys=self._keys)

    def _stored_bytes(self, member: ZipInfo) -> Iterator[bytes]:
        """The bytes of a member as they are stored: behind its own header, whose name and extras have any length."""
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
    """The chunks up to the length that the archive tells, and one more where there are more: the sum is then wrong."""
    for chunk in chunks:
        yield chunk
        size -= len(chunk)
        if size < 0:
            return
