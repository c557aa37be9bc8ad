"""Function schemas: Google's OpenAPI subset (`parameters`) and JSON Schema (`parametersJsonSchema`).

The subset maps one-to-one to JSON Schema: uppercase types become lowercase, `nullable` becomes the type `null`, `defs`
and `ref` get their dollar sign. A schema that the subset cannot express is written as JSON Schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from convcli.families.google.keys import Service, Shape
from convcli.kit.objects import Native
from convcli.kit.supported import fields
from convcli.model.transcript import Path
from convcli.wire import exact_json

TYPES = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))
TYPE_NUMBERS = dict(enumerate(("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"), start=1))
"""The numbers that clients with the REST transport write for a type."""
SUBSET = Shape(
    "parameters",
    "type format title description nullable enum items properties required propertyOrdering anyOf minItems maxItems "
    "minProperties maxProperties minLength maxLength pattern minimum maximum default example "
    "additionalProperties defs ref",
)
COUNTS = fields("minItems maxItems minProperties maxProperties minLength maxLength")
"""64-bit integers, which Google also writes as strings."""
MOST_DIGITS = 19
"""Digits of such an integer. A longer string is kept as it is: Python refuses to read one of any length."""

NAMED = ("properties", "defs")
SINGLE = ("items", "additionalProperties")
NEEDS = {"object": "properties", "array": "items"}
"""The keyword that Google requires in a schema of this type."""


class Pair(NamedTuple):
    """The two keys of a declaration for one schema."""

    subset: str
    whole: str


PARAMETERS = Pair("parameters", "parametersJsonSchema")
RESPONSE = Pair("response", "responseJsonSchema")


def lift_schema(native: Native, pair: Pair) -> tuple[Any, Native]:
    """Returns the JSON Schema, and the extras of the two keys."""
    subset, whole = native.get(pair.subset), native.get(pair.whole)
    if isinstance(subset, dict):
        return read_subset(subset), {} if whole is None else {pair.whole: whole}
    if isinstance(whole, dict) or (pair is RESPONSE and isinstance(whole, bool)):
        return whole, {}
    return None, {} if whole is None else {pair.whole: whole}


def write_schema(schema: Any, pair: Pair, service: Service) -> Native:
    """Writes the schema under one of the two keys: as the subset if the service prefers it and it means the same."""
    if schema is None:
        return {}
    subset = write_subset(schema) if service.subset and isinstance(schema, dict) else None
    return {pair.whole: schema} if subset is None or not _is_sayable(schema, subset) else {pair.subset: subset}


def _is_sayable(schema: Native, subset: Native) -> bool:
    """True if the subset can express the same, in a form that the service accepts."""
    if not exact_json.exact(read_subset(subset), schema) or not isinstance(subset.get("defs", {}), dict):
        return False
    roots = [subset, *subset.get("defs", {}).values()]
    return all(isinstance(root, dict) and all(_is_accepted(one) for _, one in subschemas(root)) for root in roots)


def _is_accepted(schema: Native) -> bool:
    kind, need = schema.get("type", ""), NEEDS.get(str(schema.get("type")).lower())
    properties, choice = schema.get("properties", {}), schema.get("anyOf", [])
    enum = schema.get("enum", [])
    shaped = isinstance(properties, dict) and isinstance(schema.get("items", {}), dict)
    listed = isinstance(choice, list) and isinstance(enum, list)
    return (
        schema.keys() <= SUBSET.known
        and shaped
        and listed
        and all(isinstance(child, dict) for child in (*properties.values(), *choice))
        and all(isinstance(value, str) for value in (kind, schema.get("ref", ""), *enum))
        and (need is None or bool(schema.get(need)))
        and ("enum" not in schema or kind in ("STRING", ""))
    )


def subschemas(root: Native) -> Iterator[tuple[Path, Native]]:
    """Yields the schema objects of a subset with their paths, outermost first."""
    stack: list[tuple[Path, Native]] = [((), root)]
    while stack:
        path, schema = stack.pop()
        yield path, schema
        inner: list[tuple[Path, Any]] = [((*path, key), schema.get(key)) for key in SINGLE]
        properties, choice = schema.get("properties"), schema.get("anyOf")
        inner += (
            [((*path, "properties", key), one) for key, one in properties.items()]
            if isinstance(properties, dict)
            else []
        )
        inner += [((*path, "anyOf", i), one) for i, one in enumerate(choice)] if isinstance(choice, list) else []
        stack += reversed([(place, one) for place, one in inner if isinstance(one, dict)])


# ---------------------------------------------------------------- subset to JSON Schema


def read_subset(native: Native) -> Native:
    """Converts a schema of the subset to JSON Schema."""
    native, _ = SUBSET.camel(native)
    kind = type_of(native)
    known = kind.lower() if isinstance(kind, str) and kind.lower() in TYPES else None
    nullable = known is not None and native.get("nullable") is True and known != "null"
    out: Native = {}
    for key, value in native.items():
        if key == "type" and known is not None:
            out["type"] = [known, "null"] if nullable else known
        elif not (key == "nullable" and nullable):
            _read_key(key, value, native, out)
    return out


def type_of(native: Native) -> Any:
    """Returns the type of a schema of the subset, by its name if it is a number."""
    kind = native.get("type")
    return TYPE_NUMBERS.get(kind, kind) if isinstance(kind, int) else kind


def _read_key(key: str, value: Any, native: Native, out: Native) -> None:
    if key in ("defs", "ref") and f"${key}" not in native:
        out[f"${key}"] = _moved(value, "#/defs/", "#/$defs/") if key == "ref" else _children(key, value, read_subset)
    elif key in COUNTS and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS:
        out[key] = int(value)
    else:
        out[key] = _children(key, value, read_subset)


def _children(key: str, value: Any, convert: Callable[[Native], Native]) -> Any:
    """Converts the schemas inside the value of a keyword."""
    if key in NAMED and isinstance(value, dict):
        return {name: convert(child) if isinstance(child, dict) else child for name, child in value.items()}
    if key in SINGLE and isinstance(value, dict):
        return convert(value)
    if key == "anyOf" and isinstance(value, list):
        return [convert(child) if isinstance(child, dict) else child for child in value]
    return value


def _moved(value: Any, old: str, new: str) -> Any:
    return new + value[len(old) :] if isinstance(value, str) and value.startswith(old) else value


# ---------------------------------------------------------------- JSON Schema to subset


def write_subset(schema: Native) -> Native:
    """Converts a JSON Schema to the subset; unknown keywords stay as they are."""
    out: Native = {}
    for key, value in schema.items():
        if key == "type":
            out |= _write_type(value)
        elif key == "$ref":
            out["ref"] = _moved(value, "#/$defs/", "#/defs/")
        else:
            name = "defs" if key == "$defs" else key
            out[name] = _children(name, value, write_subset)
    return out


def _write_type(kind: Any) -> Native:
    """Returns a type in uppercase, with `nullable` if null is another."""
    kinds = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    if not kinds or not isinstance(kinds[0], str) or kinds[0] not in TYPES or kinds[1:] not in ([], ["null"]):
        return {"type": kind}
    return {"type": kinds[0].upper(), **({"nullable": True} if len(kinds) > 1 else {})}
