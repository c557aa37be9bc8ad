"""What stands around values that were taken out of a document: they are put back where they were."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli.engine.containers import inside, put_back, without_values

SPACED = json.dumps({"messages": [1, 2]})
COMPACT = '{"messages":[1,2]}'


@pytest.mark.parametrize(
    ("document", "at", "taken"),
    [
        ({"a": {"b": 1}, "c": 2}, "/a", {"b": 1}),
        ({"a": [{"b": 1}, 2]}, "/a/0", {"b": 1}),
        ({"a": COMPACT}, "/a", {"messages": [1, 2]}),
        ({"a": SPACED, "z": None}, "/a/messages", [1, 2]),
        ({"a": json.dumps(SPACED)}, "/a/messages", [1, 2]),
        ([1, {"x/y": 1}], "/1/x~1y", 1),
        ({"a": 1}, "", {"a": 1}),
    ],
)
def test_what_was_taken_out_is_put_back(document: Any, at: str, taken: Any) -> None:
    shell = without_values(document, [at])
    assert shell.value != document
    assert json.dumps(put_back(shell, {at: taken})) == json.dumps(document)


def test_only_texts_that_are_no_compact_json_are_kept_as_they_were() -> None:
    assert without_values({"a": COMPACT, "b": SPACED}, ["/a", "/b"]).texts == {"/a": True, "/b": SPACED}


def test_a_place_that_is_not_there_is_an_error() -> None:
    with pytest.raises(LookupError):
        put_back(without_values({"a": {"b": 1}}, ["/a/b"]), {"/c/d": 1})


@pytest.mark.parametrize("value", ["plain", "[1", 3, None, '"text"'])
def test_what_holds_no_list_and_no_object_stays_as_it_is(value: Any) -> None:
    assert inside(value) is value
