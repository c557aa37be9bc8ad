"""Other names for models: only the names change, and the report says whose wish that was."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.engine.model_names import name_of
from convcli.model.dialect import Options
from convcli.proof.reasons import SET
from convcli.validation import schemas
from tests.support import dumped, samples_of

NAMES = (("gpt-4*", "claude-a"), ("*", "other"))


@pytest.mark.parametrize(
    ("model", "name"), [("gpt-4.1", "claude-a"), ("gpt-5", "other"), ("GPT-4", "other"), ("", "other")]
)
def test_the_first_pattern_that_matches_counts(model: str, name: str) -> None:
    assert name_of(model, NAMES) == name
    assert name_of(model, NAMES[:1]) in (name, model)


def converted(document: Any, source: str, target: str, names: Any) -> pipeline.Conversion:
    return pipeline.convert(document, dialects.get(source), dialects.get(target), Options(models=names))


def test_a_renamed_model_is_a_change_that_the_user_asked_for() -> None:
    chat = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi."}]}
    done = converted(chat, "openai-chat", "anthropic", NAMES)
    assert done.document["model"] == "claude-a"
    assert [(loss.kind, loss.where, loss.why) for loss in done.losses] == [("changed", "/model", SET)]
    assert converted(chat, "openai-chat", "anthropic", (("gpt-5", "x"),)).losses == []


@pytest.mark.parametrize("dialect", ["openai-chat", "claude-code"])
def test_a_document_of_other_models_is_unchanged_in_its_own_dialect(dialect: str) -> None:
    for sample in samples_of(dialect):
        done = converted(sample.document, dialect, dialect, (("no-such-model", "x"),))
        assert (dumped(done.document), done.losses) == (dumped(sample.document), [])


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "intermediate"])
@pytest.mark.parametrize("source", ["openai-chat", "claude-code"])
def test_nothing_else_changes(source: str, target: str) -> None:
    for sample in samples_of(source):
        before = copy.deepcopy(sample.document)
        plain = converted(sample.document, source, target, (("no-such-model", "x"),))
        done = converted(sample.document, source, target, (("*", "renamed"),))
        assert dumped(sample.document) == dumped(before), "L8"
        assert schemas.accepts(target, done.document), "L5"
        others = [loss for loss in done.losses if loss.why != SET]
        assert others == plain.losses
        after = dialects.get(target).lift(done.document)
        assert {after.model, *(message.model for message in after.messages)} <= {"renamed", None}
