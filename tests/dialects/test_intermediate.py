"""What is hard about the intermediate format: it is the records themselves, it loses nothing, and `form` is no fact."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
from convcli.model.transcript import Message, Opaque, Text, Transcript

HUB, CHAT = dialects.get("intermediate"), dialects.get("openai-chat")
TEXT = {"type": "text", "text": "Hi."}


def document(*messages: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"convcli": 1, "messages": list(messages), **keys}


def test_unknown_keys_and_values_of_null_inside_extras_come_back_where_they_stood() -> None:
    message = {"role": "user", "parts": [{**TEXT, "extras": {"acme": {"a": None}}, "later": 1}], "new": [None]}
    stored = document(message, future={"x": 1})
    assert HUB.lower(HUB.lift(stored)) == stored


def test_fields_are_written_in_one_order_and_absent_ones_not_at_all() -> None:
    transcript = Transcript([Message("user", [Text("Hi.")], id="1")], model="m", id="t")
    assert list(HUB.lower(transcript)) == ["convcli", "id", "model", "messages"]
    assert HUB.lower(transcript)["messages"] == [{"role": "user", "id": "1", "parts": [TEXT]}]


def test_a_part_of_a_kind_that_nobody_knows_is_kept_whole_as_opaque() -> None:
    part = {"type": "opaque", "dialect": "acme", "value": {"type": "hologram", "n": 1.50}}
    (lifted,) = HUB.lift(document({"role": "user", "parts": [part]})).messages[0].parts
    assert isinstance(lifted, Opaque)
    assert HUB.lower(HUB.lift(document({"role": "user", "parts": [part]})))["messages"][0]["parts"] == [part]


def test_form_is_no_fact_and_no_field_of_the_transcript() -> None:
    form = {"dialect": "openai-chat", "digest": "0" * 64, "patch": []}
    with_form = HUB.lift(document({"role": "user", "parts": [TEXT]}, form=form))
    assert with_form == HUB.lift(document({"role": "user", "parts": [TEXT]}))
    assert with_form.extras is None


def test_a_document_that_is_spelled_as_usual_needs_no_form_and_another_one_has_it_at_the_root() -> None:
    usual = {"messages": [{"role": "user", "content": "Hi."}]}
    unusual = {"messages": [{"content": [{"type": "text", "text": "Hi."}], "role": "user"}]}
    assert "form" not in pipeline.convert(usual, CHAT, HUB).document
    stored = pipeline.convert(unusual, CHAT, HUB).document
    assert stored["form"].keys() == {"dialect", "digest", "patch"}
    assert pipeline.convert(stored, HUB, CHAT).document == unusual


def test_an_edited_transcript_is_written_in_the_usual_spelling() -> None:
    unusual = {"messages": [{"content": [{"type": "text", "text": "Hi."}], "role": "user"}]}
    stored = pipeline.convert(unusual, CHAT, HUB).document
    stored["messages"][0]["parts"][0]["text"] = "Hello."
    assert pipeline.convert(stored, HUB, CHAT).document == {"messages": [{"role": "user", "content": "Hello."}]}


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"convcli": 2, "messages": []}, "/convcli"),
        ({"convcli": 1, "messages": [], "title": None}, "/title"),
        ({"convcli": 1, "messages": [{"role": "robot", "parts": []}]}, "/messages/0/role"),
        ({"convcli": 1, "messages": [], "form": {"dialect": "x", "digest": "", "patch": [{"op": "test"}]}}, "/form"),
    ],
)
def test_what_the_format_does_not_allow_is_reported_at_its_place(wrong: dict[str, Any], where: str) -> None:
    assert any(finding.where.startswith(where) for finding in pipeline.validate(wrong, HUB))


@pytest.mark.parametrize("value", [None, [], {"messages": []}, [{"convcli": 1}], "convcli"])
def test_only_the_mark_of_the_format_is_recognised(value: Any) -> None:
    assert detection.evidence(value, HUB) is None
    assert detection.evidence(document(), HUB) is not None
