"""The laws find what breaks them: each is held against a dialect that is right, and against one that is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from convcli import dialects, testing
from convcli.engine import pipeline
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Text, Transcript
from convcli.proof.reasons import Loss, is_unsupported
from tests.support import acceptable_of, untouched

HUB = dialects.get("intermediate")
DOCUMENT: dict[str, Any] = {
    "convcli": 1,
    "model": "m-1",
    "messages": [
        {"role": "user", "name": "Ann", "parts": [{"type": "text", "text": "Hi."}]},
        {"role": "assistant", "parts": [{"type": "text", "text": "Hello."}], "usage": {"inputTokens": 7}},
    ],
    "extras": {"openai-chat": {"user": "u-1"}},
}
TRANSCRIPT = HUB.lift(DOCUMENT)


def with_lift(change: Callable[[Transcript], Transcript]) -> Dialect:
    return replace(HUB, lift=lambda document: change(HUB.lift(document)))


def with_write(change: Callable[[Any], Any]) -> Dialect:
    def write(transcript: Transcript, options: Options) -> Any:
        assert HUB.write is not None
        return change(HUB.write(transcript, options))

    return replace(HUB, write=write)


def breaks(law: str, holds: Callable[[], None]) -> None:
    with pytest.raises(AssertionError, match=f"^{law}: "):
        holds()


@pytest.mark.parametrize("name", ["intermediate", "openai-chat", "anthropic"])
def test_all_laws_hold_for_the_samples_of_a_dialect(name: str) -> None:
    dialect = dialects.get(name)
    for sample in acceptable_of(name)[:12]:
        testing.assert_laws(dialect, sample.document)


def test_l1a_finds_a_field_that_lift_forgets() -> None:
    testing.assert_keeps(HUB, DOCUMENT)
    forgetful = with_lift(lambda transcript: replace(transcript, model=None))
    with pytest.raises(AssertionError, match=r"^L1a: .* at /model$"):
        testing.assert_keeps(forgetful, DOCUMENT)


def test_l1a_finds_an_unknown_key_that_lift_forgets() -> None:
    forgetful = with_lift(lambda transcript: replace(transcript, extras=None))
    bare = without(DOCUMENT, "extras")
    with pytest.raises(AssertionError, match=r"^L1a: .* at /zz$"):
        testing.assert_keeps(forgetful, bare)


def test_l1a_lets_go_of_what_only_repeats_another_value() -> None:
    forgetful = with_lift(lambda transcript: replace(transcript, model=None))
    testing.assert_keeps(replace(forgetful, repeats=frozenset((*HUB.repeats, "/model"))), DOCUMENT)


def test_l1b_finds_a_pass_that_changes_what_is_clean() -> None:
    testing.assert_fits(HUB, DOCUMENT)
    meddling = replace(HUB, fit=(lambda transcript: replace(transcript, messages=transcript.messages[1:]),))
    breaks("L1b", lambda: testing.assert_fits(meddling, DOCUMENT))


def test_l1c_finds_a_field_that_write_forgets_and_does_not_mind_one_that_is_lacked() -> None:
    testing.assert_writes(HUB, TRANSCRIPT)
    nameless = with_write(lambda document: without(document, "messages", 0, "name"))
    breaks("L1c", lambda: testing.assert_writes(nameless, TRANSCRIPT))
    testing.assert_writes(replace(nameless, supports=HUB.supports_in() - {"message.name"}), TRANSCRIPT)


def test_l1c_names_the_part_that_fit_leaves_and_write_cannot_store() -> None:
    def write(document: Any) -> Any:
        parts = [part for message in document["messages"] for part in message["parts"]]
        return {**document, "ids": [part["id"] for part in parts if part["type"] != "text"]}

    parts = [{"type": "text", "text": "a"}, {"type": "reasoning", "text": "b"}]
    document = {"convcli": 1, "messages": [{"role": "assistant", "parts": parts}]}
    law = r"^L1c: fit of intermediate leaves a part Reasoning in message 0 \(assistant\), and write fails: KeyError"
    with pytest.raises(AssertionError, match=law):
        testing.assert_conversion(HUB, replace(with_write(write), carries_all=False), document)


def test_a_field_is_supported_with_what_is_in_it_and_around_it() -> None:
    dialect = replace(HUB, supports=frozenset(("tool_call.arguments", "settings", "image.data")))
    for field in ("tool_call.arguments.city", "tool_call", "settings.seed", "image", "image.data", "branch"):
        assert not is_unsupported(field, dialect, "transcript")
    for field in ("tool_call.metadata.signature", "tool_call.name", "image.url", "reasoning", "title", "extras.a.b"):
        assert is_unsupported(field, dialect, "transcript")


def test_l1c_minds_extras_of_the_owner_but_not_those_of_others() -> None:
    forgetful = replace(with_write(lambda document: without(document, "extras")), carries_all=False)
    testing.assert_writes(forgetful, TRANSCRIPT)
    breaks("L1c", lambda: testing.assert_writes(replace(forgetful, family="openai-chat"), TRANSCRIPT))


def test_l1d_finds_a_second_form() -> None:
    message = {"role": "user", "content": "Hi.", "name": None}
    chat = dialects.get("openai-chat")
    testing.assert_same(chat, {"messages": [message], "n": None})
    spelled = replace(chat, lift=lambda document: replace(chat.lift(document), extras={"form": {"x": 1}}))
    breaks("L1d", lambda: testing.assert_same(spelled, {"messages": [message]}))


def test_l2_finds_a_value_that_vanishes_and_l3_a_loss_of_nothing() -> None:
    shorter = replace(TRANSCRIPT, model=None)
    losses = pipeline.convert(DOCUMENT, HUB, dialects.get("openai-chat")).losses
    testing.assert_losses_are_exact(TRANSCRIPT, TRANSCRIPT, [])
    breaks("L2", lambda: testing.assert_losses_are_exact(TRANSCRIPT, shorter, []))
    breaks("L2", lambda: testing.assert_losses_are_exact(shorter, TRANSCRIPT, []))
    breaks("L3", lambda: testing.assert_losses_are_exact(TRANSCRIPT, TRANSCRIPT, losses))


@pytest.mark.parametrize(
    ("field", "is_false"),
    [
        ("extras.anthropic.metadata", True),  # the schema of Chat Completions names it
        ("extras.gemini.serviceTier", True),  # in another case
        ("extras.anthropic.container", False),
        ("settings.topK", False),
        ("settings.seed", True),
        ("createdAt", True),  # a response has it
        ("title", False),
    ],
)
def test_l3_finds_a_reason_that_the_schema_of_the_target_belies(field: str, is_false: bool) -> None:
    chat = dialects.get("openai-chat")
    loss = Loss("dropped", "", field, "context", "OpenAI Chat Completions cannot store this field", before="x")
    if is_false:
        breaks("L3", lambda: testing.assert_reasons_are_true(chat, [loss]))
    else:
        testing.assert_reasons_are_true(chat, [loss])
    testing.assert_reasons_are_true(chat, [replace(loss, why="convcli does not convert it to OpenAI Chat Completions")])


def test_l6_finds_parts_that_changed_places() -> None:
    one, two = (Message("user", [Text(text)]) for text in ("one", "two"))
    testing.assert_order_is_kept(Transcript([one, two]), Transcript([one, two]), [])
    breaks("L6", lambda: testing.assert_order_is_kept(Transcript([one, two]), Transcript([two, one]), []))


def test_l8_finds_a_writer_that_knows_a_transcript_by_its_identity() -> None:
    seen: set[int] = set()

    def marked(document: Any) -> Any:
        return {**document, "title": str(len(seen))}

    def write(transcript: Transcript, options: Options) -> Any:
        assert HUB.write is not None
        seen.add(id(transcript.messages))
        return marked(HUB.write(transcript, options))

    testing.assert_pure(HUB, HUB, DOCUMENT)
    breaks("L8", lambda: testing.assert_pure(HUB, replace(HUB, write=write), DOCUMENT))


def test_l8_finds_a_writer_that_changes_what_it_is_given() -> None:
    def write(transcript: Transcript, options: Options) -> Any:
        assert HUB.write is not None
        transcript.messages[0].name = None
        return HUB.write(transcript, options)

    breaks("L8", lambda: testing.assert_pure(HUB, replace(HUB, write=write), untouched(DOCUMENT)))


def test_l10_holds_for_a_document_that_loses_much() -> None:
    testing.assert_restores(HUB, dialects.get("openai-chat"), DOCUMENT)


SESSION = Rows([{"timestamp": "2026-01-01", "type": "session_meta", "payload": {"id": "x"}}, {"type": "event_msg"}])


@pytest.mark.parametrize("name", ["openclaw", "gemini-cli"])
def test_l11_the_session_of_another_program_is_refused_by_every_way_in(name: str) -> None:
    dialect = dialects.get(name)
    testing.assert_refuses_nothing(dialect, SESSION)
    assert [finding.code for finding in pipeline.validate(SESSION, dialect)] == ["no-messages"]


@pytest.mark.parametrize("name", ["openclaw", "gemini-cli"])
def test_l11_is_the_same_whether_a_dialect_recognises_the_document_or_not(name: str) -> None:
    dialect = dialects.get(name)
    blind = replace(dialect, detect=lambda document: None)
    for sample in acceptable_of(name):
        testing.assert_refuses_nothing(dialect, sample.document)
        testing.assert_refuses_nothing(blind, sample.document)


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("openai-chat", {"messages": []}),
        ("anthropic", {"messages": [], "max_tokens": 5}),
        ("gemini", {"contents": []}),
        ("openclaw", Rows([{"type": "session", "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"}])),
    ],
)
def test_an_empty_conversation_and_a_header_alone_are_not_refused(name: str, document: Any) -> None:
    dialect = dialects.get(name)
    testing.assert_refuses_nothing(dialect, document)
    found = "no-messages" in [finding.code for finding in pipeline.validate(document, dialect)]
    assert found == dialect.is_session, "in another dialect, nothing of the session would be left"


def without(document: Any, *path: str | int) -> Any:
    """A copy without the member at a path."""
    edited = untouched(document)
    holder = edited
    for step in path[:-1]:
        holder = holder[step]
    holder.pop(path[-1], None)
    return edited
