"""L1c and L1d beyond the samples: documents that differ from a sample in a few places, as their schema allows."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from convcli import dialects, testing
from convcli.engine.reading import not_understood
from convcli.model.document import Rows
from convcli.validation import schemas
from tests.support import names, samples_of

VALUES: list[Any] = [None, 0, 7, 2.5, True, "", "x", "{}", [], {}, [{}], ["x"], {"type": "x"}, {"k": None}, 10**30]
"""What a field may turn into. No 1.0: JSON Schema takes it for an integer, and Python for the same value."""


def containers(value: Any) -> Iterator[Any]:
    """Every object and list inside a JSON value, itself included."""
    if isinstance(value, (dict, list)):
        yield value
        for child in value.values() if isinstance(value, dict) else value:
            yield from containers(child)


def mutate(draw: st.DrawFn, parent: Any) -> None:
    """Change, remove, add or move one member of an object or list."""
    kind = draw(st.integers(0, 3))
    if kind == 0 and isinstance(parent, dict):
        keys = ["unknown", "null", *parent]
        parent[keys[draw(st.integers(0, len(keys) - 1))]] = value_of(draw)
        return
    assume(len(parent) > 0)
    index = draw(st.integers(0, len(parent) - 1))
    key = list(parent)[index] if isinstance(parent, dict) else index
    if kind == 1:
        del parent[key]
    elif kind == 2 or isinstance(parent, list):
        parent[key] = value_of(draw)
    else:
        parent[key] = parent.pop(key)


def value_of(draw: st.DrawFn) -> Any:
    """A copy: the values are edited too."""
    return copy.deepcopy(VALUES[draw(st.integers(0, len(VALUES) - 1))])


def mutant(draw: st.DrawFn, name: str) -> Any:
    """A sample of a dialect with a few edits that its schema allows."""
    choice = samples_of(name)
    document = copy.deepcopy(choice[draw(st.integers(0, len(choice) - 1), label="sample")].document)
    for _ in range(draw(st.integers(1, 3))):
        places = list(containers(document))
        mutate(draw, places[draw(st.integers(0, len(places) - 1))])
    assume(not isinstance(document, Rows) or len(document.lines) == len(document))
    assume(schemas.accepts(name, document))
    return document


@pytest.mark.parametrize("name", [name for name in names() if dialects.get(name).is_written and samples_of(name)])
@given(data=st.data())
def test_a_document_with_edits_comes_back_and_is_written_as_it_was_lifted(name: str, data: st.DataObject) -> None:
    dialect, document = dialects.get(name), mutant(data.draw, name)
    assume(not_understood(document, dialect.lift(document), dialect) is None)
    if dialect.is_written:
        testing.assert_same(dialect, document)
        testing.assert_writes(dialect, dialect.lift(document))
