"""How a document was spelled is one patch at the root, and is used only while the transcript says the same."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.engine.spelling import FORM
from convcli.model.document import Rows
from convcli.validation import schemas
from tests.support import dumped, untouched

HUB, CHAT, SESSION = (dialects.get(name) for name in ("intermediate", "openai-chat", "openclaw"))
USUAL: dict[str, Any] = {"model": "m-1", "messages": [{"role": "user", "content": "Hi."}]}
UNUSUAL: dict[str, Any] = {
    "n": None,
    "messages": [{"content": [{"type": "text", "text": "Hi."}], "role": "user", "name": None}],
    "model": "m-1",
}


def stored(document: Any) -> Any:
    return pipeline.convert(document, CHAT, HUB).document


def back(document: Any) -> Any:
    return pipeline.convert(document, HUB, CHAT)


def test_what_is_spelled_as_usual_has_no_form() -> None:
    assert FORM not in stored(USUAL)


def test_what_is_spelled_in_another_way_has_one_form_which_the_schema_knows() -> None:
    form = stored(UNUSUAL)[FORM]
    assert form["dialect"] == "openai-chat"
    assert form["patch"]
    assert schemas.findings("intermediate", stored(UNUSUAL), strict=True) == []


def test_spelling_is_no_fact() -> None:
    plain = {key: value for key, value in stored(UNUSUAL).items() if key != FORM}
    assert dumped(plain) == dumped(stored(USUAL))


@pytest.mark.parametrize("document", [USUAL, UNUSUAL, UNUSUAL["messages"]])
def test_a_document_comes_back_with_its_order_of_keys_and_its_nulls(document: Any) -> None:
    assert dumped(back(stored(document)).document) == dumped(document)


def test_an_edited_transcript_is_spelled_as_usual() -> None:
    edited = untouched(stored(UNUSUAL))
    edited["messages"][0]["parts"][0]["text"] = "Ho."
    done = back(edited)
    assert done.document == {"model": "m-1", "messages": [{"role": "user", "content": "Ho."}]}
    assert done.losses == []


def test_to_a_third_dialect_the_form_means_nothing() -> None:
    other = dialects.get("mistral")
    with_form, without = stored(UNUSUAL), {key: value for key, value in stored(UNUSUAL).items() if key != FORM}
    for document in (with_form, without):
        done = pipeline.convert(document, HUB, other)
        assert dumped(done.document) == dumped(pipeline.convert(without, HUB, other).document)
        assert done.losses == []


def test_a_form_of_another_document_is_not_used() -> None:
    foreign = {**stored(USUAL), FORM: stored({**UNUSUAL, "model": "m-2"})[FORM]}
    assert back(foreign).document == USUAL


def test_rows_come_back_as_rows() -> None:
    header = {"type": "session", "cwd": "/", "timestamp": "2026-01-01T00:00:00.000Z", "id": "s", "version": 3}
    turn = {"role": "user", "content": [{"type": "text", "text": "Hi."}], "timestamp": 1767225600000}
    row = {"id": "a", "type": "message", "parentId": None, "timestamp": "2026-01-01T00:00:00.000Z", "message": turn}
    rows = Rows([header, row], [1, 2])
    kept = pipeline.convert(rows, SESSION, HUB).document
    done = pipeline.convert(kept, HUB, SESSION).document
    assert isinstance(done, Rows)
    assert dumped(done) == dumped(rows)


@pytest.mark.parametrize("patch", [[{"op": "remove", "path": "/nowhere"}], [{"op": "remove", "path": ""}]])
def test_a_patch_that_does_not_fit_is_not_used(patch: list[Any]) -> None:
    document = stored(UNUSUAL)
    document[FORM]["patch"] = patch
    assert back(document).document == USUAL


def test_a_patch_that_would_lose_something_is_not_used() -> None:
    document = stored(UNUSUAL)
    document[FORM]["patch"] = [{"op": "remove", "path": "/model"}]
    done = back(document)
    assert done.document == USUAL
    assert done.losses == []


def test_a_document_without_ids_comes_back_without_them() -> None:
    source = dialects.get("multi-llm-chat")
    call: Any = {"type": "tool_call", "name": "f", "arguments": {}}
    document = [{"role": "gemini", "content": [call]}, {"role": "tool", "name": "f", "content": "ok"}]
    stored = pipeline.convert(document, source, HUB).document
    assert [part["id"] for part in stored["messages"][0]["parts"]] == ["call_1"]
    assert pipeline.convert(stored, HUB, source).document == document
