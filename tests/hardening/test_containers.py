"""Damaged containers are errors of convcli, whatever is damaged: SQLite, Inspect archives, tables and packed files.

`CONVCLI_HARDENING` is the number of mutations of each container. A failure names its seed, which alone decides it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from convcli.files.opening import open_input
from convcli.model.errors import ConvcliError
from tests import tiers
from tests.files.test_databases import GOOSE, OPENCODE

CASES = int(os.environ.get("CONVCLI_HARDENING", "1000" if tiers.is_exhaustive() else "20"))
LINE = b'{"messages": [{"role": "user", "content": "hello, hello, hello"}]}\n'
OFTEN = bytes((0x00, 0x01, 0x7F, 0x80, 0xFF))


def of_sqlite(script: str) -> bytes:
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(script)
        return connection.serialize()


def of_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for number in range(3):
            archive.writestr(f"samples/{number}_epoch_1.json", LINE)
    return file.getvalue()


def of_zstd() -> bytes:
    compressed: bytes = pytest.importorskip("zstandard").ZstdCompressor(write_checksum=True).compress(LINE * 9)
    return compressed


def of_table(kind: str) -> bytes:
    arrow, file = pytest.importorskip("pyarrow"), io.BytesIO()
    table = arrow.table({"messages": [[{"role": "user", "content": "hello"}]] * 50, "n": list(range(50))})
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, file, row_group_size=20, compression="zstd")
    else:
        new = arrow.ipc.new_file if kind == "file" else arrow.ipc.new_stream
        with new(file, table.schema) as writer:
            writer.write_table(table)
    return file.getvalue()


CONTAINERS: dict[str, Callable[[], bytes]] = {
    "goose": lambda: of_sqlite(GOOSE),
    "opencode": lambda: of_sqlite(OPENCODE),
    "eval": of_zip,
    "gzip": lambda: gzip.compress(LINE * 9),
    "bzip2": lambda: bz2.compress(LINE * 9),
    "xz": lambda: lzma.compress(LINE * 9),
    "zstd": of_zstd,
    "parquet": lambda: of_table("parquet"),
    "arrow": lambda: of_table("file"),
    "arrow stream": lambda: of_table("stream"),
}


def mutated(data: bytes, choices: random.Random) -> bytes:
    """Changes some bytes, or cuts, repeats or moves a piece."""
    changed = bytearray(data)
    for _ in range(choices.choice((1, 1, 2, 5, 20))):
        at, size = choices.randrange(len(changed)), choices.randrange(1, 64)
        kind = choices.randrange(6)
        if kind < 3:
            changed[at] = choices.choice(OFTEN) if kind else choices.randrange(256)
        elif kind == 3 and len(changed) > 64:
            del changed[at : at + size]
        elif kind == 4:
            changed[at:at] = changed[at : at + size]
        elif len(changed) > 64:
            del changed[max(at, 16) :]
    return bytes(changed)


def read_all(path: Path) -> None:
    """Reads every record; a record may have an error, and so may the file."""
    try:
        with open_input(str(path)) as source:
            for record in source.each():
                assert record.error is None or isinstance(record.error, ConvcliError)
    except ConvcliError:
        pass


@pytest.mark.hardening
@pytest.mark.parametrize("name", CONTAINERS)
def test_a_damaged_container_is_an_error_and_never_a_defect(tmp_path: Path, name: str) -> None:
    data, path, failed = CONTAINERS[name](), tmp_path / "input", list[str]()
    path.write_bytes(data)
    read_all(path)
    for number in range(CASES):
        seed = f"{name} {number}"
        path.write_bytes(mutated(data, random.Random(seed)))
        try:
            read_all(path)
        except Exception as error:
            failed.append(f"{seed}: {error!r}")
    assert failed == []
