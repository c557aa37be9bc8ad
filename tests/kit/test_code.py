"""The functions that are generated from the paths of a table."""

from __future__ import annotations

import traceback

import pytest

from convcli.kit.codec.code import reader, writer


def test_values_are_read_at_their_paths() -> None:
    read = reader("demo", [("role",), ("function", "name"), None, ()])
    native = {"role": "user", "function": {"name": "tides"}}
    assert read(native) == ("user", "tides", None, native)
    assert read({"function": "text"}) == (None, None, None, {"function": "text"})


def test_an_object_has_its_values_in_the_order_of_the_table() -> None:
    write = writer("demo", [("b",), ("c", "x"), ("a",), ("c", "y"), None], [("a",), ("b",)])
    native = write(1, 2, 3, 4, 5)
    assert native == {"a": 3, "b": 1, "c": {"x": 2, "y": 4}}
    assert list(native) == ["a", "b", "c"]
    assert write(None, None, 0, None, None) == {"a": 0}


def test_a_value_inside_another_is_not_written_twice() -> None:
    write, value = writer("demo", [("value",), ("value", "failed")], []), {"failed": False}
    assert write(value, True) == {"value": {"failed": False}}
    assert value == {"failed": False}


def test_a_traceback_shows_the_generated_source() -> None:
    with pytest.raises(AttributeError) as caught:
        reader("demo", [("role",)])(None)  # type: ignore[arg-type]
    assert "native.get('role')" in "".join(traceback.format_exception(caught.value))


def test_the_names_of_keys_are_no_source() -> None:
    odd = "x'); raise SystemExit('"
    assert reader("demo", [(odd, 'y"')])({odd: {'y"': 1}}) == (1,)
    assert writer("demo", [(odd, "y")], [])(1) == {odd: {"y": 1}}
