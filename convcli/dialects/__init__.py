"""The built-in dialects, one module or package each, and their registry. Plugins join it by entry point.

Four steps to a new dialect:

1. `python -m tests.scaffold NAME FILE…` generates a skeleton from sample files: the module here, the schema, the
   samples and the tests. It obeys the laws from the start: what it does not understand is kept whole.
2. `lift` keeps every fact, in a field or under the owner's name in extras. `write` is its inverse: it writes
   everything that the format can store. Borrow known shapes from `families`: Anthropic blocks, Chat Completions
   messages, Responses items, Google contents, and rows of agent programs.
3. `FIT` lists what the service accepts, as passes of `kit/fitting`. `supports` names the fields that the
   format can store, and `rules` what the service rejects. No dialect reports a loss or records how a document was
   spelled: the engine finds both.
4. Add samples, good and bad, and the twin. Then run `convcli.testing`, whose laws are checked against each of them.

`ollama/` is an example of a service with requests and responses, `openclaw/` of an agent program with sessions. A
plugin is a package with an entry point in the group `convcli.dialects` that provides a `Dialect` and its schema
(`model/plugins.py`).

`convcli.dialects()` is short for `convcli.dialects.names()`.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from types import ModuleType

from convcli.model import modules, plugins
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """Returns the names of the built-in dialects, in alphabetical order."""
    return tuple(sorted(name.replace("_", "-") for name in modules.names(__path__)))


def get(name: str) -> Dialect:
    """Returns the dialect with this name: a built-in one, else a plugin's, else that of a table, else the one with this
    alias.

    Raises JobError for an unknown name, for a plugin that provides no `Dialect` with this name, and for a wrong table.
    """
    if name not in names() and plugins.entry(name) is None:
        return _of_table(name) or _aliased(name)
    return _installed(name)


@lru_cache(maxsize=1024)
def _installed(name: str) -> Dialect:
    module = f"{__name__}.{name.replace('-', '_')}"
    dialect = import_module(module).DIALECT if name in names() else _plugin(name)
    if not isinstance(dialect, Dialect):
        raise JobError("bad-plugin", f'the plugin for the dialect "{name}" does not provide a Dialect')
    if dialect.name != name:
        raise JobError("bad-plugin", f'the plugin for the dialect "{name}" provides a dialect with another name')
    if not dialect.bodies:
        return dialect
    from convcli.families import bodies  # imported late: listing names does not need it

    return bodies.around(dialect, get)


def builtin() -> list[Dialect]:
    """Returns all built-in dialects, by name."""
    return [get(name) for name in names()]


def own() -> list[Dialect]:
    """Returns the dialects that the settings of the project describe."""
    from convcli.kit.codec import found

    return [get(name) for name in found.names() if name not in names()]


def documentation(name: str) -> str:
    """Returns the docstring of the dialect's module, or an empty string."""
    if name not in names() and plugins.entry(name) is None:
        return ""
    entry = plugins.entry(name) if name not in names() else None
    module = f"{__name__}.{name.replace('-', '_')}" if entry is None else entry.module
    return import_module(module).__doc__ or ""


def about(name: str) -> str:
    """Describes a dialect in one line: the first line of its documentation, else its title."""
    return documentation(name).strip().partition("\n")[0].removesuffix(".") or get(name).title


def brought() -> list[Dialect]:
    """Returns the dialects of plugins, by name, except those hidden by a built-in dialect of the same name."""
    return [get(name) for name in plugins.names() if name not in names()]


def aliases() -> dict[str, str]:
    """Maps each alias to the name of its dialect."""
    return {alias: dialect.name for dialect in builtin() for alias in dialect.aliases}


def _aliased(name: str) -> Dialect:
    """Returns the dialect with this alias. Raises JobError with the nearest name if there is none."""
    from convcli.validation.wording import unknown

    alias_names = aliases()
    if name in alias_names:
        return get(alias_names[name])
    raise unknown("dialect", name, (*names(), *plugins.names()), "convcli dialects lists them all", alias_names)


def _of_table(name: str) -> Dialect | None:
    """Returns the dialect of a table: of the project, or in a TOML file. None if there is none."""
    from convcli.kit.codec import found

    layout = found.layout(name)
    if layout is None:
        return None
    from convcli.families import tables

    return tables.dialect_of(layout, name)


def _plugin(name: str) -> object:
    entry = plugins.entry(name)
    assert entry is not None
    try:
        return entry.load()
    except (ImportError, AttributeError, SyntaxError) as error:
        message = f'the plugin for the dialect "{name}" cannot be loaded ({type(error).__name__})'
        raise JobError("bad-plugin", message, help=f"its entry point is {entry.value}") from error


def _by_name(dialect: Dialect) -> tuple[Callable[[str], Dialect], tuple[str]]:
    """Pickles a dialect by its name: some of its functions cannot be pickled, but every process has the same
    dialects."""
    return get, (dialect.name,)


copyreg.pickle(Dialect, _by_name)


class _Registry(ModuleType):
    """Makes the package callable, so that `convcli.dialects()` lists the names."""

    def __call__(self) -> tuple[str, ...]:
        return names()

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        """Pickles the package by its name, as functions of other modules are."""
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Registry
