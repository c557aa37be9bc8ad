"""Regular expressions that are compiled when they are first used.

To compile all that stand in the modules of a small conversion takes a third as long as to start the interpreter, and it
uses few of them."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`; for the methods of a pattern only, since the functions of `re` do not take it."""
    return cast("re.Pattern[AnyStr]", _Uncompiled(text, flags))


class _Uncompiled:
    """Becomes a pattern method by method, each of which is looked up once."""

    def __init__(self, text: Any, flags: int) -> None:
        self._expression = text, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._expression), name)
        setattr(self, name, value)
        return value
