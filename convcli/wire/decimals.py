"""Numbers that a double cannot represent: floats that are written as they were read."""

from __future__ import annotations

from typing import Any

import msgspec

from convcli.wire.surrogates import Spelled

EXACT_DIGITS = 15
"""Digits that every double preserves."""


class Decimal(float):
    """A number with a fraction or exponent whose nearest double is another number; `literal` is its JSON text.

    It computes and compares as that double, so numbers that differ only beyond it are distinguished by `literal`.
    """

    __slots__ = ("literal",)
    literal: str

    def __new__(cls, literal: str) -> Decimal:
        """Creates the number for this text."""
        number = super().__new__(cls, literal)
        number.literal = literal
        return number

    def __repr__(self) -> str:
        return self.literal

    def __reduce__(self) -> tuple[type[Decimal], tuple[str]]:
        return Decimal, (self.literal,)


def read(literal: str) -> float:
    """Reads a JSON number with a fraction or exponent exactly."""
    value = float(literal)
    if len(literal) <= EXACT_DIGITS and "e" not in literal and "E" not in literal:
        return value
    import decimal  # most numbers are short

    try:
        same = decimal.Decimal(literal) == decimal.Decimal(repr(value))
    except decimal.InvalidOperation:  # an exponent beyond decimal's limits
        same = value in (float("inf"), float("-inf"))
    return value if same else Decimal(literal)


def builtins(value: Any) -> Any:
    """Converts records to JSON values."""
    return msgspec.to_builtins(value, builtin_types=(Decimal, Spelled))
