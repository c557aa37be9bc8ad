"""convcli convert --receipt, and convcli verify."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convcli.validation import schemas
from tests.cli_cases import CLEAN, environment, run, write
from tests.engine.test_row_choices import SESSION


def recorded(folder: Path, *words: object, to: str = "anthropic") -> dict[str, Any]:
    """Converts `a.jsonl` in the folder with a receipt, and returns it."""
    if not (folder / "a.jsonl").exists():
        write(folder / "a.jsonl", CLEAN, {**CLEAN, "seed": 3})
    done = run("convert", "a.jsonl", "--to", to, "--receipt", "r.json", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    receipt: dict[str, Any] = json.loads((folder / "r.json").read_bytes())
    assert schemas.findings("receipt", receipt, strict=True) == []
    return receipt


def verified(folder: Path, *words: object) -> tuple[int, str]:
    done = run("verify", "r.json", *words, cwd=folder)
    return done.returncode, done.stderr.decode()


def test_a_receipt_has_files_losses_and_versions(tmp_path: Path) -> None:
    receipt = recorded(tmp_path, "-o", "out.jsonl", "--losses", "losses.json")
    assert [each["path"] for each in receipt["inputs"]] == ["a.jsonl"]
    assert {each["path"]: each["role"] for each in receipt["outputs"]} == {
        "out.jsonl": "output",
        "losses.json": "losses",
    }
    assert receipt["losses"]["context"] == 1
    assert [each["field"] for each in receipt["fields"] if each["level"] == "context"] == ["settings.seed"]
    assert {"convcli", "python", "orjson", "msgspec"} <= receipt["versions"].keys()
    assert verified(tmp_path, "--rerun") == (0, "1 input and 2 outputs checked; 0 differences\n")


@pytest.mark.parametrize(
    "words",
    [("--out-dir", "out", "-j", "2"), ("--split", "train=1,val=1", "--out-dir", "out"), ("-o", "set/", "--card")],
)
def test_every_output_is_recorded_and_written_again(tmp_path: Path, words: tuple[str, ...]) -> None:
    receipt = recorded(tmp_path, *words)
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert {each["path"] for each in receipt["outputs"]} == files - {"a.jsonl", "r.json"}
    assert verified(tmp_path, "--rerun")[0] == 0


def test_what_differs_is_named(tmp_path: Path) -> None:
    recorded(tmp_path, "-o", "out.jsonl", "--losses", "losses.json")
    raw = (tmp_path / "out.jsonl").read_bytes()
    (tmp_path / "out.jsonl").write_bytes(raw.replace(b"hello", b"hallo"))
    (tmp_path / "losses.json").unlink()
    code, text = verified(tmp_path)
    assert code == 1
    assert "error: out.jsonl has another content (SHA-256)\n" in text
    assert "error: losses.json is missing\n" in text
    write(tmp_path / "a.jsonl", CLEAN)
    code, text = verified(tmp_path, "--rerun")
    assert code == 1
    assert "error: a.jsonl has " in text
    assert "is not run again" in text


def test_rerun_finds_that_the_command_writes_something_else(tmp_path: Path) -> None:
    (tmp_path / "value.json").write_text('"one"', "utf-8")
    recorded(tmp_path, "-o", "out.jsonl", "--set", "model=@value.json")
    (tmp_path / "convcli.toml").write_text('duplicate-keys = "last"\n', "utf-8")
    assert verified(tmp_path, "--rerun")[0] == 0
    receipt = json.loads((tmp_path / "r.json").read_bytes())
    assert [each["path"] for each in receipt["inputs"]] == ["a.jsonl", "value.json"]
    receipt["command"] += ["--set", "model=two"]
    write(tmp_path / "r.json", receipt)
    code, text = verified(tmp_path, "--rerun")
    assert code == 1
    assert "error: out.jsonl written again has " in text


def test_a_receipt_can_be_verified_from_anywhere_and_moved_with_its_files(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    recorded(tmp_path / "one", "-o", "out.jsonl")
    (tmp_path / "one").rename(tmp_path / "two")
    assert run("verify", tmp_path / "two" / "r.json", "--rerun", cwd="/").returncode == 0


def test_absolute_paths_do_not_name_the_home_directory(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", CLEAN)
    env = environment(HOME=str(tmp_path))
    words = (tmp_path / "a.jsonl", "--to", "gemini", "-o", tmp_path / "o.jsonl", "--receipt", tmp_path / "r.json")
    run("convert", *words, env=env)
    text = (tmp_path / "r.json").read_text("utf-8")
    assert str(tmp_path) not in text
    assert json.loads(text)["inputs"][0]["path"] == "~/a.jsonl"
    assert run("verify", tmp_path / "r.json", "--rerun", env=env).returncode == 0


def test_a_masked_command_is_not_run_again(tmp_path: Path) -> None:
    pytest.importorskip("phonenumbers")
    receipt = recorded(tmp_path, "-o", "out.jsonl", "--redact", "--set", "model=x")
    assert "model=x" not in receipt["command"]
    code, text = verified(tmp_path, "--rerun")
    assert code == 2
    assert "cannot be run again" in text
    assert verified(tmp_path)[0] == 0


def test_standard_input_is_not_checked(tmp_path: Path) -> None:
    words = ("--from", "openai-chat", "--to", "gemini", "-o", "o.json", "--receipt", "r.json")
    run("convert", "-", *words, cwd=tmp_path, input=json.dumps(CLEAN).encode())
    assert verified(tmp_path) == (
        0,
        "note: - is not checked: standard input\n0 inputs and 1 output checked; 0 differences\n",
    )


def test_without_outputs_there_is_no_receipt(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", {**CLEAN, "seed": 3})
    words = ("--to", "anthropic", "-o", "o.jsonl", "--receipt", "r.json", "--fail-on-loss")
    assert run("convert", "a.jsonl", *words, cwd=tmp_path).returncode == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize("words", [(), ("--out-dir", "out", "--engine", "local")])
def test_a_receipt_that_is_not_possible_is_an_error_of_the_job(tmp_path: Path, words: tuple[str, ...]) -> None:
    source = write(tmp_path / "a.jsonl", CLEAN)
    done = run("convert", source, "--to", "gemini", "--receipt", tmp_path / "r.json", *words)
    assert (done.returncode, done.stdout, (tmp_path / "r.json").exists()) == (2, b"", False)


@pytest.mark.parametrize("text", ["", "[]", '{"receipt": 1}', '{"convcli": 1, "messages": []}'])
def test_another_file_is_no_receipt(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text, "utf-8")
    code, shown = verified(tmp_path)
    assert code == 2
    assert "error[not-a-receipt]" in shown


def test_a_missing_receipt_is_an_error_of_the_job(tmp_path: Path) -> None:
    code, text = verified(tmp_path)
    assert code == 2
    assert "error[no-such-file]" in text


def test_a_receipt_counts_rows_and_turns_that_are_left_out(tmp_path: Path) -> None:
    session = [*SESSION, {**SESSION[-1], "isSidechain": True, "uuid": "aside", "parentUuid": None}]
    write(tmp_path / "a.jsonl", *session)
    receipt = recorded(tmp_path, "-o", "out.jsonl", to="hf-chat")
    assert (receipt["transcripts"], receipt["rows"]) == (1, 2)
    assert receipt["left_out"] == {"command-name": 1}
    assert receipt["losses"]["content"] == 0
