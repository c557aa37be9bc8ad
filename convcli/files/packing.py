"""Compresses what is written to a file whose name says so, such as `rows.jsonl.gz`."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol

from convcli.files.names import PACKED
from convcli.model.errors import JobError


class Compressor(Protocol):
    """Compresses bytes piece by piece."""

    def compress(self, data: bytes, /) -> bytes:
        """Returns what is ready."""

    def flush(self) -> bytes:
        """Returns the rest."""


def compressor_for(path: str) -> Compressor:
    """Returns what compresses a file as its suffix says. Equal bytes give equal files: gzip stores no time.

    Raises JobError `zstd-missing`.
    """
    return _PACKERS[os.path.splitext(path)[1].lower()](path)


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


def zstd_module(name: str) -> Any:
    """Returns `compression.zstd` of Python 3.14, or the package `zstandard`. Raises JobError if there is neither."""
    for module in ("compression.zstd", "zstandard"):
        with suppress(ImportError):
            return import_module(module)
    raise JobError(
        "zstd-missing",
        "zstandard needs Python 3.14 or the package zstandard",
        file=name,
        help="pip install 'convcli[zstd]'",
    )


_PACKERS: dict[str, Callable[[str], Compressor]] = dict(zip(PACKED, (_gzip, _bz2, _xz, _zstd), strict=True))
