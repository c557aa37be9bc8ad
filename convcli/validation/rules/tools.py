"""Rules for tool definitions and tool choice. Schemas are untrusted: they are walked, never executed or fetched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Path
from convcli.validation.survey import LINKED, Survey
from convcli.validation.wording import SAFE_WORD, brief_hint, listed, shown_key
from convcli.wire import exact_json

TYPES = frozenset(("object", "array", "string", "number", "integer", "boolean", "null"))
MOST_DEEP = 64
ONE = ("items", "not", "if", "then", "else", "additionalProperties", "contains", "propertyNames", "unevaluatedItems")
LIST = ("anyOf", "oneOf", "allOf", "prefixItems")
NAMED = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")


SchemaProblem: TypeAlias = tuple[str, Path, str]
"""A code, a path in the schema, and the problem."""


class Node(msgspec.Struct, frozen=True):
    """A schema object inside a schema, with the path to it."""

    steps: Path
    schema: dict[str, Any]


EVERY = ("auto", "none", "required")
"""The choices that name no tool."""


def chosen(*, alone: tuple[str, ...] = ()) -> Rule:
    """A tool choice comes with tools and names one of them; the choices in `alone` may come without tools."""

    def check(survey: Survey) -> Iterator[Breach]:
        choice, at = survey.transcript.tool_choice, NodeRef(field="toolChoice")
        if choice is None or choice in alone:
            return
        if not survey.tools and alone != EVERY:
            yield Breach("tool-choice-without-tools", at, "there is a tool choice but there are no tools")
            return
        names = dict.fromkeys(tool.name for tool in survey.tools)
        for name in () if isinstance(choice, str) else choice.get("names") or [choice.get("name", "")]:
            if name not in names:
                problem = f"the tool choice names {shown_key(name)}, but there is no such tool"
                yield Breach("unknown-tool-choice", at, problem, help=brief_hint(name, names))

    codes = ("unknown-tool-choice",) if alone == EVERY else ("tool-choice-without-tools", "unknown-tool-choice")
    return Rule(codes, check, subjects=("toolChoice",))


def unique(severity: Severity = "error") -> Rule:
    """No two tools have the same name."""

    def check(survey: Survey) -> Iterator[Breach]:
        first: dict[str, int] = {}
        for i, tool in enumerate(survey.tools):
            if tool.name in first:
                note = ("the first", NodeRef(tool=first[tool.name]))
                problem = f"another tool has the same name {shown_key(tool.name)}"
                yield Breach(
                    "duplicate-tool-name", NodeRef(tool=i, field="tool.name"), problem, severity, notes=(note,)
                )
            first.setdefault(tool.name, i)

    return Rule(("duplicate-tool-name",), check, subjects=("tools",))


def not_more_than(limit: int) -> Rule:
    """Limits the number of tools."""

    def check(survey: Survey) -> Iterator[Breach]:
        if len(survey.tools) > limit:
            yield Breach("too-many-tools", NodeRef(tool=limit), f"there are more than {limit} tools")

    return Rule(("too-many-tools",), check, subjects=("tools",))


def declared(severity: Severity = "error") -> Rule:
    """A transcript with calls or results has tools."""

    def check(survey: Survey) -> Iterator[Breach]:
        is_linked = survey.parts["tool_call"] or survey.parts["tool_result"]
        if is_linked and not survey.tools and survey.form != "response":
            problem = "there are calls or results but no tools"
            yield Breach("calls-without-tools", NodeRef(), problem, severity, help=_called(survey))

    return Rule(("calls-without-tools",), check, subjects=LINKED)


def _called(survey: Survey) -> str:
    """Names the tools whose definitions are missing; their schemas are unknown."""
    names = dict.fromkeys([call.name for _, _, call in survey.parts["tool_call"]])
    called = [name for name in names if SAFE_WORD.match(name)]
    return f"add the definitions of {listed(called)}" if called else ""


# --- schemas of parameters -------------------------------------------------------------------------------------------


class SchemaDemands(msgspec.Struct, frozen=True):
    """What a service requires of a schema beyond being valid.

    `bare`: a schema without a type means an object · `clean_root`: no alternatives at the root · `items`: arrays
    declare their items · `closed`: with `strict`, objects allow no other keys and require all · `of`: whose schema,
    for messages.
    """

    bare: bool = False
    clean_root: bool = False
    items: bool = False
    closed: bool = False
    of: str = "the parameters"


ANSWERS = SchemaDemands(of="the output of the tool")
ANYTHING = SchemaDemands(bare=True)
SOUND = ("invalid-schema", "remote-reference")
"""The codes for what is wrong with a schema whatever a service demands."""


def schemas(demands: SchemaDemands = SchemaDemands()) -> Rule:  # noqa: B008  (frozen)
    """The parameters of every tool are a JSON Schema for an object, and its output schema is a JSON Schema."""
    codes = [
        *("schema-not-object", "invalid-schema", "schema-too-deep", "remote-reference"),
        *(["array-without-items"] if demands.items else []),
        *(["open-strict-schema"] if demands.closed else []),
    ]

    def check(survey: Survey) -> Iterator[Breach]:
        for i, tool in enumerate(survey.tools):
            if tool.parameters is not None:
                yield from _judged(
                    tool.parameters, demands, NodeRef(tool=i, field="tool.parameters"), tool.strict is True
                )
            if tool.output_schema is not None:
                yield from _unsound(tool.output_schema, i, "outputSchema")

    return Rule(tuple(codes), check, subjects=("tools",))


def sound() -> Rule:
    """The schemas of every tool are JSON Schemas without references to other documents, whatever a service demands."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, tool in enumerate(survey.tools):
            unsound = [*_unsound(tool.parameters, i, "parameters"), *_unsound(tool.output_schema, i, "outputSchema")]
            yield from (replace(one, severity="warning") for one in unsound)

    return Rule(SOUND, check, subjects=("tools",))


