"""Documents of the library that hold objects of SDKs: pydantic models and dataclasses become JSON values.

An application passes what its SDK returned: `{"role": "assistant", "content": response.content}`. No SDK is imported;
an object is recognized by its methods and fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convcli.model.errors import JobError
from convcli.model.transcript import Transcript
from convcli.wire.pointers import pointer

PLAIN = frozenset((str, int, float, bool, type(None)))
"""The types of values that contain no others."""
METHODS = ("to_dict", "dict", "to_json_dict", "asdict", "_asdict")
"""Methods by which objects of other libraries become objects of JSON."""


def as_json(document: Any) -> Any:
    """Returns the document with models and dataclasses as objects and tuples as lists; itself if it has none of them.

    Raises JobError for an object that is no JSON value, with its type and the call that converts it.
    """
    return document if _is_clean(document) else _converted(document, ())


def _is_clean(document: Any) -> bool:
    """True if the document has no values but those of the JSON parser; most documents need no more than this."""
    stack = [document]
    while stack:
        node = stack.pop()
        if type(node) is dict:
            stack.extend(value for value in node.values() if type(value) not in PLAIN)
        elif type(node) is list:
            stack.extend(value for value in node if type(value) not in PLAIN)
        elif type(node) not in PLAIN:
            return False
    return True


def _converted(node: Any, path: tuple[str | int, ...]) -> Any:
    if isinstance(node, dict):
        changed = {key: _converted(value, (*path, key)) for key, value in node.items()}
        return node if all(changed[key] is value for key, value in node.items()) else changed
    if isinstance(node, (list, tuple)):
        items = [_converted(value, (*path, index)) for index, value in enumerate(node)]
        is_same = isinstance(node, list) and all(new is old for new, old in zip(items, node, strict=True))
        return node if is_same else items
    if callable(getattr(node, "model_dump", None)) and not isinstance(node, type):
        return _converted(_dumped(node, path), path)
    if isinstance(node, Mapping):
        return {key: _converted(value, (*path, key)) for key, value in node.items()}
    if hasattr(type(node), "__dataclass_fields__"):
        import dataclasses  # slow to import

        fields = ((field.name, getattr(node, field.name)) for field in dataclasses.fields(node))
        return {name: _converted(value, (*path, name)) for name, value in fields if value is not None}
    _check(node, path)
    return node


def _dumped(model: Any, path: tuple[str | int, ...]) -> Any:
    """Returns a pydantic model as JSON. Unset fields are null in it, and services do not accept all of these."""
    try:
        return model.model_dump(mode="json", by_alias=True, exclude_none=True, warnings=False)
    except Exception as error:
        message = f"{_named(model, path)}, and its model_dump() fails ({type(error).__name__})"
        raise JobError("usage", message, help="convert it to JSON values first") from error


def _check(node: Any, path: tuple[str | int, ...]) -> None:
    """Raises JobError for what is neither a string, a number, a boolean nor null."""
    if node is None or isinstance(node, (str, int, float)):
        return
    method = next((name for name in METHODS if callable(getattr(node, name, None))), None)
    call = f"call its .{method}()" if method is not None else "convert it to JSON values first"
    if isinstance(node, Transcript):
        call = "convcli.lower(transcript, to) writes a transcript"
    raise JobError("usage", f"{_named(node, path)}, which is no JSON value", help=call)


def _named(node: Any, path: tuple[str | int, ...]) -> str:
    return f"{pointer(path) or 'the document'} has the type {type(node).__name__}"
