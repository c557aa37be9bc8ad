"""Edits and patches on a terminal."""

from __future__ import annotations

import pytest

from convcli.model.transcript import Message, ToolCall, ToolResult, Transcript
from convcli.report.message import shown
from convcli.report.tables import View
from convcli.report.text import Paint

EDIT = {"file_path": "/a.py", "old_string": "x = 1\ny = 2\x1b[0m", "new_string": "x = 1\ny = 3", "replace_all": False}
PATCH = {"input": "*** Begin Patch\n*** Add File: b.txt\n+one\n*** Update File: c.txt\n@@ f\n a\n-b\n+c\n*** End Patch"}


def text(call: ToolCall, **view: object) -> str:
    result = ToolResult("1", call.name, "text", "done")
    transcript = Transcript([Message("assistant", [call]), Message("tool", [result])])
    return "".join(shown(transcript, 0, "table", View(**{"width": 80, **view})))  # type: ignore[arg-type]


def test_an_edit_is_a_diff_and_its_other_arguments_are_json() -> None:
    assert text(ToolCall("1", "Edit", EDIT)) == (
        "message 0 · assistant\n\n-- call Edit #1\n"
        '{\n  "replace_all": false\n}\n/a.py  +1 -1\n  x = 1\n- y = 2\\x1b[0m\n+ y = 3\n'
    )


def test_the_lines_are_colored() -> None:
    lines = text(ToolCall("1", "Edit", EDIT), paint=Paint(colour=True)).splitlines()
    assert lines[-3:] == ["  x = 1", "\x1b[31m- y = 2\\x1b[0m\x1b[0m", "\x1b[32m+ y = 3\x1b[0m"]


def test_a_patch_names_each_file_and_what_becomes_of_it() -> None:
    assert text(ToolCall("1", "apply_patch", PATCH)).splitlines()[3:] == [
        "b.txt  added  +1 -0", "1 + one", "c.txt  +1 -1", "@@ f", "  a", "- b", "+ c",
    ]  # fmt: skip


@pytest.mark.parametrize("view", [{"width": None}, {"whole": True}])
def test_a_pipe_and_who_asks_for_all_get_the_arguments(view: dict[str, object]) -> None:
    assert '"old_string": "x = 1\\ny = 2\\u001b[0m"' in text(ToolCall("1", "Edit", EDIT), **view)


def test_a_call_without_changes_is_json() -> None:
    assert '"command": "ls"' in text(ToolCall("1", "Bash", {"command": "ls"}))
