"""The configuration of a project: `convcli.toml`, or `[tool.convcli]` in `pyproject.toml`.

The nearest of them counts, from the working directory upwards. Patterns are those of a shell, relative to the folder of
the file; `*` matches `/` too, and a pattern without `/` matches the name of a file in any folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from convcli.model import codes
from convcli.model.errors import JobError
from convcli.validation.wording import did_you_mean

OWN, SHARED = "convcli.toml", "pyproject.toml"
TYPES: dict[str, tuple[type, str]] = {
    "select": (list, "a list of codes"),
    "ignore": (list, "a list of codes"),
    "strict": (bool, "true or false"),
    "check-arguments": (bool, "true or false"),
    "output-format": (str, "a text"),
    "as": (str, "the name of a dialect"),
    "duplicate-keys": (str, "a text"),
    "dialects": (dict, "a table of patterns with the name of a dialect"),
    "per-file-ignores": (dict, "a table of patterns with lists of codes"),
}


class Configuration(NamedTuple):
    """What a file says, and the folder to which its patterns are relative; by default nothing."""

    settings: Mapping[str, Any] = MappingProxyType({})
    folder: str = ""

    def ignored(self, file: str) -> frozenset[str]:
        """The codes that are ignored in a file only."""
        tables = self.settings.get("per-file-ignores", {})
        return frozenset(code for pattern, each in tables.items() if self._matches(file, pattern) for code in each)

    def dialect(self, file: str) -> str | None:
        """The dialect of a file, if a pattern says it; the first one that matches counts."""
        tables = self.settings.get("dialects", {})
        return next((name for pattern, name in tables.items() if self._matches(file, pattern)), None)

    def _matches(self, file: str, pattern: str) -> bool:
        path = os.path.relpath(os.path.abspath(file), self.folder).replace(os.sep, "/")
        return fnmatchcase(path if "/" in pattern else os.path.basename(path), pattern)


def load(start: str | None = None) -> Configuration:
    """The configuration that counts in a folder. Raises JobError `bad-configuration`."""
    folder = os.path.abspath(start or os.getcwd())
    while True:
        for name in (OWN, SHARED):
            settings = _read(os.path.join(folder, name))
            if settings is not None:
                _check(os.path.join(folder, name), settings)
                return Configuration(settings, folder)
        if os.path.dirname(folder) == folder:
            return Configuration()
        folder = os.path.dirname(folder)


def _read(path: str) -> dict[str, Any] | None:
    """What the file says to us; None if it is not there or says nothing."""
    try:
        with open(path, "rb") as file:
            import tomllib  # most folders have no configuration

            loaded = tomllib.load(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        _refuse(path, str(error).splitlines()[0])
    if os.path.basename(path) == OWN:
        return loaded
    tool = loaded.get("tool")
    settings = tool.get("convcli") if isinstance(tool, dict) else None
    if settings is not None and not isinstance(settings, dict):
        _refuse(path, "tool.convcli must be a table")
    return settings


def _check(path: str, settings: dict[str, Any]) -> None:
    for key, value in settings.items():
        if key not in TYPES:
            _refuse(path, f'there is no key "{key}"', did_you_mean(key, TYPES))
        kind, wanted = TYPES[key]
        if type(value) is not kind:
            _refuse(path, f"{key} must be {wanted}")
    for code in [code for key in ("select", "ignore") for code in settings.get(key, ())]:
        _check_code(path, code)
    for pattern, each in settings.get("per-file-ignores", {}).items():
        if not isinstance(each, list):
            _refuse(path, f'per-file-ignores: "{pattern}" must be a list of codes')
        for code in each:
            _check_code(path, code)
    for pattern, name in settings.get("dialects", {}).items():
        if not isinstance(name, str):
            _refuse(path, f'dialects: "{pattern}" must be the name of a dialect')


def _check_code(path: str, code: Any) -> None:
    if not isinstance(code, str) or codes.find(code) is None:
        _refuse(path, f'there is no code "{code}"', did_you_mean(str(code), codes.table()))


def _refuse(path: str, message: str, help_text: str = "") -> NoReturn:
    raise JobError("bad-configuration", message, file=path, help=help_text)
