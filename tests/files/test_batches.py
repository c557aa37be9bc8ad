"""Outputs that appear some at a time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from convcli.files import batches
from convcli.files.batches import OutputBatch


def committed(batch: OutputBatch, path: Path, data: bytes = b"x") -> None:
    output = batch.output(str(path))
    output.write(data)
    output.commit()
    output.discard()


def test_what_is_committed_appears_with_the_flush_and_is_whole(tmp_path: Path) -> None:
    batch = OutputBatch()
    for name in ("a", "b"):
        committed(batch, tmp_path / name, name.encode() * 3_000_000)
    assert os.listdir(tmp_path) == []
    batch.flush()
    assert {path.name: path.read_bytes()[:1] for path in tmp_path.iterdir()} == {"a": b"a", "b": b"b"}
    assert {path.stat().st_size for path in tmp_path.iterdir()} == {3_000_000}
    assert batch.failed == []


def test_nothing_appears_of_what_is_given_up(tmp_path: Path) -> None:
    batch = OutputBatch()
    committed(batch, tmp_path / "a")
    output = batch.output(str(tmp_path / "b"))
    output.write(b"x")
    output.discard()
    batch.discard()
    batch.flush()
    assert os.listdir(tmp_path) == []


def test_a_full_batch_appears_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "TOGETHER", 3)
    batch = OutputBatch()
    for number in range(4):
        committed(batch, tmp_path / str(number))
    assert sorted(os.listdir(tmp_path)) == ["0", "1", "2"]


def test_an_output_that_cannot_appear_is_reported_and_the_others_do(tmp_path: Path) -> None:
    batch = OutputBatch()
    committed(batch, tmp_path / "a")
    committed(batch, tmp_path / "b")
    (tmp_path / "a").write_bytes(b"of another program")
    batch.flush()
    assert [error.code for error in batch.failed] == ["output-exists"]
    assert (tmp_path / "a").read_bytes() == b"of another program"
    assert (tmp_path / "b").read_bytes() == b"x"


def test_all_files_are_on_disk_before_the_first_appears_and_each_folder_is_synced_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, sync = [], os.fsync
    for name in ("one", "two"):
        (tmp_path / name).mkdir()

    def counted(descriptor: int) -> None:
        kind = "folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file"
        calls.append((kind, sum(len(files) for _, _, files in os.walk(tmp_path))))
        sync(descriptor)

    batch = OutputBatch()
    for place in ("one/a", "one/b", "two/c"):
        committed(batch, tmp_path / place)
    monkeypatch.setattr(os, "fsync", counted)
    batch.flush()
    assert sorted(calls) == [("file", 0)] * 3 + [("folder", 3)] * 2
