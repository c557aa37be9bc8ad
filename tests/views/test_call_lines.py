"""A call in one line, and which arguments the line shows whole."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.views.call_lines import LONGEST, call_line, relative
from convcli.views.changes import changes_of

TODOS = [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]


@pytest.mark.parametrize(
    ("arguments", "text", "purpose", "shown"),
    [
        ({"command": "npm test"}, "$ npm test", "", {"command"}),
        ({"command": "npm test", "description": "Test it"}, "$ npm test", "Test it", {"command", "description"}),
        ({"command": "a\nb"}, "$ a b", "", set()),
        ({"file_path": "/home/a/shop/src/x.py", "limit": 5}, "src/x.py", "", {"file_path"}),
        ({"pattern": "foo", "path": "/home/a/shop"}, "foo  .", "", {"pattern", "path"}),
        ({"file_path": "/home/a/shop/x", "old_string": "a", "new_string": "b"}, "x", "",
         {"file_path", "old_string", "new_string"}),
        ({"input": "*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n"}, "a, b", "", {"input"}),
        ({"todos": TODOS}, "1 of 2 done", "", {"todos"}),
        ({"description": "Explore", "prompt": "Find all\nof it"}, "", "Explore", {"description"}),
        ({"n": 1}, '{"n":1}', "", {"n"}),
        ({}, "", "", set()),
        ('{"torn": ', '{"torn":', "", set()),
    ],
)  # fmt: skip
def test_a_call_is_its_command_its_file_or_what_it_looks_for(
    arguments: Any, text: str, purpose: str, shown: set[str]
) -> None:
    line = call_line(arguments, changes_of(arguments), "/home/a/shop")
    assert (line.text, line.purpose, set(line.shown) - {""}) == (text, purpose, shown)


@pytest.mark.parametrize("name", ["command", "file_path", "query"])
def test_what_is_cut_is_not_shown_whole(name: str) -> None:
    line = call_line({name: "x" * 500}, changes_of({}))
    assert len(line.text) <= LONGEST + 2
    assert name not in line.shown


@pytest.mark.parametrize(
    ("path", "cwd", "shown"),
    [
        ("/a/b/c", "/a/b", "c"),
        ("/a/b/c", "/a/b/", "c"),
        ("/a/b", "/a/b", "."),
        ("/a/bc", "/a/b", "/a/bc"),
        ("C:\\a\\b", "C:\\a", "b"),
        ("/a", None, "/a"),
        ("/a", "/", "/a"),
    ],
)
def test_a_path_in_the_directory_is_relative_to_it(path: str, cwd: str | None, shown: str) -> None:
    assert relative(path, cwd) == shown
