"""The words that the schema of a dialect defines: its keys, and the values that it lists. They are nobody's secret."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from convcli.validation import schemas


@cache
def words_of(dialect: str) -> frozenset[str]:
    """Returns the words of a dialect."""
    return frozenset(_words(schemas.schema(dialect)))


def _words(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for item in schema:
            yield from _words(item)
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            yield from value
        elif key in ("enum", "const"):
            yield from _listed(value)
        yield from _words(value)


def _listed(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            yield item
