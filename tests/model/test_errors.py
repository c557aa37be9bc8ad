"""Errors say a code, a place and what to do, and mean an exit code."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from convcli.model.errors import ContentError, ConvcliError, JobError, OutputError, RefusedError, worst
from convcli.model.findings import Finding


@pytest.mark.parametrize(("kind", "code"), [(ContentError, 1), (JobError, 2), (OutputError, 3)])
def test_each_kind_of_error_has_its_exit_code(kind: type[ConvcliError], code: int) -> None:
    assert kind("some-code", "words").exit_code == code


def test_an_error_is_the_same_in_another_process() -> None:
    error = ContentError("not-json", "words", file="f", line=3, column=4, byte=5, where="/a", help="h")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is ContentError
    assert again.__dict__ == error.__dict__
    assert str(again) == str(error)


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ({"file": "f", "line": 3, "column": 4, "where": "/a", "help": "h"}, "f:3:4 /a: words [a-code]; h"),
        ({"file": "f", "line": 3}, "f:3: words [a-code]"),
        ({"file": "f", "column": 4}, "f: words [a-code]"),
        ({"line": 3, "where": "/a"}, "line 3 /a: words [a-code]"),
        ({"where": "/a"}, "/a: words [a-code]"),
        ({}, "words [a-code]"),
    ],
)
def test_the_text_of_an_error_has_code_file_and_line(place: dict[str, Any], shown: str) -> None:
    assert str(ContentError("a-code", "words", **place)) == shown


def test_a_refusal_speaks_by_its_first_finding_and_keeps_all() -> None:
    found = [Finding("a-code", "error", "first", "/x"), Finding("b-code", "warning", "second", "/y")]
    error = RefusedError(found)
    assert str(error) == "/x: first [a-code] (and 1 more)"
    assert (error.code, error.message, error.where) == ("a-code", "first", "/x")
    assert error.findings == found
    assert pickle.loads(pickle.dumps(error)).findings == found


@pytest.mark.parametrize(("codes", "one"), [(set(), 0), ({0, 1}, 1), ({1, 2}, 2), ({2, 3}, 3), ({3, 70}, 70)])
def test_the_worst_exit_code_is_that_of_the_job(codes: set[int], one: int) -> None:
    assert worst(codes) == one
