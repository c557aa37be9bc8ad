"""Facts planted in documents: every string and number that may be another one is made one that stands nowhere else.

What is planted can be searched for: in an output, and in the losses. Nothing here names a dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.document import Rows
from convcli.model.transcript import Path
from convcli.testing.planting import seeds
from convcli.validation import schemas
from tests.support import Sample, untouched

Planted: TypeAlias = dict[Path, str]
"""What to search for, by the place where it was planted."""

LINK = re.compile(r"id$|name$|names$|tool$|required$|key$", re.IGNORECASE)
"""Keys whose equal values are one fact: they tie calls to results and names to definitions."""
HOW_IT_WAS_CUT = frozenset(
    ("type", "role", "object", "index", "sequence_number", "output_index", "content_index", "summary_index",
     "annotation_index")
)  # fmt: skip
"""Keys that say what an event of a stream is and where it belongs: another value makes another stream."""


class Garden(NamedTuple):
    """A document and what was planted in it."""

    document: Any
    planted: Planted
    is_stream: bool
    """Is it a document that comes in events, or a log of rows?"""


def leaf_paths(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The strings and numbers inside a JSON value, with their paths."""
    if isinstance(value, (dict, list)):
        for step, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaf_paths(child, (*path, step))
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield path, value


def at(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


def planted(sample: Sample) -> Garden:
    """The document of a sample with as much planted as its schema and its rules allow."""
    stream = isinstance(sample.document, Rows) or "sse" in dialects.get(sample.dialect).framings
    garden = Garden(untouched(sample.document), {}, stream)
    for number, paths in enumerate(_facts(garden)):
        if not _plant(garden, sample.dialect, paths, number) and len(paths) > 1:
            for more, path in enumerate(paths):
                _plant(garden, sample.dialect, [path], 10_000 * (more + 1) + number)
    return garden


def _facts(garden: Garden) -> list[list[Path]]:
    """The places of each fact: in a stream what is said again is the same fact, elsewhere only what ties things."""
    found: dict[Any, list[Path]] = {}
    for path, value in leaf_paths(garden.document):
        key = next((step for step in reversed(path) if isinstance(step, str)), "")
        if garden.is_stream and key in HOW_IT_WAS_CUT:
            continue
        same = (key, value) if garden.is_stream else value if isinstance(value, str) and LINK.search(key) else path
        found.setdefault(same, []).append(path)
    return list(found.values())


def _plant(garden: Garden, dialect: str, paths: list[Path], number: int) -> bool:
    for value, word in seeds(at(garden.document, paths[0]), number):
        before = [at(garden.document, path) for path in paths]
        _set(garden.document, paths, [value] * len(paths))
        if _is_good(garden.document, dialect):
            garden.planted.update(dict.fromkeys(paths, word))
            return True
        _set(garden.document, paths, before)
    return False


def _set(document: Any, paths: list[Path], values: list[Any]) -> None:
    for path, value in zip(paths, values, strict=True):
        at(document, path[:-1])[path[-1]] = value


def _is_good(document: Any, dialect: str) -> bool:
    return schemas.accepts(dialect, document) and not pipeline.validate(document, dialects.get(dialect))
