"""Explains schema breaches by keyword. Messages name keys, types and lengths, never values."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from convcli.model.findings import Finding
from convcli.model.transcript import Path
from convcli.validation.wording import SAFE_WORD, counted, described, did_you_mean, listed, one_of, shown_key
from convcli.wire.pointers import pointer

TYPE_NAMES = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "boolean": "a boolean",
    "null": "null",
    "integer": "an integer",
    "number": "a number",
}
MINIMUM_OF = {"minItems": "item", "minLength": "character", "minProperties": "key"}


class SchemaBreach(NamedTuple):
    """`value` at `path` breaks `keyword` of the schema object `node`."""

    path: Path
    keyword: str
    node: dict[str, Any]
    value: Any


class Explanation(msgspec.Struct, frozen=True):
    """The meaning of a breach. Per path and `subject`, only the one with the least `weight` is reported."""

    subject: str
    weight: tuple[int, int]
    finding: Finding


def explained(breaches: Iterable[SchemaBreach], vocabulary: Callable[[], Collection[str]]) -> list[Finding]:
    """Returns one finding per path and per missing key, ordered by path.

    `vocabulary` returns all keys that the schema names.
    """
    best: dict[tuple[Path, str], Explanation] = {}
    for breach in breaches:
        for explanation in _meaning(breach, vocabulary):
            key = breach.path, explanation.subject
            if key not in best or explanation.weight < best[key].weight:
                best[key] = explanation
    return [best[key].finding for key in sorted(best)]


def _meaning(breach: SchemaBreach, vocabulary: Callable[[], Collection[str]]) -> Iterator[Explanation]:
    """Explains a breach by its keyword. The weight prefers a wrong type, and the shorter of two lists."""
    path, keyword, node, value = breach
    stated, here, actual = node.get(keyword), place_of(path), described(value)
    if keyword == "required":
        yield from (_missing(path, key, value, vocabulary) for key in node["required"] if key not in value)
    elif keyword in ("oneOf", "anyOf") and isinstance(value, dict):  # a choice of keys: our schemas have no others
        yield _one_of(path, [key for branch in node[keyword] for key in branch["required"]], value)
    elif keyword == "type":
        allowed = [stated] if isinstance(stated, str) else node["type"]
        message = f"{here} must be {one_of(TYPE_NAMES[word] for word in allowed)}; found {actual}"
        yield _explanation(path, (0, len(allowed)), "wrong-type", message)
    elif keyword in ("enum", "const"):
        yield _unknown_value(path, node["enum"] if keyword == "enum" else [stated], value)
    elif keyword in MINIMUM_OF:
        message = f"{here} must have at least {counted(int(node[keyword]), MINIMUM_OF[keyword])}; found {actual}"
        yield _explanation(path, (2, 0), "too-few", message)
    elif keyword == "pattern":
        yield _explanation(path, (2, 0), "wrong-format", f"{here} must match the pattern {stated}; found {actual}")
    else:
        yield _not_allowed(path, stated if keyword == "not" and isinstance(stated, dict) else {}, value)


def _explanation(path: Path, weight: tuple[int, int], code: str, message: str, help_text: str = "") -> Explanation:
    return Explanation("", weight, Finding(code, "error", message, where=pointer(path), help=help_text))


def _missing(path: Path, key: str, value: dict[str, Any], vocabulary: Callable[[], Collection[str]]) -> Explanation:
    """The help looks for a misspelled key: one that the schema never names."""
    near = [other for other in islice(value, 100) if other not in vocabulary()]
    help_text = did_you_mean(key, near, 'found {}: did you mean "' + key + '"?')
    finding = Finding("missing-key", "error", f'"{key}" is missing', where=pointer(path), help=help_text)
    return Explanation(key, (0, 0), finding)


def _one_of(path: Path, keys: list[str], value: dict[str, Any]) -> Explanation:
    present = [key for key in keys if key in value]
    if present:
        message = f"only one of {listed(keys)} can be set; found {listed(present)}"
        return _explanation(path, (2, 0), "not-allowed", message)
    return _explanation(path, (2, 0), "missing-key", f"one of {listed(keys)} is missing")


def _unknown_value(path: Path, allowed: list[Any], value: Any) -> Explanation:
    words = ", ".join(word if isinstance(word, str) else json.dumps(word) for word in allowed)
    plain = isinstance(value, str) and SAFE_WORD.match(value)
    actual = shown_key(value) if plain else described(value)
    message = f"{place_of(path)} must be {'one of ' * (len(allowed) > 1)}{words}; found {actual}"
    near = did_you_mean(value, [word for word in allowed if isinstance(word, str)]) if plain else ""
    return _explanation(path, (1, len(allowed)), "unknown-value", message, near)


def _not_allowed(path: Path, refused: dict[str, Any], value: Any) -> Explanation:
    """`refused` is the schema under `not`; its description is the help."""
    named = refused.get("enum", [refused.get("const")])
    verdict = f"cannot be {shown_key(value)}" if isinstance(value, str) and value in named else "is not allowed"
    message = f"{place_of(path)} {verdict} here"
    return _explanation(path, (2, 0), "not-allowed", message, refused.get("description", ""))


def place_of(path: Path) -> str:
    """Names a path in a message."""
    if not path:
        return "the document"
    owner = next((step for step in reversed(path) if isinstance(step, str)), None)
    name = "the document" if owner is None else shown_key(owner)
    return f"an item of {name}" if isinstance(path[-1], int) else name
