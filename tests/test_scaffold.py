"""The skeleton of a new dialect keeps the laws from its first minute, whatever kind of file it is made from."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.scaffold.__main__ import discriminator, list_key, schema_of

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


def test_the_schema_tells_objects_apart_by_role_or_type() -> None:
    schema = schema_of(TURNS)
    assert schema["type"] == "object"
    assert schema["required"] == ["role"]
    assert schema["properties"]["role"] == {"enum": ["assistant", "tool", "user"]}
    of_tool = next(
        branch["then"] for branch in schema["allOf"] if branch["if"]["properties"]["role"] == {"const": "tool"}
    )
    assert of_tool == {"properties": {"content": {"type": "string"}, "seconds": {"type": "number"}}}


def test_what_is_a_name_in_every_object_tells_nothing_apart() -> None:
    assert discriminator([{"type": f"t{i}"} for i in range(99)]) is None
    assert discriminator([{"type": "a"}, {}]) is None
    assert discriminator([{"role": "user", "kind": "x"}]) == "role"


def test_arguments_have_no_keys_of_their_own() -> None:
    assert schema_of([{"input": {"city": "x"}}])["properties"] == {"input": {"type": "object"}}


def test_the_messages_are_the_list_that_every_document_has() -> None:
    assert list_key([{"log": TURNS, "tools": TURNS, "messages": TURNS[:1]}]) == "messages"
    assert list_key([{"log": TURNS, "few": TURNS[:1]}]) == "log"
    assert list_key([{"log": TURNS}, {"other": TURNS}]) is None
    assert list_key(TURNS) is None
