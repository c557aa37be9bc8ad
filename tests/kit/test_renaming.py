"""Names of tools and ids of calls that a target does not take are rewritten one-to-one, everywhere at once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli import dialects
from convcli.engine import pipeline
from convcli.kit.renaming import DIGITS, LETTERS, WORD, Alphabet, Renaming, identifiers

ALPHABETS = (
    identifiers(8),
    Alphabet("", "", 5),
    Alphabet("", LETTERS + DIGITS, 9, least=9),
    Alphabet("", WORD, 0, first=LETTERS + "_"),
)
WORDS = st.lists(st.text(alphabet="ab_-. é1\n", max_size=12))


@pytest.mark.parametrize("alphabet", ALPHABETS)
@given(words=WORDS)
def test_what_a_word_becomes_is_allowed_and_no_two_words_become_one(alphabet: Alphabet, words: list[str]) -> None:
    renaming = Renaming(words, alphabet)
    new = [renaming(word) for word in dict.fromkeys(words)]
    assert all(map(alphabet.accepts, new))
    assert len(set(new)) == len(new)
    another = renaming.another(words[0]) if words else ""
    assert another not in new


@pytest.mark.parametrize("alphabet", ALPHABETS)
@given(words=WORDS)
def test_an_allowed_word_stays_as_it_is(alphabet: Alphabet, words: list[str]) -> None:
    renaming = Renaming(words, alphabet)
    assert all(renaming(word) == word for word in words if alphabet.accepts(word))
    assert alphabet.accepts_all(words) == all(map(alphabet.accepts, words)) == (not renaming.new)


@pytest.mark.parametrize(
    ("alphabet", "good", "bad"),
    [
        (identifiers(3), ["a", "a-1", "_-9"], ["", "abcd", "a.b", "a\nb", "é", "a\n"]),
        (Alphabet("", "", 3), ["a", "é\n!"], ["", "abcd"]),
        (Alphabet("", "ab", 0), ["a", "ab" * 99], ["", "c", "a\nb"]),
        (Alphabet("", "ab1", 2, least=2), ["a1", "1a"], ["a", "a1a", ""]),
        (Alphabet("", "ab1]^-", 3, first="ab"), ["a", "a1", "a]", "b^-"], ["1a", "]a", "-"]),
    ],
)
def test_an_alphabet_takes_words_of_its_length_and_characters(alphabet: Alphabet, good: Any, bad: Any) -> None:
    assert alphabet.accepts_all(good)
    assert not any(map(alphabet.accepts, bad))
    assert not any(alphabet.accepts_all([*good, word, *good]) for word in bad)


def test_an_empty_name_becomes_a_word_that_says_so() -> None:
    assert Renaming(["", "a"], identifiers(64))("") == "unnamed"
    assert Renaming(["", "unnamed"], identifiers(64))("") == "unnamed_2"


def _chat(name: str, id_: str) -> dict[str, Any]:
    call = {"role": "model", "parts": [{"functionCall": {"id": id_, "name": name, "args": {}}}]}
    result = {"role": "user", "parts": [{"functionResponse": {"id": id_, "name": name, "response": {"output": "1"}}}]}
    tools = [{"functionDeclarations": [{"name": name, "description": "a tool"}]}]
    return {"contents": [{"role": "user", "parts": [{"text": "go"}]}, call, result], "tools": tools}


def test_chat_completions_get_names_and_ids_that_they_take_in_definition_call_and_result() -> None:
    document = _chat("files.read", "c" * 50)
    conversion = pipeline.convert(document, dialects.get("gemini"), dialects.get("openai-chat"))
    written = conversion.document
    call = written["messages"][1]["tool_calls"][0]
    assert written["tools"][0]["function"]["name"] == call["function"]["name"] == "files_read"
    assert written["messages"][2]["tool_call_id"] == call["id"] == "c" * 40
    assert {loss.field for loss in conversion.losses} >= {"tool.name", "tool_call.name", "tool_call.id"}
    assert not [one for one in conversion.findings if one.code in ("bad-tool-name", "bad-call-id")]
