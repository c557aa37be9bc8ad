"""A fast path of validation: the findings on a document without its messages are cached.

Tools and settings are the same in most documents of a file, and most messages have no findings. A dialect may recognize
such messages (`Dialect.without_clean_messages`); for all other documents the fast path does not apply."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from convcli import dialects
from convcli.model.dialect import Dialect
from convcli.proof.language import holds_content
from convcli.validation import schemas, unknown, verdict
from convcli.wire import exact_json

MOST_REMEMBERED = 1 << 16
"""Maximum bytes of a document without its messages for which the verdict is cached."""


def is_clean(document: Any, dialect: Dialect) -> bool:
    """True if the document certainly has no findings."""
    rest = dialect.without_clean_messages(document) if dialect.without_clean_messages is not None else None
    if rest.__class__ is dict:
        judged = _judged(dialect.name)
        for key in rest.keys() - judged:
            if holds_content(rest.pop(key)):
                return False
    written = exact_json.write(rest) if rest is not None else b""
    return 0 < len(written) <= MOST_REMEMBERED and _is_clean_rest(written, dialect.name)


@cache
def _judged(name: str) -> frozenset[str]:
    """Returns the keys of a request that its schema names; schema and rules ignore others (an id, a time)."""
    return frozenset(schemas.schema(name)["$defs"]["request"]["properties"])


@lru_cache(maxsize=256)
def _is_clean_rest(written: bytes, name: str) -> bool:
    dialect, rest = dialects.get(name), exact_json.parse(written)
    if not schemas.accepts(name, rest):
        return False
    transcript = dialect.lift(rest)
    if transcript.origin is not None:
        transcript.origin.document = rest
    findings = verdict.of_document(rest, transcript, dialect)
    return not findings and not unknown.of_transcript(transcript, dialect)
