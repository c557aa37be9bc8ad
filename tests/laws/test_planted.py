"""The promise, from outside: what is planted in a document is in the output, or a loss tells it where it was.

That it is in the transcript is law L1a (`convcli.testing.assert_keeps`).
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

import msgspec
import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.transcript import Path
from convcli.proof.reasons import Loss
from convcli.testing.planting import is_in
from convcli.wire.pointers import steps
from tests import tiers
from tests.planting import Garden, at, leaf_paths, planted
from tests.support import facts, names, samples_of


@lru_cache(maxsize=1)
def gardens(source: str) -> list[tuple[str, Garden]]:
    return [(str(sample), planted(sample)) for sample in tiers.few(samples_of(source), 3)]


@pytest.mark.parametrize("source", names())
def test_what_is_planted_is_in_the_output_or_told_at_its_place(source: str) -> None:
    dialect = dialects.get(source)
    for name, garden in gardens(source):
        before = text_of(facts(dialect.lift(garden.document)))
        kept = {path: word for path, word in garden.planted.items() if word in before}
        for target in tiers.targets_of(source):
            conversion = pipeline.convert(garden.document, dialect, dialects.get(target))
            written = text_of(conversion.document)
            losses = [(loss, text_of(without_clean_messages(loss.before))) for loss in conversion.losses]
            for path, word in kept.items():
                if not is_in(written, word, at(garden.document, path)):
                    assert_told(losses, garden, path, f"{name} to {target}")


def assert_told(losses: list[tuple[Loss, str]], garden: Garden, path: Path, where: str) -> None:
    word = garden.planted[path]
    limited_to = [loss for loss, text in losses if word in text or word in loss.field]  # a log may name keys as values
    if not limited_to and is_count(path):  # counts are added up
        return
    assert limited_to, f"{where}: {path} is gone, and no loss tells it"
    twins = [twin for twin, same in garden.planted.items() if same == word]
    found = any(is_there(loss, twin) or begins(loss, garden, twin) for loss in limited_to for twin in twins)
    assert found, f"{where}: {path} is told at {[loss.where for loss in limited_to]}"


def is_there(loss: Loss, path: Path) -> bool:
    """Does the loss point at this node, at one inside it, or at one around it that is not the whole document?"""
    place, leaf = steps(loss.where), tuple(map(str, path))
    may_be_whole = len(path) == 1 or loss.field.startswith("tool_result")  # a document may be one result
    is_around = leaf[: len(place)] == place and (place != () or may_be_whole)
    return is_around or place[: len(leaf)] == leaf


def begins(loss: Loss, garden: Garden, path: Path) -> bool:
    """In a stream: does it point at the event with which something began of which this is a piece?"""
    place = steps(loss.where)
    if not garden.is_stream or not place or int(place[0]) > int(path[0]):
        return False
    whole = [leaf for _, leaf in leaf_paths(without_clean_messages(loss.before)) if leaf == at(garden.document, path)]
    is_assembled = loss.field.split(".")[0] in ("text", "audio", "reasoning", "tool_call", "branch")
    return not whole or is_assembled or is_of_one_step(garden.document[int(place[0])], garden.document[int(path[0])])


def is_of_one_step(first: Any, event: Any) -> bool:
    """The events of a step or block have its number; what no field has of it is told where it begins."""
    return isinstance(first.get("index"), int) and first["index"] == event.get("index")


def is_count(path: Path) -> bool:
    return any(re.search("(?i)usage|token|_count", str(step)) for step in path)


def without_clean_messages(value: Any) -> Any:
    return None if value is msgspec.UNSET else msgspec.to_builtins(value)


def text_of(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
