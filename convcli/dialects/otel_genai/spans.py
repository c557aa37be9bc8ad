"""Where attributes stand: alone, under a span or an event, or as OTLP writes them, with the type of each value.

Specification: OTLP 1.9, JSON mapping (https://opentelemetry.io/docs/specs/otlp); read 2026-11-23."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

from convcli.kit.objects import Native, omit
from convcli.model.transcript import Path

ATTRIBUTES, EVENTS = "attributes", "events"
PLAIN = {"stringValue": str, "boolValue": bool}
INTEGER = re.compile(r"-?[0-9]{1,30}")


class Attributes(NamedTuple):
    """The attributes of a document, where they stand in it, and what stands around them; None where nothing can.

    Of a list, only those that are known are taken out of it; the others stay in it, as what stands around them."""

    values: Native
    places: dict[Path, Path]
    around: Native | None


def attributes_in(document: Native, known: Collection[str], messages: Collection[str]) -> Attributes:
    """The attributes of a span, with those of its first event that has messages where it has none itself; or the
    object that is nothing but attributes."""
    of_span = _held_by(document, (), known)
    if of_span is None:
        return Attributes(document, {}, None)
    events = document[EVENTS] if isinstance(document.get(EVENTS), list) else []
    for i, event in enumerate(events):
        of_event = _held_by(event, (EVENTS, i), known, of_span.values)
        if not of_span.values.keys().isdisjoint(messages):
            break
        if of_event is not None and not of_event.values.keys().isdisjoint(messages):
            around = {**(of_span.around or {}), EVENTS: [*events[:i], of_event.around, *events[i + 1 :]]}
            return Attributes(of_event.values | of_span.values, of_event.places | of_span.places, around)
    return of_span


def _held_by(node: Any, place: Path, known: Collection[str], taken: Collection[str] = ()) -> Attributes | None:
    """The attributes of a node that are not taken already, out of an object or of a list of keys and typed values."""
    held = node.get(ATTRIBUTES) if isinstance(node, dict) else None
    here: Path = (*place, ATTRIBUTES)
    values: Native = {}
    places: dict[Path, Path] = {}
    left: Any = {}
    if isinstance(held, dict):
        values = omit(held, *taken)
        left = {key: value for key, value in held.items() if key in taken}
        places = {(key,): (*here, key) for key in values}
    elif isinstance(held, list):
        left = []
        for i, item in enumerate(held):
            key = item.get("key") if isinstance(item, dict) and item.keys() == {"key", "value"} else None
            if isinstance(key, str) and key in known and key not in values and key not in taken:
                values[key] = opened(item["value"], (key,), (*here, i, "value"), places)
            else:
                left.append(item)
    else:
        return None
    around = omit(node, ATTRIBUTES)
    return Attributes(values, places, {**around, **({ATTRIBUTES: left} if left else {})})


def opened(native: Any, at: Path, place: Path, places: dict[Path, Path]) -> Any:
    """The value that its type holds; as it is where it holds none that JSON has. Notes where each value stands."""
    places[at] = place
    (kind,) = native if isinstance(native, dict) and len(native) == 1 else ("",)
    held = native[kind] if kind else None
    if isinstance(held, dict) and held.keys() <= {"values"} and isinstance(held.get("values", []), list):
        return _opened_inside(native, kind, at, place, places)
    is_whole = type(held) is int or (isinstance(held, str) and INTEGER.fullmatch(held) is not None)
    if kind == "intValue" and is_whole:
        value: Any = int(held)  # type: ignore[arg-type]
    elif (kind == "doubleValue" and type(held) in (int, float)) or type(held) is PLAIN.get(kind):
        value = held
    else:
        return native
    places[at] = (*place, kind)
    return value


def _opened_inside(native: Native, kind: str, at: Path, place: Path, places: dict[Path, Path]) -> Any:
    """The values of a list or of an object."""
    items, here = native[kind].get("values", []), (*place, kind, "values")
    keys = [item["key"] for item in items if isinstance(item, dict) and item.keys() == {"key", "value"}]
    if kind == "arrayValue":
        places[at] = here
        return [opened(item, (*at, i), (*here, i), places) for i, item in enumerate(items)]
    is_object = len({key for key in keys if isinstance(key, str)}) == len(items)
    if kind != "kvlistValue" or not is_object:
        return native
    places[at] = here
    return {
        item["key"]: opened(item["value"], (*at, item["key"]), (*here, i, "value"), places)
        for i, item in enumerate(items)
    }


# ---------------------------------------------------------------- write


def in_span(span: Native, attributes: Native) -> Native:
    """The span with its attributes; in a list where others are there already."""
    left = span.get(ATTRIBUTES)
    if not isinstance(left, list):
        return {**span, ATTRIBUTES: {**attributes, **(left or {})}}
    return {**span, ATTRIBUTES: [*({"key": key, "value": _typed(value)} for key, value in attributes.items()), *left]}


def _typed(value: Any) -> Native:
    """A value with its type. OTLP has no null."""
    for kind, type_ in PLAIN.items():
        if type(value) is type_:
            return {kind: value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_typed(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": _typed(item)} for key, item in value.items()]}}
    return {"intValue": str(value)} if type(value) is int else {"doubleValue": value} if value is not None else {}
