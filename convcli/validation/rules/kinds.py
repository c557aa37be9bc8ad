"""Rules about the types of parts and items: those that a format does not name are kept, and may be typing errors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation import schemas
from convcli.validation.survey import Survey
from convcli.validation.wording import PLAIN_WORD, did_you_mean, shown_key


def known_types(schema: str) -> Rule:
    """Every part has a type that the schema of this name names, or, where parts have no type, a key that it names.

    A program may have types that are newer than the schema, so it is an error only where a service would be asked.
    What no model sees is not looked at: programs add rows of new kinds all the time.
    """

    def check(survey: Survey) -> Iterator[Breach]:
        severity: Severity = "error" if survey.purpose == "request" else "warning"
        for i, k, _ in survey.parts["opaque"]:
            native = survey.native(NodeRef(i, k)) if survey.messages[i].role != "event" else None
            found = _unknown(schema, native) if isinstance(native, dict) else None
            if found is not None:
                steps, problem, help_text = found
                yield Breach("unknown-type", NodeRef(i, k, steps=steps), problem, severity, help=help_text)

    return Rule(("unknown-type",), check)


def _unknown(schema: str, native: dict[str, Any]) -> tuple[tuple[str, ...], str, str] | None:
    """Where, seen from a part, what is not known stands; what is wrong; and what may be meant."""
    kind, types = native.get("type"), schemas.types(schema)
    if isinstance(kind, str) and types:
        if kind in types or f"{kind.partition('-')[0]}-" in types:  # a type that ends so begins those of applications
            return None
        return ("type",), f"{shown_key(kind)} is no type that {schema} knows here", _near(kind, types)
    known = schemas.vocabulary(schema)
    if not native or not known.isdisjoint(native):
        return None
    key = next(iter(native))
    return (key,), f"none of the keys is known to {schema} here", _near(key, known)


@lru_cache(maxsize=256)
def _near(word: str, words: frozenset[str]) -> str:
    """Looked for once for each word: a document may repeat it any number of times."""
    return did_you_mean(word, sorted(words)) if PLAIN_WORD.match(word) else ""
