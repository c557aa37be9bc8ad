"""Outputs that are compressed because their name says so: `rows.jsonl.gz`."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from convcli.files.packed import PACKED, zstd_module

if TYPE_CHECKING:
    from convcli.files.outputs import Output


def packed_output(output: Output, path: str) -> Output:
    """Returns an output that compresses what it gets if the name has such a suffix; otherwise the same.

    Equal bytes give equal files: gzip stores no time. Raises JobError `zstd-missing`.
    """
    packer = _PACKERS.get(os.path.splitext(path)[1].lower())
    return output if packer is None else PackedOutput(output, packer(path))


class Compressor(Protocol):
    """Compresses bytes piece by piece."""

    def compress(self, data: bytes, /) -> bytes:
        """Returns what is ready."""

    def flush(self) -> bytes:
        """Returns the rest."""


class PackedOutput:
    """Compresses bytes on their way to another output."""

    def __init__(self, output: Output, compressor: Compressor) -> None:
        self.name, self._output, self._compressor = output.name, output, compressor

    def write(self, data: bytes) -> None:
        """Adds bytes. Raises OutputError."""
        self._output.write(self._compressor.compress(data))

    def commit(self) -> None:
        """Ends the compressed data and commits the output. Raises as `Output.commit` does."""
        self._output.write(self._compressor.flush())
        self._output.commit()

    def discard(self) -> None:
        """Discards the output."""
        self._output.discard()


def _gzip(_: str) -> Compressor:
    compressor: Compressor = import_module("zlib").compressobj(wbits=31)
    return compressor


def _bz2(_: str) -> Compressor:
    compressor: Compressor = import_module("bz2").BZ2Compressor()
    return compressor


def _xz(_: str) -> Compressor:
    compressor: Compressor = import_module("lzma").LZMACompressor()
    return compressor


def _zstd(path: str) -> Compressor:
    made = zstd_module(path).ZstdCompressor()
    compressor: Compressor = made.compressobj() if hasattr(made, "compressobj") else made  # the package zstandard
    return compressor


_PACKERS: dict[str, Callable[[str], Compressor]] = dict(zip(PACKED, (_gzip, _bz2, _xz, _zstd), strict=True))
