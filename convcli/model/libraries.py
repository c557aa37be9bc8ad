"""Imports the libraries of every process without what they import and few commands use."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from convcli.model.modules import Later

LATER = ("inspect", "textwrap", "tokenize", "msgspec.inspect")
"""Modules that libraries import and that a conversion never reads. They take as long to import as the interpreter to
start."""


class _StandIn(Later):
    """Stands for a module in those that import it."""

    def __getattr__(self, name: str) -> Any:
        _take_out(self.__name__, self)  # a library may read it while it is imported
        return super().__getattr__(name)


def load_libraries(*more: str) -> None:
    """Imports msgspec, what orjson imports, the place of the source of generated functions, and more libraries.

    msgspec prefers `typing_extensions` to `typing`, which has the same names in all supported versions of Python and
    takes a third of its time. Before Python 3.12, `uuid` imports `platform` for the name of the system.
    """
    stand_ins: dict[str, Any] = {name: _StandIn(name) for name in (*LATER, "platform")}
    stand_ins["platform"].system = lambda: os.uname().sysname
    stand_ins["typing_extensions"] = None
    stand_ins = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        for name in ("dataclasses", "linecache", "uuid", "msgspec", *more):
            import_module(name)
    finally:
        for name, module in stand_ins.items():
            _take_out(name, module)


def _take_out(name: str, module: ModuleType | None) -> None:
    if name in sys.modules and sys.modules[name] is module:
        del sys.modules[name]
