"""The JSON of one input: a key that occurs twice is an error, or remembered once."""

from __future__ import annotations

import pytest

from convcli.files.json_values import JsonValues
from convcli.model.errors import ContentError

TWICE = '{"a": 1, "a": 2}'


def test_a_key_that_occurs_twice_is_an_error_that_names_the_file() -> None:
    values = JsonValues("error")
    with pytest.raises(ContentError) as caught:
        values.parse(TWICE, "x.json")
    assert (caught.value.code, caught.value.file) == ("duplicate-key", "x.json")
    assert values.take_warning() is None


def test_the_first_of_several_is_remembered_until_it_is_taken() -> None:
    values = JsonValues("last")
    assert [values.parse(TWICE, name) for name in ("x.json", "y.json")] == [{"a": 2}] * 2
    first = values.take_warning()
    assert first is not None
    assert (first.code, first.file) == ("duplicate-key", "x.json")
    assert values.take_warning() is None
