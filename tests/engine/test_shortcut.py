"""The short way of judging: it calls clean what nearly all documents are, and nothing that the long way objects to."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.engine.shortcut import is_clean
from tests.support import names, samples

PLAIN = [name for name in names() if dialects.get(name).plain is not None]
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}
CHAT: dict[str, Any] = {
    "id": "req_1",
    "model": "gpt-6-sol",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "ann", "content": "Hi."},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "1"},
        {"role": "assistant", "content": "One."},
    ],
}
CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("model", {"model": 1}),
    ("a key of the request", {"tools": [{"type": "function"}]}),
    ("the choice of a tool that is not there", {"tool_choice": "auto"}),
]


@pytest.mark.parametrize("name", PLAIN)
def test_the_short_way_is_open_to_clean_samples(name: str) -> None:
    dialect = dialects.get(name)
    assert len([one for one in samples() if one.dialect == name and is_clean(one.document, dialect)]) >= 4


def test_what_no_field_says_does_not_keep_a_document_from_the_short_way() -> None:
    chat, anthropic = dialects.get("openai-chat"), dialects.get("anthropic")
    assert is_clean(CHAT, chat)
    assert is_clean({"createdAt": "2026", **pipeline.convert(CHAT, chat, anthropic).document}, anthropic)


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_what_stands_beside_plain_messages_is_judged(name: str, change: dict[str, Any]) -> None:
    chat = dialects.get("openai-chat")
    for _ in range(2):  # the second time it is remembered
        assert not is_clean({**CHAT, **change}, chat), name
        assert pipeline.validate({**CHAT, **change}, chat) != []


def test_a_message_that_is_not_plain_leads_to_the_long_way() -> None:
    for broken in ({"content": 3}, {"role": ["user"]}, {"content": [{"type": "image_url", "image_url": "x"}]}):
        document = copy.deepcopy(CHAT)
        document["messages"][1] |= broken
        assert not is_clean(document, dialects.get("openai-chat"))
