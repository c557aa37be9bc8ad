"""Findings for a document that its schema refuses, and for keys that the schema does not name.

The validators' messages are reworded (`explaining`); each finding has a pointer into the document."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from itertools import islice
from math import isfinite
from typing import Any

from msgspec.structs import replace

from convcli.model.findings import Finding
from convcli.model.transcript import Path
from convcli.validation import schemas
from convcli.validation.explaining import SchemaBreach, explained, place_of
from convcli.validation.wording import did_you_mean
from convcli.wire.pointers import follow, pointer, resolve

MOST = 10_000
"""Limit on the breaches of one document: nobody reads more, and a document of any size is checked in bounded time."""
MORE = f"more is wrong but not reported: the limit is {MOST:,} schema findings per document"


def findings(name: str, document: Any, *, is_accepted: bool, strict: bool) -> list[Finding]:
    """Returns the objections of the schema `name`, ordered by pointer; no errors if `is_accepted`.

    There is one error per path and per missing key, at most `MOST`. `strict` adds a warning `unknown-key` for each key
    that the schema does not name, also at most `MOST`. If there are more, the last finding has a note.

    Python has numbers that JSON has not. The validators refuse some of them and state no reason, so they come first.
    """
    not_finite = [] if is_accepted else list(islice(_not_finite(document, ()), MOST))
    if not_finite:
        return not_finite
    wrong: Iterator[Any] = iter(()) if is_accepted else breaches(name, document)
    unknown: Iterator[Any] = _unknown_keys(name, [schemas.schema(name)], document, ()) if strict else iter(())
    reported = explained(islice(wrong, MOST), partial(schemas.vocabulary, name)) + list(islice(unknown, MOST))
    if reported and any(next(left, None) is not None for left in (wrong, unknown)):
        reported[-1] = replace(reported[-1], notes=(*reported[-1].notes, MORE))
    return reported


def _not_finite(node: Any, path: Path) -> Iterator[Finding]:
    if isinstance(node, float) and not isfinite(node):
        help_ = "write null, or omit the key"
        yield Finding("not-finite", "error", "JSON has no NaN or infinity", where=pointer(path), help=help_)
    elif isinstance(node, (dict, list)):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from _not_finite(child, (*path, key))


def breaches(name: str, document: Any) -> Iterator[SchemaBreach]:
    """Yields where a document breaks the schema `name`; nothing exactly if the schema accepts it."""
    fast = schemas.fast_validator(name)
    if fast is not None:
        try:
            errors = list(islice(fast.iter_errors(document), MOST + 1))
            return iter([_fast_breach(schemas.schema(name), document, error) for error in errors])
        except (ValueError, LookupError):  # a value that Rust cannot represent, or a key that it takes for an index
            pass
    return (_thorough_breach(error) for error in schemas.thorough_validator(name).iter_errors(document))


def _fast_breach(root: dict[str, Any], document: Any, error: Any) -> SchemaBreach:
    """Returns the breach. Raises LookupError if its path has an index in an object: the keys "0" and "00" become 0."""
    *above, last = error.schema_path
    path = _keyed(document, error.instance_path)
    node = resolve(root, above)
    refused = node[last] is False  # such a schema has no keyword; its path ends in the name of a property
    return SchemaBreach(path, "not" if refused else last, {} if refused else node, resolve(document, path))


def _keyed(document: Any, steps: Iterable[str | int]) -> Path:
    """Returns the path of a value; the fast validator gives a key of digits as a number."""
    path: Path = ()
    for step in steps:
        path = (*path, str(step) if isinstance(document, dict) else step)
        document = document[path[-1]]
    return path


def _thorough_breach(error: Any) -> SchemaBreach:
    return SchemaBreach(tuple(error.absolute_path), error.validator or "not", error.schema or {}, error.instance)


def _has_unknown_type(name: str, nodes: Iterable[dict[str, Any]], value: dict[str, Any]) -> bool:
    """True if the schemas distinguish such objects by type and do not know this type: its keys are then not judged."""
    stated = ((key, value.get(key)) for key in schemas.discriminators_of(nodes))
    return any(isinstance(kind, str) and kind not in schemas.types(name, (key,)) for key, kind in stated)


def _unknown_keys(name: str, nodes: Iterable[Any], value: Any, path: Path) -> Iterator[Finding]:
    """Walks the document along the schemas that apply to it; values that no schema describes are skipped."""
    applying = [applied for node in nodes for applied in _applying(name, node, value)]
    if isinstance(value, list):
        below = [node["items"] for node in applying if "items" in node]
        for index, item in enumerate(value) if below else ():
            yield from _unknown_keys(name, below, item, (*path, index))
    elif isinstance(value, dict) and not _has_unknown_type(name, applying, value):
        known = {key for node in applying for key in _named(node)}
        others = [node["additionalProperties"] for node in applying if "additionalProperties" in node]
        for key, item in value.items():
            named = [node["properties"][key] for node in applying if key in node.get("properties", ())]
            if named or others:
                yield from _unknown_keys(name, named or others, item, (*path, key))
            elif known and key not in known:
                yield _unknown_key(name, (*path, key), known)


def _named(node: dict[str, Any]) -> Iterator[str]:
    """Yields the keys that a schema object describes or requires."""
    yield from node.get("properties", ())
    yield from node.get("required", ())
    for below in node.get("anyOf", ()):
        yield from below.get("required", ())


def _unknown_key(name: str, path: Path, known: Collection[str]) -> Finding:
    message = f"{place_of(path)} is not a key that {name} defines here"
    return Finding("unknown-key", "warning", message, pointer(path), help=did_you_mean(str(path[-1]), known))


def _applying(name: str, node: Any, value: Any) -> Iterator[dict[str, Any]]:
    """Yields the schema object itself and those that it applies to this value."""
    if not isinstance(node, dict):
        return
    yield node
    if "$ref" in node:
        yield from _applying(name, follow(schemas.schema(name), node["$ref"]), value)
    if "if" in node:
        branch = "then" if schemas.thorough_validator(name).evolve(schema=node["if"]).is_valid(value) else "else"
        yield from _applying(name, node.get(branch), value)
    for below in node.get("allOf", ()):
        yield from _applying(name, below, value)
