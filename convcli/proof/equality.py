"""Exact equality of JSON: Python takes 1, 1.0 and true for equal, and objects whose keys are in another order.

The functions expect records that are already equal in Python, which msgspec compares in C.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import msgspec

from convcli.model.transcript import Message, Opaque, Part, Text, ToolCall, ToolDefinition, ToolResult
from convcli.wire import exact_json
from convcli.wire.decimals import builtins


def exact_message(before: Message, after: Message) -> bool:
    """True if the JSON values of two equal messages also have the same types and key order. Texts have none."""
    return exact_messages([before], [after])


_inexact = attrgetter("extras", "usage", "cost", "weight")
"""The fields of a message that may be equal in Python without being the same JSON value."""


def exact_messages(before: list[Message], after: list[Message]) -> bool:
    """Same as `exact_message`, for all messages of two equal lists."""
    for one, other in zip(before, after):  # noqa: B905  (equal lists; strict costs)
        if one.extras is None and one.usage is None and one.cost is None and one.weight is None:
            continue  # most messages
        for x, y in zip(_inexact(one), _inexact(other), strict=True):
            if x is not y and not exact_json.exact(x, y):
                return False
    return exact_parts(_parts(before), _parts(after))


def exact_parts(before: list[Part], after: list[Part]) -> bool:
    """Same as `exact_message`, for the parts of two equal lists."""
    for part, twin in zip(before, after):  # noqa: B905
        if part.extras is None and part.metadata is None:
            if type(part) is Text or (type(part) is ToolResult and type(part.value) is str):
                continue  # most parts are these, which need no call
            if type(part) is ToolCall and part.arguments is twin.arguments:  # type: ignore[union-attr]
                continue
        if not exact_part(part, twin):
            return False
    return True


def _parts(messages: list[Message]) -> list[Part]:
    parts: list[Part] = []
    for message in messages:
        parts += message.parts
    return parts


def exact_part(part: Any, other: Any) -> bool:
    """Same as `exact_message`, for one part. Other parts contain only strings, which are exact if they are equal."""
    exact = True
    if type(part) is ToolCall:
        exact = part.arguments is other.arguments or exact_json.exact(part.arguments, other.arguments)
    elif type(part) is ToolResult or type(part) is Opaque:
        exact = part.value.__class__ is str or exact_json.exact(as_json(part.value), as_json(other.value))
    return (
        exact
        and (part.extras is None or exact_json.exact(part.extras, other.extras))
        and (part.metadata is None or exact_json.exact(part.metadata, other.metadata))
    )


def exact_tool(before: ToolDefinition, after: ToolDefinition) -> bool:
    """Same as `exact_message`, for one definition."""
    return (
        exact_json.exact(before.parameters, after.parameters)
        and exact_json.exact(before.output_schema, after.output_schema)
        and exact_json.exact(before.annotations, after.annotations)
        and exact_json.exact(before.extras, after.extras)
    )


def exact_values(x: Any, y: Any) -> bool:
    """True if two values of a field, which may be lists of records, are the same JSON value."""
    if x.__class__ is str and y.__class__ is str:
        return bool(x == y)
    return exact_json.exact(as_json(x), as_json(y))


def as_json(value: Any) -> Any:
    """Converts records inside a value (the parts of a multimodal result) to JSON values."""
    if value.__class__ is dict or value.__class__ is str:
        return value
    if isinstance(value, msgspec.Struct):
        return _in_order(builtins(value))
    if isinstance(value, list) and value and isinstance(value[0], msgspec.Struct):
        return list(map(as_json, value))
    return value


def _in_order(record: dict[str, Any]) -> dict[str, Any]:
    """Sorts the owners in extras, and the keys there and in metadata, whose order has no meaning."""
    if "extras" in record:
        record["extras"] = {owner: _sorted(extras) for owner, extras in sorted(record["extras"].items())}
    if "metadata" in record:
        record["metadata"] = _sorted(record["metadata"])
    return record


def _sorted(keys: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(keys.items()))


def media_key(part: Part) -> int:
    """Returns what identifies media, whatever its other fields are."""
    return hash(tuple(getattr(part, name, None) for name in ("type", "data", "url", "file_id", "path")))
