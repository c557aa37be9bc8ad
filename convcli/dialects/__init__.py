"""The dialects: one entry each, a module or a package. This directory is the registry; plugins join it by entry point.

Four steps to a new dialect:

1. `python -m tests.scaffold NAME FILE…` makes the skeleton from files of its kind: the module here, the schema, the
   samples and the tests. It keeps the laws already: what it does not understand is carried whole.
2. `lift` keeps every fact, in a field or under the owner's name in extras, and `write` is its inverse: it writes all
   that it is given and has a place for. Where a shape is known, borrow it: `families` holds the blocks of Anthropic,
   the messages of Chat Completions, the items of Responses, the contents of Google and the rows of programs.
3. `FIT` lists what the service takes, as passes of `kit/fitting`; `lacks` names the fields that it has no place for,
   and `rules` says what it refuses. No dialect reports a loss or remembers how a document was spelled: both are found.
4. Samples, good and bad, and the twin; then `convcli.testing`, whose laws are held against every one of them.

`ollama/` is a service with requests and responses; `openclaw/` a program with sessions. A plugin is a package with an
entry point in the group `convcli.dialects` that gives a `Dialect`, with its schema beside it (`model/plugins.py`).

`convcli.dialects()` is short for `convcli.dialects.names()`.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

from convcli.kit.objects import objects_in
from convcli.model import modules, plugins
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """The names of the built-in dialects, in alphabetical order."""
    return tuple(sorted(name.replace("_", "-") for name in modules.names(__path__)))


@lru_cache(maxsize=64)
def get(name: str) -> Dialect:
    """The dialect of this name; a plugin's only when no built-in one has it, and the one with this alias when there is
    no plugin either. Raises JobError for an unknown name."""
    if name not in names() and plugins.entry(name) is None:
        return _aliased(name)
    module = f"{__name__}.{name.replace('-', '_')}"
    dialect = import_module(module).DIALECT if name in names() else _plugin(name)
    if not isinstance(dialect, Dialect):
        raise JobError("bad-plugin", f'the plugin for the dialect "{name}" is no Dialect')
    if dialect.name != name:
        raise JobError("bad-plugin", f'the plugin for the dialect "{name}" brings one with another name')
    if not dialect.bodies:
        return dialect
    from convcli.families import bodies  # not at the top: the list of names needs none of it

    return bodies.around(dialect, get)


def builtin() -> list[Dialect]:
    """All built-in dialects, by name."""
    return [get(name) for name in names()]


def likely(values: Iterable[Any]) -> list[Dialect]:
    """The built-in dialects that may recognise some of these values: those of which a mark is among the keys, or that
    have no marks (`schemas.marks`), and that no key rules out (`schemas.absent`). To load a dialect takes longer than
    to look for its marks."""
    each = [(value, frozenset(_keys(value))) for value in values]
    return [get(name) for name in names() if any(_is_likely(name, value, keys) for value, keys in each)]


def _is_likely(name: str, value: Any, keys: frozenset[str]) -> bool:
    from convcli.validation import schemas

    marks = schemas.marks(name)
    if marks and keys.isdisjoint(marks):
        return False
    return not isinstance(value, dict) or schemas.absent(name).isdisjoint(value)


def _keys(value: Any) -> Iterator[str]:
    """The keys of a document, of its items, and of its messages."""
    for each in objects_in(value if isinstance(value, list) else [value]):
        yield from _keys_below(each)
        for message in objects_in(each.get("messages")):
            yield from _keys_below(message)


def _keys_below(native: dict[str, Any]) -> Iterator[str]:
    """The keys of an object, its role behind `role:`, and as paths those of its content, an object or several, and of
    its calls."""
    yield from native
    if isinstance(native.get("role"), str):
        yield f"role:{native['role']}"
    for key in ("content", "tool_calls"):
        below = native.get(key)
        for each in objects_in([below] if isinstance(below, dict) else below):
            yield from (f"{key}/{name}" for name in each)


def documentation(name: str) -> str:
    """What the author of a dialect wrote about it: the docstring of its module; empty where there is none."""
    entry = plugins.entry(name) if name not in names() else None
    module = f"{__name__}.{name.replace('-', '_')}" if entry is None else entry.module
    return import_module(module).__doc__ or ""


def about(name: str) -> str:
    """A dialect in one line: the first one of its documentation, else its title."""
    return documentation(name).strip().partition("\n")[0].removesuffix(".") or get(name).title


def brought() -> list[Dialect]:
    """The dialects of plugins, by name, but those whose name a built-in one has."""
    return [get(name) for name in plugins.names() if name not in names()]


def aliases() -> dict[str, str]:
    """Other words for dialects, and their names."""
    return {alias: dialect.name for dialect in builtin() for alias in dialect.aliases}


def _aliased(name: str) -> Dialect:
    """The dialect that somebody calls so. Raises JobError with the nearest name where nobody does."""
    from convcli.validation.wording import unknown

    meant = aliases()
    if name in meant:
        return get(meant[name])
    raise unknown("dialect", name, (*names(), *plugins.names()), "convcli dialects lists them all", meant)


def _plugin(name: str) -> object:
    entry = plugins.entry(name)
    assert entry is not None
    try:
        return entry.load()
    except (ImportError, AttributeError, SyntaxError) as error:
        message = f'the plugin for the dialect "{name}" cannot be loaded ({type(error).__name__})'
        raise JobError("bad-plugin", message, help=f"its entry point is {entry.value}") from error


def _by_name(dialect: Dialect) -> tuple[Callable[[str], Dialect], tuple[str]]:
    """A dialect is functions, some of which cannot be pickled; another process has the same under the same name."""
    return get, (dialect.name,)


copyreg.pickle(Dialect, _by_name)


class _Registry(ModuleType):
    """The package as a function, so that `convcli.dialects()` lists the names."""

    def __call__(self) -> tuple[str, ...]:
        return names()

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        """A function that names the package goes to another process, as functions that name other modules do."""
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Registry
