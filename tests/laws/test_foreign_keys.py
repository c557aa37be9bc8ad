"""A key that belongs to another kind of object, with a value of any type, gets an answer: a document or a ConvcliError.

Schemas are open and state keys by kind of object. What no schema states, no reader may rely on.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import answers, pipeline
from convcli.model.document import with_value
from convcli.model.errors import ConvcliError
from convcli.model.transcript import Path
from convcli.validation import schemas
from tests import tiers
from tests.laws.test_edits import INSIDE, LARGE, nodes
from tests.laws.test_planted import is_count
from tests.support import Sample, about, dumped, facts, names, samples_of

VALUES: list[Any] = ["x", "", 7, 2.5, True, None, ["x"], [[]], [{"k": "x"}], {"k": "x"}, {"type": "x"}, [], {}]
"""Values of every type of JSON: one of them is of the wrong type for any key."""
TRIES = 1500 if tiers.is_exhaustive() else 16
"""Documents of a dialect that are tried."""


def objects(name: str) -> Iterator[tuple[Sample, Path, Any]]:
    """The objects of a dialect's samples: one for each place and set of keys."""
    seen = set[Any]()
    for sample in samples_of(name):
        for path, value in nodes(sample.document) if len(dumped(sample.document)) <= LARGE else ():
            place = tuple("*" if isinstance(step, int) else step for step in path)
            if isinstance(value, dict) and INSIDE not in path and (place, frozenset(value)) not in seen:
                seen.add((place, frozenset(value)))
                yield sample, path, value


def with_foreign_keys(name: str, random: Random) -> Iterator[tuple[Any, str]]:
    """Documents that their schema allows, with a key of the dialect in an object that does not have it."""
    places = list(objects(name))
    keys = sorted(schemas.vocabulary(name).union(*(value for *_, value in places)))
    for _ in range(TRIES if places else 0):
        sample, path, value = random.choice(places)
        key, other = random.choice(keys), copy.deepcopy(random.choice(VALUES))
        if key not in value:
            document = with_value(sample.document, (*path, key), other)
            if schemas.accepts(name, document):
                yield document, f"{sample} with {key}: {other!r} at {path}"


@pytest.mark.parametrize("name", names())
def test_a_key_of_another_kind_of_object_gets_an_answer(name: str) -> None:
    dialect = dialects.get(name)
    target = dialects.get("openai-chat" if name != "openai-chat" else "anthropic")
    for document, what in with_foreign_keys(name, Random(name)):
        with about(what):
            pipeline.validate(document, dialect)
            with suppress(ConvcliError):
                pipeline.convert(document, dialect, target)


@pytest.mark.parametrize("name", names())
def test_zero_and_false_under_an_unknown_key_are_kept(name: str) -> None:
    """Except where numbers are counts: zero of them is none."""
    dialect = dialects.get(name)
    for sample, path, _ in objects(name):
        for value in (0, False) if not is_count(path) else ():
            document = with_value(sample.document, (*path, "zzkey"), value)
            if schemas.accepts(name, document):
                with about(sample, path, value), suppress(ConvcliError):
                    assert "zzkey" in json.dumps(facts(answers.lift(document, dialect)))
