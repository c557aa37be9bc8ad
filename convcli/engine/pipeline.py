"""Detect, validate, lift, lower, compare: what one document goes through. Pure: returns results, never prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from convcli.engine.conversion import BY_DEFAULT, Conversion, lift, lower
from convcli.engine.shortcut import (
    by_template,
    is_clean,
)
from convcli.model.dialect import Dialect, Options
from convcli.model.findings import Finding
from convcli.model.rule import Rule
from convcli.validation import schemas, verdict
from convcli.validation.survey import Rigour


def validate(
    document: Any,
    dialect: Dialect,
    *,
    strict: bool = False,
    rigour: Rigour = "document",
    more: Iterable[Rule] = (),
) -> list[Finding]:
    """What is wrong with a document of this dialect: by its schema, and if that has no objection by its rules.

    `strict`: unknown keys are warnings · `rigour`: "sent" judges it as a request · `more`: rules beside its own.
    """
    if not strict and rigour == "document" and not more and is_clean(document, dialect):
        return []
    found = schemas.findings(dialect.name, document, strict=strict)
    if any(finding.severity == "error" for finding in found):
        return found
    return found + verdict.findings(document, dialect.lift(document), dialect, (*dialect.rules, *more), rigour)


def convert(document: Any, source: Dialect, target: Dialect, options: Options = BY_DEFAULT) -> Conversion:
    """One document in another dialect, with everything that got lost.

    Raises RefusedError, with the findings, when the document does not pass the schema of its dialect, and JobError
    when the target is only read.
    """
    made = by_template(document, source, target) if options == BY_DEFAULT else None
    return made or lower(lift(document, source), target, options, source)
