"""Values of a function that are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Cached(dict[Key, Value], Generic[Key, Value]):
    """The values that a function of one argument has returned; when there are `most`, all are forgotten.

    Unlike a function of `functools.lru_cache` it costs nothing to make, and many are made that are never asked.
    """

    __slots__ = ("_function", "_most")

    def __init__(self, function: Callable[[Key], Value], most: int = 1024) -> None:
        self._function, self._most = function, most

    def __missing__(self, key: Key) -> Value:
        if len(self) >= self._most:
            self.clear()
        value = self[key] = self._function(key)
        return value