def _unsound(schema: Any, tool: int, field: str) -> Iterator[Breach]:
    """Finds what is wrong with a schema whatever a service demands of it."""
    if isinstance(schema, dict):
        breaches = _judged(schema, ANYTHING, NodeRef(tool=tool, field=f"tool.{field}"))
        yield from (one for one in breaches if one.code in SOUND)


def typed(severity: Severity = "warning") -> Rule:
    """The parameters of every tool name their type. Without one they mean an object."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, tool in enumerate(survey.tools):
            if tool.parameters is not None and "type" not in tool.parameters:
                at = NodeRef(tool=i, field="tool.parameters")
                yield Breach("schema-not-object", at, "the parameters have no type; it must be object", severity)

    return Rule(("schema-not-object",), check, subjects=("tools",))


def output_schemas(*, free: Callable[[Survey], bool]) -> Rule:
    """The output schema of a tool is for an object, unless `free` is true for the document. `schemas` finds what else
    is wrong with it."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, tool in enumerate(survey.tools):
            if isinstance(tool.output_schema, dict):
                at = NodeRef(tool=i, field="tool.outputSchema")
                breaches = _judged(tool.output_schema, ANSWERS, at)
                known = {*SOUND, *(["schema-not-object"] if free(survey) else [])}
                yield from (one for one in breaches if one.code not in known)

    return Rule(("schema-not-object", "schema-too-deep"), check, subjects=("tools",))


def _judged(schema: dict[str, Any], demands: SchemaDemands, at: NodeRef, strict: bool = False) -> Iterator[Breach]:
    for code, steps, problem in _problems_of(exact_json.write(schema), demands, strict):
        severity: Severity = "warning" if code == "remote-reference" else "error"
        yield Breach(code, replace(at, steps=steps), problem, severity)


@lru_cache(maxsize=256)
def _problems_of(written: bytes, demands: SchemaDemands, strict: bool) -> list[SchemaProblem]:
    """Cached by the schema's JSON: the transcripts of one program share their tools."""
    return list(_problems(exact_json.parse(written), demands, strict))


