"""Outputs that are compressed by their name."""

from __future__ import annotations

import gzip
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from convcli.files.names import PACKED
from convcli.files.outputs import open_output
from convcli.files.packed import CountedFile, open_file, unpacked
from convcli.model.errors import JobError
from tests.cli_cases import CLEAN, OTHER, run, write

HAS_ZSTD = sys.version_info >= (3, 14) or find_spec("zstandard") is not None


@pytest.mark.parametrize("suffix", PACKED)
def test_what_is_written_is_what_is_read_and_equal_bytes_give_equal_files(tmp_path: Path, suffix: str) -> None:
    if suffix == ".zst" and not HAS_ZSTD:
        pytest.skip("there is no zstandard")
    files = []
    for name in ("a", "b"):
        path = str(tmp_path / f"{name}.jsonl{suffix}")
        output = open_output(path)
        for piece in (b"1\n", b"", b"2\n" * 1000):
            output.write(piece)
        output.commit()
        stored = CountedFile(path, open_file(path), owned=True)
        assert (bool(stored.packer), b"".join(unpacked(stored))) == (True, b"1\n" + b"2\n" * 1000)
        stored.close()
        files.append(Path(path).read_bytes())
    assert files[0] == files[1]


def test_a_compressed_output_that_is_secured_is_complete(tmp_path: Path) -> None:
    output = open_output(str(tmp_path / "a.gz"))
    output.write(b"x")
    output.secure()
    output.commit()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"x"


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the standard library writes zstandard")
def test_without_the_package_zstandard_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = str(tmp_path / "a.jsonl.zst")
    with pytest.raises(JobError) as caught:
        open_output(path)
    assert caught.value.code == "zstd-missing"
    assert not list(tmp_path.iterdir())


def test_several_inputs_go_into_one_compressed_file_and_no_table_is_compressed_twice(tmp_path: Path) -> None:
    inputs = [write(tmp_path / f"{name}.json", CLEAN) for name in "ab"]
    for name in ("rows.jsonl", "rows.json"):
        plain, packed = tmp_path / name, tmp_path / f"{name}.gz"
        for path in (plain, packed):
            assert run("convert", *inputs, "--to", OTHER, "-o", path).returncode == 0
        assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    done = run("convert", *inputs, "--to", OTHER, "-o", tmp_path / "rows.parquet.gz")
    assert (done.returncode, b"a table is compressed inside" in done.stderr) == (2, True)
