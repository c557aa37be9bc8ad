"""A session in another program and back: what is lost is reported on one of the two ways, the rest is equal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from convcli import dialects, testing
from convcli.engine import pipeline
from convcli.model.transcript import Text, ToolCall, ToolResult, Transcript
from convcli.proof.difference import difference
from convcli.proof.reasons import Loss
from tests.support import samples_of

WAYS = [("claude-code", "codex"), ("openclaw", "gemini-cli")]
CASES = [pytest.param(sample, way, id=f"{sample}-{way[1]}") for way in WAYS for sample in samples_of(way[0])]
WHOLE = {"branch", "message", "event"}
"""Losses that take everything in a message with them."""


def records_of(losses: Iterable[Loss]) -> set[str]:
    """What losses are of: an error that became a text is one of a result, and a row of an event is the event."""
    records = {loss.field.split(".")[0] for loss in losses}
    return {"event" if record == "opaque" else record for record in records}


def words(transcript: Transcript) -> list[Any]:
    parts = [(message.role, part) for message in transcript.messages for part in message.parts]
    return [(role, part.text) for role, part in parts if isinstance(part, Text)]


def calls(transcript: Transcript) -> list[Any]:
    parts = [part for message in transcript.messages for part in message.parts]
    return [(part.name, part.arguments) for part in parts if isinstance(part, ToolCall)]


def results(transcript: Transcript) -> list[Any]:
    parts = [part for message in transcript.messages for part in message.parts]
    return [(part.name, part.kind, part.value) for part in parts if isinstance(part, ToolResult)]


@pytest.mark.parametrize(("sample", "way"), CASES)
def test_a_session_comes_back_but_for_what_was_reported(sample: Any, way: tuple[str, str]) -> None:
    own, other = map(dialects.get, way)
    there = pipeline.convert(sample.document, own, other)
    back = pipeline.convert(there.document, other, own)
    reported = records_of([*there.losses, *back.losses])
    before, after = own.lift(sample.document), own.lift(back.document)
    lost = records_of(difference(before, after, own, own))
    assert lost <= reported
    for record, values in {"text": words, "tool_call": calls, "tool_result": results}.items():
        if reported.isdisjoint({record, *WHOLE}) and "message.role" not in {loss.field for loss in there.losses}:
            assert values(before) == values(after)


@pytest.mark.parametrize(("sample", "way"), CASES)
def test_the_restore_record_gives_the_original(sample: Any, way: tuple[str, str]) -> None:
    own, other = map(dialects.get, way)
    testing.assert_restores(own, other, sample.document)
