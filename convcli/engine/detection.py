"""Which dialect a document is in: the one strongest clue that a dialect finds in it, else an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from convcli import dialects
from convcli.model.dialect import Clue, Dialect
from convcli.model.errors import ContentError
from convcli.validation.wording import PLAIN_WORD, described, listed

MOST_KEYS = 8
"""Keys of an object that are named where nobody recognises it."""
NO_DIALECT = "no dialect recognises this"
NAMED = "if it is in one that convcli dialects lists, name it with --from"


class Detection(msgspec.Struct, frozen=True):
    """Which dialect a document is in, and why; `others` are weaker candidates, the strongest first."""

    dialect: str
    clue: Clue
    others: tuple[tuple[str, Clue], ...] = ()


def candidates(document: Any, among: Sequence[Dialect] | None = None) -> list[tuple[str, Clue]]:
    """Every dialect that sees a mark of its own in the document, the strongest first."""
    clue_of = [(dialect.name, dialect.detect(document)) for dialect in among or dialects.likely([document])]
    clues = [(name, clue) for name, clue in clue_of if clue is not None]
    return sorted(clues, key=lambda pair: (-pair[1].strength, pair[0]))


def detect(document: Any, among: Sequence[Dialect] | None = None) -> Detection:
    """The dialect of a document. Raises ContentError when none or more than one fits best, and when the document is in
    a format that we know by name and do not read."""
    refuse_foreign([document])
    ranked = candidates(document, among)
    if not ranked:
        raise unrecognised([document])
    return strongest(ranked)


def refuse_foreign(values: Sequence[Any]) -> None:
    """Raises ContentError when a document, or one of these records of a file, is in a format that we know by name and
    that is no dialect: it may look like one, and would then lose what makes it another format."""
    from convcli.engine import foreign

    known = foreign.recognise(values)
    if known is not None:
        raise ContentError("unknown-dialect", known.message, help=known.help)


def unrecognised(values: Sequence[Any]) -> ContentError:
    """The error for a document, or the records of a file, that no dialect recognises."""
    first = values[0]
    is_plain = isinstance(first, list) and not any(isinstance(item, (dict, list)) for item in first)
    if not isinstance(first, (dict, list)) or not first or is_plain:
        what = "this" if len(values) == 1 else "the first record"
        message = f"{what} is {described(first)}, and no transcript"
        return ContentError("unknown-dialect", message, help="a transcript is an object, or a list of messages")
    return ContentError("unknown-dialect", f"{NO_DIALECT}: {shape(first)}", help=_at(first) or NAMED)


def _at(value: Any) -> str | None:
    """What reads the transcripts under the keys of an object that is none itself, as logs hold them."""
    members = value.items() if isinstance(value, dict) else ()
    held = [
        f"--at /{key}"
        for key, member in members
        if isinstance(member, (dict, list)) and PLAIN_WORD.match(key) and candidates(member)
    ]
    return f"{' or '.join(held[:MOST_KEYS])} reads the transcripts inside" if held else None


def shape(value: Any) -> str:
    """What a value looks like: the names of its keys, or of those of the first item of a list."""
    if isinstance(value, list) and value:
        return f"a list, of which the first is {_keyed(value[0])}"
    return _keyed(value)


def _keyed(value: Any) -> str:
    keys = [key for key in value if PLAIN_WORD.match(key)][:MOST_KEYS] if isinstance(value, dict) else []
    return f"an object with the keys {listed(keys)}" if keys else described(value)


def strongest(ranked: Sequence[tuple[str, Clue]]) -> Detection:
    """The one strongest of these candidates, the strongest first; two framings of one dialect are no tie. Raises
    ContentError when two dialects are."""
    top = [(name, clue) for name, clue in ranked if clue.strength == ranked[0][1].strength]
    best = dict(reversed(top))
    if len(best) > 1:
        listing = ", ".join(f"{name} ({best[name].reason})" for name in sorted(best))
        raise ContentError(
            "ambiguous-dialect",
            f"this document could be in {len(best)} dialects: {listing}",
            help=f"name it, say --from {min(best)}",
        )
    return Detection(ranked[0][0], ranked[0][1], tuple(ranked[1:]))
