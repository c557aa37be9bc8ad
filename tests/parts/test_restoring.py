"""`convcli parts restore`: the inputs of a job, exactly, from its parts and their restore records."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from convcli.__main__ import main
from convcli.wire import exact_json
from tests import tiers
from tests.cli_cases import ROOT

FEW = ("anthropic", "chatgpt-export", "codex", "openai-chat-stream", "openclaw")
SAMPLES = sorted((ROOT / "samples").glob("*/[!b]*.*"))
SAMPLES = SAMPLES if tiers.is_exhaustive() else [path for path in SAMPLES if path.parent.name in FEW][::3]
ROWS: list[dict[str, Any]] = [
    {"seed": row, "messages": [{"role": "user", "name": "ada", "content": f"x {row}"}], "user": "u", "n": 1}
    for row in range(60)
]
LINES = [json.dumps(row) for row in ROWS]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("in/deep").mkdir(parents=True)
    for path in SAMPLES:
        Path("in", path.parent.name).mkdir(exist_ok=True)
        shutil.copy(path, Path("in", path.parent.name))
    Path("in/a.jsonl").write_text("\n".join(LINES))
    Path("in/b.jsonl.gz").write_bytes(gzip.compress("\n".join(LINES[:9]).encode()))
    Path("in/deep/array.json").write_text(json.dumps(ROWS[:5]))
    Path("in/deep/one.json").write_text(json.dumps(ROWS[0], indent=3))
    return tmp_path


def convert(size: int, *more: str, source: str = "in", target: str = "gemini") -> int:
    words = ["convert", source, "--to", target, "--engine", "local", "--out-dir", "out", "--part-size", str(size)]
    return main([*words, "--restore-file", "all", *more])


def values(path: Path) -> list[bytes]:
    """The JSON values of a file, exactly, with the order of their keys."""
    data = path.read_bytes() if path.suffix != ".gz" else gzip.decompress(path.read_bytes())
    if path.suffix == ".sse":
        lines = [line.removeprefix(b"data:").strip() for line in data.splitlines() if line.startswith(b"data:")]
        return [exact_json.key("[DONE]" if line == b"[DONE]" else exact_json.parse(line)) for line in lines]
    if path.suffix == ".json":
        return [exact_json.key(exact_json.parse(data))]
    return [exact_json.key(exact_json.parse(line)) for line in data.split(b"\n") if line.strip()]


def restored_name(name: Path) -> Path:
    """The name of a restored file: without compression, and with a suffix that says its layout."""
    name = name.with_suffix("") if name.suffix == ".gz" else name
    return name if name.suffix in (".json", ".jsonl") else Path(f"{name}.jsonl")


@pytest.mark.parametrize(
    ("target", "size"), tiers.few([("gemini", 3000), ("hf-chat", 9000), ("openai-chat", 1 << 20)], 1)
)
def test_each_input_comes_back_exactly(folder: Path, target: str, size: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert convert(size, target=target) == 0
    assert main(["parts", "verify", "out"]) == 0
    assert main(["parts", "restore", "out", "--out-dir", "back"]) == 0
    files = [path.relative_to("in") for path in Path("in").rglob("*") if path.is_file()]
    assert f"{len(files)} files, " in capfd.readouterr().err
    for name in files:
        assert values(Path("back", restored_name(name))) == values(Path("in", name)), name
    assert sum(path.is_file() for path in Path("back").rglob("*")) == len(files)


def test_the_parts_of_a_file_have_the_records_of_one_process(folder: Path) -> None:
    assert convert(900, source="in/a.jsonl") == 0
    assert main(["convert", "in/a.jsonl", "--to", "gemini", "-o", "one.jsonl", "--restore-file", "kept.jsonl"]) == 0
    parts = sorted(Path("out/_restore").glob("part-*.jsonl"))
    assert len(parts) > 5
    assert b"".join(path.read_bytes() for path in parts) == Path("kept.jsonl").read_bytes()
    assert main(["restore", "out/part-00001.jsonl", "--restore-file", str(parts[1]), "-o", "again.jsonl"]) == 0
    assert 0 < len(values(Path("again.jsonl"))) < len(LINES)


def test_what_was_refused_is_counted_and_not_restored(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("in/a.jsonl").write_text("\n".join([*LINES[:20], "{", *LINES[20:], '{"messages": 3}']))
    assert convert(900, "--from", "openai-chat", source="in/a.jsonl") == 1
    assert not [path for path in Path("out/_restore").iterdir() if not Path("out", path.name).exists()]
    assert main(["parts", "restore", "out", "--out-dir", "back"]) == 2
    assert "error[unfinished-job]" in capfd.readouterr().err
    assert not Path("back").exists()
    assert convert(900, "--from", "openai-chat", "--keep-going", source="in/a.jsonl") == 1
    assert main(["parts", "restore", "out", "--out-dir", "back"]) == 0
    assert "1 file, 60 documents restored; 2 not accepted and not restored" in capfd.readouterr().err
    assert values(Path("back/a.jsonl")) == list(map(exact_json.key, ROWS))


def edited(path: str, old: bytes, new: bytes) -> None:
    data = Path(path).read_bytes()
    assert old in data
    Path(path).write_bytes(data.replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("out/part-00001.jsonl", b'"x 1', b'"y 1'),
        ("out/_restore/part-00001.jsonl", b'"ada"', b'"eve"'),
        ("out/_done/00001.json", b'"records":[', b'"records":[9'),
    ],
)
def test_an_edited_part_is_not_restored(
    folder: Path, name: str, old: bytes, new: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    assert convert(900, source="in/a.jsonl") == 0
    edited(name, old, new)
    assert main(["parts", "restore", "out", "--out-dir", "back"]) == 1
    assert "error[patch-does-not-fit]" in capfd.readouterr().err
    assert not [path for path in Path("back").rglob("*") if path.is_file()]


def test_a_mark_cannot_name_a_file_outside_of_the_folder(folder: Path) -> None:
    assert convert(1 << 20, source="in/deep/one.json") == 0
    edited("out/_done/00000.json", b'"in/deep/one.json"', b'"../../one.json"')
    assert main(["parts", "restore", "out", "--out-dir", "back"]) == 0
    assert [str(path) for path in Path("back").rglob("*")] == [os.path.join("back", "one.json")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["parts", "restore", "out"], "needs --out-dir"),
        (["parts", "verify", "out", "--out-dir", "back"], "verify writes nothing"),
        (["parts", "restore", "out", "--out-dir", "back"], "the parts have no restore records"),
    ],
)
def test_what_cannot_be_restored_is_reported(
    folder: Path, words: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", "in/a.jsonl", "--to", "gemini", "--engine", "local", "--out-dir", "out"]) == 0
    assert main(words) == 2
    assert message in capfd.readouterr().err


def test_a_restore_file_of_parts_has_no_name_of_its_own(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["convert", "in/a.jsonl", "--to", "gemini", "--engine", "local", "--out-dir", "out"]
    assert main([*words, "--restore-file", "kept.jsonl"]) == 2
    assert "--restore-file with --engine is all" in capfd.readouterr().err
    assert main([*words, "--restore-file", "all", "--join"]) == 2
    assert "--join and --restore-file exclude each other" in capfd.readouterr().err
    assert main([*words[:3], "hf-chat", *words[4:], "--restore-file", "all", "--max-turns", "2"]) == 2
    assert "--restore-file excludes options that split conversations" in capfd.readouterr().err


def remove(name: str) -> None:
    Path("out", name).unlink()


def replace(name: str, content: bytes) -> None:
    Path("out", name).write_bytes(content)


def exchange(first: str, second: str) -> None:
    (one, other) = Path("out", first).read_bytes(), Path("out", second).read_bytes()
    replace(first, other)
    replace(second, one)


def make_folder_of(name: str) -> None:
    remove(name)
    Path("out", name).mkdir()


def make_loop_of(name: str) -> None:
    remove(name)
    Path("out", name).symlink_to(Path(name).name)


def repeat_last_line(name: str) -> None:
    lines = Path("out", name).read_bytes().splitlines(keepends=True)
    replace(name, b"".join([*lines, lines[-1]]))


PART, KEPT, MARK, LAST = "part-00001.jsonl", "_restore/part-00001.jsonl", "_done/00001.json", "_done/00003.json"
DAMAGES: dict[str, tuple[Any, str]] = {
    "a mark is missing": (lambda: remove(MARK), "unfinished-job"),
    "the last mark is missing": (lambda: remove(LAST), "unfinished-job"),
    "a mark is a folder": (lambda: make_folder_of(MARK), "unfinished-job"),
    "a mark is too much": (lambda: replace("_done/00077.json", Path("out", MARK).read_bytes()), "unfinished-job"),
    "two marks are exchanged": (lambda: exchange(MARK, LAST), "not-a-restore-file"),
    "a mark is not JSON": (lambda: replace(MARK, b"\x00\xff"), "not-a-restore-file"),
    "there are more parts": (lambda: replace("_report.json", b'{"parts": 1000000000000}'), "unfinished-job"),
    "the report is of another program": (lambda: replace("_report.json", b'{"parts": true}'), "not-parts"),
    "the report is missing": (lambda: remove("_report.json"), "not-parts"),
    "a part is missing": (lambda: remove(PART), "no-such-file"),
    "a part is a folder": (lambda: make_folder_of(PART), "is-a-directory"),
    "a part is a link to itself": (lambda: make_loop_of(PART), "unreadable-input"),
    "a part is longer": (lambda: repeat_last_line(PART), "patch-does-not-fit"),
    "two parts are exchanged": (lambda: exchange(PART, "part-00002.jsonl"), "patch-does-not-fit"),
    "the records are missing": (lambda: remove(KEPT), "no-such-file"),
    "the records are longer": (lambda: repeat_last_line(KEPT), "patch-does-not-fit"),
    "the records are not JSON": (lambda: replace(KEPT, b"{\n"), "patch-does-not-fit"),
    "records of two parts are exchanged": (lambda: exchange(KEPT, "_restore/part-00002.jsonl"), "patch-does-not-fit"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_is_neither_verified_nor_restored(
    folder: Path, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert convert(1_500, source="in/a.jsonl") == 0
    assert len(list(Path("out").glob("part-*.jsonl"))) == 4
    change, code = DAMAGES[damage]
    change()
    capfd.readouterr()
    assert main(["parts", "verify", "out"]) in (1, 2)
    assert main(["parts", "restore", "out", "--out-dir", "back"]) in (1, 2)
    assert f"error[{code}]" in capfd.readouterr().err
    assert not [path for path in Path("back").rglob("*") if path.is_file()]


def test_inputs_whose_files_would_have_the_same_name_get_numbers(folder: Path) -> None:
    Path("in/a.jsonl.gz").write_bytes(gzip.compress("\n".join(LINES[:9]).encode()))
    Path("in/b.jsonl").write_text("\n".join(LINES[:3]))
    words = ["in/a.jsonl", "in/a.jsonl.gz", "in/b.jsonl", "in/b.jsonl.gz", "./in/b.jsonl"]
    call = ["convert", *words, "--to", "gemini", "--engine", "local", "--out-dir", "out", "--restore-file", "all"]
    assert main(call) == 0
    assert main(["parts", "restore", "out", "--out-dir", "back"]) == 0
    lengths = {path.name: len(values(path)) for path in Path("back").iterdir()}
    assert lengths == {"a.jsonl": 60, "a-2.jsonl": 9, "b.jsonl": 3, "b-2.jsonl": 9, "b-3.jsonl": 3}


@pytest.mark.parametrize("out", ["out", "out/_restore", "link/again", "memory://b/again"])
def test_files_are_not_restored_into_the_folder_of_the_parts_or_a_store(
    folder: Path, out: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert convert(1 << 20, source="in/deep/one.json") == 0
    Path("link").symlink_to("out")
    before = sorted(Path("out").rglob("*"))
    assert main(["parts", "restore", "out", "--out-dir", out, "--force"]) == 2
    assert "error[usage]" in capfd.readouterr().err
    assert (sorted(Path("out").rglob("*")), Path("memory:").exists()) == (before, False)


def test_a_job_of_which_nothing_was_converted_restores_nothing(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("in/a.jsonl").write_text('{"messages": 3}\n')
    assert convert(1 << 20, "--from", "openai-chat", "--keep-going", source="in/a.jsonl") == 1
    assert main(["parts", "restore", "out", "--out-dir", "back"]) == 2
    assert "the parts have no documents" in capfd.readouterr().err


def test_a_folder_with_another_name_keeps_its_finished_parts(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert convert(1_500, source="in/a.jsonl") == 0
    remove(MARK)
    shutil.move("out", "moved")
    words = ["convert", "in/a.jsonl", "--to", "gemini", "--engine", "local", "--out-dir", "moved"]
    assert main([*words, "--part-size", "1500", "--restore-file", "all"]) == 0
    assert "3 of 4 parts were finished before" in capfd.readouterr().err
