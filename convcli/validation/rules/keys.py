"""Rules about keys: what a service wants of every request, and what the readers of its responses cannot do without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.survey import Purpose, Survey, for_outputs

CODES = ("incomplete-request", "incomplete-response")
BESIDE_TURNS = frozenset((*CODES, "foreign-model"))
"""Codes of findings at the root for which it does not matter what the turns of a conversation say."""

EXAMPLES = {"max_tokens": "1024", "maxTokens": "1024"}
"""What a hint shows as the value of a key; others are left open."""


def complete(request: str = "", response: str = "") -> Rule:
    """What is sent has these keys, and so has what came back; the names are separated by spaces.

    A dot leads into an object, `*` into every item of a list and `*message` into those of this type; of what ends in
    `?` only the members count, where it is there, and `model|prompt` is one of the two.
    """
    keys = {"request": request.split(), "response": response.split()}

    def check(survey: Survey) -> Iterator[Breach]:
        kind = "request" if survey.form == "list" else survey.form
        if survey.form == "list" and survey.purpose == "output":
            return  # a list was asked for
        missing = [key for key in keys.get(kind, ()) if not has(survey.document, key)]
        if missing:
            may_be_set = isinstance(survey.document, dict)
            yield _breach(kind, tuple(missing), survey.form, survey.purpose, may_be_set=may_be_set)

    codes = tuple(code for code, names in zip(CODES, keys.values(), strict=True) if names)
    return for_outputs(Rule(codes, check))


@cache
def _breach(kind: str, missing: tuple[str, ...], form: str, purpose: Purpose, *, may_be_set: bool) -> Breach:
    """The same in most documents of a file, so it is worded once."""
    names = " and ".join(dict.fromkeys(map(shown, missing)))
    problem = f"a {kind} has {names}; this {'list' if form == 'list' else 'one'} has not"
    severity: Severity = "error" if kind == "request" else "warning"
    help_text = _hint(missing, purpose) if may_be_set else ""
    return Breach(f"incomplete-{kind}", NodeRef(), problem, severity, help=help_text)


def _hint(missing: Sequence[str], purpose: Purpose) -> str:
    """How the keys come in that are no members of lists."""
    options = [f"--set {key}={EXAMPLES.get(key, '…')}" for key in map(shown, missing) if "*" not in key]
    way = "add" if purpose == "output" else "convcli convert adds"
    return f"{way} what you know: {' '.join(options)}" if options else ""


def shown(key: str) -> str:
    """The key without what is said about it."""
    steps = key.partition("|")[0].replace("?", "").split(".")
    return ".".join("*" if step.startswith("*") else step for step in steps)


def has(node: Any, key: str) -> bool:
    """Is there a value under this key, written as in `complete`?"""
    return any(_has(node, one.split(".")) for one in key.split("|"))


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
