"""The nearest known word is offered, and nothing of a document that is no plain word."""

from __future__ import annotations

import pytest

from convcli.validation import wording


def test_the_nearest_word_is_the_hint_and_without_one_there_is_none() -> None:
    assert wording.did_you_mean("asistant", ["assistant", "user"]) == 'did you mean "assistant"?'
    assert wording.did_you_mean("zebra", ["assistant", "user"]) == ""


def test_a_hint_repeats_no_text_of_a_document() -> None:
    assert wording.did_you_mean("my secret", ["my secrets"]) == ""


@pytest.mark.parametrize(
    ("word", "hint"), [("convrt", 'did you mean "convert"?'), ("zebra", "convcli -h lists them all")]
)
def test_an_unknown_word_is_an_error_with_the_nearest_one_or_the_way_to_all(word: str, hint: str) -> None:
    error = wording.unknown("command", word, ["convert", "inspect"], "convcli -h lists them all")
    assert (error.code, error.message, error.help) == ("unknown-command", f'there is no command "{word}"', hint)


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("modle", ["mode", "model", "models"], "model"),
        ("txet", ["text", "image"], "text"),
        ("toolUse", ["tool_result", "tool_use"], "tool_use"),
        ("TEXT", ["text"], "text"),
        ("out", ["output", "out-dir", "outcome"], "output"),
        ("image_url_of_it", ["image", "image_url"], "image_url"),
        ("use-tool", ["tool", "tool-use"], "tool-use"),
        ("temprature", ["top_p", "temperature"], "temperature"),
        ("grep", ["help"], None),
        ("list", ["inspect", "stats"], None),
        ("view", ["validate"], None),
        ("trl", ["mistral"], None),
        ("sort", ["color", "form"], None),
        ("jsoxxx", ["jsonl"], None),
        ("", ["a"], None),
    ],
)
def test_a_near_word_is_another_spelling_a_beginning_or_a_few_letters_away(
    word: str, known: list[str], near: str | None
) -> None:
    assert wording.nearest(word, known) == near


@pytest.mark.parametrize(
    ("one", "other", "number"),
    [("", "", 0), ("a", "", 1), ("", "ab", 2), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "axc", 1), ("ab", "ba", 1),
     ("kitten", "sitting", 3), ("convrt", "convert", 1)],
)  # fmt: skip
def test_edits_are_letters_put_in_left_out_replaced_or_swapped(one: str, other: str, number: int) -> None:
    assert wording.edits(one, other) == wording.edits(other, one) == number


def test_a_synonym_is_the_hint_only_where_its_word_is_known() -> None:
    synonyms = {"view": "inspect"}
    assert wording.unknown("command", "View", ["inspect"], "", synonyms).help == 'did you mean "inspect"?'
    assert wording.unknown("command", "view", ["convert"], "the list", synonyms).help == "the list"
