"""The strict JSON reader: slower than orjson, exact where orjson is not, and it says where a document breaks.

RFC 8259 as the standard library reads it, with equal keys, NaN and overflow refused, numbers of any size, lone
surrogates kept, and a limit of depth. `wire.parse` asks it about every document that orjson refuses or may have
changed, so it also judges the fast reader. Positions are found by a second pass, only when there is something to say.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


def pointer(path: Collection[str | int]) -> str:
    """The JSON Pointer (RFC 6901) of these steps; the empty path is the whole document, `""`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def resolve(document: Any, path: Collection[str | int]) -> Any:
    """The value at a path: names step into objects, indexes into lists. Raises LookupError when it is absent."""
    for step in path:
        fits = isinstance(document, dict if isinstance(step, str) else list)
        if not fits:
            raise LookupError(pointer(path))
        document = document[step]
    return document


def _steps(pointer: str) -> tuple[str, ...]:
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
