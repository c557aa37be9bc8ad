"""The texts among parts, for formats with one text per message or result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from convcli.model.transcript import Part, Text


def text_of(parts: Sequence[Part], joint: str = "") -> str:
    """Joins the texts among the parts."""
    return joint.join(part.text for part in parts if isinstance(part, Text))


def without_space(text: str) -> str:
    """Returns the text without white space, to compare texts that were laid out differently."""
    return "".join(text.split())


def split_between(text: str, opening: str, closing: str) -> list[str]:
    """Returns the text before, between, and after pairs of marks, in turn. A mark that is never closed is text.

    Takes linear time, unlike a regular expression, for many marks that are never closed.
    """
    pieces, at = list[str](), 0
    while True:
        begin = text.find(opening, at)
        end = text.find(closing, begin + len(opening)) if begin >= 0 else -1
        if end < 0:
            return [*pieces, text[at:]]
        pieces += text[at:begin], text[begin + len(opening) : end]
        at = end + len(closing)


def is_bare(part: Part) -> TypeGuard[Text]:
    """True if the part is a text without other fields, equivalent to a string."""
    return part.__class__ is Text and part.extras is None and part.metadata is None


def only_text(parts: Sequence[Part]) -> str | None:
    """Returns the text if the only part is a bare text; else None."""
    if len(parts) != 1:
        return None
    part = parts[0]
    return part.text if part.__class__ is Text and part.extras is None and part.metadata is None else None
