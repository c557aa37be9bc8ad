"""The short way of judging: it calls clean what nearly all documents are, and nothing that the long way objects to."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.engine.shortcut import is_clean
from convcli.model.dialect import Dialect
from convcli.model.findings import Finding
from convcli.model.rule import Rule
from convcli.validation import schemas
from tests.benchmarks import data
from tests.support import names, samples

PLAIN = [name for name in names() if dialects.get(name).without_clean_messages is not None]
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


LONG_WAY = (Rule((), lambda survey: ()),)
"""With one more rule, be it an empty one, a document is judged the long way."""
TEXT, CALLED = {"text": "Hi."}, {"functionCall": {"name": "f", "args": {}}}
ANSWERED = {"functionResponse": {"name": "f", "response": {"output": "1"}}}
ASKED = {"role": "user", "content": "Hi."}
THINKS: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 2000}, "max_tokens": 4000, "model": "m"}
CALL_OF_CLAUDE = {"type": "tool_use", "id": "call_1", "name": "f", "input": {}}
RESULT_FOR_CLAUDE = {"type": "tool_result", "tool_use_id": "call_1", "content": ""}
CALL_ITEM = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
NEARLY_PLAIN: list[tuple[str, Any]] = [
    ("openai-chat", [ASKED, {"role": "assistant", "content": "Hi.", "tool_calls": {}}]),
    ("openai-chat", [ASKED, {"role": "assistant", "content": "Hi.", "reasoning": 1}]),
    ("openai-chat", [{**ASKED, "name": "a b"}]),
    ("openai-chat", [{"role": "system", "content": [{"type": "image_url", "image_url": {"url": "https://a.b/c"}}]}]),
    ("anthropic", {**THINKS, "messages": [ASKED, *({"role": r, "content": [c]} for r, c in (
        ("assistant", CALL_OF_CLAUDE), ("user", {**RESULT_FOR_CLAUDE, "content": "1"})))]}),
    ("anthropic", [ASKED, {"role": "assistant", "content": [CALL_OF_CLAUDE, CALL_OF_CLAUDE]}]),
    ("anthropic", [ASKED, {"role": "assistant", "content": [CALL_OF_CLAUDE]},
                   {"role": "user", "content": [{**RESULT_FOR_CLAUDE, "is_error": True}]}]),
    ("gemini", {"model": "gemini-3-pro", "contents": [{"role": "user", "parts": [TEXT]},
                                                      {"role": "model", "parts": [CALLED]}]}),
    ("gemini", {"contents": [{"role": "user", "parts": [TEXT]}], "system_instruction": {"type": "x"}}),
    ("gemini", [{"role": "model", "parts": [CALLED]}]),
    ("gemini", [{"role": "user", "parts": [TEXT]}, {"role": "model", "parts": [CALLED]},
                {"role": "user", "parts": [ANSWERED, ANSWERED]}]),
    ("openai-responses", [CALL_ITEM, {"role": "user", "content": "Hi."}, CALL_ITEM,
                          {"type": "function_call_output", "call_id": "call_1", "output": "1"}]),
    ("openai-responses", [{**CALL_ITEM, "id": "call_1"},
                          {"type": "function_call_output", "call_id": "call_1", "output": "1"}]),
    ("openai-responses", {"store": False, "input": [{"type": "reasoning", "id": "rs_1", "summary": []}]}),
    ("openai-responses", [{"role": "user", "content": [{"type": "output_text", "text": "Hi."}]}]),
]  # fmt: skip


def found_at_length(document: Any, dialect: Dialect) -> list[Finding]:
    return pipeline.validate(document, dialect, more=LONG_WAY)


@pytest.mark.parametrize(("name", "document"), NEARLY_PLAIN)
def test_what_only_looks_plain_is_not_called_clean(name: str, document: Any) -> None:
    dialect = dialects.get(name)
    assert found_at_length(document, dialect) != []
    assert not is_clean(document, dialect)


@pytest.mark.parametrize("name", PLAIN)
def test_documents_as_users_have_them_take_the_short_way(name: str) -> None:
    dialect = dialects.get(name)
    assert all(is_clean(document, dialect) for document in data.documents(name, range(40), 0.02))


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("value", [None, 1, "x", True, [], {}, [{"type": "x"}], {"type": "x"}])
def test_whatever_key_stands_next_to_plain_messages_the_short_way_overlooks_nothing(name: str, value: Any) -> None:
    dialect = dialects.get(name)
    document = next(iter(data.documents(name, range(1), 0.02)))
    for key in schemas.keys_in(name, ()) or ():
        changed = {**document, key: value}
        assert not (is_clean(changed, dialect) and found_at_length(changed, dialect)), key


@pytest.mark.parametrize("name", PLAIN)
def test_the_short_way_is_open_to_clean_samples(name: str) -> None:
    dialect = dialects.get(name)
    assert len([one for one in samples() if one.dialect == name and is_clean(one.document, dialect)]) >= 4


def test_what_no_field_says_does_not_keep_a_document_from_the_short_way() -> None:
    chat, anthropic = dialects.get("openai-chat"), dialects.get("anthropic")
    assert is_clean(CHAT, chat)
    assert is_clean({"createdAt": "2026", **pipeline.convert(CHAT, chat, anthropic).document}, anthropic)


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_what_stands_next_to_plain_messages_is_judged(name: str, change: dict[str, Any]) -> None:
    chat = dialects.get("openai-chat")
    for _ in range(2):  # the second time it is remembered
        assert not is_clean({**CHAT, **change}, chat), name
        assert pipeline.validate({**CHAT, **change}, chat) != []


def test_a_message_that_is_not_plain_leads_to_the_long_way() -> None:
    for broken in ({"content": 3}, {"role": ["user"]}, {"content": [{"type": "image_url", "image_url": "x"}]}):
        document = copy.deepcopy(CHAT)
        document["messages"][1] |= broken
        assert not is_clean(document, dialects.get("openai-chat"))
