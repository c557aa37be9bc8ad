"""The skeleton of a new dialect keeps the laws from its first minute, whatever kind of file it is made from."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convcli.model.errors import ConvcliError
from tests.scaffold.__main__ import count_messages, drafted, read, table_lines

ROOT = Path(__file__).parent.parent
TURNS: list[dict[str, Any]] = [
    {"role": "user", "content": "What is the weather in 東京?", "id": 1},
    {"role": "assistant", "content": [{"type": "call", "name": "weather", "input": {"city": "東京"}}]},
    {"role": "tool", "content": "22 °C", "seconds": 0.5},
    {"role": "assistant", "content": "It is warm.", "model": None},
]
ROWS: list[dict[str, Any]] = [
    {"type": "header", "version": 2, "cwd": "/"},
    *({"type": "turn", "payload": turn} for turn in TURNS),
    {"type": "note", "text": "end"},
]


def lines(values: list[Any]) -> str:
    return "".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values)


FILES = {
    "session-of-rows.jsonl": lines(ROWS),
    "session-of-turns.jsonl": lines(TURNS),
    "training-rows.jsonl": lines([{"turns": TURNS, "source": "x"}, {"turns": TURNS[:1], "source": "y"}]),
    "document.json": json.dumps({"version": 1, "agent": {"name": "a"}, "messages": TURNS}),
    "list.json": json.dumps(TURNS),
    "stream.sse": "".join(f"data: {json.dumps(row)}\n\n" for row in ROWS),
}


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the project with no samples but those of one dialect."""
    without = shutil.ignore_patterns("__pycache__", "benchmarks", ".*")
    for name in ("convcli", "schemas", "tests", "samples/intermediate"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=without)
    return tmp_path


@pytest.fixture
def program(copied: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", *words]
        return subprocess.run(command, cwd=copied, capture_output=True, text=True, check=False)

    return run


@pytest.mark.exhaustive
def test_a_skeleton_of_every_kind_of_file_keeps_the_laws(
    copied: Path, program: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    tests = []
    for number, (file, text) in enumerate(FILES.items()):
        (copied / file).write_text(text, "utf-8")
        made = program("tests.scaffold", f"made-{number}", file)
        assert made.returncode == 0, made.stderr
        assert f"tests/dialects/test_made_{number}.py" in made.stdout
        tests.append(f"tests/dialects/test_made_{number}.py")
    assert "made-3" in program("convcli", "dialects").stdout
    judged = program("pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert judged.returncode == 0, judged.stdout
    again = program("tests.scaffold", "made-0", "list.json")
    assert again.returncode == 1
    assert "is there already" in again.stderr


def test_a_file_that_holds_no_messages_leaves_nothing_behind(
    copied: Path, program: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    (copied / "other.json").write_text('{"version": 1}', "utf-8")
    for file in ("other.json", "nowhere.json"):
        made = program("tests.scaffold", "made", file)
        assert made.returncode == 1
        assert made.stderr.count("\n") == 1, made.stderr
    assert not (copied / "samples" / "made").exists()


@pytest.mark.parametrize(
    ("file", "stated"),
    [
        (
            "session-of-rows.jsonl",
            {
                "lines": True,
                "where": {"type": "turn"},
                "object": "payload",
                "role": "role",
                "texts": "content",
                "conversation": {"where": {"type": "header"}, "cwd": "cwd"},
            },
        ),
        ("session-of-turns.jsonl", {"lines": True, "role": "role", "texts": "content", "id": "id"}),
        ("training-rows.jsonl", {"messages": "turns", "role": "role", "results": {"value": "content"}}),
        ("stream.sse", {"lines": True, "object": "payload"}),
    ],
)
def test_the_table_finds_the_messages_and_their_keys(tmp_path: Path, file: str, stated: dict[str, Any]) -> None:
    (tmp_path / file).write_text(FILES[file], "utf-8")
    files = read([tmp_path / file])
    text, layout = drafted(files, "made")
    table = tomllib.loads(text)
    assert {key: table.get(key) for key in stated} == stated
    number = {"training-rows.jsonl": 5}.get(file, 4)
    assert count_messages(files, layout, "made") == number


def test_keys_of_other_names_are_found_by_their_values(tmp_path: Path) -> None:
    rows = [
        {"kind": "begin", "run": "r1", "dir": "/w"},
        {"kind": "turn", "who": "human", "say": "List the tides, please."},
        {"kind": "turn", "who": "agent", "say": "I look.", "do": [{"id": "a1", "tool": "tides", "args": {"day": 1}}]},
        {"kind": "note", "text": "done"},
    ]
    (tmp_path / "a.jsonl").write_text(lines(rows), "utf-8")
    table = tomllib.loads(drafted(read([tmp_path / "a.jsonl"]), "made")[0])
    assert table["calls"] == {"at": "do", "id": "id", "name": "tool", "arguments": "args"}
    assert table["conversation"] == {"where": {"kind": "begin"}, "id": "run", "cwd": "dir"}
    assert (table["role"], table["text"]) == ("who", "say")


def test_a_table_is_python_with_its_comments() -> None:
    lines = table_lines('lines = true\nroles = { "it\'s \\"x\\"" = "user" }\n# "a", "b"\n')
    assert ast.literal_eval("{" + lines + "\n}") == {"lines": True, "roles": {'it\'s "x"': "user"}}
    assert '# "a", "b"' in lines


def test_files_without_messages_have_no_table(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"level": 3}\n{"level": 4}\n', "utf-8")
    with pytest.raises(ConvcliError, match="state the key of the text"):
        drafted(read([tmp_path / "a.jsonl"]), "made")
