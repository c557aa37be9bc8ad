"""Sets keys in every output: those that a service requires and the input does not have.

Default keys are set only where the output has no value. Such an output is read back and compared like any other, so set
keys are reported as invented or changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from convcli.engine.conversion import Conversion, left_out, read_back
from convcli.model.dialect import Dialect, Options, SetKeys
from convcli.model.errors import JobError
from convcli.model.transcript import Path
from convcli.proof.reasons import MISSING, SET, Loss
from convcli.validation import schemas
from convcli.validation.wording import described, shown_key, unknown
from convcli.wire import exact_json, pointers


def checked(values: Mapping[str, Any], target: Dialect) -> SetKeys:
    """Returns the keys with their values; a dot descends into an object.

    Raises JobError for a key that the target's schema does not name, in a document or in its body.
    """
    for key in values:
        steps = tuple(key.split("."))
        for i, step in enumerate(steps):
            known = _known(target, steps[:i])
            if known is None:
                break
            if step not in known:
                raise unknown("key", step, sorted(known), f"convcli schema {target.name} shows all keys")
    return tuple(values.items())


def _known(target: Dialect, steps: Path) -> frozenset[str] | None:
    """Returns the keys allowed at a path, in a document or in a body; None if any key is."""
    places = dict.fromkeys(((), *(body.path for body in target.bodies.values())))
    named = [schemas.keys_in(target.name, (*place, *steps)) for place in places]
    return frozenset().union(*(keys for keys in named if keys is not None)) if any(named) else None


def _steps(key: str, target: Dialect, form: str) -> list[str]:
    """Returns the path of a key: in the body if the form has one, unless the key is outside of the body."""
    steps, body = key.split("."), target.bodies.get(form)
    if body is None or steps[0] in (schemas.keys_in(target.name, ()) or ()):
        return steps
    return [*map(str, body.path), *steps]


def with_set_keys(conversion: Conversion, options: Options, target: Dialect, source: Dialect | None) -> Conversion:
    """Returns the conversion with the keys of these options set. Raises JobError if they do not fit."""
    document, silent = conversion.document, list[Loss]()
    before = target.lift(document) if options.set_keys or options.default_keys else None
    form = before.origin.form if before is not None and before.origin is not None else ""
    for key, value, is_default in reversed(_all_keys(options)):
        steps = _steps(key, target, form)
        edited = document if is_default and _has_value(document, steps) else _put(document, steps, value, key)
        if edited is document:
            continue
        _check(edited, key, target)
        after = target.lift(edited)
        if after == before:
            silent.append(_loss(key, _value_at(document, steps), value))
        document, before = edited, after
    if document is conversion.document:
        return conversion
    excluded = left_out(conversion.transcript, options, source, target)
    done = read_back(conversion.transcript, document, target, source, left_out=excluded)
    done.losses = [*reversed(silent), *_explained(done.losses, conversion.losses)]
    return done


def _all_keys(options: Options) -> list[tuple[str, Any, bool]]:
    """Returns the keys with their values, and whether these are defaults, in the order of the output."""
    keys = [(key, value, False) for key, value in options.set_keys]
    return keys + [(key, value, True) for key, value in options.default_keys]


def _has_value(document: Any, steps: Sequence[str]) -> bool:
    return _value_at(document, steps) not in (MISSING, None)


def _put(node: Any, steps: Sequence[str], value: Any, key: str) -> Any:
    """Returns the node with the value set, or the same node if it is already there.

    New keys are put first, like the name of the model.
    """
    if not steps:
        return node if node is not MISSING and exact_json.exact(node, value) else value
    step, rest = steps[0], steps[1:]
    if not isinstance(node, dict):
        raise JobError("usage", f"{shown_key(key)} cannot be set in {described(node)}")
    old = node.get(step, MISSING)
    below = _put({} if rest and (old is MISSING or old is None) else old, rest, value, key)
    if step in node:
        return node if below is old else {**node, step: below}
    return {step: below, **node}


def _check(document: Any, key: str, target: Dialect) -> None:
    """Raises JobError if the document is invalid; without this key it was valid."""
    if not schemas.accepts(target.name, document):
        finding = schemas.findings(target.name, document)[0]
        raise JobError("usage", f"{shown_key(key)} cannot be set to that: {finding.message}", help=finding.help)


def _value_at(document: Any, steps: Sequence[str]) -> Any:
    try:
        return pointers.resolve(document, tuple(steps))
    except LookupError:
        return MISSING


def _loss(key: str, old: Any, value: Any) -> Loss:
    """Returns the loss for a value that the target does not read, so that the comparison does not see it."""
    return Loss("invented" if old is MISSING else "changed", "", key, "context", SET, old, value)


def _explained(losses: Sequence[Loss], before: Sequence[Loss]) -> Iterator[Loss]:
    """Yields the losses; those caused by set keys have that as their reason."""
    known = {(loss.kind, loss.where, loss.field): loss for loss in before}
    for loss in losses:
        yield loss if known.get((loss.kind, loss.where, loss.field)) == loss else replace(loss, why=SET)
