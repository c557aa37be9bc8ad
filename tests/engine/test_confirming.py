"""The claim of a dialect fails if most of the language of a document does not reach parts."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import detection
from convcli.engine.confirming import is_read
from convcli.model.dialect import Evidence
from convcli.model.document import Rows
from convcli.model.errors import ContentError
from convcli.model.transcript import Transcript

KNOWN, UNKNOWN = "A short text.", "A text that is longer than the known one."


def contents(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": list(parts)}]}


def chat(message: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"messages": [{"role": "assistant", "content": None, **message}], **others}


@pytest.mark.parametrize(
    ("name", "document", "expected"),
    [
        ("gemini", contents({"text": KNOWN}), True),
        ("gemini", contents({"words": KNOWN}), False),
        ("gemini", contents({"text": KNOWN}, {"words": UNKNOWN}), False),
        ("gemini", contents({"text": UNKNOWN}, {"words": KNOWN}), True),
        ("gemini", contents({"words": "req_0123456789abcdef"}), True),
        ("openai-chat", chat({"content": KNOWN, "translation": UNKNOWN}), True),
        ("openai-chat", chat({"content": KNOWN}, note=UNKNOWN), True),
        ("openai-chat", chat({"words": KNOWN}), False),
    ],
)
def test_most_of_the_language_must_reach_parts(name: str, document: Any, expected: bool) -> None:
    assert is_read(document, dialects.get(name)) is expected


def test_a_failed_turn_is_no_empty_message() -> None:
    (failed,) = [dialect for dialect in dialects.builtin() if dialect.name == "opencode"]
    info = {"id": "msg_1", "sessionID": "ses_1", "role": "assistant", "time": {"created": 1}}
    info["error"] = {"name": "UnknownError", "data": {"message": UNKNOWN}}
    document = {"info": {"id": "ses_1"}, "messages": [{"info": info, "parts": []}]}
    assert is_read(document, failed)


def test_rows_of_unknown_types_count_if_no_text_is_read() -> None:
    def row(kind: str, text: str) -> dict[str, Any]:
        update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
        return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}

    acp = dialects.get("acp")
    assert not is_read(Rows([row("user_message_9", UNKNOWN)]), acp)
    assert is_read(Rows([row("user_message_chunk", KNOWN), row("agent_message_9", UNKNOWN)]), acp)


def test_a_document_with_known_keys_alone_is_not_read() -> None:
    def lift(_: Any) -> Transcript:
        raise AssertionError

    assert is_read(chat({"content": UNKNOWN}), replace(dialects.get("openai-chat"), lift=lift))


def test_only_the_first_items_of_a_list_are_read() -> None:
    known, unknown = chat({"content": KNOWN})["messages"], chat({"words": UNKNOWN})["messages"]
    openai = dialects.get("openai-chat")
    assert is_read({"messages": known * 32 + unknown * 1000}, openai)
    assert not is_read({"messages": unknown * 32 + known * 1000}, openai)


def test_the_next_candidate_is_named_if_the_strongest_does_not_read_the_text() -> None:
    document = contents({"text": KNOWN})
    ranked = [("openai-chat", Evidence(99, "a")), ("gemini", Evidence(10, "b"))]
    read_by = {"openai-chat": chat({"words": KNOWN}), "gemini": document}
    found = detection.confirmed(ranked, [document], lambda one: read_by[one[0]])
    assert (found.dialect, found.others) == ("gemini", ())


def test_of_two_equal_candidates_the_one_that_reads_the_text_is_named() -> None:
    ranked = [("gemini", Evidence(90, "a")), ("openai-chat", Evidence(90, "b"))]
    read_by = {"gemini": contents({"text": KNOWN}), "openai-chat": chat({"words": KNOWN})}
    assert detection.confirmed(ranked, [{}], lambda one: read_by[one[0]]).dialect == "gemini"


def test_the_error_names_the_dialect_that_the_document_resembles() -> None:
    with pytest.raises(ContentError, match="it resembles gemini") as refused:
        detection.detect(contents({"words": UNKNOWN}))
    assert refused.value.code == "unknown-dialect"
    assert "--from gemini" in refused.value.help
