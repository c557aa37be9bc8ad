"""Which dialect a document is in: the one strongest clue that a dialect finds in it, else an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from convcli import dialects
from convcli.model.dialect import Clue, Dialect
from convcli.model.errors import ContentError


class Detection(msgspec.Struct, frozen=True):
    """Which dialect a document is in, and why; `others` are weaker candidates, the strongest first."""

    dialect: str
    clue: Clue
    others: tuple[tuple[str, Clue], ...] = ()


def candidates(document: Any, among: Sequence[Dialect] | None = None) -> list[tuple[str, Clue]]:
    """Every dialect that sees a mark of its own in the document, the strongest first."""
    clue_of = [(dialect.name, dialect.detect(document)) for dialect in among or dialects.builtin()]
    clues = [(name, clue) for name, clue in clue_of if clue is not None]
    return sorted(clues, key=lambda pair: (-pair[1].strength, pair[0]))


def detect(document: Any, among: Sequence[Dialect] | None = None) -> Detection:
    """The dialect of a document. Raises ContentError when none or more than one fits best."""
    return strongest(candidates(document, among))


def strongest(ranked: Sequence[tuple[str, Clue]]) -> Detection:
    """The one strongest of these candidates, the strongest first. Raises ContentError when there is none or a tie."""
    if not ranked:
        raise ContentError(
            "unknown-dialect",
            "no dialect recognises this document",
            help="name it with --from; convcli dialects lists them all",
        )
    best = [name for name, clue in ranked if clue.strength == ranked[0][1].strength]
    if len(best) > 1:
        listed = ", ".join(f"{name} ({clue.reason})" for name, clue in ranked[: len(best)])
        raise ContentError(
            "ambiguous-dialect",
            f"this document could be in {len(best)} dialects: {listed}",
            help=f"name it, say --from {best[0]}",
        )
    return Detection(ranked[0][0], ranked[0][1], tuple(ranked[1:]))
