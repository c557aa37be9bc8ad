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


def is_bare(part: Part) -> TypeGuard[Text]:
    """True if the part is a text without other fields, equivalent to a string."""
    return isinstance(part, Text) and part.extras is None and part.metadata is None


def only_text(parts: Sequence[Part]) -> str | None:
    """Returns the text if the only part is a bare text; else None."""
    return parts[0].text if len(parts) == 1 and is_bare(parts[0]) else None
