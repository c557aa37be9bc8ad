"""A rule for the types of parts and items: unknown types are kept, but may be typos."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Path
from convcli.proof.levels import normalized
from convcli.validation import schemas
from convcli.validation.survey import Survey
from convcli.validation.wording import SAFE_WORD, did_you_mean, shown_key


class Unknown(msgspec.Struct, frozen=True):
    """What a part has that its schema does not define: the path within the part, the problem, and a hint.

    `is_type`: its type; otherwise it has no type, and all its keys are unknown.
    """

    steps: tuple[str, ...]
    problem: str
    help: str
    is_type: bool


def known_types(schema: str) -> Rule:
    """The schema of this name defines the type of every part; if parts have no type, it defines one of their keys.

    A program may use types newer than the schema, so this is an error only for requests to a service. Events are not
    checked: programs keep adding new kinds of rows.
    """

    def check(survey: Survey) -> Iterator[Breach]:
        severity: Severity = "error" if survey.purpose == "request" else "warning"
        for i, k, _ in survey.parts["opaque"]:
            if survey.messages[i].role == "event":
                continue
            found = unknown(schema, survey.native_part(i, k), survey.path(NodeRef(i, k)))
            if found is not None:
                at = NodeRef(i, k, steps=found.steps)
                yield Breach("unknown-type", at, found.problem, severity, help=found.help)

    return Rule(("unknown-type",), check, of_sent=("unknown-type",), subjects=("opaque",))


def unknown(schema: str, native: Any, path: Path) -> Unknown | None:
    """Returns what the schema does not define of the part at a path; None if the part is known."""
    if not isinstance(native, dict):
        return None
    keys = dict.fromkeys((*schemas.discriminators(schema, normalized(path)), "type"))
    stated = [(key, native[key], schemas.types(schema, (key,))) for key in keys if isinstance(native.get(key), str)]
    for key, kind, types in stated:
        if types and kind not in types and f"{kind.partition('-')[0]}-" not in types:  # a prefix of application types
            problem = f"{shown_key(kind)} is not a type that {schema} defines here"
            return Unknown((key,), problem, _near(kind, types), is_type=True)
    if any(types for _, _, types in stated):
        return None
    known = schemas.vocabulary(schema)
    if not native or not known.isdisjoint(native):
        return None
    key = next(iter(native))
    return Unknown((key,), f"{schema} defines none of the keys here", _near(key, known), is_type=False)


@lru_cache(maxsize=256)
def _near(word: str, words: frozenset[str]) -> str:
    """Cached because a document may repeat a word any number of times."""
    return did_you_mean(word, sorted(words)) if SAFE_WORD.match(word) else ""
