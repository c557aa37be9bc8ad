"""Calls in a few words: the command, or the most informative argument."""

from __future__ import annotations

from typing import Any

from convcli.wire import exact_json
from convcli.wire.decimals import builtins

COMMANDS = ("command", "cmd", "script")
INFORMATIVE = (
    "pattern", "query", "file_path", "path", "filePath", "filepath", "absolute_path", "filename", "file",
    "notebook_path", "url", "prompt", "result", "description", "name", "id",
)  # fmt: skip
"""Argument names, the most informative first."""
LONGEST = 100


def gist(arguments: Any, width: int = LONGEST) -> str:
    """Returns the command as `$ command`, else the informative argument as `path=…/tables.py`, else all as JSON.

    Paths are cut at the start, everything else at the end.
    """
    if not isinstance(arguments, dict):
        return _cut(_line(arguments), width)
    command = next((command_of(arguments[name]) for name in COMMANDS if name in arguments), None)
    if command:
        return _cut(f"$ {_line(command)}", width)
    name = next((name for name in INFORMATIVE if isinstance(arguments.get(name), str)), None)
    if name is None:
        return _cut(_line(arguments), width) if arguments else ""
    value, room = _line(arguments[name]), width - len(name) - 1
    return f"{name}={_end(value, room) if '/' in value and ' ' not in value else _cut(value, room)}"


def command_of(value: Any) -> str | None:
    """Returns a command that is a string or a list of words; None for other values."""
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return value[-1] if len(value) == 3 and value[1] in ("-c", "-lc") else " ".join(value)
    return value if isinstance(value, str) else None


def _line(value: Any) -> str:
    return " ".join((value if isinstance(value, str) else exact_json.write_text(builtins(value))).split())


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _end(path: str, width: int) -> str:
    return path if len(path) <= width else f"…{path[len(path) - width + 1 :]}"
