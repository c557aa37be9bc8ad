"""Tools and calls as sets for function calling write them: JSON and Python literals in texts, and parameters with
Python's types."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

from convcli.families.rows import calls
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, get_extras, make_extras
from convcli.kit.values import read_json
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Message, PartPaths, Path, Text, ToolCall, ToolDefinition, ToolResult
from convcli.validation.survey import Survey
from convcli.wire.patterns import pattern

TYPES_OF = {
    "string": "str string",
    "integer": "int integer",
    "number": "float number double",
    "boolean": "bool boolean",
    "array": "list array tuple set sequence iterable",
    "object": "dict object mapping",
    "null": "null none nonetype",
}
"""The types of JSON Schema, each with its names in such sets."""
TYPES = {name: kind for kind, names in TYPES_OF.items() for name in names.split()}
TYPES_KEY = "types"
"""The extras key of a tool for the types as the set writes them, by the pointer of their schema."""
MAX_DEPTH = 32
"""How deep types and schemas are read."""
ARGUMENT = pattern(r"\s*([^\s=,()\[\]{}'\"]+)\s*=\s*")
DECODE = json.JSONDecoder().raw_decode


# ---------------------------------------------------------------- literals and calls


def read_literal(text: str) -> Any:
    """Returns the value of JSON, or of a Python literal that JSON can store; None for any other text."""
    value = read_json(text)
    if value is not None:
        return value
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if _is_json(value) else None


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    return value is None or isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))


def read_calls(text: str) -> list[Native] | None:
    """Returns the calls of a text like `[f(a="x"), g()]`; None for any other text. Names may contain spaces."""
    inner = text.strip()
    if not (inner.startswith("[") and inner.endswith(")]")):
        return None
    natives = []
    for piece in _split(inner[1:-1]):
        name, opening, rest = piece.strip().partition("(")
        arguments = _read_arguments(rest[:-1]) if opening and rest.endswith(")") and name else None
        if arguments is None:
            return None
        natives.append({"name": name, "arguments": arguments})
    return natives


def _read_arguments(text: str) -> Native | None:
    """Returns the arguments of `a="x", b=[1]`; None if a value is no literal."""
    arguments: Native = {}
    for piece in _split(text) if text.strip() else ():
        named = ARGUMENT.match(piece)
        value = None if named is None else piece[named.end() :].strip()
        if named is None or value is None or named[1] in arguments:
            return None
        read = read_literal(value)
        if read is None and value not in ("None", "null"):
            return None
        arguments[named[1]] = read
    return arguments


def _split(text: str) -> Iterator[str]:
    """Yields the pieces between the commas that are in no brackets and no quotes."""
    begin = depth = 0
    quote, is_escaped = "", False
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote and not is_escaped else quote
            is_escaped = sign == "\\" and not is_escaped
        elif sign in "'\"":
            quote, is_escaped = sign, False
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth == 0:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]


def cut_tools(text: str, begin: int) -> tuple[str, list[Native]] | None:
    """Returns the text without the tools that begin there, and these tools: JSON objects one after the other, or a list
    as JSON or as Python writes it. None if there are none."""
    natives, at = list[Any](), begin
    while text[at : at + 1] in ("{", "["):
        value, at = _literal_at(text, at)
        read = value if isinstance(value, list) else [value]
        if not read or not calls.are_tools(read):
            return None
        natives += read
        while text[at : at + 1].isspace():
            at += 1
    if not natives:
        return None
    return (text[:begin].rstrip() + ("\n" if text[at:] else "") + text[at:]).strip(), natives


def _literal_at(text: str, begin: int) -> tuple[Any, int]:
    """Returns the value of the literal at this index, and the index after it; None if it cannot be read."""
    try:
        _, end = DECODE(text, begin)
    except (ValueError, RecursionError):
        end = text.rfind("]") + 1 or len(text)
    return read_literal(text[begin:end]), end


# ---------------------------------------------------------------- tools


def lift_tool(native: Native, context: LiftContext, path: Path) -> ToolDefinition:
    """Lifts a definition, whose parameters become JSON Schema. Their own types are extras."""
    tool = calls.lift_tool(native, context, path)
    if not isinstance(tool.parameters, dict):
        return tool
    types: dict[str, str] = {}
    tool.parameters = _schema_of(tool.parameters, types)
    extra = get_extras(tool.extras, context.dialect)
    tool.extras = make_extras(context.dialect, {**extra, **({TYPES_KEY: types} if types else {})})
    return tool


def _schema_of(parameters: Native, types: dict[str, str]) -> Native:
    """Returns parameters as JSON Schema: they are a schema with other types, or arguments by name."""
    if not _are_arguments(parameters):
        return _with_types(parameters, types, "", 0)
    properties, required = {}, []
    for name, about in parameters.items():
        properties[name] = _with_types(about, types, f"/{name}", 0)
        if not is_optional(about.get("type")) and "default" not in about:
            required.append(name)
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _are_arguments(parameters: Native) -> bool:
    is_schema = isinstance(parameters.get("type"), str) or "properties" in parameters
    return not is_schema and all(isinstance(about, dict) for about in parameters.values())


def _with_types(schema: Native, types: dict[str, str], at: str, depth: int) -> Native:
    """Returns a schema with the types of JSON Schema, and adds the others to `types`."""
    if depth > MAX_DEPTH:
        return schema
    stated = schema.get("type")
    typed = schema
    if isinstance(stated, str) and type_of(stated) != {"type": stated}:
        types[at] = stated
        typed = _replaced(schema, type_of(stated))
    if isinstance(typed.get("items"), dict) and typed.get("items") is schema.get("items"):
        typed = {**typed, "items": _with_types(typed["items"], types, f"{at}/items", depth + 1)}
    if isinstance(typed.get("properties"), dict):
        below = {
            name: _with_types(one, types, f"{at}/{name}", depth + 1) if isinstance(one, dict) else one
            for name, one in typed["properties"].items()
        }
        typed = {**typed, "properties": below}
    return typed


def _replaced(schema: Native, known: Native) -> Native:
    """Returns the schema with its type in place of another, without a type if none is known. Its other keys remain."""
    at_type: Native = {}
    for key, value in schema.items():
        at_type |= known if key == "type" else {key: value}
    return at_type


def is_optional(stated: Any) -> bool:
    """True for a type that says so: `str, optional` or `Optional[str]`."""
    return isinstance(stated, str) and ("optional" in stated.split(", ")[1:] or stated.startswith("Optional["))


def type_of(stated: str, depth: int = 0) -> Native:
    """Returns a type as JSON Schema: `List[int]`, `str, optional`. It is empty for one that JSON Schema lacks."""
    name, _, inner = stated.removesuffix(", optional").strip().partition("[")
    if depth > MAX_DEPTH or (inner and not inner.endswith("]")):
        return {}
    inside = [piece.strip() for piece in _split(inner[:-1])] if inner else []
    if name == "Optional" and len(inside) == 1:
        return type_of(inside[0], depth + 1)
    kind = TYPES.get(name.lower())
    if kind is None:
        return {}
    below = type_of(inside[-1], depth + 1) if inside else {}
    if below and kind == "array" and len(inside) == 1:
        return {"type": kind, "items": below}
    if below and kind == "object":
        return {"type": kind, "additionalProperties": below}
    return {"type": kind}


# ---------------------------------------------------------------- turns and rules


class RowTurns:
    """The turns of a row while it is lifted: the results of one turn answer the calls of the turn before it."""

    def __init__(self, context: LiftContext) -> None:
        self.context = context
        self.open: list[str] = []

    def add(self, message: Message, path: Path, part_paths: PartPaths = None) -> None:
        """Adds a message. Its calls are those that the next results answer."""
        self.open = [part.id for part in message.parts if isinstance(part, ToolCall)]
        self.context.add(message, path, part_paths)

    def add_results(self, results: list[tuple[str | None, Any, Native | None]], path: Path, extra: Native) -> None:
        """Adds results, each with the name of its tool, its value and its other keys. A string is a text."""
        waiting, self.open = self.open, []
        for at, (name, value, others) in enumerate(results):
            id_, name = self.context.pairing.result(waiting[at] if at < len(waiting) else None, name)
            result = ToolResult(id_, name, "text" if isinstance(value, str) else "data", value)
            result.extras = make_extras(self.context.dialect, others)
            extras = make_extras(self.context.dialect, extra) if at == 0 else None
            self.context.add(Message("tool", [result], extras=extras), path)


def is_read(has_calls: Callable[[str], bool], has_tools: Callable[[str], bool]) -> Rule:
    """Returns a rule that calls and tools in texts can be read: what is left in a text looks like none."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, k, part in survey.parts["text"]:
            role = survey.messages[i].role
            if role == "assistant" and has_calls(part.text):
                yield Breach("invalid-arguments", NodeRef(i, k), "the call cannot be read: it stays a text")
            elif role == "system" and has_tools(part.text):
                yield Breach("wrong-format", NodeRef(i, k), "the tools cannot be read: they stay a text")
        for call in survey.calls:
            if call.call.raw_arguments is not None:
                yield Breach("invalid-arguments", call.at(), "the arguments are not a JSON object")

    codes = ("invalid-arguments", "wrong-format")
    return Rule(codes, check, of_input=codes)


def keeps_tools(key: str) -> Rule:
    """Returns a rule that the tools under this key of a row can be read."""

    def check(survey: Survey) -> Iterator[Breach]:
        if survey.transcript.tools is None:
            yield Breach("wrong-format", NodeRef(steps=(key,)), "this is not a JSON list of tools: it stays a text")

    return Rule(("wrong-format",), check, of_input=("wrong-format",))


def text_message(role: str, text: str) -> Message:
    """Returns a message with this text; without parts if it is empty."""
    return Message(role, [Text(text)] if text else [])
