"""Reads and writes tools in harmony's notation: functions in a TypeScript namespace.

Tools are read only if writing them again gives the same text, apart from indentation. So nothing is guessed: any other
TypeScript stays text.
"""

from __future__ import annotations

import re
from typing import Any

from convcli.kit.objects import Native, as_object
from convcli.model.errors import ContentError
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

HEAD = "# Tools\n\n## functions\n\nnamespace functions {\n\n"
TAIL = "} // namespace functions"
DEFAULT = " // default: "
SIMPLE = ("string", "number", "boolean", "object", "null")
_WORDS = {**{name: name for name in SIMPLE}, "integer": "number"}
_KEY = pattern(r"[A-Za-z0-9_$-]+")
_FUNCTION = pattern(r"type ([A-Za-z0-9_.-]+) = \(")
_QUOTED = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
_STRING = pattern(_QUOTED)
_COMMENT = pattern(r"[ \t]*//(?: ([^\n]*))?\n")
_PROPERTY = pattern(rf"[ \t]*([A-Za-z0-9_$-]+|{_QUOTED})(\??): ")
_INDENT = pattern(r"^[ \t]+", re.MULTILINE)


# ---------------------------------------------------------------- write


def write(natives: list[Native]) -> str:
    """Returns the section of the tools; each has a name, and optionally a description and parameters."""
    return HEAD + "".join(map(_function, natives)) + TAIL


def _function(native: Native) -> str:
    parameters = native.get("parameters")
    parameters_text = "" if parameters is None else f"_: {{\n{_properties(parameters, '')}}}"
    return f"{_comment(native.get('description'), '')}type {native['name']} = ({parameters_text}) => any;\n\n"


def _comment(text: Any, indent: str) -> str:
    lines = text.split("\n") if isinstance(text, str) and text else []
    return "".join(f"{indent}//{' ' if line else ''}{line}\n" for line in lines)


def _properties(schema: Native, indent: str) -> str:
    properties, needed = schema.get("properties"), schema.get("required")
    listed = properties.items() if isinstance(properties, dict) else ()
    required = needed if isinstance(needed, list) else []
    return "".join(_property(key, spec, key in required, indent) for key, spec in listed)


def _property(key: str, spec: Any, is_required: bool, indent: str) -> str:
    spec = as_object(spec)
    name = key if _KEY.fullmatch(key) else exact_json.write_text(key)
    default = f"{DEFAULT}{_default(spec)}" if "default" in spec else ""
    comment = _comment(spec.get("description"), indent)
    return f"{comment}{indent}{name}{'' if is_required else '?'}: {_type(spec, indent)},{default}\n"


def _default(spec: Native) -> str:
    value = spec["default"]
    is_clean = isinstance(value, str) and value in _words(spec) and value.isprintable()
    return value if is_clean else exact_json.write_text(value)


def _words(spec: Native) -> list[str]:
    """Returns the strings of an enum, or an empty list for any other schema."""
    allowed = spec.get("enum")
    are_texts = isinstance(allowed, list) and all(isinstance(word, str) for word in allowed)
    return allowed if are_texts and isinstance(allowed, list) else []


def _type(spec: Any, indent: str) -> str:
    spec = as_object(spec)
    if _words(spec):
        members = list(map(exact_json.write_text, _words(spec)))
    elif isinstance(spec.get("anyOf"), list) and spec["anyOf"]:
        members = [_type(one, indent) for one in spec["anyOf"]]
    elif isinstance(spec.get("type"), list) and spec["type"]:
        members = [_WORDS.get(str(one), "any") for one in spec["type"]]
    else:
        members = [_one_type(spec, indent)]
    return " | ".join(members)


def _one_type(spec: Native, indent: str) -> str:
    if spec.get("type") == "array":
        item = _type(spec.get("items"), indent)
        return f"({item})[]" if " | " in item else f"{item}[]"
    if spec.get("type") == "object" and "properties" in spec:
        inner = f"{indent}    "
        return f"{{\n{_properties(spec, inner)}{indent}}}"
    return _WORDS.get(str(spec.get("type")), "any")


