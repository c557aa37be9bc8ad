"""A call in one line: its command, its file, what it looks for."""

from __future__ import annotations

from typing import Any, NamedTuple

from convcli.views.changes import PATHS, Changes
from convcli.views.gists import COMMANDS, INFORMATIVE, command_of, gist
from convcli.views.todos import progress, todos_of

LONGEST = 160
"""Characters of the line."""
TITLES = ("description", "title")
"""Arguments that say in words what a call is for; the line begins with them."""
SOUGHT = ("pattern", "query", "url", "regex", "glob", "name", "id")


class CallLine(NamedTuple):
    """The text of the line, what the call is for in words, and the arguments that the two show whole."""

    text: str
    purpose: str
    shown: frozenset[str]


def call_line(arguments: Any, changes: Changes, cwd: str | None = None) -> CallLine:
    """Returns the line of a call. Paths in the working directory are relative to it."""
    if not isinstance(arguments, dict):
        return CallLine(_cut(gist(arguments, LONGEST)), "", frozenset())
    purpose, titles = _purpose(arguments)
    if any(change.path for change in changes.files):
        paths = ", ".join(relative(change.path, cwd) for change in changes.files)
        return CallLine(_cut(paths), purpose, titles | changes.names)
    todos = todos_of(arguments)
    if todos is not None:
        return CallLine(_cut(" ".join(progress(todos[1]).split())), purpose, titles | {todos[0]})
    for name in COMMANDS:
        command = command_of(arguments.get(name))
        if command:
            line = " ".join(command.split())
            is_whole = len(line) < LONGEST and "\n" not in command.strip()
            return CallLine(f"$ {_cut(line)}", purpose, titles | ({name} if is_whole else frozenset()))
    return _of_arguments(arguments, purpose, titles, cwd)


def _of_arguments(arguments: dict[str, Any], purpose: str, titles: frozenset[str], cwd: str | None) -> CallLine:
    """Returns what is looked for, and where; else the most informative argument."""
    sought = [name for name in SOUGHT if isinstance(arguments.get(name), str)][:1]
    path = [name for name in PATHS if isinstance(arguments.get(name), str)][:1]
    names = sought + path
    if not names and not purpose:
        names = [name for name in INFORMATIVE if isinstance(arguments.get(name), str)][:1]
    names = [name for name in names if name not in titles]
    if not names:
        rest = {name: value for name, value in arguments.items() if name not in titles}
        text = gist(rest, LONGEST) if rest and not purpose else ""
        return CallLine(
            text, purpose, titles | (frozenset(rest) if text and len(rest) == 1 and "…" not in text else frozenset())
        )
    values = {name: relative(arguments[name], cwd) if name in path else arguments[name] for name in names}
    whole = frozenset(name for name, value in values.items() if len(value) < LONGEST / 2 and "\n" not in value)
    return CallLine(
        _cut("  ".join(" ".join(value[: 2 * LONGEST].split()) for value in values.values())), purpose, titles | whole
    )


def _purpose(arguments: dict[str, Any]) -> tuple[str, frozenset[str]]:
    name = next((name for name in TITLES if isinstance(arguments.get(name), str) and len(arguments) > 1), None)
    text = " ".join(arguments[name].split()) if name is not None else ""
    return (text, frozenset((name,))) if name is not None and 0 < len(text) <= LONGEST else ("", frozenset())


def relative(path: str, cwd: str | None) -> str:
    """Returns a path relative to a directory, if it is inside of it."""
    root = (cwd or "").rstrip("/\\")
    rest = path.removeprefix(root)
    is_inside = bool(root) and rest != path and rest[:1] in ("", "/", "\\")
    return (rest[1:] or ".") if is_inside else path


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
