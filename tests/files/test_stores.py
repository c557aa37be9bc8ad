"""Objects of stores: read from any place, and written whole or not at all."""

from __future__ import annotations

import gzip
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convcli.__main__ import main
from convcli.files import stores
from convcli.files.packed import CountedFile, open_file
from convcli.jobs.paths import find
from convcli.model.errors import JobError, OutputError


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket of a store on loopback, which speaks as S3 does."""
    moto = pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    more = {"AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    s3fs.S3FileSystem.clear_instance_cache()
    name = f"b{uuid.uuid4().hex}"
    s3fs.S3FileSystem().mkdir(name)
    yield f"s3://{name}"
    server.stop()
    for key, value in before.items():
        os.environ.pop(key) if value is None else os.environ.update({key: value})


def test_a_url_is_no_path() -> None:
    assert all(map(stores.is_url, ("s3://bucket/x", "gs://bucket")))
    assert not any(map(stores.is_url, ("a/b", "/a", "claude-code:1", "a.jsonl:14", "C:\\x")))


def test_a_local_folder_has_names_sizes_and_bytes(tmp_path: Path) -> None:
    folder = stores.folder_at(str(tmp_path / "new"))
    assert folder.sizes() == {}
    for name in ("a", "in/b"):
        output = folder.output(name)
        output.write(b"x" * len(name))
        output.commit()
    assert folder.sizes() == {"a": 1, "in/b": 4}
    assert list(folder.read(["in/b", "a"])) == [b"xxxx", b"x"]
    folder.remove("a")
    folder.remove("a")
    assert list(folder.sizes()) == ["in/b"]


def test_a_file_that_was_changed_has_another_version(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"1")
    before = stores.facts(str(path))
    os.utime(path, (1, 1))
    assert before != stores.facts(str(path))
    with pytest.raises(JobError):
        stores.facts(str(tmp_path / "none"))


@pytest.mark.remote
@pytest.mark.parametrize("size", [9, 20 << 20])
def test_an_object_appears_whole_or_not_at_all(bucket: str, size: int) -> None:
    folder = stores.folder_at(f"{bucket}/{uuid.uuid4().hex}")
    given_up = folder.output("a")
    given_up.write(b"x" * size)
    given_up.discard()
    failing: Any = folder.output("b")
    failing.write(b"x" * size)
    del given_up, failing
    assert folder.sizes() == {}
    output = folder.output("in/c")
    output.write(b"y" * size)
    assert folder.sizes() == {}
    output.commit()
    output.discard()
    assert folder.sizes() == {"in/c": size}
    folder.remove("in/c")
    folder.remove("in/c")
    assert folder.sizes() == {}


@pytest.mark.remote
def test_an_object_is_read_from_any_place(bucket: str) -> None:
    folder = stores.folder_at(f"{bucket}/read")
    output = folder.output("a.bin")
    output.write(bytes(range(256)) * 4000)
    output.commit()
    file = CountedFile("a", open_file(f"{bucket}/read/a.bin"), owned=True)
    assert (file.unpacked_size, file.peek(3)[:3], file.grew()) == (1024000, b"\0\1\2", False)
    assert b"".join(file.chunks(300_001, 300_004)) == bytes([300_001 % 256, 300_002 % 256, 300_003 % 256])
    file.close()
    with pytest.raises(JobError) as caught:
        open_file(f"{bucket}/read/none")
    assert caught.value.code == "no-such-file"


@pytest.mark.remote
def test_urls_mean_objects_folders_and_globs(bucket: str) -> None:
    folder = stores.folder_at(f"{bucket}/found")
    for name in ("a.jsonl", "b.txt", "in/c.jsonl.gz"):
        output = folder.output(name)
        output.write(b"{}")
        output.commit()
    above = f"{bucket}/found"
    assert [tuple(file) for file in find([f"{above}/"])] == [
        (f"{above}/a.jsonl", "a.jsonl"),
        (f"{above}/in/c.jsonl.gz", "in/c.jsonl.gz"),
    ]
    assert [file.path for file in find([f"{above}/*.jsonl"])] == [f"{above}/a.jsonl"]
    assert [tuple(file) for file in find([f"{above}/b.txt"])] == [(f"{above}/b.txt", "b.txt")]
    with pytest.raises(JobError):
        find([f"{above}/*.none"])


@pytest.mark.remote
def test_a_store_that_nobody_knows_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fsspec")
    assert main(["stats", "nowhere://a/b.jsonl"]) == 2
    assert "there is no store for nowhere://" in capfd.readouterr().err


@pytest.mark.remote
def test_a_job_in_parts_reads_and_writes_a_store_as_it_does_files(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convcli.cli._parts.LEAST", 1)
    monkeypatch.chdir(tmp_path)
    rows = [{"messages": [{"role": "user", "name": "ada", "content": f"{row}"}]} for row in range(40)]
    text = "\n".join([*map(json.dumps, rows[:20]), "{", *map(json.dumps, rows[20:])]).encode()
    above = stores.folder_at(f"{bucket}/job")
    for name, data in (("a.jsonl", text), ("b.jsonl.gz", gzip.compress(text))):
        output = above.output(f"in/{name}")
        output.write(data)
        output.commit()
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_bytes(data)
    words = ["convert", "--from", "openai-chat", "--to", "anthropic", "--keep-going", "--engine", "local"]
    words += ["--part-size", "700", "--losses", "all", "--restore-file", "all", "--out-dir"]
    assert main([*words, f"{bucket}/job/out", f"{bucket}/job/in/"]) == 1
    assert main([*words, "out", "in/"]) == 1
    names = {str(path.relative_to("out")): path.stat().st_size for path in Path("out").rglob("*") if path.is_file()}
    there = stores.folder_at(f"{bucket}/job/out")
    assert there.sizes().keys() == names.keys()
    documents = sorted(name for name in names if name.startswith(("part-", "_refused")))
    assert len(documents) > 4
    assert list(there.read(documents)) == [Path("out", name).read_bytes() for name in documents]
    assert main([*words, f"{bucket}/job/out", f"{bucket}/job/in/"]) == 1
    assert main(["parts", "restore", f"{bucket}/job/out", "--out-dir", "back"]) == 0
    assert Path("back/a.jsonl").read_bytes() == Path("back/b.jsonl").read_bytes()
    assert [json.loads(line) for line in Path("back/a.jsonl").read_bytes().splitlines()] == rows


@pytest.mark.remote
@pytest.mark.parametrize("method", ["upload_part", "complete_multipart_upload"])
def test_a_writer_that_fails_leaves_no_upload(bucket: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder: Any = stores.folder_at(f"{bucket}/{uuid.uuid4().hex}")
    system = pytest.importorskip("s3fs").S3FileSystem
    call = system.call_s3

    def failing(self: Any, name: str, *more: Any, **how: Any) -> Any:
        if name == method:
            raise OSError(5, "no")
        return call(self, name, *more, **how)

    def write(output: Any, size: int) -> None:
        output.write(b"x" * size)
        output.commit()

    for size in (9, 20 << 20):
        output = folder.output("part-00000.jsonl")
        with monkeypatch.context() as patched:
            patched.setattr(system, "call_s3", failing)
            with pytest.raises(OutputError):
                write(output, size)
            output.discard()
        assert (list(folder.unfinished()), folder.sizes()) == ([], {})


@pytest.mark.remote
def test_an_upload_of_a_killed_writer_is_found_and_removed(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text(json.dumps({"messages": [{"role": "user", "content": "x"}]}) + "\n")
    out = f"{bucket}/killed"
    words = ["convert", "in.jsonl", "--to", "anthropic", "--engine", "local", "--out-dir", out]
    assert main(words) == 0
    system, folder = pytest.importorskip("s3fs").S3FileSystem(), stores.folder_at(out)
    for name in ("part-00000.jsonl", "mine.txt"):
        system.call_s3("create_multipart_upload", Bucket=bucket.removeprefix("s3://"), Key=f"killed/{name}")
    assert sorted(each.name for each in folder.unfinished()) == ["mine.txt", "part-00000.jsonl"]
    capfd.readouterr()
    assert main(["parts", "verify", out]) == 0
    assert "warning: part-00000.jsonl has an unfinished copy of a killed process" in capfd.readouterr().err
    assert main(words) == 0
    assert [each.name for each in folder.unfinished()] == ["mine.txt"]
    next(folder.unfinished()).remove()
    assert list(folder.unfinished()) == []


def answer() -> Exception:
    """An exception as botocore raises it."""
    error = Exception("secret")
    details = {"Error": {"Code": "SlowDown", "Message": "secret"}, "ResponseMetadata": {"HTTPStatusCode": 503}}
    error.response = details  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("error", "reason"),
    [(answer(), "503 SlowDown"), (ValueError("secret"), "ValueError"), (OSError(5, "secret"), "OSError")],
)
def test_an_error_of_a_store_has_its_status_and_code(error: Exception, reason: str) -> None:
    assert stores.failure_reason(error) == reason
    wrapped = OSError(16, "secret")
    wrapped.__cause__ = error
    assert stores.failure_reason(wrapped) == (reason if " " in reason else "OSError")
