"""Checks the arguments of a call against the schema of its tool, in bounded time for any schema.

The schema comes with the transcript and is untrusted: patterns are not tried, references are followed only inside the
schema, and each call has a budget of steps. Mismatches beyond the budget are not reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from convcli.model.rule import Breach, Rule
from convcli.model.transcript import Path
from convcli.validation.survey import Survey
from convcli.validation.wording import SAFE_WORD
from convcli.wire import exact_json, pointers

STEPS = 10_000
"""Budget per call. A step is one value checked against one schema object."""
MOST_DEEP = 64
MOST_REPORTED = 5
"""Mismatches reported per call."""

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "number": (int, float),
    "integer": (int, float),
}
LIMITS: tuple[tuple[str, type | tuple[type, ...], Callable[[Any], Any], str], ...] = (
    ("Length", str, len, "long"),
    ("Items", list, len, "long"),
    ("imum", (int, float), float, "much"),
)
"""Suffix of the limit keywords, the type they apply to, how its values are measured, and the unit in messages."""


def arguments_match() -> Rule:
    """The arguments of every call match the schema of its tool, if there is one."""
    return Rule(("arguments-mismatch",), _arguments_mismatches, subjects=("tool_call",))


def _arguments_mismatches(survey: Survey) -> Iterator[Breach]:
    schemas = {tool.name: tool.parameters for tool in survey.tools if tool.parameters is not None}
    for called in survey.calls:
        schema = schemas.get(called.call.name)
        if schema is not None and called.call.raw_arguments is None:
            for steps, problem in _Check(schema).mismatches(called.call.arguments)[:MOST_REPORTED]:
                yield Breach("arguments-mismatch", called.at("tool_call.arguments"), f"{_named(steps)} {problem}")


def _named(steps: Path) -> str:
    """Names a path in the arguments. The keys come from the transcript, so only plain words are shown."""
    if not steps:
        return "the arguments"
    shown = [str(step) if isinstance(step, int) or SAFE_WORD.match(step) else "…" for step in steps]
    return "/".join(shown)


class _Budget(Exception):  # noqa: N818  (no error: the check ends)
    """The budget of steps is used up."""


Mismatch = tuple[Path, str]


class _Check:
    """A check of one value with its remaining budget."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root, self.steps = root, STEPS

    def mismatches(self, value: Any) -> list[Mismatch]:
        """Returns the mismatches in document order; none if the budget runs out."""
        try:
            return self._of(self.root, value, ())
        except _Budget:
            return []

    def _of(self, schema: Any, value: Any, path: Path, depth: int = 0) -> list[Mismatch]:
        self.steps -= 1
        if self.steps < 0 or depth > MOST_DEEP:
            raise _Budget
        if schema is False:
            return [(path, "is not allowed")]
        if not isinstance(schema, dict):
            return []
        mismatches = [(path, problem) for problem in _wrong_itself(schema, value)]
        if not mismatches and isinstance(value, dict):
            mismatches += self._members(schema, value, path, depth)
        elif not mismatches and isinstance(value, list) and isinstance(schema.get("items"), (dict, bool)):
            for i, item in enumerate(value):
                mismatches += self._of(schema["items"], item, (*path, i), depth + 1)
        return mismatches or self._combined(schema, value, path, depth)

    def _members(self, schema: dict[str, Any], value: dict[str, Any], path: Path, depth: int) -> list[Mismatch]:
        known = schema.get("properties")
        known = known if isinstance(known, dict) else {}
        required = schema.get("required")
        names = required if isinstance(required, list) else []
        mismatches: list[Mismatch] = [((*path, key), "is missing") for key in map(str, names) if key not in value]
        others = schema.get("additionalProperties", True) if "patternProperties" not in schema else True
        for key, item in value.items():
            if key in known or others is not True:
                missing = others is False and key not in known
                step = (*path, key)
                unknown = [(step, "is not defined by the tool")] if missing else []
                mismatches += unknown or self._of(known.get(key, others), item, step, depth + 1)
        return mismatches

    def _combined(self, schema: dict[str, Any], value: Any, path: Path, depth: int) -> list[Mismatch]:
        mismatches: list[Mismatch] = []
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            mismatches += self._of(self._resolved(reference), value, path, depth + 1)
        for one in _listed(schema, "allOf"):
            mismatches += self._of(one, value, path, depth + 1)
        for key in ("anyOf", "oneOf"):
            choices = _listed(schema, key)
            if choices and all(self._of(one, value, path, depth + 1) for one in choices):
                mismatches.append((path, "matches none of the alternatives"))
        return mismatches

    def _resolved(self, reference: str) -> Any:
        try:
            return pointers.follow(self.root, reference)
        except LookupError:
            return None


def _listed(schema: dict[str, Any], key: str) -> list[Any]:
    value = schema.get(key)
    return value if isinstance(value, list) else []


def _wrong_itself(schema: dict[str, Any], value: Any) -> Iterator[str]:
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(kinds, list) and not any(_is_of(value, kind) for kind in kinds):
        yield f"must be of the type {' or '.join(str(kind) for kind in kinds if kind in TYPES) or 'of the schema'}"
        return
    allowed = schema.get("enum")
    if isinstance(allowed, list) and not any(exact_json.exact(value, one) or value == one for one in allowed):
        yield f"must be one of {len(allowed):,} values"
    if "const" in schema and value != schema["const"]:
        yield "is not the required value"
    for end, kind, measure, word in LIMITS if not isinstance(value, bool) else ():
        if isinstance(value, kind):
            least, most = schema.get(f"min{end}"), schema.get(f"max{end}")
            if isinstance(least, (int, float)) and measure(value) < least:
                yield f"is not as {word} as {least:,}"
            if isinstance(most, (int, float)) and measure(value) > most:
                yield f"is more than {most:,} {word}".replace(" much", "")


def _is_of(value: Any, kind: Any) -> bool:
    """JSON Schema's types: true is not a number, 1.0 is an integer. Unknown types match everything."""
    if not isinstance(kind, str) or kind.lower() not in TYPES:
        return True
    kind = kind.lower()
    if isinstance(value, bool):
        return bool(kind == "boolean")
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[kind])
