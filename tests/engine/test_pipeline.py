"""One document from one dialect to another, and what is wrong with it."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.errors import RefusedError
from tests.support import dumped

CHAT, ANTHROPIC, SESSION = (dialects.get(name) for name in ("openai-chat", "anthropic", "openclaw"))
DOCUMENT: dict[str, Any] = {"n": None, "messages": [{"content": "Hi.", "role": "user"}]}
STRANGE = Rows([{"type": "session_meta"}, {"type": "event_msg"}])


def test_a_document_stays_as_it_is_in_its_own_dialect() -> None:
    done = pipeline.convert(DOCUMENT, CHAT, CHAT)
    assert done.document is DOCUMENT
    assert (done.losses, done.findings) == ([], [])


def test_another_form_of_the_same_dialect_is_written() -> None:
    listed = pipeline.convert(DOCUMENT, CHAT, CHAT, Options(form="list"))
    assert dumped(listed.document) == dumped([{"role": "user", "content": "Hi."}])


def test_what_does_not_pass_its_schema_is_not_converted_even_to_its_own_dialect() -> None:
    for target in (CHAT, ANTHROPIC):
        with pytest.raises(RefusedError):
            pipeline.convert({"messages": 7}, CHAT, target)


def test_a_session_of_which_nothing_is_understood_is_neither_clean_nor_converted() -> None:
    assert [finding.code for finding in pipeline.validate(STRANGE, SESSION)] == ["no-messages"]
    for target in (SESSION, CHAT, dialects.get("intermediate")):
        with pytest.raises(RefusedError, match="none of 2 records"):
            pipeline.convert(STRANGE, SESSION, target)


HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"}


@pytest.mark.parametrize("options", [Options(), Options(branch="active")])
def test_a_session_that_only_began_is_no_empty_request(options: Options) -> None:
    with pytest.raises(RefusedError, match=f"there is no {SESSION.title} message"):
        pipeline.convert(Rows([HEADER]), SESSION, CHAT, options)
    assert [(finding.code, finding.severity) for finding in pipeline.validate(Rows([HEADER]), SESSION)] == [
        ("no-messages", "error")
    ]
    assert pipeline.convert(Rows([HEADER]), SESSION, SESSION).document == [HEADER]
    assert pipeline.convert(Rows([HEADER]), SESSION, dialects.get("intermediate")).document["id"] == "s"


def test_a_request_without_messages_says_something_else() -> None:
    assert pipeline.convert({"model": "m", "messages": []}, CHAT, ANTHROPIC).document == {"model": "m", "messages": []}


def test_unknown_keys_are_reported_only_where_that_is_asked_for() -> None:
    document = {**DOCUMENT, "zz": 1}
    assert pipeline.validate(document, CHAT) == []
    assert [finding.where for finding in pipeline.validate(document, CHAT, strict=True)] == ["/zz"]


def test_rules_are_asked_only_of_what_passes_the_schema() -> None:
    orphan = {"role": "tool", "tool_call_id": "x", "content": "y"}
    assert [finding.code for finding in pipeline.validate({"messages": [orphan]}, CHAT)] == ["orphan-tool-result"]
    found = pipeline.validate({"messages": [orphan, {"role": "user", "content": 7}]}, CHAT)
    assert [finding.code for finding in found] == ["wrong-type"]


def row(id_: str, parent: str | None, text: str) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"type": "message", "id": id_, "parentId": parent, "timestamp": "2026-01-01T00:00:00Z", "message": message}


def chunk(end: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}


CALL = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("name", "rows", "reported"),
    [
        ("openclaw", [HEADER, row("a", "b", "Hi."), row("b", "a", "Go on.")], [("parent-cycle", "/1/parentId")]),
        ("openclaw", [HEADER, row("a", None, "Hi."), row("b", "a", "Go on.")], []),
        (
            "openai-chat-stream",
            [chunk(role="assistant", content="Hi"), {"error": {"message": "overloaded"}}],
            [("failed-stream", "/1/error/message")],
        ),
        ("openai-chat-stream", [chunk(role="assistant", content="Hi")], [("torn-stream", "/0")]),
        (
            "openai-chat-stream",
            [chunk(tool_calls=[CALL]), chunk("tool_calls", tool_calls=[{**CALL, "id": "b"}])],
            [("stream-out-of-order", "/1")],
        ),
        ("openai-chat-stream", [chunk(role="assistant", content="Hi"), chunk("stop")], []),
    ],
)
@pytest.mark.parametrize("target", ["anthropic", "intermediate"])
def test_what_the_output_would_not_show_is_reported_once_by_a_conversion_too(
    name: str, rows: list[Any], reported: list[tuple[str, str]], target: str
) -> None:
    done = pipeline.convert(Rows(rows), dialects.get(name), dialects.get(target))
    codes = {code for code, _ in reported} or {"parent-cycle", "failed-stream", "torn-stream", "stream-out-of-order"}
    assert [(finding.code, finding.where) for finding in done.findings if finding.code in codes] == reported
