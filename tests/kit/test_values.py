"""Arguments in text, data URLs, times and counts: what stands for the same value, and what does not."""

from __future__ import annotations

import pytest

from convcli.kit.values import pairs, paths, read_arguments, write_arguments


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
def test_text_that_is_no_object_keeps_itself_beside_its_best_reading(
    text: str, arguments: dict[str, int], raw: str | None
) -> None:
    assert read_arguments(text) == (arguments, raw)


def test_raw_arguments_are_written_as_they_were() -> None:
    assert write_arguments({"a": 1}, None) == '{"a":1}'
    assert write_arguments({}, '{"a": ') == '{"a": '


def test_a_table_is_written_as_pairs_and_its_paths_as_steps() -> None:
    assert pairs("a=b c=d=e") == {"a": "b", "c": "d=e"}
    assert paths("a=b/c d=../e") == {"a": ("b", "c"), "d": ("..", "e")}
