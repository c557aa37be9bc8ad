"""Half of a surrogate pair: strings that contain one are written as they were read.

UTF-8 cannot encode half of a pair, so it is always an escape, and an escape has several spellings: `\\uD83D` and
`\\ud83d` are the same string. `wire.write` uses lower case; a string read with capital letters keeps them.
"""

from __future__ import annotations

import json
import re
from typing import Any

from convcli.wire.patterns import JSON_STRING, pattern

_TEXT = pattern(JSON_STRING, re.DOTALL)
_CAPITAL = pattern(r"\\u(?=[dD][89a-fA-F])[0-9a-f]{0,3}[A-F]")


class Spelled(str):
    """A string with half of a surrogate pair; `literal` is its JSON text. It is equal to all its other spellings."""

    __slots__ = ("literal",)
    literal: str

    def __new__(cls, literal: str) -> Spelled:
        """Creates the string for this JSON text."""
        text = super().__new__(cls, json.loads(literal))
        text.literal = literal
        return text

    def __reduce__(self) -> tuple[type[Spelled], tuple[str]]:
        return Spelled, (self.literal,)


def spelled(value: Any, text: str) -> Any:
    """Returns a JSON value with `Spelled` for each string that its text spells in capital letters.

    If one document has two spellings of a string, the last one counts.
    """
    if "\\uD" not in text and "\\ud" not in text:
        return value
    literals = (literal for literal in _TEXT.findall(text) if _CAPITAL.search(literal))
    by_text = {str(kept): kept for kept in map(Spelled, literals) if any("\ud800" <= char <= "\udfff" for char in kept)}
    return _with(value, by_text) if by_text else value


def _with(value: Any, by_text: dict[str, Spelled]) -> Any:
    if isinstance(value, str):
        return by_text.get(value, value)
    if isinstance(value, dict):
        return {by_text.get(key, key): _with(child, by_text) for key, child in value.items()}
    return [_with(child, by_text) for child in value] if isinstance(value, list) else value
