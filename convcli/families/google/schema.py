"""The schemas of functions: the OpenAPI subset of Google (`parameters`) and JSON Schema (`parametersJsonSchema`).

The subset reads as JSON Schema one-to-one: types in capitals become small, `nullable` becomes the type `null`, `defs`
and `ref` get their dollar. Whoever writes a subset that this does not give back (both cases, counts in strings) has it
kept as it was written. The other way is lossy, and each keyword that goes is found at its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from convcli.families.google.keys import Flavor, Shape, Writer, words
from convcli.kit.objects import Native, Spelling
from convcli.wire import exact_json

TYPES = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))
SUBSET = Shape(
    "parameters",
    "type format title description nullable enum items properties required propertyOrdering anyOf minItems maxItems "
    "minProperties maxProperties minLength maxLength pattern minimum maximum default example "
    "additionalProperties defs ref",
)
COUNTS = words("minItems maxItems minProperties maxProperties minLength maxLength")
"""64-bit integers, which Google also writes as strings."""

NAMED = ("properties", "defs")
SINGLE = ("items", "additionalProperties")
NEEDS = {"object": "properties", "array": "items"}
"""What Google wants of a schema of this type, or it rejects the request."""


class Pair(NamedTuple):
    """The two keys of a declaration under which one schema can stand."""

    subset: str
    whole: str


PARAMETERS = Pair("parameters", "parametersJsonSchema")
RESPONSE = Pair("response", "responseJsonSchema")


def lift_schema(native: Native, pair: Pair, flavor: Flavor) -> tuple[Any, Native, Spelling]:
    """The JSON Schema, what of the two keys must be carried beside it, and how the schema was spelled."""
    subset, whole = native.get(pair.subset), native.get(pair.whole)
    if isinstance(subset, dict):
        schema = read_subset(subset)
        rest = {} if whole is None else {pair.whole: whole}
        small = _is_small(subset)
        spelling: Spelling = {"as": pair.subset, "small": True} if small else {"as": pair.subset}
        if not exact_json.exact(write_subset(schema, small=small), subset):
            spelling = {"as": pair.subset, "written": subset}
        return schema, rest, {} if flavor.subset and len(spelling) == 1 else {pair.subset: spelling}
    if isinstance(whole, dict) or (pair is RESPONSE and isinstance(whole, bool)):
        return whole, {}, {pair.subset: {"as": pair.whole}} if flavor.subset else {}
    return None, {} if whole is None else {pair.whole: whole}, {}


def lower_schema(schema: Any, pair: Pair, writer: Writer, spelling: Spelling) -> Native:
    """The schema under one of the two keys; nothing where the subset has no way to say it."""
    if schema is None:
        return {}
    spelled: Spelling = spelling.get(pair.subset, {})
    written = spelled.get("written")
    if written is not None and exact_json.exact(read_subset(written), schema):
        return {pair.subset: written}
    form = spelled.get("as", pair.subset if writer.flavor.subset else pair.whole)
    if form == pair.whole:
        return {pair.whole: schema}
    if not isinstance(schema, dict):
        return {}
    subset = write_subset(schema, small=spelled.get("small", False), mend=not writer.own)
    empty = schema.get("type") == "object" and not subset.get("properties")
    return {} if empty and not writer.own else {pair.subset: subset}


def _is_small(subset: Native) -> bool:
    """Are the types written in small letters? The first that is found decides."""
    kind = subset.get("type")
    if isinstance(kind, str) and kind.lower() in TYPES:
        return kind.islower()
    children = (child for key in NAMED if isinstance(subset.get(key), dict) for child in subset[key].values())
    return any(_is_small(child) for child in children if isinstance(child, dict))


# ---------------------------------------------------------------- subset to JSON Schema


def read_subset(native: Native) -> Native:
    """The JSON Schema that says the same as a schema of the subset."""
    native, _ = SUBSET.camel(native)
    kind = native.get("type")
    known = kind.lower() if isinstance(kind, str) and kind.lower() in TYPES else None
    nullable = known is not None and native.get("nullable") is True and known != "null"
    out: Native = {}
    for key, value in native.items():
        if key == "type" and known is not None:
            out["type"] = [known, "null"] if nullable else known
        elif not (key == "nullable" and nullable):
            _read_key(key, value, native, out)
    return out


def _read_key(key: str, value: Any, native: Native, out: Native) -> None:
    if key in ("defs", "ref") and f"${key}" not in native:
        out[f"${key}"] = _moved(value, "#/defs/", "#/$defs/") if key == "ref" else _children(key, value, read_subset)
    elif key in COUNTS and isinstance(value, str) and value.isascii() and value.isdigit():
        out[key] = int(value)
    else:
        out[key] = _children(key, value, read_subset)


def _children(key: str, value: Any, convert: Callable[[Native], Native]) -> Any:
    """The value of a keyword with the schemas inside it converted."""
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


def write_subset(schema: Native, *, small: bool = False, mend: bool = False) -> Native:
    """The schema in the subset; with `mend` also without what the service rejects. Other keywords are left out."""

    def convert(child: Native) -> Native:
        return write_subset(child, small=small, mend=mend)

    out: Native = {}
    for key, value in schema.items():
        if key == "type":
            out |= _write_type(value, small, convert)
        elif key in ("$ref", "ref"):
            out |= _write_ref(value)
        elif key == "enum":
            out |= _write_enum(value, schema)
        elif key == "const" and isinstance(value, str) and "enum" not in schema:
            out["enum"] = [value]
        else:
            out |= _write_key(key, value, schema, convert)
    need = NEEDS.get(str(out.get("type")).lower())
    if mend and need is not None and not out.get(need):
        del out["type"]
    return out


SAME = {"oneOf": "anyOf", "$defs": "defs", "definitions": "defs"}
"""Keywords of JSON Schema and the nearest one of the subset."""


def _write_key(key: str, value: Any, schema: Native, convert: Callable[[Native], Native]) -> Native:
    name = SAME.get(key, key)
    if name not in SUBSET.known or (name != key and name in schema):
        return {}
    if name in (*NAMED, "anyOf", "items"):
        if not isinstance(value, list if name == "anyOf" else dict):
            return {}
        value = _booleans_open(name, value)
    return {name: _children(name, value, convert)}


def _booleans_open(name: str, value: Any) -> Any:
    """`true` and `false` are no schemas of the subset: the open schema stands for them."""
    if name in NAMED:
        return {key: child if isinstance(child, dict) else {} for key, child in value.items()}
    return [child if isinstance(child, dict) else {} for child in value] if name == "anyOf" else value


def _write_type(kind: Any, small: bool, convert: Callable[[Native], Native]) -> Native:
    """One type, with `nullable` where null is another; several types are alternatives."""
    kinds = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    named = [name for name in kinds if isinstance(name, str) and name.lower() in TYPES]
    given = [name for name in named if name != "null"] or named[:1]
    nullable = {"nullable": True} if len(named) > 1 and "null" in named else {}
    if len(given) > 1:
        return {"anyOf": [convert({"type": name}) for name in given], **nullable}
    return {"type": given[0].lower() if small else given[0].upper(), **nullable} if given else {}


def _write_enum(values: Any, schema: Native) -> Native:
    """Values of an enumeration are strings, and only strings have one."""
    kind = schema.get("type", "string")
    kinds = {kind} if isinstance(kind, str) else {str(name) for name in kind} if isinstance(kind, list) else set()
    words = [value for value in values if value is not None] if isinstance(values, list) else []
    fits = bool(words) and kinds <= {"string", "STRING", "null"} and all(isinstance(word, str) for word in words)
    return {"enum": words} if fits else {}


def _write_ref(value: Any) -> Native:
    for start in ("#/$defs/", "#/definitions/", "#/defs/"):
        if isinstance(value, str) and value.startswith(start):
            return {"ref": _moved(value, start, "#/defs/")}
    return {}
