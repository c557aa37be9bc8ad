"""Values of a wrong type: what is set aside, where it is kept, and what remains an error."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import convcli
from convcli import dialects
from convcli.engine import lenient, pipeline
from convcli.engine.lenient import OWNER
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.errors import RefusedError
from tests.support import samples_of

LENIENT = Options(lenient=True)


def test_the_intermediate_format_stores_what_was_set_aside_and_its_own_dialect_keeps_it() -> None:
    codex = dialects.get("codex")
    rows = Rows([{**row, "timestamp": 5} for row in samples_of("codex")[0].document])
    result = pipeline.convert(rows, codex, dialects.get("intermediate"), LENIENT)
    assert result.document["extras"][OWNER] == {f"/{i}/timestamp": 5 for i in range(len(rows))}
    assert not [loss for loss in result.losses if loss.kind == "dropped"]
    same = pipeline.convert(rows, codex, codex, LENIENT)
    assert same.document == rows
    assert not same.losses
    assert len(same.findings) == len(rows)


def test_a_good_document_is_converted_as_without_the_option() -> None:
    chat, gemini = dialects.get("openai-chat"), dialects.get("gemini")
    for sample in samples_of("openai-chat"):
        strict = pipeline.convert(sample.document, chat, gemini)
        result = pipeline.convert(sample.document, chat, gemini, LENIENT)
        assert result.document == strict.document
        assert result.findings == strict.findings
        assert msgspec.to_builtins(result.losses) == msgspec.to_builtins(strict.losses)


CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}


@pytest.mark.parametrize(
    "wrong",
    [
        {**CHAT, "messages": [{"role": "user", "content": 5}]},
        {**CHAT, "messages": [{"role": 5, "content": "Hi."}]},
        {**CHAT, "messages": [*CHAT["messages"], {"role": "tool", "tool_call_id": 5, "content": "r"}]},
        {**CHAT, "tools": [{"type": "function", "function": {"name": 5}}]},
        {**CHAT, "messages": "Hi there, this is a text."},
        {**CHAT, "model": 5, "messages": [{"content": "Hi."}]},
    ],
)
def test_a_wrong_type_within_the_conversation_is_refused(wrong: Any) -> None:
    with pytest.raises(RefusedError):
        pipeline.convert(wrong, dialects.get("openai-chat"), dialects.get("gemini"), LENIENT)


def test_an_item_is_set_aside_with_its_list() -> None:
    rest = lenient.relaxed({**CHAT, "stop": [1, 2], "temperature": "0.5"}, dialects.get("openai-chat"))
    assert rest is not None
    assert rest.document == CHAT
    assert rest.transcript.extras == {OWNER: {"/stop": [1, 2], "/temperature": "0.5"}}


def test_the_library_has_the_same_option() -> None:
    wrong = {**CHAT, "temperature": "0.5"}
    with pytest.raises(RefusedError) as refused:
        convcli.convert(wrong, "gemini", source="openai-chat")
    assert refused.value.findings[0].help == lenient.ADVICE
    result = convcli.convert(wrong, "gemini", source="openai-chat", lenient=True)
    assert [(loss.where, loss.field) for loss in result.losses if loss.why == lenient.WHY] == [
        ("/temperature", "extras.openai-chat.temperature")
    ]
    assert convcli.lift(wrong, source="openai-chat", lenient=True).messages == convcli.lift(CHAT).messages
    [outcome] = convcli.convert_lines([msgspec.json.encode(wrong)], "gemini", source="openai-chat", lenient=True)
    assert outcome.data is not None
    assert [finding.severity for finding in outcome.findings] == ["warning"]


def test_a_set_key_is_written_into_a_document_read_leniently() -> None:
    result = convcli.convert({**CHAT, "stop": 5}, "openai-chat", source="openai-chat", lenient=True, set={"seed": 7})
    assert result.document == {**CHAT, "seed": 7}
    assert {loss.where for loss in result.losses} == {"/stop", "/seed"}


def test_references_between_messages_are_part_of_the_conversation() -> None:
    rows = samples_of("claude-code")[0].document
    wrong = Rows([{**row, "parentUuid": 5} if "parentUuid" in row else row for row in rows])
    assert lenient.relaxed(wrong, dialects.get("claude-code")) is None
