"""convcli convert --card."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli_cases import run, write
from tests.engine.test_row_choices import SESSION


def rows(count: int = 3) -> list[dict[str, Any]]:
    said = ("user", "assistant")
    return [
        {"model": "m-1", "messages": [{"role": role, "content": f"{role} {number}"} for role in said]}
        for number in range(count)
    ]


def card(folder: Path) -> tuple[dict[str, Any], str]:
    """Returns the header and the text of the card in a folder."""
    yaml = pytest.importorskip("yaml")
    _, header, text = (folder / "README.md").read_text("utf-8").split("---\n", 2)
    return yaml.safe_load(header), text


def test_a_folder_gets_the_rows_and_a_card(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", *rows(), {"messages": 3}, rows()[0])
    words = ("--to", "hf-chat", "--from", "openai-chat", "-o", f"{tmp_path}/set/", "--card", "--dedupe", "--allow-bad")
    done = run("convert", source, *words, 1)
    assert done.returncode == 0, done.stderr
    header, text = card(tmp_path / "set")
    assert header == {
        "configs": [{"config_name": "default", "data_files": [{"split": "train", "path": "train.jsonl"}]}],
        "size_categories": ["n<1K"],
        "task_categories": ["text-generation"],
        "tags": ["convcli", "hf-chat"],
    }
    size = (tmp_path / "set" / "train.jsonl").stat().st_size
    for line in (
        f"| train | train.jsonl | 3 | {size} |",
        "| openai-chat | 3 |",
        "| m-1 | 3 |",
        "- 1 record that could not be read: wrong-type ×1",
        "- 1 repeated conversation left out",
        "No content was lost.",
    ):
        assert f"\n{line}" in text, text


def test_splits_are_in_the_header(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", *rows(40))
    done = run("convert", source, "--to", "openai-ft", "-o", f"{tmp_path}/set/", "--split", "train=3,val=1", "--card")
    assert done.returncode == 0, done.stderr
    header, text = card(tmp_path / "set")
    splits = header["configs"][0]["data_files"]
    assert splits == [{"split": name, "path": f"{name}.jsonl"} for name in ("train", "val")]
    counts = {name: len((tmp_path / "set" / f"{name}.jsonl").read_bytes().splitlines()) for name in ("train", "val")}
    assert sum(counts.values()) == 40
    assert all(f"| {name} | {name}.jsonl | {count} |" in text for name, count in counts.items())


def test_one_file_of_a_session_names_program_losses_and_command(tmp_path: Path) -> None:
    done = run("samples", "session", "-o", tmp_path / "s.jsonl")
    done = run("convert", "s.jsonl", "--to", "hf-chat", "-o", "row.jsonl", "--card", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    header, text = card(tmp_path)
    assert header["tags"] == ["convcli", "hf-chat", "tool-calls"]
    assert "\n| claude-code | 1 |" in text
    assert "\nconvcli convert s.jsonl --to hf-chat -o row.jsonl --card\n" in text
    assert re.search(r"\d+ losses of what links and replays", text)


@pytest.mark.parametrize(
    ("header", "licence"), [("license: mit", "mit"), ("license:\n- mit\n- 'cc0-1.0'", ["cc0-1.0", "mit"])]
)
def test_the_licence_of_all_inputs_is_known_from_their_cards(tmp_path: Path, header: str, licence: Any) -> None:
    (tmp_path / "raw" / "data").mkdir(parents=True)
    (tmp_path / "raw" / "README.md").write_text(f"---\n{header}\npretty_name: x\n---\n# x\n", "utf-8")
    source = write(tmp_path / "raw" / "data" / "a.jsonl", *rows())
    words = ("--to", "hf-chat", "-o", f"{tmp_path}/set/", "--card", "--force")
    run("convert", source, *words)
    assert card(tmp_path / "set")[0]["license"] == licence
    other = write(tmp_path / "b.jsonl", *rows())
    run("convert", source, other, *words)
    found, text = card(tmp_path / "set")
    assert "license" not in found
    assert "1 file without a licence" in text


def test_only_a_card_that_nobody_edited_is_replaced(tmp_path: Path) -> None:
    source, path = write(tmp_path / "a.jsonl", *rows()), tmp_path / "README.md"
    words = ("convert", source, "--to", "hf-chat", "--card", "-o")
    for name in ("one", "two"):
        assert run(*words, tmp_path / f"{name}.jsonl").returncode == 0
    assert b"two.jsonl" in path.read_bytes()
    path.write_bytes(path.read_bytes() + b"Mine.\n")
    done = run(*words, tmp_path / "three.jsonl")
    assert (done.returncode, path.read_bytes()[-6:], (tmp_path / "three.jsonl").exists()) == (2, b"Mine.\n", False)
    assert b"error[output-exists]" in done.stderr
    assert run(*words, tmp_path / "three.jsonl", "--force").returncode == 0
    assert b"three.jsonl" in path.read_bytes()


@pytest.mark.parametrize(
    "words",
    [
        ("--to", "hf-chat", "--card"),
        ("--to", "hf-chat", "--card", "--out-dir", "out"),
        ("--to", "claude-code", "--card", "-o", "s.jsonl"),
        ("--to", "hf-chat", "--card", "--out-dir", "out", "--engine", "local"),
    ],
)
def test_a_card_without_one_data_set_is_an_error_of_the_job(tmp_path: Path, words: tuple[str, ...]) -> None:
    source = write(tmp_path / "a.jsonl", *rows())
    done = run("convert", source, *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"error[usage]" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_masked_job_has_a_card_without_private_values(tmp_path: Path) -> None:
    pytest.importorskip("phonenumbers")
    source = write(tmp_path / "a.jsonl", *rows())
    words = ("--mask", "zebra", "--set", "user=zebra", "--where", "model!=zebra", "--default=user=zebra")
    run(
        "convert",
        source,
        "--to",
        "openai-chat",
        "-o",
        f"{tmp_path}/set/",
        "--card",
        "--receipt",
        tmp_path / "r",
        *words,
    )
    texts = (tmp_path / "set" / "README.md").read_text("utf-8"), (tmp_path / "r").read_text("utf-8")
    for text in texts:
        assert "zebra" not in text
        assert "--mask" in text


def test_the_card_does_not_change_the_rows(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", *rows())
    for name, more in (("a", ()), ("b", ("--card",))):
        (tmp_path / name).mkdir()
        run("convert", source, "--to", "openai-chat", "-o", tmp_path / name / "x.json", *more)
    assert (tmp_path / "a" / "x.json").read_bytes() == (tmp_path / "b" / "x.json").read_bytes()


def test_a_card_counts_sessions_and_rows(tmp_path: Path) -> None:
    session = Path("samples/claude-code/session-subagent.jsonl")
    done = run("convert", session, "--to", "hf-chat", "-o", f"{tmp_path}/set/", "--card")
    assert b"convert: 1 transcript as 2 rows, claude-code" in done.stderr
    _, text = card(tmp_path / "set")
    assert "\n2 conversations in the format" in text
    assert "\nThey come from 1 transcript: " in text
    assert "| claude-code | 2 |" in text


def test_a_card_counts_messages_once_for_all_parts(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": "s"}, *rows(1)[0]["messages"] * 2]
    source = write(tmp_path / "a.jsonl", {"messages": messages})
    done = run("convert", source, "--to", "hf-chat", "-o", f"{tmp_path}/set/", "--card", "--max-turns", 1)
    assert b"convert: 1 transcript as 2 rows" in done.stderr
    assert "1 system message" in card(tmp_path / "set")[1]


def test_turns_of_the_program_are_left_out_and_not_lost(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", *SESSION)
    done = run("convert", source, "--to", "hf-chat", "-o", f"{tmp_path}/set/", "--card")
    assert done.returncode == 0, done.stderr
    _, text = card(tmp_path / "set")
    assert "No content was lost." in text
    assert "\n- command-name ×1: turns that the agent program wrote\n" in text
