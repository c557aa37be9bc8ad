"""Errors say a code, a place and what to do, and mean an exit code."""

from __future__ import annotations

import pickle

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
    assert str(again) == "words"


def test_a_refusal_speaks_by_its_first_finding_and_keeps_all() -> None:
    found = [Finding("a-code", "error", "first", "/x"), Finding("b-code", "warning", "second", "/y")]
    error = RefusedError(found)
    assert (error.code, error.message, error.where) == ("a-code", "first", "/x")
    assert error.findings == found
    assert pickle.loads(pickle.dumps(error)).findings == found


@pytest.mark.parametrize(("codes", "one"), [(set(), 0), ({0, 1}, 1), ({1, 2}, 2), ({2, 3}, 3), ({3, 70}, 70)])
def test_the_worst_exit_code_is_that_of_the_job(codes: set[int], one: int) -> None:
    assert worst(codes) == one
