"""Rules for keys: those that a service requires in a request, and those that readers of its responses require."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Purpose, Rule
from convcli.validation.survey import Survey, for_outputs

CODES = ("incomplete-request", "incomplete-response")
TOP_LEVEL_CODES = frozenset((*CODES, "foreign-model"))
"""Codes of findings at the root that do not depend on the messages."""

EXAMPLES = {"max_tokens": "1024", "maxTokens": "1024"}
"""Example values in hints; other keys show `…`."""


def complete(request: str = "", response: str = "") -> Rule:
    """A request and a response have these keys; names are separated by spaces.

    A dot descends into an object, `*` into each item of a list, `*message` into each item of this type. A step that
    ends in `?` is optional: the keys below it count only if it is present. `model|prompt` requires one of the two.
    """
    keys = {"request": request.split(), "response": response.split()}

    def check(survey: Survey) -> Iterator[Breach]:
        kind = "request" if survey.form == "list" else survey.form
        if survey.form == "list" and survey.purpose == "output":
            return  # the user asked for a list
        missing = [key for key in keys.get(kind, ()) if not has(survey.document, key)]
        if missing:
            may_be_set = isinstance(survey.document, dict)
            yield _breach(kind, tuple(missing), survey.form, survey.purpose, may_be_set=may_be_set)

    codes = tuple(code for code, names in zip(CODES, keys.values(), strict=True) if names)
    return for_outputs(Rule(codes, check))


@cache
def _breach(kind: str, missing: tuple[str, ...], form: str, purpose: Purpose, *, may_be_set: bool) -> Breach:
    """Cached because most documents of a file miss the same keys."""
    names = " and ".join(dict.fromkeys(map(shown, missing)))
    problem = f"a {kind} requires {names}{'; this is only a list' if form == 'list' else ''}"
    severity: Severity = "error" if kind == "request" else "warning"
    help_text = _hint(missing, purpose) if may_be_set else ""
    return Breach(f"incomplete-{kind}", NodeRef(), problem, severity, help=help_text)


def _hint(missing: Sequence[str], purpose: Purpose) -> str:
    """Suggests options that set the missing keys; keys of list items cannot be set."""
    options = [f"--set {key}={EXAMPLES.get(key, '…')}" for key in map(shown, missing) if "*" not in key]
    way = "add" if purpose == "output" else "convcli convert adds"
    return f"{way} the values you know: {' '.join(options)}" if options else ""


def shown(key: str) -> str:
    """Returns the key without its modifiers."""
    steps = key.partition("|")[0].replace("?", "").split(".")
    return ".".join("*" if step.startswith("*") else step for step in steps)


def has(node: Any, key: str) -> bool:
    """True if there is a value under this key, written as in `complete`."""
    if key.isidentifier():
        return isinstance(node, dict) and node.get(key) is not None
    return any(_has(node, steps) for steps in _ways(key))


@cache
def _ways(key: str) -> list[list[str]]:
    """The steps to each of the keys of which one is required."""
    return [one.split(".") for one in key.split("|")]


def _has(node: Any, steps: Sequence[str]) -> bool:
    if not steps:
        return node is not None
    step, rest = steps[0], steps[1:]
    if step.startswith("*"):
        items = node if isinstance(node, list) else ()
        return all(_has(item, rest) for item in items if step == "*" or _type_of(item) == step[1:])
    value = node.get(step.rstrip("?")) if isinstance(node, dict) else None
    return _has(value, rest) if value is not None else step.endswith("?")


def _type_of(item: Any) -> Any:
    return item.get("type") if isinstance(item, dict) else None
