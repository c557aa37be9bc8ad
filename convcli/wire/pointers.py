"""JSON Pointers (RFC 6901): conversion from and to paths, and lookup of values.

https://www.rfc-editor.org/rfc/rfc6901
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from convcli.wire.patterns import pattern

_INDEX = pattern("0|[1-9][0-9]*")
_DIGITS = 19


def pointer(path: Collection[str | int]) -> str:
    """Returns the JSON Pointer of a path; `""` for the empty path, which is the whole document."""
    count = len(path)
    text = "/%s" * count % tuple(path)  # half the time of joining the steps
    if "~" in text or text.count("/") != count:  # steps to be escaped
        return "".join(["/" + _escaped(str(step)) for step in path])
    return text


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1") if "~" in step or "/" in step else step


def enclosing(pointer: str) -> Iterator[str]:
    """Yields the pointer and those of the values around its value, the innermost first; the last is `""`."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]
    yield pointer


def steps(pointer: str) -> tuple[str, ...]:
    """Returns the steps of a JSON Pointer as strings. Raises ValueError for an invalid pointer."""
    if pointer and not pointer.startswith("/"):
        raise ValueError("a JSON Pointer begins with a slash")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def index(step: str) -> int:
    """Returns the list index that a step names. Raises ValueError if it is not an index."""
    if not is_index(step):
        raise ValueError("not a list index")
    return int(step)


def is_index(step: str) -> bool:
    """True if the step can be an index; no list has as many items as such a number with 19 digits or more."""
    return len(step) < _DIGITS and _INDEX.fullmatch(step) is not None


def resolve(document: Any, path: Collection[str | int]) -> Any:
    """Returns the value at a path: names for objects, indexes for lists, as numbers or as digits.

    Raises LookupError if it is absent.
    """
    for step in path:
        if isinstance(document, dict) and isinstance(step, str):
            document = document[step]
        elif isinstance(document, list) and (isinstance(step, int) or is_index(step)):
            document = document[int(step)]
        else:
            raise LookupError(pointer(path))
    return document


def has(document: Any, path: Collection[str | int]) -> bool:
    """True if the document has a value at the path."""
    try:
        resolve(document, path)
    except LookupError:
        return False
    return True


def follow(document: Any, reference: str) -> Any:
    """Returns the value of a reference within a document (`#/$defs/x`, a URI fragment). Raises LookupError."""
    try:
        return resolve(document, steps(reference.removeprefix("#")))
    except ValueError:
        raise LookupError(reference) from None


def members(node: Any) -> Iterable[Any]:
    """Returns the values directly inside an object or list; none for other values."""
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
