"""What stands around transcripts that were picked out of a document: taken apart for a restore file, and put together.

A pointer may lead through texts that hold JSON: they are opened on the way, and written again as they were.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from convcli.model.errors import ContentError
from convcli.wire import exact_json
from convcli.wire.pointers import pointer, resolve, steps


class Shell(NamedTuple):
    """A document in which null stands for what was taken out. `texts` are those that were opened, by their pointers:
    true where they are compact JSON, else as they were."""

    value: Any
    texts: dict[str, Any]


def inside(value: Any) -> Any:
    """The list or the object that a text holds, also as a text in a text; any other value itself."""
    held = value
    while isinstance(held, str) and held.lstrip()[:1] in ("[", "{", '"'):
        try:
            held = exact_json.parse_text(held)[0]
        except ContentError:
            break
    return held if isinstance(held, (list, dict)) else value


def taken_out(document: Any, at: Collection[str]) -> Shell:
    """A document without the values at these pointers."""
    texts: dict[str, Any] = {}
    return Shell(_taken_out(document, (), {steps(each) for each in at}, texts), texts)


def _taken_out(node: Any, path: tuple[str, ...], wanted: set[tuple[str, ...]], texts: dict[str, Any]) -> Any:
    held = inside(node)
    if held is not node:
        texts[pointer(path)] = exact_json.write_text(held) == node or node
    if () in wanted:
        return None
    below: dict[str, set[tuple[str, ...]]] = {}
    for first, *rest in wanted:
        below.setdefault(first, set()).add(tuple(rest))
    named = held.items() if isinstance(held, dict) else ((str(i), child) for i, child in enumerate(held))
    children = {
        name: _taken_out(child, (*path, name), below[name], texts) if name in below else child for name, child in named
    }
    return children if isinstance(held, dict) else list(children.values())


def put_back(shell: Shell, originals: Mapping[str, Any]) -> Any:
    """The document of a shell and of what was taken out of it. Raises LookupError where it has no such places."""
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
