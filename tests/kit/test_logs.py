"""Logs, five of them of public repositories, each with a table of at most 15 lines: the laws hold for them."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects, testing
from convcli.engine import detection, pipeline
from convcli.families import tables
from convcli.kit.sessions import event_of
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.transcript import Transcript
from convcli.validation import schemas
from convcli.wire import exact_json
from tests import strategies, tiers
from tests.support import about, acceptable_of, facts, untouched

LOGS = Path(__file__).parent / "logs"
NAMES = sorted(table.stem for table in LOGS.glob("*.toml"))
OTHERS = ("openai-chat", "anthropic", "claude-code", "sharegpt")


def dialect_of(name: str) -> Dialect:
    return dialects.get(os.path.relpath(LOGS / f"{name}.toml"))


@cache
def documents_of(name: str) -> list[Any]:
    path = next(LOGS.glob(f"{name}.json*"))
    if path.suffix == ".jsonl":
        return [Rows(exact_json.parse(line) for line in path.read_bytes().splitlines())]
    value = exact_json.parse(path.read_bytes())
    return value if name in ("sgd", "taskmaster", "convai") else [value]


def test_a_table_has_at_most_fifteen_lines() -> None:
    lengths = {table.stem: len(table.read_text().splitlines()) for table in LOGS.glob("*.toml")}
    assert len(lengths) >= 14
    assert max(lengths.values()) <= 15


@pytest.mark.parametrize("name", NAMES)
def test_a_log_is_valid_and_recognized(name: str) -> None:
    dialect = dialect_of(name)
    for document in documents_of(name):
        assert schemas.findings(dialect.name, document) == []
        assert pipeline.validate(document, dialect) == []
        assert detection.evidence(document, dialect) is not None


@pytest.mark.parametrize("name", NAMES)
def test_the_laws_hold_for_a_log(name: str) -> None:
    for document in documents_of(name):
        testing.assert_laws(dialect_of(name), document)


@pytest.mark.parametrize("name", NAMES)
def test_a_log_keeps_the_laws_to_other_dialects_and_from_them(name: str) -> None:
    for other in OTHERS:
        for document in documents_of(name):
            testing.assert_conversion(dialect_of(name), dialects.get(other), document)
        for sample in tiers.few(acceptable_of(other), 4):
            with about(sample):
                testing.assert_writes(dialect_of(name), dialects.get(other).lift(sample.document))
                testing.assert_conversion(dialects.get(other), dialect_of(name), sample.document)


@pytest.mark.parametrize("name", NAMES)
@strategies.with_any_transcript(tiers.examples(100))
def test_the_laws_hold_for_any_transcript_written_by_a_table(name: str, transcript: Transcript) -> None:
    dialect = dialect_of(name)
    before = untouched(transcript)
    conversion = pipeline.lower(transcript, dialect)
    assert facts(transcript) == facts(before)
    assert schemas.findings(dialect.name, conversion.document) == []
    testing.assert_losses_are_exact(transcript, dialect.lift(conversion.document), conversion.losses)
    testing.assert_stable(dialect, conversion.document)
    testing.assert_writes(dialect, strategies.in_normal_form(transcript))


def test_steps_of_its_own_undo_and_join_rows_of_a_table() -> None:
    table = {"lines": True, "role": "k", "roles": {"human": "user", "say": "assistant"}, "text": "txt"}
    rows = tables.built_in("undo-log", table, specification="made up")

    def lift(document: Any) -> Transcript:
        transcript = rows.lift(document)
        undone = [i - 1 for i, row in enumerate(document) if row["k"] == "undo"]
        messages = enumerate(transcript.messages)
        transcript.messages = [event_of("undo-log", document[i]) if i in undone else message for i, message in messages]
        return transcript

    dialect = tables.built_in("undo-log", table, specification="made up", lift=lift, write=rows.write)
    document = Rows([{"k": "human", "txt": "Delete all."}, {"k": "undo"}, {"k": "human", "txt": "Keep all."}])
    transcript = dialect.lift(document)
    assert [message.role for message in transcript.messages] == ["event", "event", "user"]
    assert dialect.lower(transcript) == document
