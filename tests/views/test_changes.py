"""Changes of files in calls: what is added and removed, with line numbers as far as they are known."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript
from convcli.views.changes import Change, Line, change_of_call, changes_of, compared, files_changed, numbered_lines
from convcli.views.rows import CallPairs

PATCH = """*** Begin Patch
*** Add File: a.txt
+one
+two
*** Update File: src/b.py
*** Move to: src/c.py
@@ def f():
 keep
-old
+new
*** Delete File: d.txt
*** End Patch
"""
UNIFIED = "--- a/x.py\n+++ b/x.py\n@@ -3,2 +3,2 @@ def f():\n keep\n-old\n+new\n"


def signs(change: Change) -> list[tuple[str, str, int | None]]:
    return [tuple(line) for line in change.lines]  # type: ignore[misc]


@pytest.mark.parametrize("names", [("old_string", "new_string"), ("oldText", "newText"), ("old_str", "new_str")])
def test_an_edit_is_what_differs_with_a_little_around_it(names: tuple[str, str]) -> None:
    before = "".join(f"{number}\n" for number in range(20))
    found = changes_of({names[0]: before, names[1]: before.replace("10\n", "ten\n"), "file_path": "x"})
    (change,) = found.files
    assert [line.sign for line in change.lines] == [" ", " ", " ", "-", "+", " ", " ", " "]
    assert (change.path, change.added, change.removed) == ("x", 1, 1)
    assert found.names == {*names, "file_path"}


def test_several_edits_of_a_file_are_one_change() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}]
    (change,) = changes_of({"path": "x", "edits": edits}).files
    assert [(line.sign, line.text) for line in change.lines] == [("-", "a"), ("+", "b"), ("@", ""), ("-", "c")]


@pytest.mark.parametrize(
    "arguments",
    [
        {"input": PATCH},
        {"patch": PATCH},
        {"command": ["apply_patch", PATCH]},
        {"cmd": f"apply_patch <<'EOF'\n{PATCH}EOF"},
    ],
)
def test_a_patch_of_codex_is_a_change_per_file(arguments: dict[str, Any]) -> None:
    added, moved, deleted = changes_of(arguments).files
    assert (added.path, added.kind) == ("a.txt", "added")
    assert signs(added) == [("+", "one", 1), ("+", "two", 2)]
    assert (moved.path, moved.kind) == ("src/b.py → src/c.py", "moved")
    assert [(line.sign, line.text) for line in moved.lines] == [
        ("@", "def f():"),
        (" ", "keep"),
        ("-", "old"),
        ("+", "new"),
    ]
    assert (deleted.path, deleted.kind, deleted.lines) == ("d.txt", "deleted", [])


def test_a_unified_diff_has_its_numbers() -> None:
    first, second = changes_of({"diff": UNIFIED + UNIFIED.replace("x.py", "y.py")}).files
    assert (first.path, second.path) == ("x.py", "y.py")
    assert signs(first) == [("@", "def f():", None), (" ", "keep", 3), ("-", "old", 4), ("+", "new", 4)]


def test_a_unified_diff_states_which_files_are_new_or_deleted() -> None:
    new, deleted = (
        "--- /dev/null\n+++ b/n.py\n@@ -0,0 +1,2 @@\n+a\n+b\n",
        "--- a/o.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    )
    added, gone = changes_of({"diff": new + deleted}).files
    assert (added.path, added.kind, signs(added)[1:]) == ("n.py", "added", [("+", "a", 1), ("+", "b", 2)])
    assert (gone.path, gone.kind, signs(gone)[1:]) == ("o.py", "deleted", [("-", "a", 1)])


def test_a_line_of_a_unified_diff_can_look_like_a_header() -> None:
    (change,) = changes_of({"diff": "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,1 @@\n--- a comment\n select 1\n"}).files
    assert (change.path, signs(change)[1:]) == ("x.sql", [("-", "-- a comment", 1), (" ", "select 1", 1)])


def test_a_file_that_is_written_has_all_its_lines() -> None:
    (change,) = changes_of({"file_path": "x", "content": "a\nb"}).files
    assert (change.kind, signs(change)) == ("added", [("+", "a", 1), ("+", "b", 2)])


@pytest.mark.parametrize(
    "arguments", [{}, "text", {"command": "ls"}, {"content": "mail"}, {"edits": []}, {"diff": "x"}]
)
def test_other_calls_change_nothing(arguments: Any) -> None:
    assert changes_of(arguments).files == []


RESULTS = {
    "a patch of Claude Code": (
        Message(
            "tool",
            [ToolResult("c", "Edit", "text", "done")],
            extras={
                "claude-code": {
                    "row": {"toolUseResult": {"structuredPatch": [{"newStart": 40, "lines": ["-x", "+  y"]}]}}
                }
            },
        )
    ),
    "a listing": Message("tool", [ToolResult("c", "Edit", "text", "The file is:\n    39→z\n    40→\ty\n")]),
    "a diff of pi": Message(
        "tool",
        [ToolResult("c", "edit", "text", "ok", extras={"openclaw": {"details": {"diff": "- 40 x\n+ 40 y\n"}}})],
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_numbers_come_from_the_result(name: str) -> None:
    call = ToolCall("c", "Edit", {"file_path": "f", "old_string": "x", "new_string": "\ty"})
    (result,) = RESULTS[name].parts
    assert isinstance(result, ToolResult)
    assert 40 in [number for number, _ in numbered_lines(RESULTS[name], result)]
    (change,) = change_of_call(call, [(1, RESULTS[name], result)]).files
    assert signs(change) == [("-", "x", 40), ("+", "\ty", 40)]


def test_without_these_lines_in_the_result_there_is_no_number() -> None:
    result = ToolResult("c", "Edit", "text", "    40→other\n")
    call = ToolCall("c", "Edit", {"file_path": "f", "old_string": "x", "new_string": "y"})
    (change,) = change_of_call(call, [(1, Message("tool", [result]), result)]).files
    assert signs(change) == [("-", "x", None), ("+", "y", None)]


def test_only_calls_that_succeeded_changed_their_files() -> None:
    arguments = {"file_path": "f", "old_string": "x", "new_string": "y\nz"}
    calls = [Message("assistant", [ToolCall(id_, "Edit", arguments)]) for id_ in "abc"]
    answers = [Message("tool", [ToolResult(id_, "Edit", kind, "")]) for id_, kind in (("a", "text"), ("b", "error"))]
    transcript = Transcript([Message("user", [Text("Hi.")]), *calls, *answers])
    assert files_changed(CallPairs(transcript)) == {"f": (1, 2, 1)}


def test_texts_that_would_take_long_to_compare_are_shown_whole() -> None:
    lines = compared("a\nb\n" * 5_000, "b\na\n" * 5_000)
    assert lines[0] == Line("-", "a")
    assert len(lines) == 20_000
