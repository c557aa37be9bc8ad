"""Stored files: opened, counted, and unpacked within limits."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any, BinaryIO

import msgspec

from convcli.files.stores import StoredObject, is_url
from convcli.model.errors import ContentError, JobError

MAX_UNPACKED = 1 << 30
MAX_RATIO = 200
_RATIO_FROM = 1 << 20
_CHUNK = 1 << 18
_PACKED_CHUNK = 1 << 12
"""Packed bytes that are unpacked at a time: less than 128 MiB in a format whose output cannot be limited."""
_LZMA_MEMORY = 256 << 20
"""Memory for the dictionary of an xz file; `xz -9` needs 65 MiB."""
_PACKERS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "lzma", b"\x28\xb5\x2f\xfd": "zstd"}


def packer_of(head: bytes) -> str:
    """Returns what packed a file with these first bytes; an empty string if nothing did."""
    return next((packer for magic, packer in _PACKERS.items() if head.startswith(magic)), "")


def open_file(path: str) -> BinaryIO | StoredObject:
    """Opens a file, or an object of a store, for reading. Raises JobError if it does not exist or cannot be opened."""
    if is_url(path):
        return StoredObject(path)
    try:
        return open(path, "rb", buffering=0)
    except FileNotFoundError:
        raise JobError("no-such-file", "there is no such file", file=path) from None
    except IsADirectoryError:
        raise JobError("is-a-directory", "this is a directory, not a file", file=path) from None
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def may_wait(path: str) -> bool:
    """True for a pipe, a socket or a device, whose reader may wait forever. In a folder or glob, nobody named it."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False  # reported when it is opened
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def open_stdin() -> BinaryIO:
    """Returns standard input. Raises JobError if the caller closed it."""
    if sys.stdin is None:  # the caller closed it
        raise JobError("unreadable-input", "stdin is closed", file="<stdin>")
    return sys.stdin.buffer


def unreadable(name: str, error: Exception) -> JobError:
    """Returns the error for a system that refuses to read."""
    return JobError("unreadable-input", f"cannot read the file: {getattr(error, 'strerror', None) or error}", file=name)


class Descriptor(msgspec.Struct, frozen=True):
    """The descriptor of an open file. Pickled for a new process, it refers to the same file there."""

    number: int

    def __reduce__(self) -> Any:
        from multiprocessing.reduction import DupFd

        return _received, (DupFd(self.number),)


def _received(sent: Any) -> Descriptor:
    return Descriptor(sent.detach())


class CountedFile:
    """The stored bytes, counted; for a regular file, no more than it had when it was opened."""

    def __init__(self, name: str, file: BinaryIO | StoredObject, *, owned: bool) -> None:
        self.name, self.count, self._file, self._owned, self._head = name, 0, file, owned, b""
        self._size = _regular_size(file) if owned else None
        self.packer = packer_of(self.peek(6))

    def __getstate__(self) -> dict[str, Any]:
        """Prepares it for another process by descriptor, because the name may refer to another file by now."""
        assert not isinstance(self._file, StoredObject)
        return {**self.__dict__, "_file": Descriptor(self._file.fileno())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _file=open(state["_file"].number, "rb", buffering=0))  # noqa: SIM115

    def peek(self, size: int) -> bytes:
        while len(self._head) < size and (more := self._take(size - len(self._head))):
            self._head += more
        return self._head

    def read(self, size: int = _CHUNK) -> bytes:
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._take(size)

    def _take(self, size: int) -> bytes:
        wanted = size if not self._size else min(size, self._size - self.count)
        try:
            data = self._file.read(wanted) if wanted > 0 else b""
        except OSError as error:
            raise unreadable(self.name, error) from None
        self.count += len(data)
        return data

    @property
    def unpacked_size(self) -> int:
        """The bytes of a regular file when it was opened, if they are seekable; otherwise 0."""
        return 0 if self.packer else self._size or 0

    def chunks(self, start: int, stop: int | None = None) -> Iterator[bytes]:
        """Yields the bytes of a range. Processes that share the file do not disturb each other."""
        if self._size is None or self.packer:
            raise JobError("unreadable-input", "only a plain file can be read in ranges", file=self.name)
        at, end = start, self._size if stop is None else min(stop, self._size)
        while at < end:
            try:
                data = _read_at(self._file, min(_CHUNK, end - at), at)
            except OSError as error:
                raise unreadable(self.name, error) from None
            if not data:
                return
            at += len(data)
            yield data

    def grew(self) -> bool:
        return self._size is not None and (_regular_size(self._file) or 0) > self._size

    def close(self) -> None:
        if self._owned:
            self._file.close()


class SeekableBytes(io.RawIOBase):
    """The bytes of a plain file as a seekable stream; no more than it had when it was opened."""

    def __init__(self, file: CountedFile) -> None:
        self._file, self._at = file, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._file.unpacked_size}[whence]
        if start + offset < 0:
            raise OSError("cannot seek before the start of a file")
        self._at = start + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        stop = self._file.unpacked_size if size < 0 else self._at + size
        data = b"".join(self._file.chunks(self._at, stop))
        self._at += len(data)
        self._file.count += len(data)
        return data


