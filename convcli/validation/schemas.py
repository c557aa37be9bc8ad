"""convcli's JSON Schemas: where they are, whether a document passes one, and the findings if it does not.

`jsonschema_rs` gives the verdict and the paths within microseconds per kilobyte. `jsonschema` is the fallback if it is
missing or cannot represent a value (a lone surrogate). Both are imported when first needed; neither opens a connection.
A few small valid documents need neither (`quick_schemas`). Tests check that all three agree. The messages are our own:
those of the validators quote the value."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any

from convcli.model import plugins
from convcli.model.errors import JobError
from convcli.model.findings import Finding
from convcli.model.transcript import Path, Step
from convcli.validation.cases import with_decided_cases
from convcli.validation.quick_schemas import QuickValidator, UndecidedError
from convcli.validation.wording import did_you_mean, shown_key
from convcli.wire import exact_json
from convcli.wire.pointers import follow, members

SUFFIX = ".schema.json"
MOST_STEPS = 3000
"""Steps that a `QuickValidator` takes in the time that the fast validator takes to load."""


@cache
def folder() -> str:
    """Returns the folder of the schemas: inside the installed package, next to it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "schemas")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), "schemas")


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(name.removesuffix(SUFFIX) for name in os.listdir(folder()) if name.endswith(SUFFIX)))


def names() -> list[str]:
    """Returns all schema names, sorted: dialects, including those of plugins, and convcli's own output formats."""
    return sorted({*_names(), *plugins.names()})


@cache
def schema(name: str) -> dict[str, Any]:
    """Returns the schema `name`: one shared object, not to be changed.

    Raises JobError `unknown-schema`, and `bad-plugin` if a plugin brings a dialect without a schema.
    """
    if name not in _names():
        return _of_plugin(name)
    with open(os.path.join(folder(), name + SUFFIX), encoding="utf-8") as file:
        text = file.read()
    loaded: dict[str, Any] = exact_json.parse(text)
    return _bundled(loaded) if text.count(OTHER) > 1 else loaded  # the first match is its own name


_HEAD = 6144
"""The first bytes of a schema, which contain its marks; a test checks this."""


def marks(name: str) -> Any:
    """Returns the marks by which the dialect is detected (`engine/detection`); None if its schema has none.

    Detection asks all dialects for their marks, so the rest of a built-in schema is not read.
    """
    if name not in _names():
        return schema(name).get("x-marks")
    with open(os.path.join(folder(), name + SUFFIX), "rb", buffering=0) as file:
        _, found, rest = file.read(_HEAD).partition(b'"x-marks": ')
    return json.JSONDecoder().raw_decode(rest.decode(errors="ignore"))[0] if found else None


OTHER = "urn:convcli:schema:"
"""Prefix of a reference to another schema; the name follows, and `#/$defs/NAME` for one of its definitions."""


def _bundled(loaded: dict[str, Any]) -> dict[str, Any]:
    """Copies what it refers to in other schemas into its definitions, so that all references stay within it."""
    references = [reference for reference in _references(loaded) if reference.startswith(OTHER)]
    others = sorted({reference.removeprefix(OTHER).partition("#")[0] for reference in references})
    if not others:
        return loaded
    defs = dict(loaded.get("$defs", {}))
    for other in others:
        root = {key: value for key, value in schema(other).items() if key not in ("$schema", "$id", "$defs")}
        inside = {f"{other}.{key}": value for key, value in schema(other).get("$defs", {}).items()}
        defs |= {key: _renamed(value, f"#/$defs/{other}.") for key, value in {other: root, **inside}.items()}
    root, defs = _renamed({**loaded, "$defs": {}}, "#/$defs/"), _renamed(defs, "#/$defs/")
    used = _used(root, defs, set())
    return {**root, "$defs": {key: value for key, value in defs.items() if key in used}}


def _used(node: Any, defs: dict[str, Any], found: set[str]) -> set[str]:
    """Adds the definitions that the node refers to, directly or through others, to those that were found."""
    for reference in _references(node):
        key = reference.removeprefix("#/$defs/")
        if key not in found:
            found.add(key)
            _used(defs[key], defs, found)
    return found


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict) and isinstance(node.get("$ref"), str):
        yield node["$ref"]
    for below in members(node):
        yield from _references(below)


def _renamed(node: Any, prefix: str) -> Any:
    """Rewrites references to definitions with this prefix, and references to other schemas to this one."""
    if isinstance(node, list):
        return [_renamed(below, prefix) for below in node]
    if not isinstance(node, dict):
        return node
    changed = {key: _renamed(below, prefix) for key, below in node.items()}
    reference = node.get("$ref")
    if isinstance(reference, str) and reference.startswith(OTHER):
        changed["$ref"] = "#/$defs/" + reference.removeprefix(OTHER).replace("#/$defs/", ".", 1)
    elif isinstance(reference, str):
        changed["$ref"] = prefix + reference.removeprefix("#/$defs/")
    return changed


def _of_plugin(name: str) -> dict[str, Any]:
    """Returns the schema from a plugin's package."""
    brought = plugins.entry(name)
    if brought is None:
        from convcli.kit.codec import found

        described = found.schema_of(name)
        if described is not None:
            return described
        raise JobError("unknown-schema", f"there is no schema {shown_key(name)}", help=did_you_mean(name, names()))
    text = plugins.schema_text(name)
    try:
        loaded = json.loads(text or b"null")
    except ValueError:
        loaded = None
    if not isinstance(loaded, dict):
        problem = "has no JSON Schema" if text is None else "has a schema that is not a JSON object"
        place = plugins.SCHEMA_PLACES[0].format(name)
        message = f"the plugin for the dialect {shown_key(name)} {problem}"
        raise JobError("bad-plugin", message, help=f"it belongs in the package {brought.module}, at {place}")
    return loaded


