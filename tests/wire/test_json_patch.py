"""A patch makes one JSON value of another, key order included, and says so when it does not fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli.model.errors import ContentError
from convcli.wire import exact_json, json_patch

VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=2),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=2), below, max_size=4),
    max_leaves=12,
)


@given(VALUES, VALUES)
def test_the_patch_between_two_values_makes_the_second_of_the_first(before: Any, after: Any) -> None:
    assert exact_json.exact(json_patch.apply(before, json_patch.patch(before, after)), after)


@given(VALUES)
def test_between_a_value_and_itself_there_is_nothing_to_do(value: Any) -> None:
    assert json_patch.patch(value, value) == []


@pytest.mark.parametrize(
    ("operation", "after"),
    [
        ({"op": "test", "path": "/a/1", "value": 2}, {"a": [1, 2]}),
        ({"op": "copy", "from": "/a/1", "path": "/b"}, {"a": [1, 2], "b": 2}),
        ({"op": "move", "from": "/a/0", "path": "/a/-"}, {"a": [2, 1]}),
    ],
)
def test_operations_reach_into_lists(operation: dict[str, Any], after: Any) -> None:
    assert json_patch.apply({"a": [1, 2]}, [operation]) == after


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/a/1", "value": 3},
        {"op": "remove", "path": "/b"},
        {"op": "add", "path": "/a/3", "value": 1},
        {"op": "replace", "path": "a", "value": 1},
        {"op": "turn", "path": "/a"},
    ],
)
def test_an_operation_that_does_not_fit_is_refused_with_its_place(operation: dict[str, Any]) -> None:
    with pytest.raises(ContentError) as caught:
        json_patch.apply({"a": [1, 2]}, [operation])
    assert (caught.value.code, caught.value.where) == ("patch-does-not-fit", operation["path"])
