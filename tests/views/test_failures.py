"""Why a call failed: by the user, or with a cause that groups it."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.model.transcript import ToolResult
from convcli.views.failures import LONGEST, cause_of, is_failed, is_rejected


def result(value: Any, kind: Any = "error", **more: Any) -> ToolResult:
    return ToolResult("a", "f", kind, value, **more)


@pytest.mark.parametrize(
    "text",
    [
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. …).",
        "Error: The user doesn't want to take this action right now.",
        "[Request interrupted by user for tool use]",
        "exec command rejected by user",
        "The user rejected permission to use this specific tool call.",
        "The user denied this operation.",
    ],
)
def test_the_words_of_agent_programs_for_a_rejection_are_known(text: str) -> None:
    assert is_rejected(result(text))
    assert not is_failed(result(text))
    assert not is_rejected(result(text, "text"))  # a file that contains the words


def test_a_status_of_denied_is_a_rejection_and_other_errors_are_failures() -> None:
    assert is_rejected(result("no", status="denied"))
    assert is_failed(result("login was rejected: user unknown"))


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        ("Exit code 127\nbash: foo: not found", "exit code 127"),
        ("Chunk ID: 1a2b3c\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\n", "exit code 2"),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", "File has not been read yet."),
        ('no "a.txt" in C:\\work\\shop or src/app/main.py after 12345 ms', 'no "…" in PATH or PATH after N ms'),
        ({"error": "it isn't there\nmore"}, "it isn't there"),
        ("", "no text"),
        ("x" * 500, "x" * (LONGEST - 1) + "…"),
    ],
)
def test_a_cause_is_an_exit_code_or_a_first_line_without_values(value: Any, cause: str) -> None:
    assert cause_of(result(value, "error" if isinstance(value, str) else "data", is_error=None)) == cause
