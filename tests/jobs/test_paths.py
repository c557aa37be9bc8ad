"""Which files an input means."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from convcli.files.names import split_line
from convcli.jobs import paths
from convcli.model.errors import JobError
from tests.cli_cases import CLEAN, write


def test_folders_are_walked_in_order_and_globs_are_matched(tmp_path: Path) -> None:
    for name in ("b/2.jsonl", "a/1.json", "a/3.ndjson.gz", "a/notes.txt", "4.sse", "5.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    below = [found.relative for found in paths.find([str(tmp_path)])]
    assert below == ["4.sse", "5.parquet", "a/1.json", "a/3.ndjson.gz", "b/2.jsonl"]
    assert [found.relative for found in paths.find([str(tmp_path / "*" / "*.json*")])] == ["1.json", "2.jsonl"]


def test_a_folder_or_glob_without_files_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "*.json"):
        with pytest.raises(JobError) as caught:
            paths.find([str(path)])
        assert caught.value.code == "no-input"


def test_a_pipe_in_a_folder_is_not_waited_for_and_one_that_is_named_is_read(tmp_path: Path) -> None:
    write(tmp_path / "a.json", CLEAN)
    for name in ("b.json", "c.log"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "d.json").symlink_to("b.json")
    for path in (tmp_path, tmp_path / "*"):
        assert [Path(found.path).name for found in paths.find([str(path)])] == ["a.json"]
    assert [found.relative for found in paths.find([str(tmp_path / "b.json")])] == ["b.json"]
    assert paths.count_others([str(tmp_path)]) == {".json": 2, ".log": 1}


def test_a_folder_that_cannot_be_listed_is_reported_as_a_file_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hidden").mkdir()
    write(tmp_path / "a.json", CLEAN)
    scandir = os.scandir

    def refusing(path: str) -> Any:
        if path.endswith("hidden"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert [found.relative for found in paths.find([str(tmp_path)])] == ["a.json", "hidden"]


def test_a_file_is_read_once_however_often_it_is_named(tmp_path: Path) -> None:
    assert len(paths.find([str(tmp_path / "a"), str(tmp_path / "a")])) == 1


def test_a_file_whose_name_ends_like_a_line_is_that_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a:1", CLEAN)
    assert split_line(str(path)) == (str(path), None)
    assert split_line(f"{path}:1") == (str(path), 1)
    assert split_line(str(tmp_path / "none:1")) == (str(tmp_path / "none:1"), None)
    assert split_line("-:3") == ("-", 3)


def test_a_line_is_of_one_file(tmp_path: Path) -> None:
    one = str(write(tmp_path / "a.jsonl", CLEAN))
    assert paths.find([one], 3) == [paths.InputFile(f"{one}:3", "a-3.jsonl")]
    for several in ([one, str(write(tmp_path / "b.jsonl", CLEAN))], [f"{one}:1"]):
        with pytest.raises(JobError):
            paths.find(several, 3)


def test_files_of_a_folder_that_are_not_read_are_counted_by_suffix(tmp_path: Path) -> None:
    for name in ("a.json", "b.traj", "c.txt", "D.TXT", "e.txt.gz", "README", ".hidden.md"):
        (tmp_path / name).write_text("{}")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("")
    assert paths.count_others([str(tmp_path), str(tmp_path / "c.txt")]) == {".txt": 3, "": 1}
    assert [file.relative for file in paths.find([str(tmp_path)])] == ["a.json", "b.traj"]
