"""What orjson refuses is written in the layout of orjson."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given

from convcli.wire import exact_json
from convcli.wire.exact_writer import pieces
from tests.wire.test_exact_json import nested, values


@given(values)
def test_the_fallback_writes_the_layout_of_orjson_byte_for_byte(value: Any) -> None:
    try:
        compact, indented = orjson.dumps(value), orjson.dumps(value, option=orjson.OPT_INDENT_2)
    except TypeError:
        return
    assert b"".join(pieces(value, False)) == compact
    assert b"".join(pieces(value, True)) == indented


def test_depth_beyond_the_limits_of_orjson_and_of_recursion_is_written() -> None:
    value: Any = []
    for _ in range(5000):
        value = [value]
    assert exact_json.write(value) == nested(5001)


def test_what_is_no_json_value_is_a_type_error() -> None:
    for value in ({1: 2}, {"a": object()}, [{1, 2}]):
        with pytest.raises(TypeError):
            exact_json.write(value)


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(TypeError, match="contains itself"):
        exact_json.write(endless)
