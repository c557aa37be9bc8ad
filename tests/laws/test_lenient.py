"""A value of a wrong type outside of the conversation is set aside and reported; within the conversation it is refused.

Whatever value of a sample gets a wrong type: either the document is refused, or the conversation is the same as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import pytest

from convcli import dialects
from convcli.engine import answers, lenient, pipeline
from convcli.engine.lenient import Relaxed, is_of_conversation
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import RefusedError
from convcli.model.transcript import Path, Transcript
from convcli.proof.difference import difference
from convcli.testing.planting import nodes
from convcli.validation import schemas
from convcli.wire.pointers import pointer
from tests.support import Sample, about, names, samples_of
from tests.tiers import is_exhaustive, targets_of, written

LENIENT = Options(lenient=True)
WITHOUT_METADATA = {"chat-text", "glaive", "harmony", "message-history", "toolace"}
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


class Wrong(NamedTuple):
    """A sample with one value of a wrong type, where that is, and what is read of the rest; None if it is refused."""

    sample: Sample
    document: Any
    path: Path
    rest: Relaxed | None


def kind_of_place(document: Any, path: Path) -> tuple[Any, ...]:
    """The place without indexes, and what each object on the way says that it is."""
    kind: list[Any] = []
    for step in path:
        document = document[step]
        said = document if isinstance(document, dict) else {}
        kind.append((step if isinstance(step, str) else "*", said.get("type"), said.get("role")))
    return tuple(kind)


def wrong_types(dialect: Dialect) -> Iterator[tuple[Sample, Any, Path]]:
    """The samples of a dialect, each with one value of a wrong type, and its path: once for each kind of place and of
    value in a sample, for the rows of a session are read alike."""
    for sample in samples_of(dialect.name):
        seen: set[Any] = set()
        for path, value in nodes(sample.document):
            if path and isinstance(path[-1], str) and not isinstance(value, (dict, list)):
                kind = repr((kind_of_place(sample.document, path), type(value)))
                wrong = edited(sample.document, path, {"zz": 5} if isinstance(value, bool) else [[5]])
                if kind not in seen and not schemas.accepts(dialect.name, wrong):
                    yield sample, wrong, path
                seen.add(kind)


@lru_cache(maxsize=1)
def chosen(name: str) -> list[Wrong]:
    """All of a dialect, in the usual tier a few."""
    dialect = dialects.get(name)
    every = list(wrong_types(dialect))
    some = every if is_exhaustive() else every[:: max(1, len(every) // FEW)][:FEW]
    return [Wrong(sample, wrong, path, lenient.relaxed(wrong, dialect)) for sample, wrong, path in some]


@pytest.mark.parametrize("name", names())
def test_what_is_set_aside_changes_no_conversation_and_is_a_finding_and_a_loss(name: str) -> None:
    """What the rest says is compared first; then the document is converted, as it is and with what is set aside."""
    dialect = dialects.get(name)
    others = map(dialects.get, (*targets_of(name), *written()))
    target = next(each for each in others if each is not dialect and not each.carries_all)
    before: dict[str, Transcript] = {}
    for sample, wrong, path, rest in chosen(name):
        if rest is None:
            continue
        with about(sample, path):
            if str(sample) not in before:
                before[str(sample)] = answers.lift(sample.document, dialect)
            losses = difference(before[str(sample)], rest.transcript, dialect)
            assert not [loss for loss in losses if is_of_conversation(loss)]
            with pytest.raises(RefusedError) as refused:
                pipeline.convert(wrong, dialect, target)
            assert refused.value.findings[0].help
            result, where = pipeline.convert(wrong, dialect, target, LENIENT), pointer(path)
            warned = [each.where for each in result.findings if each.severity == "warning"]
            assert any(where.startswith(each) or each.startswith(f"{where}/") for each in warned)
            assert any(f"{where}/".startswith(f"{each.where}/") for each in result.losses if each.why == lenient.WHY)
            assert any(finding.severity == "error" for finding in pipeline.validate(wrong, dialect))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", names())
def test_every_dialect_has_metadata_that_may_have_a_wrong_type(name: str) -> None:
    is_any = any(wrong.rest is not None for wrong in chosen(name))
    assert is_any == (name not in WITHOUT_METADATA)
