"""A small file that would become a very large one is an error, and takes little memory. The program runs by itself."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sqlite3
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli_cases import command, environment
from tests.files.test_databases import GOOSE

MOST_MEMORY = 512 << 10
"""Kibibytes of memory at the peak."""
MOST_SECONDS = 120
MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=sys.stderr)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, used.ru_maxrss, int(used.ru_utime))
"""
"""A small process that starts the program: a child's peak memory begins with that of the process that it comes from."""
LARGE = 400 << 20
LONG = 15 << 20
"""A string that needs no reason: a page or buffer of this size may be anything."""
HEAD, TAIL = b'{"messages": [{"role": "user", "content": "', b'"}]}'


def document() -> Iterator[bytes]:
    """Yields a document of one long text, in pieces."""
    yield HEAD
    for _ in range(LARGE >> 20):
        yield b"x" * (1 << 20)
    yield TAIL


def of_gzip(path: Path) -> None:
    with gzip.open(path, "wb") as file:
        for piece in document():
            file.write(piece)


def of_bzip2(path: Path) -> None:
    with bz2.open(path, "wb", compresslevel=9) as file:
        for piece in document():
            file.write(piece)


def of_xz(path: Path) -> None:
    with lzma.open(path, "wb", preset=0) as file:
        for piece in document():
            file.write(piece)


def of_zstd(path: Path) -> None:
    with (
        path.open("wb") as file,
        pytest.importorskip("zstandard").ZstdCompressor(level=3).stream_writer(file) as writer,
    ):
        for piece in document():
            writer.write(piece)


def of_archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        with archive.open("samples/1_epoch_1.json", "w", force_zip64=True) as member:
            for piece in document():
                member.write(piece)


def of_sqlite(path: Path) -> None:
    column = """content_json TEXT GENERATED ALWAYS AS ('[{"type":"text","text":"' || hex(zeroblob(1e8)) || '"}]')"""
    with sqlite3.connect(path) as connection:
        connection.executescript(GOOSE.replace("content_json TEXT", column).partition("INSERT INTO messages")[0])
        connection.execute("DELETE FROM sessions WHERE id = '20260301_2'")
        values = "('a', '20260301_1', 'user', 1)"
        connection.execute(f"INSERT INTO messages (message_id, session_id, role, created_timestamp) VALUES {values}")
    connection.close()


def of_parquet(path: Path, size: int = LARGE) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"text": ["x" * size]}), path, compression="zstd", use_dictionary=False)


def of_arrow(path: Path, column: Callable[[Any], Any], *, new: str = "new_file", codec: str | None = "zstd") -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"text": column(arrow)})
    options = arrow.ipc.IpcWriteOptions(compression=codec)
    with getattr(arrow.ipc, new)(path, table.schema, options=options) as writer:
        writer.write_table(table)


def value_in_a_usual_batch(arrow: Any) -> Any:
    """A batch of this size may have many rows, but not one."""
    return ["x" * (180 << 20)]


def one_value(arrow: Any) -> Any:
    return ["x" * LARGE]


def repeated(arrow: Any, count: int = 5_000) -> Any:
    """Rows that are the same long string, stored once."""
    return arrow.DictionaryArray.from_arrays(arrow.array([0] * count, arrow.int32()), arrow.array(["x" * LONG]))


def viewed(arrow: Any) -> Any:
    """Rows that are views of the same long string."""
    _, view, data = arrow.array(["x" * LONG], arrow.string_view()).buffers()
    views = arrow.py_buffer(view.to_pybytes() * 3_000)
    return arrow.Array.from_buffers(arrow.string_view(), 3_000, [None, views, data])


def one_list(column: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """One row, a list of all values of a column."""

    def listed(arrow: Any) -> Any:
        values = column(arrow)
        return arrow.ListArray.from_arrays([0, len(values)], values)

    return listed


def shared_lists(arrow: Any) -> Any:
    """Many lists that share their items."""
    starts, sizes = (arrow.array([number] * 100_000, arrow.int32()) for number in (0, 1_000))
    return arrow.ListViewArray.from_arrays(starts, sizes, arrow.array(["x" * 1_000] * 1_000))


def nulls(arrow: Any) -> Any:
    return arrow.nulls(LARGE)


def one_fixed_list(arrow: Any) -> Any:
    return arrow.FixedSizeListArray.from_arrays(nulls(arrow), LARGE)


def of_parquet_column(path: Path, column: Callable[[Any], Any]) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    options = {"compression": "zstd", "dictionary_pagesize_limit": 2 * LONG}
    parquet.write_table(arrow.table({"text": column(arrow)}), path, **options)


def fewer_nulls(arrow: Any) -> Any:
    return arrow.nulls(LARGE // 20)


def of_deflated_lines(path: Path) -> None:
    """Many small members, each of one line."""
    line = zlib.compress(b" " * (64 << 20), wbits=31)
    path.write_bytes(line * 12 + gzip.compress(b"{}"))


BOMBS: dict[str, Callable[[Path], None]] = {
    "gzip": of_gzip,
    "bzip2": of_bzip2,
    "xz": of_xz,
    "zstd": of_zstd,
    "archive": of_archive,
    "sqlite": of_sqlite,
    "parquet": of_parquet,
    "members of gzip": of_deflated_lines,
    "Arrow file": partial(of_arrow, column=one_value),
    "Arrow stream": partial(of_arrow, column=one_value, new="new_stream"),
    "Arrow dictionary": partial(of_arrow, column=repeated),
    "Arrow list of a dictionary": partial(of_arrow, column=one_list(repeated)),
    "Arrow views": partial(of_arrow, column=viewed),
    "Arrow list of views": partial(of_arrow, column=one_list(viewed)),
    "Arrow lists of the same items": partial(of_arrow, column=shared_lists),
    "Arrow nulls": partial(of_arrow, column=nulls, codec=None),
    "Arrow list of nulls": partial(of_arrow, column=one_list(nulls), codec=None),
    "Arrow list of a fixed size": partial(of_arrow, column=one_fixed_list, codec=None),
    "Parquet list of a dictionary": partial(of_parquet_column, column=one_list(repeated)),
    "Parquet value in a usual page": partial(of_parquet, size=120 << 20),
    "Arrow value in a usual batch": partial(of_arrow, column=value_in_a_usual_batch),
    "Parquet nulls": partial(of_parquet_column, column=fewer_nulls),
    "Parquet list of nulls": partial(of_parquet_column, column=one_list(fewer_nulls)),
}


@pytest.mark.hardening
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_an_error_and_takes_little_memory(tmp_path: Path, name: str) -> None:
    path = tmp_path / "bomb"
    BOMBS[name](path)
    assert path.stat().st_size < 1 << 20
    at = ["--at", "/text"] if name == "parquet" or name.startswith(("Arrow", "Parquet")) else []
    words = command("convert", path, "--to", "gemini", "-o", tmp_path / "out.jsonl", *at)
    measured = [sys.executable, "-c", MEASURE, *map(str, words)]
    done = subprocess.run(measured, capture_output=True, text=True, env=environment(), check=True)
    code, memory, seconds = map(int, done.stdout.split())
    reported = done.stderr
    assert (code, "[compression-bomb]" in reported) == (1, True), reported
    assert memory < MOST_MEMORY
    assert seconds < MOST_SECONDS
