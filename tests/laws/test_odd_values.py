"""Law L1a for values that no sample has: what stands in place of a known value, under a known key of another object, at
an end of a list, or under an unknown key, with any type that the schema accepts, is in the transcript. And the
transcript can be stored: it passes the schema of the intermediate format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import resources
from random import Random
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import answers
from convcli.model.document import Rows, with_items, with_value
from convcli.model.errors import ConvcliError
from convcli.model.transcript import Path
from convcli.testing import is_repeated
from convcli.testing.planting import is_in, nodes
from convcli.validation import schemas
from tests import tiers
from tests.laws.test_edits import LARGE
from tests.support import about, dumped, facts, names, samples_of

TRIES = 2000 if tiers.is_exhaustive() else 60
"""Documents of a dialect that are tried."""


def values(number: int) -> list[tuple[Any, str]]:
    """Values of every type of JSON that stand nowhere else, each with the word to search for."""
    word = f"zq{number:06d}q"
    lists = [[word], [{word: 1}], [[word]]]
    objects = [{word: 1}, {"k": {word: "v"}}, {"type": word, "text": "x"}, {"type": "text", "text": word}]
    texts = [word, f"The {word} keeps a parrot.", json.dumps({"a": word})]
    numbers = [(70_000_000 + number, str(70_000_000 + number)), (80_000_000.123456 + number, str(80_000_000 + number))]
    return [*((value, word) for value in (*texts, *objects, *lists)), *numbers]


def edits(name: str, random: Random) -> Iterator[tuple[Any, Path, Any, str]]:
    """Documents that their schema allows, each with a value at a path, and the word to search for."""
    kinds: dict[Any, tuple[Any, Path, Any]] = {}
    for sample in samples_of(name):
        for path, value in nodes(sample.document) if len(dumped(sample.document)) <= LARGE else ():
            place = tuple("*" if isinstance(step, int) else step for step in path)
            keys = frozenset(value) if isinstance(value, dict) else type(value)
            kinds.setdefault((place, keys), (sample.document, path, value))
    places, known = list(kinds.values()), sorted(schemas.vocabulary(name))
    for number in range(TRIES):
        document, path, value = random.choice(places)
        planted, word = random.choice(values(number))
        if isinstance(value, dict) and random.random() < 0.7:
            key = random.choice([*known, f"{word}k"])
            edited, at = (
                (document, path) if key in value else (with_value(document, (*path, key), planted), (*path, key))
            )
        elif isinstance(value, list) and random.random() < 0.7:
            edited, at = _longer(document, path, value, planted, random)
        else:
            edited, at = (with_value(document, path, planted), path) if path else (document, path)
        if edited is not document and schemas.accepts(name, edited):
            yield edited, at, planted, word


def _longer(document: Any, path: Path, value: list[Any], planted: Any, random: Random) -> tuple[Any, Path]:
    """Returns a document with a value before the first or behind the last of a list, and its path."""
    index = random.choice([0, len(value)])
    items = [*value[:index], planted, *value[index:]]
    if isinstance(value, Rows):
        return Rows(items, [*range(1, len(items) + 1)], value.companion), (index,)
    return (with_value(document, path, with_items(value, items)) if path else items), (*path, index)


EMPTY: tuple[Any, ...] = ("", [], {})
PAGE = resources.files("convcli.pages").joinpath("losses.md").read_text("utf-8")
ABSENT = frozenset(re.findall(r"[\w-]+", PAGE.partition("in some objects of ")[2].partition(":")[0])) - {"and"}
"""The dialects that read an empty value as null in some objects, as the page about losses names them."""


def kept_empty(name: str) -> dict[tuple[Path, frozenset[str]], list[bool]]:
    """Returns for each object of the samples, by its path without indexes and its keys, which empty values of an
    unknown key are kept; without those that the schema does not allow."""
    dialect, kept = dialects.get(name), dict[tuple[Path, frozenset[str]], list[bool]]()
    small = (sample.document for sample in samples_of(name) if len(dumped(sample.document)) <= LARGE)
    for document in small:
        for path, value in ((path, value) for path, value in nodes(document) if isinstance(value, dict)):
            place = tuple("*" if isinstance(step, int) else step for step in path), frozenset(value)
            if place not in kept:
                edited = (with_value(document, (*path, "zzq"), empty) for empty in EMPTY)
                allowed = [one for one in edited if schemas.accepts(name, one)]
                kept[place] = ['"zzq"' in json.dumps(facts(answers.lift(one, dialect))) for one in allowed]
    return kept


@pytest.mark.parametrize("name", names())
def test_an_empty_value_of_an_unknown_key_is_kept_where_the_page_does_not_say_otherwise(name: str) -> None:
    kept = kept_empty(name)
    assert [path for path, values in kept.items() if len(set(values)) > 1] == []
    assert not all(map(all, kept.values())) if name in ABSENT else all(map(all, kept.values()))


@pytest.mark.parametrize("name", names())
def test_lift_keeps_a_value_of_any_type_wherever_the_schema_accepts_it(name: str) -> None:
    dialect = dialects.get(name)
    for document, path, value, word in edits(name, Random(name)):
        with about(path, value):
            try:
                stored = facts(answers.lift(document, dialect))
            except ConvcliError:
                continue
            assert not schemas.findings("intermediate", stored)
            assert is_repeated(dialect, path) or is_in(json.dumps(stored, ensure_ascii=False), word, value)
