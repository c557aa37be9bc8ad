"""Generated functions: the values of an object at fixed paths, and the object of such values; records and objects.

Their source is in `linecache`, so that tracebacks and debuggers show it.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from convcli.kit.objects import Native
from convcli.model.transcript import Path

_NUMBERS = itertools.count(1)


def reader(name: str, paths: Sequence[Path | None]) -> Callable[[Native], tuple[Any, ...]]:
    """Returns the function that returns the values at these paths: None for no path, and where there is no value; the
    object for an empty path."""
    values = "".join(f"\n        {_value_at(path)}," for path in paths)
    return define("read", f"def read(native):\n    return ({values}\n    )\n", name)  # type: ignore[no-any-return]


def writer(name: str, paths: Sequence[Path | None], order: Iterable[Path]) -> Callable[..., Native]:
    """Returns the function that returns the object of the values at these paths, without those that are None.

    The paths in `order` come first, in their order. A path inside another is not written: the other value contains it.
    """
    rank = {path: number for number, path in enumerate(dict.fromkeys(order))}
    stated = [(path, f"value_{i}") for i, path in enumerate(paths) if path is not None and not _is_inside(path, paths)]
    stated.sort(key=lambda pair: rank.get(pair[0], len(rank)))
    arguments = ", ".join(f"value_{i}" for i in range(len(paths)))
    lines = [f"def write({arguments}):", "    native = {}"]
    for path, value in stated:
        inner = "".join(f".setdefault({step!r}, {{}})" for step in path[:-1])
        lines += [f"    if {value} is not None:", f"        native{inner}[{path[-1]!r}] = {value}"]
    return define("write", "\n".join([*lines, "    return native", ""]), name)  # type: ignore[no-any-return]


def _is_inside(path: Path, paths: Sequence[Path | None]) -> bool:
    return any(path[:length] in paths for length in range(1, len(path)))


def _value_at(path: Path | None) -> str:
    """Returns the expression of the value at a path."""
    if path is None:
        return "None"
    if not path:
        return "native"
    first, *rest = path
    value = f"native.get({first!r})"
    for step in rest:
        value = f"(inner.get({step!r}) if (inner := {value}).__class__ is dict else None)"
    return value


def define(function: str, source: str, name: str, **names: Any) -> Any:
    """Returns the function of this source, which may use these names."""
    file = f"<table {name} {next(_NUMBERS)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec"), names)
    return names[function]


class Lazy:
    """A generated function, which is defined when it is first needed: most dialects use few of theirs."""

    __slots__ = ("_build", "_function")

    def __init__(self, build: Callable[[], Callable[..., Any]]) -> None:
        self._build = build
        self._function: Callable[..., Any] | None = None

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        if self._function is None:
            self._function = self._build()
        return self._function

    def __call__(self, *values: Any) -> Any:
        return self.function(*values)
