"""The intermediate format as a dialect: every field under its own name, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Media, Message, Opaque, Text, ToolCall, ToolDefinition, ToolResult, Transcript
from convcli.testing import assert_laws

HUB = dialects.get("intermediate")
OPENAI = dialects.get("openai-chat")


def document(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"convcli": 1, **fields, "messages": list(messages)}


def message(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"role": "user", **fields, "parts": list(parts)}


FULL = Transcript(
    [
        Message("user", [Text("Look."), Media("image", data="aGk=", media_type="image/png", name="a.png")], id="m1"),
        Message("assistant", [ToolCall("c1", "f", {"x": 1.5})], parent_id="m1", usage={"outputTokens": 3}),
        Message("tool", [ToolResult("c1", "f", "multimodal", [Text("in"), Media("image", url="https://a.b/c")])]),
        Message("event", [Opaque("codex", None)]),
    ],
    title="A title",
    tools=[ToolDefinition("f", "Does it.", {"type": "object"}, strict=True)],
    tool_choice={"name": "f"},
    settings={"temperature": 0.5},
    extras={"codex": {"a": 1}},
)


def test_every_field_stands_under_its_own_name_and_comes_back() -> None:
    written = HUB.lower(FULL)
    assert list(written) == ["convcli", "title", "tools", "toolChoice", "settings", "messages", "extras"]
    assert written["messages"][1]["usage"] == {"outputTokens": 3}
    lifted = HUB.lift(written)
    lifted.origin = None
    assert lifted == FULL


def test_its_documents_keep_the_laws() -> None:
    assert_laws(HUB, HUB.lower(FULL))


def test_a_document_is_known_by_its_version() -> None:
    clue = HUB.detect(document())
    assert clue is not None
    assert clue.strength == 100
    assert HUB.detect({"messages": []}) is None
    assert HUB.detect([document()]) is None


@pytest.mark.parametrize(("field", "value"), [("kept", None), ("text", "")])
def test_a_result_keeps_a_value_that_is_null_or_empty(field: str, value: Any) -> None:
    kind = "data" if value is None else "text"
    result = {"type": "tool_result", "toolCallId": "c", "name": field, "kind": kind, "value": value}
    native = document(message(result, role="tool"))
    assert HUB.lower(HUB.lift(native)) == native


def test_keys_that_the_format_does_not_know_ride_in_extras_and_come_back_in_place() -> None:
    native = document(message({"type": "text", "text": "Hi", "mood": "calm"}, colour="red"), note=[1])
    transcript = HUB.lift(native)
    assert transcript.extras == {"intermediate": {"note": [1]}}
    assert transcript.messages[0].extras == {"intermediate": {"colour": "red"}}
    assert transcript.messages[0].parts[0].extras == {"intermediate": {"mood": "calm"}}
    assert HUB.lower(transcript) == native


def test_null_in_a_field_says_nothing() -> None:
    native = document(message({"type": "text", "text": "Hi", "metadata": None}, id=None), title=None)
    assert HUB.lift(native).title is None
    assert HUB.lower(HUB.lift(native)) == document(message({"type": "text", "text": "Hi"}))


def test_the_places_of_parts_and_tools_are_those_of_the_document() -> None:
    origin = HUB.lift(HUB.lower(FULL)).origin
    assert origin is not None
    assert origin.places[0] == (("messages", 0), [("parts", 0), ("parts", 1)])
    assert origin.tools == [("tools", 0)]


def test_the_form_of_another_document_is_kept_and_left_out_when_it_is_asked_for_plain() -> None:
    native = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}
    stored = pipeline.convert(native, OPENAI, HUB).document
    assert stored["form"]["dialect"] == "openai-chat"
    assert pipeline.convert(stored, HUB, OPENAI).document == native
    assert "form" not in pipeline.convert(native, OPENAI, HUB, Options(form="plain")).document


def test_a_result_without_its_call_and_two_messages_of_one_id_are_told() -> None:
    orphan = {"type": "tool_result", "toolCallId": "c", "name": "f", "kind": "text", "value": "x"}
    native = document(message(orphan, role="tool", id="m"), message({"type": "text", "text": "a"}, id="m"))
    codes = {finding.code for finding in pipeline.validate(native, HUB)}
    assert {"orphan-tool-result", "duplicate-message-id"} <= codes
