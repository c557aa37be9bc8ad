"""Numbers that a double cannot hold: floats that are written as they were read."""

from __future__ import annotations

from typing import Any

import msgspec

from convcli.wire.surrogates import Spelled

EXACT_DIGITS = 15
"""Digits that every double gives back."""


class Decimal(float):
    """A number with a fraction or an exponent whose nearest double is another number; `literal` is its JSON text.

    It counts and compares as that double, so two that differ only beyond it are told apart by what is written of them.
    """

    __slots__ = ("literal",)
    literal: str

    def __new__(cls, literal: str) -> Decimal:
        """The number that this text is."""
        number = super().__new__(cls, literal)
        number.literal = literal
        return number

    def __repr__(self) -> str:
        return self.literal

    def __reduce__(self) -> tuple[type[Decimal], tuple[str]]:
        return Decimal, (self.literal,)


def read(literal: str) -> float:
    """The number that a JSON text with a fraction or an exponent is, exactly."""
    value = float(literal)
    if len(literal) <= EXACT_DIGITS and "e" not in literal and "E" not in literal:
        return value
    import decimal  # most numbers are short

    try:
        same = decimal.Decimal(literal) == decimal.Decimal(repr(value))
    except decimal.InvalidOperation:  # an exponent beyond all reason
        same = value in (float("inf"), float("-inf"))
    return value if same else Decimal(literal)


def builtins(value: Any) -> Any:
    """Records as JSON values."""
    return msgspec.to_builtins(value, builtin_types=(Decimal, Spelled))
