"""The texts among parts, as formats with one text for a message or a result write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from convcli.model.transcript import Part, Text


def text_of(parts: Sequence[Part], joint: str = "") -> str:
    """The texts among the parts as one, with the joint between them."""
    return joint.join(part.text for part in parts if isinstance(part, Text))


def is_bare(part: Part) -> TypeGuard[Text]:
    """Is it a text with nothing beside it, of which a string says everything?"""
    return isinstance(part, Text) and part.extras is None and part.metadata is None


def only_text(parts: Sequence[Part]) -> str | None:
    """The text of parts that are nothing but one bare text; None for any others."""
    return parts[0].text if len(parts) == 1 and is_bare(parts[0]) else None
