"""What is planted stands nowhere else, and is found again however it is spelled."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli.model.transcript import Path
from convcli.testing.planting import is_in, nodes, plant, plantable, seeds


def anything(_: Any) -> bool:
    return True


def test_every_string_and_number_is_a_place_and_so_is_an_unknown_key_of_every_object() -> None:
    document = {"a": "x", "b": [1, 2.5, True, None, {"c": ""}]}
    paths: list[Path] = [("zz",), ("a",), ("b", 0), ("b", 1), ("b", 4, "zz"), ("b", 4, "c")]
    assert sorted(plantable(document), key=str) == sorted(paths, key=str)


def test_a_planted_value_stands_in_a_copy() -> None:
    document = {"a": ["x"]}
    planted = plant(document, ("a", 0), 7, anything)
    assert planted == ({"a": ["xzq000007q"]}, "xzq000007q", "zq000007q")
    assert document == {"a": ["x"]}


def test_what_a_schema_refuses_is_not_planted() -> None:
    assert plant({"a": "x"}, ("a",), 7, lambda edited: edited["a"] == "zq000007q") == (
        {"a": "zq000007q"}, "zq000007q", "zq000007q",
    )  # fmt: skip
    assert plant({"a": "x"}, ("a",), 7, lambda edited: False) is None


def test_an_unknown_key_is_a_number_where_only_numbers_may_stand() -> None:
    planted = plant({"input": 1}, ("zz",), 7, lambda edited: isinstance(edited["zz"], int))
    assert planted is not None
    assert planted[0] == {"input": 1, "zz": 70_000_007}


def test_a_document_that_is_one_value_has_no_place() -> None:
    assert plant("x", (), 7, anything) is None


@pytest.mark.parametrize(
    ("value", "first"),
    [
        ("2025-01-02T03:04:05Z", "2017-01-01T03:04:05Z"),
        ("AAAA", "enEwMDAwMDdx"),
        ("data:image/png;base64,AAAA", "data:image/png;base64,enEwMDAwMDdx"),
        ('{"a": {"b": "x"}}', '{"a":{"b":"zq000007q"}}'),
        ("plain text", "plain textzq000007q"),
        (3, 70_000_007),
        (0.5, 0.501007),
    ],
)
def test_a_seed_looks_like_the_value_in_whose_place_it_stands(value: Any, first: Any) -> None:
    assert next(seeds(value, 7))[0] == first


def test_a_time_is_found_in_any_spelling() -> None:
    assert is_in("at 1736305445000 ms", "2025-01-08", "2025-01-08T03:04:05Z")
    assert is_in("on 2025-01-08T03:04:05.000Z", "1736305445", 1736305445)
    assert not is_in("at 1736305446000 ms", "2025-01-08", "2025-01-08T03:04:05Z")
    assert not is_in("nothing", "zq000007q", "zq000007q")


def test_nodes_are_all_values_with_their_paths() -> None:
    document = {"a": [1, {"b": None}]}
    assert dict(nodes(document)).keys() == {(), ("a",), ("a", 0), ("a", 1), ("a", 1, "b")}
    assert json.dumps(dict(nodes(document))[("a", 1)]) == '{"b": null}'
