"""Detection: by marks of its own, total, and never by guess."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import detection
from convcli.model.dialect import Evidence
from convcli.model.document import Rows
from convcli.model.errors import ContentError
from convcli.validation import schemas
from tests import strategies
from tests.laws.test_mutants import containers, value_of
from tests.support import names, samples


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "this is null, not a transcript"),
        (True, "this is a boolean, not a transcript"),
        (0, "this is an integer, not a transcript"),
        (1.5, "this is a number, not a transcript"),
        ("", "this is an empty string, not a transcript"),
        ("text", "this is a string of 4 characters, not a transcript"),
        ([], "this is an empty list, not a transcript"),
        ({}, "this is an empty object, not a transcript"),
        ([[]], "no dialect recognises this: a list whose first item is an empty list"),
        ([None], "this is a list of 1 item, not a transcript"),
        ([{}], "no dialect recognises this: a list whose first item is an empty object"),
        ({"a": 1}, 'no dialect recognises this: an object with the keys "a"'),
        ({"a key with spaces": 1}, "no dialect recognises this: an object of 1 key"),
    ],
)
def test_a_value_without_marks_is_in_no_dialect_and_reported_as_what_it_is(value: Any, words: str) -> None:
    with pytest.raises(ContentError) as caught:
        detection.detect(value)
    assert (caught.value.code, caught.value.message) == ("unknown-dialect", words)


def test_a_transcript_under_a_key_is_reported_with_what_reads_it() -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    answer = {"id": "r", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Ah"}}]}
    for log, reported in (
        ({"time": 1, "request": request}, "--at /request reads the transcripts inside"),
        ({"request": request, "response": answer}, "--at /request --at /response reads requests with their answers"),
        ({"a key with spaces": request}, detection.NAMED),
    ):
        with pytest.raises(ContentError) as caught:
            detection.detect(log)
        assert caught.value.help == reported


@given(value=strategies.values)
def test_detection_never_fails_on_any_value(value: Any) -> None:
    detection.candidates(value)
    detection.candidates(Rows([value], [1]))


@pytest.mark.parametrize("name", names())
@given(data=st.data())
def test_detection_never_fails_on_a_broken_document(name: str, data: st.DataObject) -> None:
    every = samples()
    document = copy.deepcopy(every[data.draw(st.integers(0, len(every) - 1))].document)
    for _ in range(data.draw(st.integers(1, 3))):
        places = list(containers(document))
        parent = places[data.draw(st.integers(0, len(places) - 1))]
        keys: list[Any] = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
        if keys:
            parent[keys[data.draw(st.integers(0, len(keys) - 1))]] = value_of(data.draw)
    detection.evidence(document, dialects.get(name))


def test_a_tie_is_an_error_that_names_the_candidates() -> None:
    first = dialects.get(names()[0])
    marked = next(sample.document for sample in samples() if sample.dialect == first.name)
    with pytest.raises(ContentError) as caught:
        detection.detect(marked, [first, replace(first, name=names()[1])])
    assert caught.value.code == "ambiguous-dialect"
    assert all(name in caught.value.message for name in names()[:2])


def test_two_framings_of_one_dialect_are_no_tie() -> None:
    matches = [("a", Evidence(90, "as a document")), ("a", Evidence(90, "as rows")), ("b", Evidence(80, "weaker"))]
    assert detection.strongest(matches) == detection.Detection("a", matches[0][1], tuple(matches[1:]))


def chat(**more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "Hi."}], **more}


def parts(*blocks: dict[str, Any], role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def answer_of_gemini(text: str, id_: str | None = None, end: str | None = "STOP") -> dict[str, Any]:
    move_end_to_response = {} if end is None else {"finishReason": end}
    content = {"role": "model", "parts": [{"text": text}]}
    return {
        "candidates": [{"content": content, **move_end_to_response}],
        **({} if id_ is None else {"responseId": id_}),
    }


TEXT = {"type": "text", "text": "Hi."}
CACHED = {**TEXT, "cache_control": {"type": "ephemeral"}}
FUNCTION = {"type": "function", "function": {"name": "f"}}
RESPONSE = {"type": "message", "role": "assistant", "content": [TEXT], "stop_reason": "end_turn"}
CALLING = {"type": "message", "role": "assistant", "stop_reason": "tool_use"} | {
    "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]
}


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (chat(), "openai-chat"),
        (chat(anthropic_version="vertex-2023-10-16", max_tokens=9), "anthropic"),
        (chat(max_tokens=9, output_config={"effort": "high"}), "anthropic"),
        ({"messages": [parts(CACHED)]}, "anthropic"),
        ({"messages": [parts(CACHED)], "tools": [FUNCTION]}, "openai-chat"),
        ({"messages": [parts(CACHED)], "max_completion_tokens": 9}, "openai-chat"),
        ({"messages": [parts(CACHED), {"role": "assistant", "content": "Hi.", "refusal": None}]}, "openai-chat"),
        ({"messages": [parts(CACHED), {"role": "assistant", "content": "Hi.", "annotations": []}]}, "openai-chat"),
        ({"messages": [parts(CACHED, role="system"), parts(TEXT)]}, "openai-chat"),
        ([{"role": "user", "content": "Hi."}, RESPONSE], "anthropic"),
        ([answer_of_gemini("Hi", "r1", None), answer_of_gemini(".", "r1")], "gemini-stream"),
        ([answer_of_gemini("Hi", end=None), answer_of_gemini(".")], "gemini-stream"),
        ([answer_of_gemini("Hi.", "r1")], "gemini-stream"),
    ],
)
def test_a_document_is_taken_for_what_its_marks_say(document: Any, name: str) -> None:
    assert detection.detect(document).dialect == name


@pytest.mark.parametrize(
    "document",
    [
        chat(version=1, agent="a", sessionId="s", system_prompt="Be brief."),
        chat(system_prompt="Be brief."),
        chat(sessionId="s"),
        chat(version=1, agent="a"),
    ],
)
def test_a_wrapper_around_messages_is_no_request_that_would_lose_what_it_says(document: Any) -> None:
    assert "openai-chat" not in [name for name, _ in detection.candidates(document)]


@pytest.mark.parametrize(
    "document",
    [
        [RESPONSE, RESPONSE],
        [CALLING, RESPONSE],
        [RESPONSE],
        [answer_of_gemini("Paris.", "r1"), answer_of_gemini("Rome.", "r2")],
        [answer_of_gemini("Paris.", "r1", None), answer_of_gemini("Rome.", "r2", None)],
        [answer_of_gemini("Paris."), answer_of_gemini("Rome.")],
    ],
)
def test_a_list_of_responses_is_not_one_answer(document: Any) -> None:
    assert detection.candidates(document) == []


def _shapes(document: Any) -> list[Any]:
    """A document alone, in a file of rows, and as the rows of one."""
    return [document, Rows([document]), Rows(document) if isinstance(document, list) else [document]]


def test_marks_exclude_no_dialect_that_recognises_a_sample() -> None:
    for sample in samples():
        for document in _shapes(sample.document):
            assert detection.candidates(document) == detection.candidates(document, dialects.builtin()), sample


def _without(value: Any, keys: frozenset[str]) -> Any:
    """A document without these keys, in itself, in its items and in its messages, and in their content and calls."""
    if isinstance(value, list):
        return type(value)([_without(item, keys) for item in value])
    if not isinstance(value, dict):
        return value
    kept = {key: below for key, below in value.items() if key not in keys and f"{key}:{below}" not in keys}
    paths = [name.split("/") for name in keys if "/" in name]
    below = {key: frozenset(name for above, name in paths if above == key) for key in ("content", "tool_calls")}
    below["messages"] = keys
    return {key: _without(inside, below[key]) if key in below else inside for key, inside in kept.items()}


@pytest.mark.parametrize("name", names())
def test_a_document_without_all_marks_of_a_dialect_is_not_recognised_by_it(name: str) -> None:
    detect, marks = dialects.get(name).detect, schemas.marks(name)
    assert marks or detect({}) is None
    for sample in samples():
        for document in _shapes(_without(sample.document, marks)) if marks else ():
            assert detect(document) is None, sample


@pytest.mark.parametrize("name", [name for name in names() if schemas.absent(name)])
def test_a_document_with_a_key_that_is_absent_from_a_dialect_is_not_recognised_by_it(name: str) -> None:
    own = [sample.document for sample in samples() if isinstance(sample.document, dict)]
    for key in schemas.absent(name):
        assert all(detection.evidence({**document, key: None}, dialects.get(name)) is None for document in own)


def test_few_dialects_are_loaded_for_a_request() -> None:
    document = {"model": "m", "messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Ho."}]}
    assert len(dialects.likely([document])) <= len(names()) / 10
    assert "openai-chat" in [dialect.name for dialect in dialects.likely([document])]


@pytest.mark.parametrize(
    "document",
    [
        {"conversations": [{"from": {}, "value": ""}]},
        [{"kind": {}, "source": "user"}],
        [{"role": "user", "created": 1, "content": [{"type": {}}]}],
    ],
    ids=["hermes", "openhands", "goose"],
)
def test_an_object_where_a_word_is_wanted_is_no_mark_and_no_fault(document: Any) -> None:
    for dialect in dialects.builtin():
        detection.evidence(document, dialect)
