"""JSON Pointers (RFC 6901): paths as texts, texts as steps, and the value that they lead to.

https://www.rfc-editor.org/rfc/rfc6901
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from convcli.wire.patterns import pattern

_INDEX = pattern("0|[1-9][0-9]*")


def pointer(path: Collection[str | int]) -> str:
    """The JSON Pointer of these steps; the empty path is the whole document, `""`."""
    text = "/".join(map(str, path))
    if "~" in text or text.count("/") != len(path) - 1:  # the empty path, and steps to be escaped
        return "".join(["/" + _escaped(str(step)) for step in path])
    return "/" + text


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1") if "~" in step or "/" in step else step


def steps(pointer: str) -> tuple[str, ...]:
    """The steps of a JSON Pointer, all of them texts. Raises ValueError for what is none."""
    if pointer and not pointer.startswith("/"):
        raise ValueError("a JSON Pointer begins with a slash")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def index(step: str) -> int:
    """The index of an item of a list that a step names. Raises ValueError where it names none."""
    if not _INDEX.fullmatch(step):
        raise ValueError("no index of a list")
    return int(step)


def resolve(document: Any, path: Collection[str | int]) -> Any:
    """The value at a path: names lead into objects, indexes into lists, as numbers or as the digits of a pointer.

    Raises LookupError when it is absent.
    """
    for step in path:
        if isinstance(document, dict) and isinstance(step, str):
            document = document[step]
        elif isinstance(document, list) and (isinstance(step, int) or _INDEX.fullmatch(step)):
            document = document[int(step)]
        else:
            raise LookupError(pointer(path))
    return document


def follow(document: Any, reference: str) -> Any:
    """The value that a reference within a document (`#/$defs/x`, the fragment of a URI) names. Raises LookupError."""
    try:
        return resolve(document, steps(reference.removeprefix("#")))
    except ValueError:
        raise LookupError(reference) from None


def members(node: Any) -> Iterable[Any]:
    """The values directly inside an object or a list; none for any other."""
    return node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
