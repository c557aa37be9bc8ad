"""The settings of a project: `convcli.toml`, or `[tool.convcli]` in `pyproject.toml`, and other TOML files.

The nearest file counts, from the working directory upwards.
"""

from __future__ import annotations

import os
import stat
from typing import Any, NoReturn

from convcli.model.errors import JobError

OWN, SHARED = "convcli.toml", "pyproject.toml"


def nearest(start: str | None = None) -> tuple[str, dict[str, Any]] | None:
    """Returns the path of the nearest settings and their content; None if there are none. Raises JobError
    `bad-configuration`."""
    folder = os.path.abspath(start or os.getcwd())
    while True:
        for name in (OWN, SHARED):
            path = os.path.join(folder, name)
            settings = _settings(path)
            if settings is not None:
                return path, settings
        if os.path.dirname(folder) == folder:
            return None
        folder = os.path.dirname(folder)


def _settings(path: str) -> dict[str, Any] | None:
    """Returns convcli's settings in the file; None if there is no file or it has none."""
    loaded = read(path, if_contains=b"" if os.path.basename(path) == OWN else b"convcli")
    if loaded is None or os.path.basename(path) == OWN:
        return loaded
    tool = loaded.get("tool")
    settings = tool.get("convcli") if isinstance(tool, dict) else None
    if settings is not None and not isinstance(settings, dict):
        refuse(path, "tool.convcli must be a table")
    return settings


def read(path: str, *, if_contains: bytes = b"") -> dict[str, Any] | None:
    """Returns the content of a TOML file; None if there is none, or if these bytes do not occur in it."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            refuse(path, "it is not a regular file")
        with open(path, "rb") as file:
            content = file.read()
        if if_contains not in content:
            return None
        import tomllib  # most projects have no configuration

        return tomllib.loads(content.decode())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        refuse(path, str(error).splitlines()[0])


def refuse(path: str, message: str, help_text: str = "") -> NoReturn:
    """Raises the error for a wrong TOML file."""
    raise JobError("bad-configuration", message, file=path, help=help_text)
