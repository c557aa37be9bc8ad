"""A rule for the types of parts and items: unknown types are kept, but may be typos."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation import schemas
from convcli.validation.survey import Survey
from convcli.validation.wording import SAFE_WORD, did_you_mean, shown_key


def known_types(schema: str) -> Rule:
    """The schema of this name defines the type of every part; if parts have no type, it defines one of their keys.

    A program may use types newer than the schema, so this is an error only for requests to a service. Events are not
    checked: programs keep adding new kinds of rows.
    """

    def check(survey: Survey) -> Iterator[Breach]:
        severity: Severity = "error" if survey.purpose == "request" else "warning"
        for i, k, _ in survey.parts["opaque"]:
            native = survey.native(NodeRef(i, k)) if survey.messages[i].role != "event" else None
            problem_at = unknown(schema, native)
            if problem_at is not None:
                steps, problem, help_text = problem_at
                yield Breach("unknown-type", NodeRef(i, k, steps=steps), problem, severity, help=help_text)

    return Rule(("unknown-type",), check, of_sent=("unknown-type",))


def unknown(schema: str, native: Any) -> tuple[tuple[str, ...], str, str] | None:
    """Returns the path within the part, the problem and a hint; None if the part is known."""
    if not isinstance(native, dict):
        return None
    kind, types = native.get("type"), schemas.types(schema)
    if isinstance(kind, str) and types:
        if kind in types or f"{kind.partition('-')[0]}-" in types:  # a prefix of application types
            return None
        return ("type",), f"{shown_key(kind)} is not a type that {schema} defines here", _near(kind, types)
    known = schemas.vocabulary(schema)
    if not native or not known.isdisjoint(native):
        return None
    key = next(iter(native))
    return (key,), f"{schema} defines none of the keys here", _near(key, known)


@lru_cache(maxsize=256)
def _near(word: str, words: frozenset[str]) -> str:
    """Cached because a document may repeat a word any number of times."""
    return did_you_mean(word, sorted(words)) if SAFE_WORD.match(word) else ""