# ---------------------------------------------------------------- read


class _OtherTextError(ValueError):
    """Raised for TypeScript that `write` does not produce."""


def read(text: str) -> list[Native] | None:
    """Returns the tools of a section; None for any other text."""
    try:
        natives = _SectionReader(text).tools()
    except (_OtherTextError, ContentError, RecursionError):
        return None
    return natives if _INDENT.sub("", write(natives)) == _INDENT.sub("", text) else None


class _SectionReader:
    """Reads a section from beginning to end."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def tools(self) -> list[Native]:
        """Returns all tools of the section."""
        self._take(HEAD)
        natives: list[Native] = []
        while not self._has(TAIL):
            native: Native = {}
            comment = self._read_comment()
            native["name"] = self._match(_FUNCTION)[1]
            if comment is not None:
                native["description"] = comment
            if not self._has(") => any;\n\n"):
                self._take("_: {\n")
                native["parameters"] = {"type": "object", **self._properties()}
                self._take(") => any;\n\n")
            natives.append(native)
        return natives

    def _read_comment(self) -> str | None:
        lines: list[str] = []
        while (match := _COMMENT.match(self._text, self._at)) is not None:
            self._at = match.end()
            lines.append(match[1] or "")
        return "\n".join(lines) if lines else None

    def _properties(self) -> Native:
        """Reads the properties of an object up to its closing brace."""
        properties: Native = {}
        required: list[str] = []
        while True:
            comment = self._read_comment()
            self._match(re.compile(r"[ \t]*"))
            if comment is None and self._has("}"):
                return {"properties": properties, **({"required": required} if required else {})}
            match = self._match(_PROPERTY)
            key = exact_json.parse(match[1]) if match[1].startswith('"') else match[1]
            spec = self._type()
            if comment is not None:
                spec = {**({"type": spec["type"]} if "type" in spec else {}), "description": comment, **spec}
            self._take(",")
            if self._has(DEFAULT):
                spec["default"] = self._default(spec)
            self._take("\n")
            properties[key] = spec
            required += [] if match[2] else [key]

    def _default(self, spec: Native) -> Any:
        line = self._match(re.compile(r"[^\n]*"))[0]
        return line if line in _words(spec) else exact_json.parse(line)

    def _type(self) -> Native:
        members = [self._member()]
        while self._has(" | "):
            members.append(self._member())
        grouped: list[Native] = []
        for member in members:
            if grouped and "enum" in member and "enum" in grouped[-1]:
                grouped[-1] = {**member, "enum": [*grouped[-1]["enum"], *member["enum"]]}
            else:
                grouped.append(member)
        if len(grouped) == 1:
            return grouped[0]
        are_simple = all(member.keys() == {"type"} and member["type"] in SIMPLE for member in grouped)
        return {"type": [member["type"] for member in grouped]} if are_simple else {"anyOf": grouped}

    def _member(self) -> Native:
        schema = self._atom()
        while self._has("[]"):
            schema = {"type": "array", **({"items": schema} if schema else {})}
        return schema

    def _atom(self) -> Native:
        if self._has("("):
            inner = self._type()
            self._take(")")
            return inner
        if self._has("{\n"):
            return {"type": "object", **self._properties()}
        match = _STRING.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
            return {"type": "string", "enum": [exact_json.parse(match[0])]}
        word = self._match(re.compile("[a-z]+"))[0]
        if word not in (*SIMPLE, "any"):
            raise _OtherTextError
        return {} if word == "any" else {"type": word}

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise _OtherTextError
        self._at = match.end()
        return match

    def _has(self, text: str) -> bool:
        """Returns whether the text comes next, and if so moves past it."""
        is_next = self._text.startswith(text, self._at)
        self._at += len(text) if is_next else 0
        return is_next

    def _take(self, text: str) -> None:
        if not self._has(text):
            raise _OtherTextError
