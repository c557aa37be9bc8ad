"""Archives of Inspect: a record for each sample, whatever packs it."""

from __future__ import annotations

import gzip
import io
import json
import struct
import sys
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from convcli.files.archives import ArchiveSource
from convcli.files.framing import Record
from convcli.files.opening import open_input
from convcli.model.errors import ContentError, JobError
from tests.files.test_framing import ZSTD_MAGIC, FakeZstandard

SAMPLES = [{"id": n, "text": f"{n} " * 50} for n in range(3)]


def archive(samples: list[Any] = SAMPLES, method: int = zipfile.ZIP_DEFLATED, other_keys: str = "header.json") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as written:
        written.writestr(other_keys, "{}")
        for number, sample in enumerate(samples):
            text = sample if isinstance(sample, bytes) else json.dumps(sample).encode()
            written.writestr(f"samples/{number}_epoch_1.json", text)
        written.writestr("summaries.json", "[]")
    return file.getvalue()


def packed_by_zstd(data: bytes) -> bytes:
    """The only file of an archive, packed as newer versions of Inspect do."""
    name, body = b"samples/1_epoch_1.json", ZSTD_MAGIC + zlib.compress(data)
    about = struct.pack("<HHHHIIIHH", 0, 93, 0, 0, zlib.crc32(data), len(body), len(data), len(name), 0)
    local = b"PK\x03\x04" + struct.pack("<H", 20) + about + name + body
    rest = struct.pack("<HHHII", 0, 0, 0, 0, 0)
    central = b"PK\x01\x02" + struct.pack("<HH", 20, 20) + about + rest + name
    stored = b"PK\x03\x04" + struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0, zlib.crc32(b"{}"), 2, 2, 11, 0)
    stored += b"header.json{}"
    second = b"PK\x01\x02" + struct.pack("<HHHHHHIIIHH", 20, 20, 0, 0, 0, 0, zlib.crc32(b"{}"), 2, 2, 11, 0)
    second += struct.pack("<HHHII", 0, 0, 0, 0, len(local)) + b"header.json"
    end = struct.pack("<HHHHIIH", 0, 0, 2, 2, len(central + second), len(local + stored), 0)
    return local + stored + central + second + b"PK\x05\x06" + end


def read(path: Path, data: bytes) -> list[Record]:
    path.write_bytes(data)
    with open_input(str(path)) as source:
        assert isinstance(source, ArchiveSource)
        return list(source.each())


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_each_sample_is_a_record_with_the_number_that_it_has(tmp_path: Path, method: int) -> None:
    records = read(tmp_path / "a.eval", archive(method=method))
    assert [(record.line, record.value) for record in records] == list(enumerate(SAMPLES, 1))


def test_an_archive_that_is_compressed_once_more_is_read_too(tmp_path: Path) -> None:
    assert [record.value for record in read(tmp_path / "a.eval.gz", gzip.compress(archive()))] == SAMPLES


def test_a_sample_with_a_key_twice_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.eval").write_bytes(archive([SAMPLES[0], b'{"id": 1, "id": 2}']))
    with open_input(str(tmp_path / "a.eval"), duplicate_keys="last") as source:
        first, second = source.each()
    assert (first.warning, second.value) == (None, {"id": 2})
    assert second.warning is not None
    assert (second.warning.line, "samples/1_epoch_1.json" in second.warning.message) == (2, True)


@pytest.mark.parametrize("other_keys", ["header.json", "_journal/start.json"])
def test_an_archive_that_is_still_written_has_no_header_yet(tmp_path: Path, other_keys: str) -> None:
    assert len(read(tmp_path / "a.eval", archive(other_keys=other_keys))) == 3


def test_another_archive_is_reported_as_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="a zip archive, not like JSON") as caught:
        read(tmp_path / "a.zip", archive(other_keys="readme.txt"))
    assert (caught.value.code, caught.value.file) == ("not-json", str(tmp_path / "a.zip"))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the standard library reads zstandard")
def test_members_that_are_packed_by_zstandard_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed_by_zstd(b'{"id": "s"}')
    monkeypatch.setitem(sys.modules, "zstandard", FakeZstandard("zstandard"))
    assert [record.value for record in read(tmp_path / "a.eval", data)] == [{"id": "s"}]
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(JobError) as caught:
        read(tmp_path / "a.eval", data)
    assert caught.value.code == "zstd-missing"