def _problems(root: dict[str, Any], demands: SchemaDemands, strict: bool) -> Iterator[SchemaProblem]:
    kind = root.get("type")
    if kind != "object" and "$ref" not in root and not (demands.bare and kind is None):
        actual = "none" if kind is None else "another"
        problem = f"{demands.of} must be a schema with the type object; found {actual}"
        yield "schema-not-object", ("type",) if "type" in root else (), problem
    for key in ("anyOf", "oneOf", "allOf") if demands.clean_root else ():
        if key in root:
            yield "schema-not-object", (key,), f"{key} is not allowed at the root"
    checks: list[Callable[[dict[str, Any]], tuple[str, str, str] | None]] = [_malformed, _remote]
    checks += ([_without_items] if demands.items else []) + ([_open] if demands.closed and strict else [])
    for node in nodes(root):
        if len(node.steps) > MOST_DEEP * 2:
            yield "schema-too-deep", (), f"the schema is more than {MOST_DEEP} levels deep"
            return
        for code, key, problem in filter(None, (one(node.schema) for one in checks)):
            yield code, (*node.steps, key) if key else node.steps, problem


def closed_response(*steps: str) -> Rule:
    """A strict response format has a closed schema; `steps` lead from the format to the schema."""

    def check(survey: Survey) -> Iterator[Breach]:
        format_ = (survey.transcript.settings or {}).get("responseFormat")
        schema = format_.get("schema") if isinstance(format_, dict) and format_.get("strict") else None
        for node in nodes(schema) if isinstance(schema, dict) else ():
            wrong = _open(node.schema)
            if wrong is not None:
                inner = (*steps, *node.steps, *([wrong[1]] if wrong[1] else []))
                yield Breach(wrong[0], NodeRef(field="settings.responseFormat", steps=inner), wrong[2])

    return Rule(("open-strict-schema",), check, subjects=("settings",))


def nodes(root: dict[str, Any]) -> Iterator[Node]:
    """Yields every schema object inside a schema, parents first, in document order."""
    stack = [Node((), root)]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed([Node((*node.steps, *steps), child) for steps, child in _children(node.schema)])


def _children(schema: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for key, value in schema.items():
        if key in ONE and isinstance(value, dict):
            yield (key,), value
        elif key in LIST and isinstance(value, list):
            yield from (((key, i), child) for i, child in enumerate(value) if isinstance(child, dict))
        elif key in NAMED and isinstance(value, dict):
            yield from (((key, name), child) for name, child in value.items() if isinstance(child, dict))


def _malformed(schema: dict[str, Any]) -> tuple[str, str, str] | None:
    """Finds a keyword with a value of the wrong type."""
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind] if "type" in schema else []
    if not all(isinstance(one, str) and one.lower() in TYPES for one in kinds):
        return "invalid-schema", "type", "type must be a JSON Schema type"
    for key, wanted, problem in KEYWORDS:
        if key in schema and not wanted(schema[key]):
            return "invalid-schema", key, f"{key} must be {problem}"
    return None


def _words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, (dict, bool)) for one in value)


KEYWORDS: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("properties", lambda value: isinstance(value, dict), "an object"),
    ("required", _words, "a list of strings"),
    ("enum", lambda value: isinstance(value, list), "a list"),
    ("items", lambda value: isinstance(value, (dict, bool, list)), "a schema"),
    ("anyOf", _objects, "a list of schemas"),
    ("oneOf", _objects, "a list of schemas"),
    ("allOf", _objects, "a list of schemas"),
    ("$ref", lambda value: isinstance(value, str), "a string"),
)


def _remote(schema: dict[str, Any]) -> tuple[str, str, str] | None:
    reference = schema.get("$ref")
    if isinstance(reference, str) and not reference.startswith("#"):
        return "remote-reference", "$ref", "convcli never fetches a reference to another document"
    return None


def _without_items(schema: dict[str, Any]) -> tuple[str, str, str] | None:
    kind = schema.get("type")
    if kind == "array" and "items" not in schema and "prefixItems" not in schema:
        return "array-without-items", "", "the schema of an array must have items"
    return None


def _open(schema: dict[str, Any]) -> tuple[str, str, str] | None:
    if schema.get("type") != "object" and "properties" not in schema:
        return None
    if schema.get("additionalProperties") is not False:
        return "open-strict-schema", "", "a strict schema must set additionalProperties to false"
    required, properties = schema.get("required"), schema.get("properties")
    names = properties.keys() if isinstance(properties, dict) else ()
    if not isinstance(required, list) or not set(names) <= set(map(str, required)):
        return (
            "open-strict-schema",
            "required" if "required" in schema else "",
            "a strict schema must require all its keys",
        )
    return None
