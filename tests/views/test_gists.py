"""Calls in a few words."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.views.gists import gist


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"command": "npm  test\n--silent", "timeout": 5}, "$ npm test --silent"),
        ({"command": ["bash", "-lc", "ls -F"]}, "$ ls -F"),
        ({"cmd": ["git", "status"]}, "$ git status"),
        ({"limit": 3, "path": "src/tables.py"}, "path=src/tables.py"),
        ({"pattern": "a b", "path": "src"}, "pattern=a b"),
        ({"query": "weather in Tokyo"}, "query=weather in Tokyo"),
        ({"n": 1}, '{"n":1}'),
        ({}, ""),
        ('{"torn": ', '{"torn":'),
    ],
)
def test_a_call_is_reported_by_its_command_or_by_the_argument_that_says_most(arguments: Any, words: str) -> None:
    assert gist(arguments) == words


def test_of_a_path_the_end_is_kept_and_of_all_else_the_beginning() -> None:
    assert gist({"path": "/a/very/long/way/to/tables.py"}, 20) == "path=…y/to/tables.py"
    assert gist({"command": "echo one two three four"}, 12) == "$ echo one …"
    assert gist({"query": "one two three four"}, 12) == "query=one t…"