def test_a_damaged_sample_does_not_stop_the_others(tmp_path: Path) -> None:
    data = bytearray(archive())
    at = data.index(b"samples/1_epoch_1.json") + 30
    data[at] ^= 0x55
    first, second, third = read(tmp_path / "a.eval", bytes(data))
    assert (first.value, third.value) == (SAMPLES[0], SAMPLES[2])
    assert second.error is not None
    assert (second.error.code, second.error.line) == ("broken-compression", 2)


def test_a_sample_that_is_no_json_is_reported_with_the_name_of_its_file(tmp_path: Path) -> None:
    (record,) = read(tmp_path / "a.eval", archive([b"{oops"]))
    assert record.error is not None
    assert "samples/0_epoch_1.json" in record.error.message


def test_an_archive_that_is_cut_off_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="damaged or cut off"):
        read(tmp_path / "a.eval", archive()[:-30])


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    (record,) = read(tmp_path / "a.eval", archive([b'"' + b" " * (4 << 20) + b'"']))
    assert record.error is not None
    assert record.error.code == "compression-bomb"


def of(members: list[tuple[str, Any]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of these files; a name may occur twice."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as written, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a repeated name
        for name, content in [("header.json", {}), *members]:
            written.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return file.getvalue()


def opened(path: Path, data: bytes) -> ArchiveSource:
    path.write_bytes(data)
    source = open_input(str(path))
    assert isinstance(source, ArchiveSource)
    return source


def test_of_two_samples_with_one_name_the_last_is_read_and_the_other_is_named(tmp_path: Path) -> None:
    name = "samples/a_epoch_1.json"
    with opened(
        tmp_path / "a.eval", of([(name, {"id": 1}), ("samples/b_epoch_1.json", {}), (name, {"id": 2})])
    ) as source:
        assert [record.value for record in source.each()] == [{"id": 2}, {}]
        assert source.others == ("header.json", f"an earlier {name}")


def test_what_is_no_sample_is_named(tmp_path: Path) -> None:
    files = ["samples/", "samples/notes.txt", "Samples/b_epoch_1.JSON", "reductions.json"]
    with opened(tmp_path / "a.eval", of([("samples/a_epoch_1.json", 1), *((name, b"") for name in files)])) as source:
        assert [record.value for record in source.each()] == [1]
        assert source.others == ("header.json", "samples/notes.txt", "Samples", "reductions.json")


def test_an_invalid_sample_is_reported_with_the_position_in_its_file(tmp_path: Path) -> None:
    (record,) = read(tmp_path / "a.eval", of([("samples/a_epoch_1.json", b'{"id": 1,\n "b": oops}')]))
    assert record.error is not None
    assert record.error.message.startswith("in samples/a_epoch_1.json:2:7: ")
    (record,) = read(tmp_path / "a.eval", of([("samples/\x1b[31m.json", b"{oops")]))
    assert record.error is not None
    assert "'samples/\\x1b[31m.json':1:2" in record.error.message


def test_only_some_of_very_many_files_that_share_their_bytes_are_read(tmp_path: Path) -> None:
    """Ten thousand names for the same packed megabyte would be 10 GB."""
    data = of([("samples/a_epoch_1.json", "".join(map(chr, range(256, 9_000))))])
    directory, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    sample = data.index(b"PK\x01\x02", directory + 4)
    names = (data[sample:end].replace(b"a_epoch_1", f"{number:09}".encode()) for number in range(1_000))
    central = data[directory:sample] + b"".join(names)
    about = struct.pack("<HHHHIIH", 0, 0, 1_001, 1_001, len(central), directory, 0)
    records = read(tmp_path / "a.eval", data[:directory] + central + b"PK\x05\x06" + about)
    codes = {record.error.code for record in records if record.error is not None}
    readable = sum(record.error is None for record in records)
    assert (len(records), codes, 0 < readable < 100) == (1_000, {"compression-bomb"}, True)


def test_one_sample_has_at_most_the_size_of_one_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convcli.files.packed.MAX_UNPACKED", 5_000)
    first, second = read(tmp_path / "a.eval", archive(["a" * 4_000, "b" * 6_000]))
    assert (first.value, second.value) == ("a" * 4_000, None)
    assert second.error is not None
    assert second.error.code == "compression-bomb"


def test_an_archive_without_files_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.eval").write_bytes(b"PK\x05\x06" + b"\0" * 18)
    with pytest.raises(ContentError, match="an empty zip archive"), open_input(str(tmp_path / "a.eval")) as source:
        list(source.each())
