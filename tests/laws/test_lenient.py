"""A value of a wrong type outside of the conversation is set aside and reported; within the conversation it is refused.

Whatever value of a sample gets a wrong type: either the document is refused, or the conversation is the same as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from convcli import dialects
from convcli.engine import answers, lenient, pipeline
from convcli.engine.lenient import OWNER, is_of_conversation
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import RefusedError
from convcli.model.transcript import Path
from convcli.proof.difference import difference
from convcli.testing.planting import nodes
from convcli.validation import schemas
from convcli.wire.pointers import pointer
from tests.support import about, names, samples_of
from tests.tiers import is_exhaustive, targets_of

LENIENT = Options(lenient=True)
WITHOUT_METADATA = {"harmony", "message-history"}
"""Dialects whose samples have no metadata of a stated type."""
FEW = 5
"""Values of a dialect that get a wrong type in the usual tier."""


def edited(document: Any, path: Path, value: Any) -> Any:
    """A copy with another value at a path."""
    if not path:
        return value
    if isinstance(document, dict):
        return {**document, path[0]: edited(document[path[0]], path[1:], value)}
    items = [edited(item, path[1:], value) if i == path[0] else item for i, item in enumerate(document)]
    return Rows(items, document.lines, document.companion) if isinstance(document, Rows) else items


def wrong_types(dialect: Dialect) -> Iterator[tuple[Any, Any, Path]]:
    """The samples of a dialect, each with one value of a wrong type, and its path."""
    for sample in samples_of(dialect.name):
        for path, value in nodes(sample.document):
            if path and isinstance(path[-1], str) and not isinstance(value, (dict, list)):
                wrong = edited(sample.document, path, {"zz": 5} if isinstance(value, bool) else [[5]])
                if not schemas.accepts(dialect.name, wrong):
                    yield sample, wrong, path


def chosen(dialect: Dialect) -> list[tuple[Any, Any, Path]]:
    every = list(wrong_types(dialect))
    return every if is_exhaustive() else every[:: max(1, len(every) // FEW)][:FEW]


@pytest.mark.parametrize("name", names())
def test_a_wrong_type_is_refused_or_changes_no_conversation(name: str) -> None:
    dialect = dialects.get(name)
    for sample, wrong, path in chosen(dialect):
        with about(sample, path):
            before = answers.lift(sample.document, dialect)
            rest = lenient.relaxed(wrong, dialect)
            if rest is not None:
                losses = difference(before, rest.transcript, dialect)
                assert not [loss for loss in losses if is_of_conversation(loss)]


@pytest.mark.parametrize("name", names())
def test_what_is_set_aside_is_a_finding_and_a_loss(name: str) -> None:
    dialect = dialects.get(name)
    target = next(each for each in map(dialects.get, targets_of(name)) if each is not dialect and not each.carries_all)
    for sample, wrong, path in chosen(dialect):
        with about(sample, path):
            if lenient.relaxed(wrong, dialect) is None:
                continue
            with pytest.raises(RefusedError) as refused:
                pipeline.convert(wrong, dialect, target)
            assert refused.value.findings[0].help
            result, where = pipeline.convert(wrong, dialect, target, LENIENT), pointer(path)
            assert any(where.startswith(each.where) for each in result.findings if each.severity == "warning")
            assert any(f"{where}/".startswith(f"{each.where}/") for each in result.losses if each.why == lenient.WHY)
            assert any(finding.severity == "error" for finding in pipeline.validate(wrong, dialect))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", names())
def test_every_dialect_has_metadata_that_may_have_a_wrong_type(name: str) -> None:
    dialect = dialects.get(name)
    is_any = any(lenient.relaxed(wrong, dialect) is not None for _, wrong, _ in wrong_types(dialect))
    assert is_any == (name not in WITHOUT_METADATA)


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
