"""An unknown key of the vendor with the name under which a dialect groups extras is kept, as any unknown key is.

A dialect keeps the extras of an object that is no node of the transcript under a key of its own, such as `row`. The
vendor may have a key of that name at the same place.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from convcli import dialects
from convcli.kit.objects import APART
from convcli.model.dialect import Dialect
from convcli.model.errors import ConvcliError
from convcli.model.transcript import Path
from convcli.validation import schemas
from tests import tiers
from tests.planting import at
from tests.support import about, facts, names, samples_of

WORD = "planted in an unknown key"
NEUTRAL = "zzkey"
CASES = 20
"""The number of keys that are planted in a dialect in the usual tier."""

Case = tuple[Any, Path, str]
"""A document, the path of an object in it, and a name of a group."""


@pytest.mark.parametrize("source", names())
def test_an_unknown_key_with_the_name_of_a_group_is_kept(source: str) -> None:
    dialect = dialects.get(source)
    gone = [(path, key) for document, path, key in cases_of(dialect) if is_gone(dialect, document, path, key)]
    assert gone == []


def cases_of(dialect: Dialect) -> list[Case]:
    """All cases of a dialect, in the usual tier the same few every time."""
    return list(tiers.few(sorted(all_cases(dialect), key=lambda case: zlib.crc32(repr(case[1:]).encode())), CASES))


def all_cases(dialect: Dialect) -> Iterator[Case]:
    """Every name of a group in every kind of object that does not have this key."""
    documents = [sample.document for sample in tiers.few(samples_of(dialect.name), 3)]
    groups = sorted({name for document in documents for name in group_names(facts(dialect.lift(document)))})
    for document in documents:
        seen = set()
        for path, kind in objects_in(document):
            for key in groups:
                if key not in at(document, path) and (kind, key) not in seen:
                    seen.add((kind, key))
                    yield document, path, key


def group_names(value: Any, *, is_extras: bool = False) -> Iterator[str]:
    """The extras keys with an object."""
    if isinstance(value, list):
        for child in value:
            yield from group_names(child)
    elif isinstance(value, dict):
        for key, child in value.items():
            if is_extras and isinstance(child, dict):
                yield from (name for name in child if isinstance(child[name], dict) and name != APART)
            else:
                yield from group_names(child, is_extras=key == "extras")


def objects_in(value: Any, path: Path = (), kind: tuple[str, ...] = ()) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The objects in a document, with their paths and what they are: the keys on the way, and types and roles."""
    if isinstance(value, dict):
        kind = (*kind, *(str(value[key]) for key in ("type", "role") if isinstance(value.get(key), str)))
        yield path, kind
        for key, child in value.items():
            yield from objects_in(child, (*path, key), (*kind, key))
    elif isinstance(value, list):
        for i, child in enumerate(value):
            yield from objects_in(child, (*path, i), kind)


def is_gone(dialect: Dialect, document: Any, path: Path, key: str) -> bool:
    """Is the key not in the transcript, though another unknown key is?"""
    with about(path, key):
        return is_kept(dialect, document, path, key) is False and is_kept(dialect, document, path, NEUTRAL) is True


def is_kept(dialect: Dialect, document: Any, path: Path, key: str) -> bool | None:
    """Is a text under this key in the transcript, and one in an object? None if the document is refused."""
    node, kept = at(document, path), list[bool]()
    try:
        for value in (WORD, {"inside": WORD}):
            node[key] = value
            if schemas.accepts(dialect.name, document):
                kept.append(WORD in json.dumps(facts(dialect.lift(document))))
    except ConvcliError:
        return None
    finally:
        del node[key]
    return all(kept) if kept else None
