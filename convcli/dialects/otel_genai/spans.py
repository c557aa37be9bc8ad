"""Finds attributes: alone, under a span or an event, or as OTLP writes them, with the type of each value.

Specification: OTLP 1.9, JSON mapping (https://opentelemetry.io/docs/specs/otlp); read 2026-11-23."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from convcli.kit.objects import Native, omit
from convcli.model.transcript import Path
from convcli.wire.patterns import pattern

ATTRIBUTES, EVENTS = "attributes", "events"
PLAIN = {"stringValue": str, "boolValue": bool}
INTEGER = pattern(r"-?[0-9]{1,30}")


class Attributes(NamedTuple):
    """The attributes of a document, their paths, and what surrounds them; None if nothing can.

    Only known attributes are taken out of a list; the others stay in it, as part of the surroundings.
    """

    values: Native
    places: dict[Path, Path]
    around: Native | None


def attributes_in(document: Native, known: Collection[str], messages: Collection[str]) -> Attributes:
    """Returns the attributes of a span, or the document itself if it is only attributes.

    A span without messages also gets the attributes of its first event with messages.
    """
    of_span = _attributes_of(document, (), known)
    if of_span is None:
        return Attributes(document, {}, None)
    events = document[EVENTS] if isinstance(document.get(EVENTS), list) else []
    for i, event in enumerate(events):
        of_event = _attributes_of(event, (EVENTS, i), known, of_span.values)
        if not of_span.values.keys().isdisjoint(messages):
            break
        if of_event is not None and not of_event.values.keys().isdisjoint(messages):
            around = {**(of_span.around or {}), EVENTS: [*events[:i], of_event.around, *events[i + 1 :]]}
            return Attributes(of_event.values | of_span.values, of_event.places | of_span.places, around)
    return of_span


def _attributes_of(node: Any, place: Path, known: Collection[str], taken: Collection[str] = ()) -> Attributes | None:
    """Returns a node's attributes that are not taken yet, from an object or a list of keys and typed values."""
    content = node.get(ATTRIBUTES) if isinstance(node, dict) else None
    here: Path = (*place, ATTRIBUTES)
    values: Native = {}
    places: dict[Path, Path] = {}
    remaining: Any = {}
    if isinstance(content, dict):
        values = omit(content, *taken)
        remaining = {key: value for key, value in content.items() if key in taken}
        places = {(key,): (*here, key) for key in values}
    elif isinstance(content, list):
        remaining = []
        for i, item in enumerate(content):
            key = item.get("key") if isinstance(item, dict) and item.keys() == {"key", "value"} else None
            if isinstance(key, str) and key in known and key not in values and key not in taken:
                values[key] = opened(item["value"], (key,), (*here, i, "value"), places)
            else:
                remaining.append(item)
    else:
        return None
    around = omit(node, ATTRIBUTES)
    return Attributes(values, places, {**around, **({ATTRIBUTES: remaining} if remaining else {})})


def opened(native: Any, at: Path, place: Path, places: dict[Path, Path]) -> Any:
    """Returns the value inside an OTLP typed value, unchanged if JSON has no such value; records the value's path."""
    places[at] = place
    (kind,) = native if isinstance(native, dict) and len(native) == 1 else ("",)
    content = native[kind] if kind else None
    if isinstance(content, dict) and content.keys() <= {"values"} and isinstance(content.get("values", []), list):
        return _opened_inside(native, kind, at, place, places)
    is_whole = type(content) is int or (isinstance(content, str) and INTEGER.fullmatch(content) is not None)
    if kind == "intValue" and is_whole:
        value: Any = int(content)  # type: ignore[arg-type]
    elif (kind == "doubleValue" and type(content) in (int, float)) or type(content) is PLAIN.get(kind):
        value = content
    else:
        return native
    places[at] = (*place, kind)
    return value


def _opened_inside(native: Native, kind: str, at: Path, place: Path, places: dict[Path, Path]) -> Any:
    """Returns the values of a list or an object."""
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
    """Returns the span with its attributes; in a list if it already has others in one."""
    remaining = span.get(ATTRIBUTES)
    if not isinstance(remaining, list):
        return {**span, ATTRIBUTES: {**attributes, **(remaining or {})}}
    return {
        **span,
        ATTRIBUTES: [*({"key": key, "value": _typed(value)} for key, value in attributes.items()), *remaining],
    }


def _typed(value: Any) -> Native:
    """Returns a value with its type. OTLP has no null."""
    for kind, type_ in PLAIN.items():
        if type(value) is type_:
            return {kind: value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_typed(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": _typed(item)} for key, item in value.items()]}}
    return {"intValue": str(value)} if type(value) is int else {"doubleValue": value} if value is not None else {}
