"""Separates picked transcripts from the document around them for a restore file, and puts them back together.

A pointer may lead through JSON strings: they are parsed on the way, and written back as they were.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from typing import Any

import msgspec

from convcli.model.errors import ContentError
from convcli.wire import exact_json
from convcli.wire.pointers import pointer, resolve, steps


class Shell(msgspec.Struct, frozen=True):
    """A document with null in place of the values that were taken out.

    `texts`: the JSON strings that were parsed, by pointer: true if compact, otherwise the original string.
    """

    value: Any
    texts: dict[str, Any]


def inside(value: Any) -> Any:
    """Returns the list or object in a JSON string, also if encoded several times; any other value unchanged."""
    parsed = value
    while isinstance(parsed, str) and parsed.lstrip()[:1] in ("[", "{", '"'):
        try:
            parsed = exact_json.parse_text(parsed)[0]
        except ContentError:
            break
    return parsed if isinstance(parsed, (list, dict)) else value


def without_values(document: Any, at: Collection[str]) -> Shell:
    """Returns a document without the values at these pointers."""
    texts: dict[str, Any] = {}
    return Shell(_taken_out(document, (), {steps(each) for each in at}, texts), texts)


def _taken_out(node: Any, path: tuple[str, ...], wanted: set[tuple[str, ...]], texts: dict[str, Any]) -> Any:
    parsed = inside(node)
    if parsed is not node:
        texts[pointer(path)] = exact_json.write_text(parsed) == node or node
    if () in wanted:
        return None
    below: dict[str, set[tuple[str, ...]]] = {}
    for first, *rest in wanted:
        below.setdefault(first, set()).add(tuple(rest))
    named = parsed.items() if isinstance(parsed, dict) else ((str(i), child) for i, child in enumerate(parsed))
    children = {
        name: _taken_out(child, (*path, name), below[name], texts) if name in below else child for name, child in named
    }
    return children if isinstance(parsed, dict) else list(children.values())


def put_back(shell: Shell, originals: Mapping[str, Any]) -> Any:
    """Returns the document of a shell and its values. Raises LookupError if it has no such pointers."""
    root = [deepcopy(shell.value)]
    for at, original in originals.items():
        _put(root, at, original)
    for at in sorted(shell.texts, key=len, reverse=True):
        text = shell.texts[at]
        _put(root, at, exact_json.write_text(resolve(root[0], steps(at))) if text is True else text)
    return root[0]


def _put(root: list[Any], at: str, value: Any) -> None:
    *path, last = ("0", *steps(at))
    around = resolve(root, path)
    around[int(last) if isinstance(around, list) else last] = value
