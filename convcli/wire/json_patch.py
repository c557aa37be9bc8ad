"""JSON Patch (RFC 6902): the operations that turn one JSON value into another, including key order.

https://www.rfc-editor.org/rfc/rfc6902 leaves the order of keys open. Here `add` appends a new key, and `move` from a
path to itself moves a key to the end, which preserves key order. Linear in the size of both values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from convcli.model.errors import ContentError
from convcli.model.transcript import Path
from convcli.wire import exact_json, pointers

Operation = dict[str, Any]


def patch(before: Any, after: Any) -> list[Operation]:
    """Returns the operations that turn `before` into `after`; none exactly if they are the same JSON."""
    return list(_differ(before, after, ()))


def _differ(before: Any, after: Any, path: Path) -> Iterator[Operation]:
    if exact_json.exact(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _differ_objects(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _differ_lists(before, after, path)
    else:
        yield {"op": "replace", "path": pointers.pointer(path), "value": after}


def _differ_objects(before: dict[str, Any], after: dict[str, Any], path: Path) -> Iterator[Operation]:
    for key in before:
        if key not in after:
            yield {"op": "remove", "path": pointers.pointer((*path, key))}
    order = [key for key in before if key in after]
    for key in order:
        yield from _differ(before[key], after[key], (*path, key))
    for key, value in after.items():
        if key not in before:
            yield {"op": "add", "path": pointers.pointer((*path, key)), "value": value}
            order.append(key)
    wanted = list(after)
    kept = _in_order(order, wanted)
    for key in wanted[kept:] if order != wanted else ():
        yield {"op": "move", "from": pointers.pointer((*path, key)), "path": pointers.pointer((*path, key))}


def _in_order(order: list[str], wanted: list[str]) -> int:
    """Counts the wanted keys that are already in order at the front when the others are moved to the end."""
    kept = 0
    for key in order:
        if kept < len(wanted) and key == wanted[kept]:
            kept += 1
    return kept


def _differ_lists(before: list[Any], after: list[Any], path: Path) -> Iterator[Operation]:
    """Walks both lists; items missing in the other list are removed, added, or changed in place."""
    old, new = list(map(exact_json.key, before)), list(map(exact_json.key, after))
    left, wanted = Counter(old), Counter(new)
    i = j = 0
    while i < len(old) and j < len(new):
        if old[i] == new[j]:
            left[old[i]] -= 1
            wanted[new[j]] -= 1
            i, j = i + 1, j + 1
        elif wanted[old[i]] == 0 and left[new[j]] == 0:
            yield from _differ(before[i], after[j], (*path, j))
            i, j = i + 1, j + 1
        elif left[new[j]] == 0:
            yield {"op": "add", "path": pointers.pointer((*path, j)), "value": after[j]}
            j += 1
        else:
            left[old[i]] -= 1
            yield {"op": "remove", "path": pointers.pointer((*path, j))}
            i += 1
    for _ in range(i, len(old)):
        yield {"op": "remove", "path": pointers.pointer((*path, j))}
    for position in range(j, len(new)):
        yield {"op": "add", "path": pointers.pointer((*path, position)), "value": after[position]}


def apply(document: Any, operations: list[Operation]) -> Any:
    """Returns a copy of the document with the operations applied. Raises ContentError if one does not apply."""
    holder = {"": _copy(document)}
    for number, operation in enumerate(operations):
        try:
            _apply(holder, operation)
            holder[""]  # there must be a document left
        except (LookupError, TypeError, ValueError):
            raise ContentError(
                "patch-does-not-fit",
                f"operation {number + 1} of the patch does not fit the document",
                where=str(operation.get("path", "")),
                help="was the converted file edited, or does the restore file belong to another conversion?",
            ) from None
    return holder[""]


def _copy(value: Any) -> Any:
    """Copies a value so that nothing is shared."""
    if isinstance(value, dict):
        return {key: _copy(child) for key, child in value.items()}
    return [_copy(child) for child in value] if isinstance(value, list) else value


def _apply(holder: dict[str, Any], operation: Operation) -> None:
    kind, path = operation["op"], _path(operation["path"])
    if kind == "remove":
        _take(holder, path)
    elif kind == "test":
        if not exact_json.exact(pointers.resolve(holder, path), operation["value"]):
            raise ValueError
    elif kind == "replace":
        parent, key = _parent(holder, path)
        parent[key]  # it must be there
        parent[key] = _copy(operation["value"])
    else:
        _put(holder, path, _value(holder, operation))


def _value(holder: dict[str, Any], operation: Operation) -> Any:
    if operation["op"] == "add":
        return _copy(operation["value"])
    source = _path(operation["from"])
    if operation["op"] == "move":
        return _take(holder, source)
    if operation["op"] == "copy":
        return _copy(pointers.resolve(holder, source))
    raise ValueError


def _path(pointer: str) -> list[str]:
    """Returns the steps to a value, including the one from the holder to the document."""
    return ["", *pointers.steps(pointer)]


def _parent(holder: Any, path: list[str]) -> tuple[Any, Any]:
    node = holder
    for step in path[:-1]:
        node = node[pointers.index(step) if isinstance(node, list) else step]
    if not isinstance(node, (dict, list)):
        raise TypeError
    last = path[-1]
    return node, (len(node) if last == "-" else pointers.index(last)) if isinstance(node, list) else last


def _take(holder: Any, path: list[str]) -> Any:
    parent, key = _parent(holder, path)
    return parent.pop(key)


def _put(holder: Any, path: list[str], value: Any) -> None:
    parent, key = _parent(holder, path)
    if isinstance(parent, list):
        if key > len(parent):
            raise IndexError
        parent.insert(key, value)
    else:
        parent[key] = value
