"""Files that options name: regular files, and pipes that somebody writes to."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from threading import Thread

import pytest

from convcli.files.side_files import read_side_file, read_side_text
from convcli.model.errors import JobError


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 200_000)
    assert read_side_file(str(tmp_path / "a")) == b"x" * 200_000


def test_a_compressed_file_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(gzip.compress(b"x"))
    assert read_side_file(str(tmp_path / "a")) == b"x"
    (tmp_path / "a").write_bytes(gzip.compress(b"x" * 100)[:20])
    with pytest.raises(JobError, match="cannot read the file: the gzip data ends before it is complete"):
        read_side_file(str(tmp_path / "a"))


def test_a_text_has_one_kind_of_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("é\r\nb\rc\u2028d".encode())
    assert read_side_text(str(tmp_path / "a")) == "é\nb\nc\u2028d"


def test_what_cannot_be_read_is_an_error_of_the_job(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff")
    with pytest.raises(JobError, match="cannot read the file: it is not UTF-8"):
        read_side_text(str(tmp_path / "a"))
    with pytest.raises(JobError, match="there is no such list") as caught:
        read_side_file(str(tmp_path / "b"), "list", "make one")
    assert (caught.value.code, caught.value.help) == ("no-such-file", "make one")


def test_a_pipe_without_a_writer_is_an_error_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(JobError, match="no program writes to this pipe"):
        read_side_file(str(tmp_path / "pipe"))


def test_a_pipe_is_read_to_its_end_though_its_writer_is_slow() -> None:
    """As the pipe of a shell's `<(command)`."""
    reading, writing = os.pipe()

    def write() -> None:
        with open(writing, "wb", buffering=0) as file:
            for _ in range(3):
                file.write(b"x" * 50_000)

    writer = Thread(target=write)
    writer.start()
    try:
        assert read_side_file(f"/dev/fd/{reading}") == b"x" * 150_000
    finally:
        writer.join()
        os.close(reading)