def _read_at(file: BinaryIO | StoredObject, size: int, at: int) -> bytes:
    if isinstance(file, StoredObject):
        return file.read_at(size, at)
    if hasattr(os, "pread"):
        return os.pread(file.fileno(), size, at)
    before = file.tell()  # on Windows, where only one process reads a file
    try:
        file.seek(at)
        return file.read(size)
    finally:
        file.seek(before)


def _regular_size(file: BinaryIO | StoredObject) -> int | None:
    """Returns the size of a regular file or object, None for pipes and devices.

    0 means no limit: files in /proc report no size.
    """
    if isinstance(file, StoredObject):
        return file.size
    status = os.fstat(file.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def unpacked(stored: CountedFile) -> Iterator[bytes]:
    """Yields the bytes of a file, unpacked if it is packed. Raises ContentError for damage and for bombs."""
    if not stored.packer:
        return iter(stored.read, b"")
    pieces = iter(partial(stored.read, _PACKED_CHUNK), b"")
    return within_bounds(decompressed(pieces, stored.packer, stored.name), stored)


def within_bounds(chunks: Iterator[bytes], stored: CountedFile) -> Iterator[bytes]:
    """Limits unpacked chunks by the bytes read. Raises ContentError if they are far larger."""
    return _within(chunks, lambda: stored.count, stored.name)


def unpacked_value(data: bytes, packer: str, name: str) -> bytes:
    """Unpacks a value that was packed by itself. Raises ContentError for damage and for bombs."""
    return b"".join(_within(decompressed(iter([data]), packer, name), lambda: len(data), name))


def _within(chunks: Iterator[bytes], stored: Callable[[], int], name: str) -> Iterator[bytes]:
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > _RATIO_FROM and total > MAX_RATIO * stored():
            message = f"unpacked, the content is more than {MAX_RATIO} times larger than the file"
            raise ContentError("compression-bomb", message, file=name)
        yield chunk


def joined(chunks: Iterator[bytes], stored: CountedFile) -> bytes:
    """Returns all bytes of a file.

    Packed content that must be in memory as a whole is limited; records read one at a time are not. Raises
    ContentError beyond the limit.
    """
    return b"".join(limited(chunks, stored.name) if stored.packer else chunks)


def limited(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Yields the unpacked chunks of one document. Raises ContentError if it is too large for the memory."""
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > MAX_UNPACKED:
            message = f"unpacked, the document is larger than {MAX_UNPACKED >> 30} GiB"
            raise ContentError("compression-bomb", message, file=name)
        yield chunk


def decompressed(pieces: Iterator[bytes], packer: str, name: str) -> Iterator[bytes]:
    """Yields the unpacked bytes of one or more frames.

    The decompressors check the sums; the end is checked here, because a file that was cut off between two lines would
    otherwise look complete. Raises ContentError for damage.
    """
    new_frame, error_type = _codec(packer, name)
    filling = b"" if packer == "deflate" else b"\0"  # may stand between two frames
    frame: Any = None
    for piece in _cut(pieces):
        while piece := piece if frame else piece.lstrip(filling):
            frame = frame or new_frame()
            try:
                yield from _outputs(frame, piece)
            except (error_type, ValueError, EOFError, MemoryError) as error:
                raise ContentError("broken-compression", f"the {packer} data is damaged", file=name) from error
            piece, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
    if frame:
        raise ContentError("broken-compression", f"the {packer} data ends before it is complete", file=name)


def _cut(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yields the packed bytes in pieces that are small enough for decompressors whose output cannot be limited."""
    for piece in pieces:
        for at in range(0, len(piece), _PACKED_CHUNK):
            yield piece[at : at + _PACKED_CHUNK]


def _outputs(frame: Any, piece: bytes) -> Iterator[bytes]:
    """Yields what a piece unpacks to; bzip2, xz and zstandard in Python 3.14 return a limited number of bytes."""
    if not hasattr(frame, "needs_input"):
        yield frame.decompress(piece)
        return
    yield frame.decompress(piece, _CHUNK)
    while not frame.eof and not frame.needs_input:
        yield frame.decompress(b"", _CHUNK)


def _codec(packer: str, name: str) -> tuple[Callable[[], Any], type[Exception]]:
    """Returns a function that starts a frame, and what its decompressor raises; modules are loaded when needed."""
    if packer in ("gzip", "deflate"):
        zlib = import_module("zlib")
        return lambda: zlib.decompressobj(wbits=31 if packer == "gzip" else -15), zlib.error
    if packer == "bz2":
        return import_module("bz2").BZ2Decompressor, OSError
    if packer == "lzma":
        lzma = import_module("lzma")
        return lambda: lzma.LZMADecompressor(memlimit=_LZMA_MEMORY), lzma.LZMAError
    from convcli.files.packing import zstd_module

    zstd = zstd_module(name)
    if hasattr(zstd.ZstdDecompressor, "decompressobj"):  # the package zstandard
        return lambda: zstd.ZstdDecompressor().decompressobj(), zstd.ZstdError
    return zstd.ZstdDecompressor, zstd.ZstdError
