"""Kills, full disks and permissions, in every mode of the program. `python -m tests.hardening_long` tries more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.hardening import modes
from tests.hardening.modes import MODES, command, finish, outputs, started, unprivileged

pytestmark = [pytest.mark.hardening, pytest.mark.exhaustive]
SEED = "20261127"
KILLS, LIMITS, DISKS = 2, 1, 1
"""Tries in each mode."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    modes.write_inputs(tmp_path)
    return tmp_path


@pytest.mark.parametrize("mode", MODES)
def test_a_killed_job_leaves_nothing_half_done(folder: Path, mode: str) -> None:
    assert modes.killed(mode, folder, KILLS, SEED).defects == []


@pytest.mark.parametrize("mode", MODES)
def test_a_file_that_may_not_become_larger_is_exit_3(folder: Path, mode: str) -> None:
    assert modes.limited(mode, folder, LIMITS, SEED).defects == []


@pytest.mark.skipif(not modes.may_mount(), reason="needs a file system of its own")
@pytest.mark.parametrize("mode", MODES)
def test_a_full_disk_is_exit_3(folder: Path, mode: str) -> None:
    assert modes.on_full_disk(mode, folder, DISKS, SEED).defects == []


@pytest.mark.skipif(unprivileged([]) is None, reason="the superuser may do everything")
@pytest.mark.parametrize("mode", MODES)
def test_permissions_are_obeyed(folder: Path, mode: str) -> None:
    words = unprivileged(command(mode))
    assert words is not None
    (folder / "out").chmod(0o555)
    done = finish(started(folder, words))
    (folder / "out").chmod(0o755)
    assert (done.code, list(outputs(folder))) == (3, []), done
    assert "[cannot-write]" in done.reported
    for path in ("in.jsonl", "in/3.json", "session.jsonl"):
        (folder / path).chmod(0)
    done = finish(started(folder, words))
    assert done.code == 2, done
    assert "[unreadable-input]" in done.reported


@pytest.mark.parametrize("mode", MODES)
def test_outputs_of_private_inputs_are_private_whatever_the_umask(folder: Path, mode: str) -> None:
    for path in folder.rglob("*.json*"):
        path.chmod(0o600)
    finish(started(folder, command(mode), lambda: os.umask(0) and None))
    found = modes.modes_of_files(folder)
    assert set(found.values()) == {0o600}, found
