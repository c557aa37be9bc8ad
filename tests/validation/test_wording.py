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


def test_the_command_line_takes_hints_that_a_document_would_not_get() -> None:
    assert wording.did_you_mean("jsoxxx", ["jsonl"]) == ""
    assert wording.unknown("form", "jsoxxx", ["jsonl"], "").help == 'did you mean "jsonl"?'
