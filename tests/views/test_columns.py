"""Columns that are found only on demand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from convcli.jobs import inputs
from convcli.views.columns import EVERY_OF_TRANSCRIPTS, ON_DEMAND, project_of, row_of

SAMPLES = Path(__file__).parents[2] / "samples"


def row(name: str, *names: str) -> dict[str, Any]:
    document = next(inputs.documents(str(SAMPLES / name)))
    return row_of(document, document.lift(), names or EVERY_OF_TRANSCRIPTS)


def test_a_session_has_program_directory_branch_and_tools() -> None:
    found = row("claude-code/example.jsonl")
    assert {name: found[name] for name in ("program", "cwd", "project", "branch", "tools")} == {
        "program": "claude-code",
        "cwd": "/home/mira/shop",
        "project": "shop",
        "branch": "main",
        "tools": "Bash, Read, Edit",
    }
    assert row("codex/session-events.jsonl")["branch"] == "spring"


def test_a_request_has_none_of_them_but_text() -> None:
    found = row("openai-chat/twin-weather.json")
    assert [found[name] for name in ("program", "cwd", "project", "branch")] == [None] * 4
    assert "weather" in found["text"].lower()


def test_every_column_is_in_a_row_and_those_on_demand_only_if_they_are_named() -> None:
    assert row("openai-chat/twin-weather.json").keys() == EVERY_OF_TRANSCRIPTS.keys()
    assert row("openai-chat/twin-weather.json", "tools").keys() & ON_DEMAND.keys() == {"tools"}


@pytest.mark.parametrize(
    ("directory", "project"), [("/a/b", "b"), ("/a/b/", "b"), (r"C:\a\b", "b"), ("/", None), (None, None)]
)
def test_a_project_is_the_last_part_of_a_directory(directory: str | None, project: str | None) -> None:
    assert project_of(directory) == project
