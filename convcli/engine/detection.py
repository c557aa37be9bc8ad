"""Detects the dialect of a document: the one with the strongest match, otherwise an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from convcli import dialects
from convcli.engine import confirming
from convcli.model.dialect import Dialect, Evidence
from convcli.model.errors import ContentError
from convcli.validation.wording import SAFE_WORD, described, listed

Candidate: TypeAlias = tuple[str, Evidence]

MOST_KEYS = 8
"""Keys of an object that an error names."""
OF_ANSWERS = ("response", "output", "outputs", "completion", "response_body")
"""Keys of answers in logs."""
NO_DIALECT = "no dialect recognises this"
NAMED = "if convcli dialects lists its dialect, name it with --from"


class Detection(msgspec.Struct, frozen=True):
    """The dialect of a document, and why; `others` are weaker candidates, strongest first."""

    dialect: str
    evidence: Evidence
    others: tuple[tuple[str, Evidence], ...] = ()


def candidates(document: Any, among: Sequence[Dialect] | None = None) -> list[Candidate]:
    """Returns every dialect that matches the document, strongest first."""
    clue_of = [(dialect.name, dialect.recognize(document)) for dialect in among or dialects.likely([document])]
    matches = [(name, evidence) for name, evidence in clue_of if evidence is not None]
    return sorted(matches, key=lambda pair: (-pair[1].strength, pair[0]))


def detect(document: Any, among: Sequence[Dialect] | None = None) -> Detection:
    """Returns the dialect of a document.

    Raises ContentError if none or more than one matches best, and for known formats that are not supported.
    """
    refuse_unsupported([document])
    ranked = candidates(document, among)
    if not ranked:
        raise unrecognised([document])
    return confirmed(ranked, [document])


def confirmed(
    ranked: Sequence[Candidate], values: Sequence[Any], read_by: Callable[[Candidate], Any] | None = None
) -> Detection:
    """Returns the strongest candidate that reading confirms, for a document or the first records of a file.

    `read_by`: returns what a candidate reads of the values, by default the first. Raises ContentError if no candidate
    is confirmed, or if several are and none is stronger.
    """

    def is_read(one: Candidate) -> bool:
        return confirming.is_read(values[0] if read_by is None else read_by(one), dialects.get(one[0]))

    refuted = ranked[0][0]
    while ranked:
        top = ranked[0][1].strength
        kept = [one for one in ranked if one[1].strength < top or is_read(one)]
        if kept and kept[0][1].strength == top:
            return strongest(kept)
        ranked = kept
    message = f"{NO_DIALECT}: it resembles {refuted}, which does not define the keys of most of its text"
    raise ContentError(
        "unknown-dialect", message, help=f"--from {refuted} reads the rest, and reports that text as lost"
    )


def refuse_unsupported(values: Sequence[Any]) -> None:
    """Raises ContentError if a document, or one of these records, is in a known format that is not a dialect.

    It may look like a dialect, and would then lose what distinguishes it.
    """
    from convcli.engine import known_formats

    known = known_formats.recognise(values)
    if known is not None:
        raise ContentError("unknown-dialect", known.message, help=known.help)


def unrecognised(values: Sequence[Any]) -> ContentError:
    """Returns the error for a document, or the records of a file, that no dialect matches."""
    first = values[0]
    is_clean = isinstance(first, list) and not any(isinstance(item, (dict, list)) for item in first)
    if not isinstance(first, (dict, list)) or not first or is_clean:
        subject = "this" if len(values) == 1 else "the first record"
        message = f"{subject} is {described(first)}, not a transcript"
        return ContentError("unknown-dialect", message, help="a transcript is an object, or a list of messages")
    return ContentError("unknown-dialect", f"{NO_DIALECT}: {shape(first)}", help=_at(first) or NAMED)


def _at(value: Any) -> str | None:
    """Suggests pointers to transcripts under the keys of an object, as in logs."""
    members = value.items() if isinstance(value, dict) else ()
    options = [
        f"--at /{key}"
        for key, member in members
        if isinstance(member, (dict, list)) and SAFE_WORD.match(key) and candidates(member)
    ]
    if len(options) > 1 and options[-1].removeprefix("--at /") in OF_ANSWERS:
        return f"{' '.join(options[:MOST_KEYS])} reads requests with their answers"
    return f"{' or '.join(options[:MOST_KEYS])} reads the transcripts inside" if options else None


def shape(value: Any) -> str:
    """Describes a value by the names of its keys, or of those of a list's first item."""
    if isinstance(value, list) and value:
        return f"a list whose first item is {_keyed(value[0])}"
    return _keyed(value)


def _keyed(value: Any) -> str:
    keys = [key for key in value if SAFE_WORD.match(key)][:MOST_KEYS] if isinstance(value, dict) else []
    return f"an object with the keys {listed(keys)}" if keys else described(value)


def strongest(ranked: Sequence[Candidate]) -> Detection:
    """Returns the strongest candidate; two framings of one dialect are not a tie.

    Raises ContentError if two dialects are equally strong.
    """
    top = [(name, evidence) for name, evidence in ranked if evidence.strength == ranked[0][1].strength]
    best = dict(reversed(top))
    if len(best) > 1:
        listing = ", ".join(f"{name} ({best[name].reason})" for name in sorted(best))
        raise ContentError(
            "ambiguous-dialect",
            f"this document could be in {len(best)} dialects: {listing}",
            help=f"name it, for example --from {min(best)}",
        )
    return Detection(ranked[0][0], ranked[0][1], tuple(ranked[1:]))
