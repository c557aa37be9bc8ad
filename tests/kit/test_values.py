"""Arguments in text, data URLs, times and counts: what stands for the same value, and what does not."""

from __future__ import annotations

import pytest

from convcli.kit.values import counts, pairs, paths, put_counts, read_arguments, read_json, take_counts, write_arguments


@pytest.mark.parametrize(
    ("text", "arguments", "raw"),
    [
        ('{"a": 1}', {"a": 1}, None),
        ("", {}, ""),
        (" ", {}, " "),
        ("[1]", {}, "[1]"),
        ('{"a": ', {}, '{"a": '),
        ('{"a":1,"a":2}', {"a": 2}, '{"a":1,"a":2}'),
        ('{"a":1,"a":2} and more', {}, '{"a":1,"a":2} and more'),
    ],
)
def test_text_that_is_no_object_is_kept_with_its_best_reading(
    text: str, arguments: dict[str, int], raw: str | None
) -> None:
    assert read_arguments(text) == (arguments, raw)


def test_raw_arguments_are_written_as_they_were() -> None:
    assert write_arguments({"a": 1}, None) == '{"a":1}'
    assert write_arguments({}, '{"a": ') == '{"a": '


COUNTS = {("in",): "inputTokens", ("out", "all"): "outputTokens", ("out", "thought"): "reasoningTokens"}


def test_counts_are_whole_numbers_however_they_are_written_and_the_rest_stands_in_the_order_of_the_table() -> None:
    usage, others = take_counts({"price": 1, "out": {"all": 3, "cut": 2}, "in": 7.0}, COUNTS)
    assert usage == {"outputTokens": 3, "inputTokens": 7}
    assert list(others.items()) == [("out", {"cut": 2}), ("price", 1)]
    assert put_counts(usage, others, COUNTS) == {"in": 7, "out": {"all": 3, "cut": 2}, "price": 1}


def test_a_table_is_written_as_pairs_and_its_paths_as_steps() -> None:
    assert pairs("a=b c=d=e") == {"a": "b", "c": "d=e"}
    assert paths("a=b/c d=../e") == {"a": ("b", "c"), "d": ("..", "e")}
    assert counts("b/c=a d=e") == {("b", "c"): "a", ("d",): "e"}


@pytest.mark.parametrize(("text", "value"), [('{"a": [1]}', {"a": [1]}), ('"a"', "a"), ("a", None), ("", None)])
def test_a_text_is_read_where_it_spells_json(text: str, value: object) -> None:
    assert read_json(text) == value
