"""An output is there as a whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from convcli.files import outputs
from convcli.model.errors import JobError, OutputError
from tests.cli_cases import ROOT


def put(path: Path | str, data: bytes = b"new", **more: object) -> None:
    output = outputs.open_output(str(path), **more)  # type: ignore[arg-type]
    try:
        output.write(data)
        output.commit()
    finally:
        output.discard()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=["unnamed", "named"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a file system that has files without a name."""
    if request.param == "named":
        monkeypatch.setattr(outputs, "UNNAMED", 0)


@pytest.mark.usefixtures("either_way")
def test_a_new_file_appears_at_commit_and_nothing_is_left_next_to_it(tmp_path: Path) -> None:
    output = outputs.open_output(str(tmp_path / "out"))
    output.write(b"a" * (3 << 20))
    assert not (tmp_path / "out").exists()
    output.commit()
    assert (tmp_path / "out").stat().st_size == 3 << 20
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.usefixtures("either_way")
def test_what_is_discarded_leaves_nothing_behind(tmp_path: Path) -> None:
    output = outputs.open_output(str(tmp_path / "out"))
    output.write(b"a" * (3 << 20))
    output.discard()
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("either_way")
def test_force_replaces_a_file_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")
    target.chmod(0o640)
    put(target, force=True)
    assert target.read_bytes() == b"new"
    assert mode(target) == 0o640
    assert os.listdir(tmp_path) == ["out"]


def test_an_existing_file_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"old")
    with pytest.raises(JobError) as caught:
        outputs.open_output(str(tmp_path / "out"))
    assert caught.value.code == "output-exists"


@pytest.mark.usefixtures("either_way")
def test_a_file_that_came_into_being_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    output = outputs.open_output(str(tmp_path / "out"))
    output.write(b"new")
    (tmp_path / "out").write_bytes(b"other")
    with pytest.raises(JobError):
        output.commit()
    assert (tmp_path / "out").read_bytes() == b"other"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_the_input_is_no_output_by_whatever_name(tmp_path: Path, link: object) -> None:
    source = tmp_path / "in"
    source.write_bytes(b"data")
    link(source, tmp_path / "alias")  # type: ignore[operator]
    for name in ("in", "./in", "alias"):
        with pytest.raises(JobError) as caught:
            outputs.open_output(os.path.join(tmp_path, name), force=True, inputs=[str(source)])
        assert caught.value.code == "output-is-input"


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    put(tmp_path / "link", force=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_dangling_link_gets_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    put(tmp_path / "link")
    assert (tmp_path / "real").read_bytes() == b"new"


def test_an_output_is_as_private_as_its_input(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(b"secret")
    source.chmod(0o600)
    put(tmp_path / "out", inputs=[str(source)])
    assert mode(tmp_path / "out") == 0o600


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    put(tmp_path / "pipe", b"x" * 200_000)
    reader.join(5)
    assert got == [b"x" * 200_000]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_folder_and_a_missing_folder_cannot_be_written(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "out"):
        with pytest.raises(OutputError):
            outputs.open_output(str(path))
    assert os.listdir(tmp_path) == []


def test_what_the_system_refuses_is_an_output_error_in_plain_words() -> None:
    with pytest.raises(OutputError, match="cannot write /dev/full: No space left on device"):
        put("/dev/full")


PIECES = """
import re, sys
from pathlib import Path
from convcli.files.outputs import open_output
from convcli.wire.exact_json import write_line

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

output, before = open_output(sys.argv[1]), peak()
for number in range(40_000):
    output.write(write_line({"n": number}))
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells how much memory a process had")
@pytest.mark.parametrize("name", ["a.jsonl", "-"])
def test_small_pieces_take_the_memory_of_their_bytes(tmp_path: Path, name: str) -> None:
    output = str(tmp_path / name) if name != "-" else name
    done = subprocess.run([sys.executable, "-c", PIECES, output], cwd=ROOT, capture_output=True, check=True)
    assert int(done.stdout) < 20_000  # of 1,024 bytes; one page for each piece would be 160,000
