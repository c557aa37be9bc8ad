"""Definitions of tools as the texts of each family have them: one function reads, one writes.

Gemma 4 has a syntax of its own, which has few keywords of JSON Schema: types in uppercase, descriptions, values of
strings, items, properties and what is required. `keep_keywords_of_gemma` keeps these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from convcli.dialects.chat_text.calls import gemma_text, gemma_values, spaced_json
from convcli.families.rows import calls
from convcli.kit.objects import Native
from convcli.kit.values import read_json
from convcli.wire import exact_json
from convcli.wire.patterns import pattern


def write_tool(native: Native) -> str:
    return spaced_json(native)


def write_bare_tool(native: Native) -> str:
    """Returns the function of a definition."""
    return spaced_json(native["function"])


def write_compact_tool(native: Native) -> str:
    """Returns a definition without spaces."""
    return calls.write_json(native)


def write_indented_tool(native: Native) -> str:
    """Returns a definition indented by four."""
    lines = exact_json.write(native, indent=True).decode()  # JSON strings contain no line break
    return INDENT.sub(lambda spaces: spaces[0] * 2, lines)


INDENT = pattern(r"^ +", re.MULTILINE)


# ---------------------------------------------------------------- DeepSeek V3.1


def write_deepseek_tool(native: Native) -> str:
    function = native["function"]
    parameters = spaced_json(function.get("parameters"))
    return f"{function['name']}\nDescription: {function.get('description', '')}\n\nParameters: {parameters}"


def read_deepseek_tool(text: str) -> Native | None:
    head, mark, parameters = text.rpartition("\n\nParameters: ")
    name, mark_of_description, description = head.partition("\nDescription: ")
    value = read_json(parameters)
    is_read = mark and mark_of_description and (isinstance(value, dict) or parameters == "null")
    return _function(name, description, value) if is_read else None


def _function(name: str, description: str, parameters: Any) -> Native:
    function = {"name": name, "description": description or None, "parameters": parameters}
    return {"type": "function", "function": {key: value for key, value in function.items() if value is not None}}


# ---------------------------------------------------------------- Gemma 4

DECLARATION = "declaration:"


def write_gemma_tool(native: Native) -> str:
    """Returns a declaration. Its schema has only the keywords of Gemma, and a type."""
    function = native["function"]
    facts = [f"description:{gemma_text(function.get('description', ''))}"]
    if schema := function.get("parameters"):
        facts.append(f"parameters:{{{_facts(schema, 'properties', 'required', 'type')}}}")
    return f"{DECLARATION}{function['name']}{{{','.join(facts)}}}"


def _facts(schema: Native, *keys: str) -> str:
    return ",".join(f"{key}:{_fact(key, schema[key])}" for key in keys if key in schema)


def _fact(key: str, value: Any) -> str:
    """Returns the value of a keyword."""
    if key == "properties":
        return f"{{{','.join(f'{name}:{_property(value[name])}' for name in _sorted(value))}}}"
    if key == "items":
        return f"{{{_facts(value, *_sorted(value))}}}"
    if key == "type":
        return gemma_text(_in_case(value, str.upper))
    return gemma_text(value, quoted_keys=True)


def _property(schema: Native) -> str:
    """Returns the schema of a property, which states a type and, of an object, properties."""
    more = {"properties": schema.get("properties", {})} if schema.get("type") == "object" else {}
    written = {**schema, **more, "type": schema.get("type", "")}
    return f"{{{_facts(written, 'description', 'enum', 'items', 'nullable', 'properties', 'required', 'type')}}}"


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(names, key=str.lower)


def read_gemma_tool(text: str) -> Native | None:
    name, mark, values = text.removeprefix(DECLARATION).partition("{")
    facts = gemma_values(mark + values) if text.startswith(DECLARATION) else None
    if facts is None or facts.keys() - {"description", "parameters"} or not isinstance(facts.get("description"), str):
        return None
    return _function(name, facts["description"], _read_schema(facts.get("parameters")))


def _read_schema(schema: Any) -> Any:
    """Returns a schema with types in lowercase, in the usual order, without what Gemma writes of nothing."""
    if not isinstance(schema, dict):
        return schema
    order = [*(key for key in ORDER if key in schema), *(key for key in schema if key not in ORDER)]
    read = {key: _read_keyword(key, schema[key]) for key in order}
    return {key: value for key, value in read.items() if value not in ("", {}) or key not in ("type", "properties")}


ORDER = ("type", "description", "enum", "items", "nullable", "properties", "required")
"""The usual order of keywords: Gemma's templates sort them."""


def _read_keyword(key: str, value: Any) -> Any:
    if key == "properties" and isinstance(value, dict):
        return {name: _read_schema(one) for name, one in value.items()}
    return _read_schema(value) if key == "items" else _in_case(value, str.lower) if key == "type" else value


def _in_case(kind: Any, change: Any) -> Any:
    """Returns a type, or the types in a list, in this case."""
    if isinstance(kind, list):
        return [_in_case(one, change) for one in kind]
    return change(kind) if isinstance(kind, str) else kind


def keep_keywords_of_gemma(schema: Native | None) -> Native | None:
    """Returns the schema of a tool with what Gemma's syntax has: an object, its properties and what is required."""
    if not schema:
        return None
    kept = _kept({**schema, "type": "object"})
    return {key: value for key, value in kept.items() if key in ("type", "properties", "required")}


def _kept(schema: Any) -> Native:
    """Returns the schema of a property: a list of types is the first of them, and `nullable` if null is another."""
    if not isinstance(schema, dict):
        return {}
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    kind = next((one.lower() for one in kinds if isinstance(one, str) and one != "null"), None)
    keywords = {"description", "nullable", *KEYWORDS_OF_TYPE.get(kind or "", ())}
    kept = {key: _kept_value(key, value) for key, value in schema.items() if key in keywords and _is_kept(key, value)}
    kept |= {"nullable": True} if "null" in kinds else {}
    return kept if kind is None else {**({"type": kind} if "type" in schema else {}), **kept}


KEYWORDS_OF_TYPE = {"string": ("enum",), "array": ("items",), "object": ("properties", "required")}


def _is_kept(key: str, value: Any) -> bool:
    """True for a value that the syntax has for this keyword."""
    return bool(value) and (isinstance(value, dict) or key not in ("properties", "items"))


def _kept_value(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: _kept(one) for name, one in value.items()}
    return _kept_item(value) if key == "items" else value


def _kept_item(schema: Native) -> Native:
    """Returns the schema of items, which has all keywords; a type and properties are those of Gemma."""
    kept = {
        key: _kept_value(key, value)
        for key, value in schema.items()
        if _is_kept(key, value) or (value is not None and key not in ("properties", "items"))
    }
    return {**kept, **({"type": _in_case(schema["type"], str.lower)} if "type" in kept else {})}
