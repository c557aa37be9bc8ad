"""Half of a surrogate pair: texts that hold one are written as they were read.

UTF-8 cannot say half of a pair, so it always stands as an escape, and an escape has several spellings: `\\uD83D` and
`\\ud83d` are one text. `wire.write` uses small letters; a text that came with other letters keeps them.
"""

from __future__ import annotations

import json
import re
from typing import Any

from convcli.wire.patterns import pattern

_TEXT = pattern(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_CAPITAL = pattern(r"\\u(?=[dD][89a-fA-F])[0-9a-f]{0,3}[A-F]")


class Spelled(str):
    """A text with half of a pair; `literal` is its JSON text. It is equal to every other spelling of the text."""

    __slots__ = ("literal",)
    literal: str

    def __new__(cls, literal: str) -> Spelled:
        """The text that this JSON is."""
        text = super().__new__(cls, json.loads(literal))
        text.literal = literal
        return text

    def __reduce__(self) -> tuple[type[Spelled], tuple[str]]:
        return Spelled, (self.literal,)


def spelled(value: Any, text: str) -> Any:
    """The JSON value that was read from a text, with what the text spells in capital letters as `Spelled`.

    Of two spellings of one text in one document the last counts.
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
