"""Detection: by marks of its own, total, and never by guess."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli import dialects
from convcli.engine import detection
from convcli.engine.marks import names_of
from convcli.model.dialect import Evidence
from convcli.model.document import Rows
from convcli.model.errors import ContentError
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
        ([[]], "no dialect recognizes this: a list whose first item is an empty list"),
        ([None], "this is a list of 1 item, not a transcript"),
        ([{}], "no dialect recognizes this: a list whose first item is an empty object"),
        ({"a": 1}, 'no dialect recognizes this: an object with the keys "a"'),
        ({"a key with spaces": 1}, "no dialect recognizes this: an object of 1 key"),
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


@given(data=st.data())
def test_detection_never_fails_on_a_broken_document(data: st.DataObject) -> None:
    every = samples()
    document = copy.deepcopy(every[data.draw(st.integers(0, len(every) - 1))].document)
    for _ in range(data.draw(st.integers(1, 3))):
        places = list(containers(document))
        parent = places[data.draw(st.integers(0, len(places) - 1))]
        keys: list[Any] = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
        if keys:
            parent[keys[data.draw(st.integers(0, len(keys) - 1))]] = value_of(data.draw)
    detection.matches(document)


def test_a_tie_is_an_error_that_names_the_candidates() -> None:
    with pytest.raises(ContentError) as caught:
        detection.strongest([("a", Evidence(90, "one")), ("b", Evidence(90, "another")), ("c", Evidence(80, "weaker"))])
    assert caught.value.code == "ambiguous-dialect"
    assert caught.value.message.endswith("could be in 2 dialects: a (one), b (another)")


def test_two_framings_of_one_dialect_are_no_tie() -> None:
    matches = [("a", Evidence(90, "as a document")), ("a", Evidence(90, "as rows")), ("b", Evidence(80, "weaker"))]
    assert detection.strongest(matches) == detection.Detection("a", matches[0][1], tuple(matches[1:]))


def chat(**more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "Hi."}], **more}


def parts(*blocks: dict[str, Any], role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def answer_of_gemini(text: str, id_: str | None = None, end: str | None = "STOP") -> dict[str, Any]:
    finish = {} if end is None else {"finishReason": end}
    content = {"role": "model", "parts": [{"text": text}]}
    return {
        "candidates": [{"content": content, **finish}],
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


def test_the_first_condition_of_a_mark_finds_it_wherever_it_holds() -> None:
    """Detection only looks at the marks whose names are in the document; all others would not hold."""
    for sample in samples():
        for document in _shapes(sample.document):
            each = {one.name: detection.evidence(document, one) for one in dialects.builtin()}
            assert detection.matches(document) == {name: match for name, match in each.items() if match}, sample


@pytest.mark.parametrize("name", names())
def test_a_dialect_states_its_marks_with_evidence_or_a_function_that_decides(name: str) -> None:
    marks = detection.marks_of(name)
    assert marks, "detection asks the marks of its schema"
    assert all(mark.reason or dialects.get(name).detect for mark in marks)
    assert all(set(names_of(mark.condition)) for mark in marks)


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