def accepts(name: str, document: Any) -> bool:
    """True if the document passes the schema `name`; keys that it does not name are ignored."""
    return _passes_quickly(name, document) or is_valid(name, document)


def _passes_quickly(name: str, document: Any) -> bool:
    """True if the document surely passes and the check is cheap."""
    if _quick_validator().left <= 0:
        return False
    try:
        return _quick_validator().passes(schema(name), document)
    except UndecidedError:
        return False


@cache
def _quick_validator() -> QuickValidator:
    """Shared by all documents of a process: with many documents, the fast validator is quicker."""
    return QuickValidator(MOST_STEPS)


def is_valid(name: str, document: Any) -> bool:
    fast = fast_validator(name, decides=True)
    if fast is not None:
        try:
            return bool(fast.is_valid(document))
        except ValueError:  # a value that Rust cannot represent
            pass
    return bool(thorough_validator(name).is_valid(document))


def findings(name: str, document: Any, *, strict: bool = False) -> list[Finding]:
    """Returns the objections of the schema `name`, ordered by pointer; no errors exactly if it accepts the document.

    `strict` adds a warning `unknown-key` for each key that the schema does not name (`breaches`).
    """
    is_accepted = accepts(name, document)
    if is_accepted and not strict:
        return []
    from convcli.validation import breaches  # only needed if there are findings

    return breaches.findings(name, document, is_accepted=is_accepted, strict=strict)


@cache
def fast_validator(name: str, *, decides: bool = False) -> Any:
    """Returns the fast validator, None if it is not installed. One that `decides` its cases is faster; the paths of its
    errors are not those of the schema."""
    try:
        from jsonschema_rs import Draft202012Validator
    except ImportError:
        return None
    return Draft202012Validator(with_decided_cases(schema(name)) if decides else schema(name), offline=True)


@cache
def thorough_validator(name: str) -> Any:
    """Returns the thorough validator. Its registry is empty: the default one would fetch references."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped, unused-ignore]
    from referencing import Registry

    return Draft202012Validator(schema(name), registry=Registry())


@lru_cache(maxsize=8192)
def keys_in(name: str, path: Path) -> frozenset[str] | None:
    """Returns the keys that the schema names in the object at a path, in any form of the document.

    In the path, `*` stands for each item of a list. None if the schema names none: then any key is allowed.
    """
    return frozenset(key for node in nodes_at(name, path) for key in node.get("properties", ())) or None


@cache
def allows_text(name: str, path: Path) -> bool:
    """True if some form of the document allows a string at this path, or if the schema does not restrict it."""
    stated = [node["type"] for node in nodes_at(name, path) if "type" in node]
    return not stated or any("string" in ([kind] if isinstance(kind, str) else kind) for kind in stated)


@lru_cache(maxsize=8192)
def nodes_at(name: str, path: Path) -> tuple[dict[str, Any], ...]:
    """Returns the schema objects for the values at a path; in it, `*` stands for each item of a list."""
    nodes = list(_possible(name, schema(name)))
    for step in path:
        below = [node["properties"][step] for node in nodes if step in node.get("properties", ())]
        below += [node["items"] for node in nodes if step == "*" and "items" in node]
        below += [node["additionalProperties"] for node in nodes if _is_any_other(step, node)]
        nodes = [possible for node in below for possible in _possible(name, node)]
    return tuple(nodes)


@lru_cache(maxsize=8192)
def discriminators(name: str, path: Path) -> tuple[str, ...]:
    """Returns the keys by whose values the schema distinguishes the objects at a path; `*` is each item of a list."""
    return discriminators_of(nodes_at(name, path))


def discriminators_of(nodes: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    """Returns the keys whose values are the conditions of these schema objects."""
    conditions = (node["if"].get("properties", {}) for node in nodes if isinstance(node.get("if"), dict))
    stated = (
        pair for condition in conditions for pair in condition.items() if not {"const", "enum"}.isdisjoint(pair[1])
    )
    return tuple(dict.fromkeys(key for key, _ in stated))


def _is_any_other(step: Step, node: dict[str, Any]) -> bool:
    """True if the schema object describes the values of all keys that it does not name, and this is one of them."""
    return step not in node.get("properties", ()) and isinstance(node.get("additionalProperties"), dict)


def _possible(name: str, node: Any) -> Iterator[dict[str, Any]]:
    """Yields the schema object itself and all that it may apply to some value."""
    if not isinstance(node, dict):
        return
    yield node
    if "$ref" in node:
        yield from _possible(name, follow(schema(name), node["$ref"]))
    for below in (node.get("then"), node.get("else"), *node.get("allOf", ()), *node.get("anyOf", ())):
        yield from _possible(name, below)


@cache
def vocabulary(name: str) -> frozenset[str]:
    """Returns all keys that the schema names anywhere."""

    keys, nodes = set[str](), [schema(name)]
    while nodes:
        node = nodes.pop()
        keys.update(node.get("properties", ()))
        for below in node.values():
            nodes += [each for each in (below if isinstance(below, list) else [below]) if isinstance(each, dict)]
    return frozenset(keys)


@cache
def types(name: str, keys: tuple[str, ...] = ("type",)) -> frozenset[str]:
    """Returns the values that the schema names anywhere for a key `type`, or for others, except refused ones."""

    def words(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            for stated in map((node.get("properties") or {}).get, keys):
                if isinstance(stated, dict):
                    yield from (word for word in stated.get("enum", [stated.get("const")]) if isinstance(word, str))
        for below in members(node):
            yield from words(below)

    return frozenset(words(schema(name)))
