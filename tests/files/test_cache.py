"""The cache: private, and only what was used lately."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from convcli.files.cache import UNUSED, cache_folder, delete_unused, private_file
from convcli.model.errors import OutputError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "convcli"


def test_the_folder_is_that_of_the_user(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == str(cache)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache_folder() == "/home/somebody/.cache/convcli"


def test_a_file_becomes_private_and_keeps_its_content(cache: Path) -> None:
    cache.mkdir(mode=0o755)
    (cache / "a").write_text("kept", "utf-8")
    (cache / "a").chmod(0o644)
    assert private_file("a") == str(cache / "a")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (cache, cache / "a")] == [0o700, 0o600]
    assert (cache / "a").read_text("utf-8") == "kept"


@pytest.mark.parametrize("of_folder", [True, False])
def test_a_link_is_refused(cache: Path, tmp_path: Path, *, of_folder: bool) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a").write_text("", "utf-8")
    if of_folder:
        cache.symlink_to(tmp_path / "other")
    else:
        cache.mkdir()
        (cache / "a").symlink_to(tmp_path / "other" / "a")
    with pytest.raises(OutputError):
        private_file("a")


def test_a_file_with_another_name_is_refused(cache: Path, tmp_path: Path) -> None:
    cache.mkdir()
    (tmp_path / "other").write_text("", "utf-8")
    os.link(tmp_path / "other", cache / "a")
    with pytest.raises(OutputError):
        private_file("a")


def test_what_nothing_used_for_a_month_is_deleted(cache: Path) -> None:
    for name in ("x-old.db", "x-new.db", "y-old.db"):
        path = Path(private_file(name))
        if "old" in name:
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - UNUSED - 1))
    delete_unused("x-", ".db")
    assert sorted(os.listdir(cache)) == ["x-new.db", "y-old.db"]
