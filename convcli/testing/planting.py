"""Plants unique values in documents, so that they can be searched for in the result."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import reduce
from itertools import chain
from operator import getitem
from typing import Any

from convcli.model.document import with_value
from convcli.model.transcript import Path
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

UNKNOWN_KEY = "zz"
"""A key that no vendor has."""
TIME = pattern(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))")
BASE64 = pattern(r"(?:[A-Za-z0-9+/]{4})+={0,2}")


def plantable(document: Any) -> Iterator[Path]:
    """Yields the paths of every string and number of a document, and one unknown key per object."""
    for path, node in nodes(document):
        if isinstance(node, dict) and UNKNOWN_KEY not in node:
            yield (*path, UNKNOWN_KEY)
        elif isinstance(node, (str, int, float)) and not isinstance(node, bool):
            yield path


def plant(document: Any, path: Path, number: int, accepts: Callable[[Any], bool]) -> tuple[Any, Any, str] | None:
    """Plants a unique value at a path.

    Returns the edited document, the value, and the word to search for; None if nothing else is accepted there. Only
    what is on the path is copied.
    """
    if not path:
        return None
    is_new = path[-1] == UNKNOWN_KEY
    choice = chain(seeds("", number), seeds(0, number)) if is_new else seeds(reduce(getitem, path, document), number)
    for value, word in choice:
        edited = with_value(document, path, value)
        if accepts(edited):
            return edited, value, word
    return None


def seeds(value: Any, number: int) -> Iterator[tuple[Any, str]]:
    """Yields values to plant instead of one, each with the word to search for."""
    word = f"zq{number:06d}q"
    if isinstance(value, int):
        yield from ((each, str(each)) for each in (70_000_000 + number, 1_000 + number))
    elif isinstance(value, float):
        planted = round(value + (1000 + number) / 10**6, 6)
        yield planted, exact_json.write(planted).decode()
    else:
        yield from _texts(value, word, number)


def _texts(value: str, word: str, number: int) -> Iterator[tuple[str, str]]:
    if value.startswith(("{", "[")):
        yield from _inside(value, word)
    time = TIME.fullmatch(value)
    if time:
        day = f"20{10 + number % 80}-{1 + number // 80 % 12:02d}-{1 + number // 960 % 28:02d}"
        yield day + time[1], day
    data = base64.b64encode(word.encode()).decode()
    if value.startswith("data:"):
        yield f"{value.partition(',')[0]},{data}", data
    if value and BASE64.fullmatch(value):
        yield data, data
    yield f"{value}{word}", word
    yield word, word


def _inside(value: str, word: str) -> Iterator[tuple[str, str]]:
    """Plants into the first string of JSON inside a string."""
    try:
        inner = json.loads(value)
    except ValueError:
        return
    planted = next((path for path, leaf in nodes(inner) if isinstance(leaf, str) and path), None)
    if planted is not None:
        holder = inner
        for step in planted[:-1]:
            holder = holder[step]
        holder[planted[-1]] = word
        yield json.dumps(inner, ensure_ascii=False, separators=(",", ":")), word


def is_in(text: str, word: str, value: Any) -> bool:
    """True if the value is in the text, as it is or as another spelling of the same time."""
    return word in text or any(time in text for time in _times(value))


def _times(value: Any) -> list[str]:
    if isinstance(value, float) and value > 70_000_000:
        return [f"{datetime.fromtimestamp(value, UTC):%Y-%m-%dT%H:%M:%S.%f}"]
    if isinstance(value, int) and value > 70_000_000:
        return [f"{datetime.fromtimestamp(value / unit, UTC):%Y-%m-%dT%H:%M:%S}" for unit in (1, 1000)]
    try:
        when = datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError):
        return []
    return [str(int(when)), str(int(when * 1000)), f"{datetime.fromtimestamp(when, UTC):%Y-%m-%d}"]


def nodes(value: Any) -> Iterator[tuple[Path, Any]]:
    """Yields every value inside a JSON value, including itself, with its path."""
    stack: list[tuple[Path, Any]] = [((), value)]
    while stack:
        path, node = stack.pop()
        yield path, node
        if isinstance(node, dict):
            stack.extend(((*path, key), child) for key, child in node.items())
        elif isinstance(node, list):
            stack.extend(((*path, index), child) for index, child in enumerate(node))
