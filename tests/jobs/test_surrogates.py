"""Halves of surrogate pairs are found in values and keys, in any layout."""

from __future__ import annotations

from convcli import dialects
from convcli.jobs.documents import Document
from convcli.jobs.surrogates import lone_surrogates
from convcli.model.document import Rows
from convcli.wire import exact_json


def document(value: object, raw: bytes = b"") -> Document:
    return Document("", 0, value, raw, dialects.get("openai-chat"))


def test_half_of_a_pair_is_a_warning_at_its_value() -> None:
    raw = rb'{"messages": [{"role": "user", "content": "\ud83d", "\ude00": 1}]}'
    found = lone_surrogates(document(exact_json.parse(raw), raw))
    assert [(one.code, one.severity) for one in found] == [("lone-surrogate", "warning")] * 2
    assert [one.where for one in found] == ["/messages/0/\ude00", "/messages/0/content"]


def test_a_whole_pair_is_none() -> None:
    raw = rb'{"messages": [{"role": "user", "content": "\ud83d\ude00"}]}'
    assert lone_surrogates(document(exact_json.parse(raw), raw)) == []


def test_rows_have_no_text_of_their_own_and_are_searched() -> None:
    assert [one.where for one in lone_surrogates(document(Rows([{"a": "b"}, {"a": "\ud800"}])))] == ["/1/a"]
