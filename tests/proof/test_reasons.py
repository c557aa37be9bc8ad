"""Why a loss is one: the target's own words, and words for any target only where they are true."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.dialect import Dialect, LossKind
from convcli.model.document import Rows
from convcli.model.transcript import Message, Text, Transcript
from convcli.proof.difference import difference
from convcli.proof.reasons import REASONS, UNKNOWN_ROW, Loss, reason_of, table_of, traced_reason


@pytest.mark.parametrize("dialect", dialects.builtin(), ids=lambda dialect: dialect.name)
def test_metadata_of_a_request_are_not_what_a_provider_bound_to_a_part(dialect: Dialect) -> None:
    of_a_part = {REASONS["metadata"], dialect.reasons.get("metadata")}
    assert reason_of("dropped", "settings.metadata", dialect) not in of_a_part


@pytest.mark.parametrize("target", [each for each in dialects.builtin() if each.is_written], ids=lambda each: each.name)
def test_a_form_that_was_written_is_not_the_reason_that_there_is_no_field(target: Dialect) -> None:
    usage = {
        "inputTokens": 9,
        "cacheReadTokens": 2,
        "cacheWriteTokens": 3,
        "outputTokens": 6,
        "reasoningTokens": 4,
        "totalTokens": 19,
    }
    answer = {"role": "assistant", "usage": usage, "parts": [{"type": "text", "text": "x"}]}
    response = {"convcli": 1, "createdAt": "2026-11-01T00:00:00.123Z", "messages": [answer]}
    question = {"role": "user", "parts": [{"type": "text", "text": "x"}, {"type": "document", "fileId": "f"}]}
    hosted = {"name": "search", "extras": {"elsewhere": {"tool": {"type": "search"}}}}
    request = {"convcli": 1, "tools": [hosted], "messages": [question]}
    for document in (request, response):
        done = pipeline.convert(document, dialects.get("intermediate"), target)
        form = target.lift(done.document).origin.form
        for loss in done.losses:
            assert not form or f"only in the form {form}" not in loss.why
            only_responses = loss.why.startswith("only a") and loss.why.endswith("response has usage")
            assert form != "response" or not only_responses, loss.field


@pytest.mark.parametrize("target", ["cohere", "anthropic", "gemini"])
def test_what_a_provider_bound_to_a_text_is_not_explained_by_what_a_text_may_be(target: str) -> None:
    why = reason_of("dropped", "text.metadata.itemId", dialects.get(target))
    assert why != reason_of("dropped", "text", dialects.get(target))


@pytest.mark.parametrize("target", [each for each in dialects.builtin() if each.is_written], ids=lambda each: each.name)
def test_the_reason_of_an_invented_id_is_not_that_of_a_changed_one(target: Dialect) -> None:
    for field in ("tool_call.id", "tool_result.toolCallId"):
        why = reason_of("invented", field, target)
        assert why == "the source has no call ids, and a result names its call"
        assert why not in {reason_of(kind, field, target) for kind in ("changed", "dropped")}


def test_the_reason_of_an_invented_value_is_not_why_its_part_is_lost() -> None:
    assert reason_of("invented", "audio.mediaType", dialects.get("inspect-ai")).endswith("the source does not have")
    assert reason_of("invented", "id", dialects.get("codex")).startswith("a Codex session id is a UUID")


def traced(kind: LossKind, field: str, target: Dialect) -> str:
    loss = Loss(kind, "", field, "context", reason_of(kind, field, target, form=target.forms[0]))
    return table_of(loss, target, tuple)


def test_a_reason_is_traced_to_its_table() -> None:
    target = dialects.get("hf-trace")
    assert traced("dropped", "message.model", target) == "hf-trace: reasons[message.model]"
    assert traced("changed", "text.text", target) == "hf-trace: reasons[text]"
    assert traced("dropped", "opaque", target) == "REASONS[opaque]"
    assert traced("dropped", "message.name", target) == "USUAL_REASONS[message.name]"
    assert traced("dropped", "cwd", target) == "hf-trace: supports"
    assert traced("invented", "tool_call.id", target) == "REASONS_TO_INVENT[tool_call.id]"
    assert traced("dropped", "extras.other.key", target) == "hf-trace: schema"
    assert traced("changed", "message.createdAt", target) == ""
    convention = next(why for one in target.conventions for _, why in one.loss.values())
    assert table_of(Loss("encoded", "", "tool_result.kind", "content", convention), target, tuple) == (
        "hf-trace: conventions"
    )


@pytest.mark.parametrize("target", [each for each in dialects.builtin() if each.is_written], ids=lambda each: each.name)
def test_every_reason_of_a_dialect_is_traced_to_it(target: Dialect) -> None:
    for field, reason in target.reasons.items():
        stated, table = traced_reason("moved" if field == "moved" else "dropped", field, target)
        if stated == reason:
            assert table.startswith(f"{target.name}: reasons["), field


def test_a_body_is_explained_by_its_own_dialect_and_no_other() -> None:
    batch, chat, responses = (dialects.get(name) for name in ("openai-batch", "openai-chat", "openai-responses"))
    about_audio = responses.reasons["audio"]
    assert reason_of("dropped", "audio", batch, form="responses") == about_audio
    assert reason_of("dropped", "audio", batch, form="chat") != about_audio
    for form, body in batch.bodies.items():
        inner = {"openai-chat": chat, "openai-responses": responses}[body.dialect].reasons
        assert {field for field in batch.reasons_in(form) if field not in inner} <= SURROUNDINGS


SURROUNDINGS = {"id", "reasoning", "settings.stream", "settings.streamObfuscation"}
"""The fields for which the line of a batch has reasons of its own."""


def test_a_row_of_an_unknown_type_with_content_is_not_said_to_be_outside_of_the_conversation() -> None:
    message = {"role": "assistant", "content": [{"type": "text", "text": "Something that nobody should miss."}]}
    rows = [
        {
            "type": "user",
            "uuid": "u1",
            "parentUuid": None,
            "sessionId": "s",
            "message": {"role": "user", "content": "Hi"},
        },
        {"type": "assistant_v2", "uuid": "u2", "parentUuid": "u1", "sessionId": "s", "message": message},
    ]
    target = dialects.get("openai-chat")
    done = pipeline.convert(Rows(rows, [1, 2]), dialects.get("claude-code"), target)
    [loss] = [loss for loss in done.losses if loss.field == "event"]
    assert (loss.level, loss.why, table_of(loss, target, tuple)) == ("content", UNKNOWN_ROW, "UNKNOWN_ROW")


def test_losses_are_counted_by_type_whether_or_not_they_are_records() -> None:
    before = Transcript([Message("user", [Text("x")], id=f"m{i}", name="n" if i % 3 else None) for i in range(9)])
    after = Transcript([Message("user", [Text("x")]) for _ in range(9)])
    losses = difference(before, after)
    expected = {("message.id", "/messages/0/id", 9), ("message.name", "/messages/1/name", 6)}
    for _ in range(2):
        assert {(first.field, first.where, count) for first, count in losses.groups(lambda *_: None)} == expected
        assert len(losses) == len(losses.records)  # makes the records
    by_name = losses.groups(lambda name, _: name if name == "m4" else None)
    assert [(first.before, count) for first, count in by_name] == [("m0", 8), ("n", 6), ("m4", 1)]


def test_a_position_is_added_to_each_record_once() -> None:
    def locate(records: Iterable[Loss]) -> None:
        for record in records:
            record.line += 1

    before, after = (Transcript([Message("user", [Text("x")], id=id_)]) for id_ in ("m", None))
    for is_read in (False, True):
        losses = difference(before, after)
        assert not is_read or losses[0].line == 0
        losses.locate(locate)
        assert [first.line for first, _ in losses.groups(lambda *_: None)] == [1]
        assert [loss.line for loss in losses] == [loss.line for loss in losses] == [1]
