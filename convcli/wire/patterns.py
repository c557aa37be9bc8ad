"""Regular expressions that are compiled on first use.

Compiling all patterns in the modules of a small conversion takes a third of the interpreter's start time, and few of
them are used."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

JSON_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
"""A string in JSON text. An alternation for each character would take ten times as long."""


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like `re.compile`, but only for a pattern's methods: functions of `re` do not accept it."""
    return cast("re.Pattern[AnyStr]", _Uncompiled(text, flags))


class _Uncompiled:
    """Becomes a pattern method by method; each is looked up once."""

    def __init__(self, text: Any, flags: int) -> None:
        self._expression = text, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._expression), name)
        setattr(self, name, value)
        return value
