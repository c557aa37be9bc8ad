"""Todo lists in the arguments of calls, whatever the agent program names its tool and its keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from convcli.wire.patterns import pattern

State: TypeAlias = Literal["open", "active", "done", "dropped"]

LISTS = ("todos", "plan", "todo_list", "items", "task_progress")
"""Arguments that hold the list: of Claude Code, Codex, OpenCode, Gemini CLI, Cline."""
TEXTS = ("content", "step", "description", "text", "title", "task")
STATES: Mapping[str, State] = {
    "pending": "open", "todo": "open", "open": "open", "not_started": "open", "not-started": "open",
    "in_progress": "active", "in-progress": "active", "active": "active", "doing": "active",
    "completed": "done", "complete": "done", "done": "done",
    "cancelled": "dropped", "canceled": "dropped", "skipped": "dropped",
}  # fmt: skip
BOXES: Mapping[str, State] = {" ": "open", "x": "done", "X": "done", "-": "active", "~": "active"}
SIGNS: Mapping[State, str] = {"open": "☐", "active": "◐", "done": "☑", "dropped": "☒"}
_LINE = pattern(r"[ \t]*(?:[-*][ \t]+)?\[([ xX~-])\][ \t]+(\S.*)")


class Todo(NamedTuple):
    """An item of a list."""

    text: str
    state: State


def todos_of(arguments: Any) -> tuple[str, list[Todo]] | None:
    """Returns the name of the argument with a todo list, and its items; None if there is none.

    A list has objects with a text and a known status. A string has a line `[x] text` for each item.
    """
    for name in LISTS if isinstance(arguments, dict) else ():
        value = arguments.get(name)
        todos = _of_lines(value) if isinstance(value, str) else _of_objects(value) if isinstance(value, list) else None
        if todos:
            return name, todos
    return None


def progress(todos: list[Todo]) -> str:
    """Returns how many items are done, and the one that is being done."""
    active = next((f", now: {todo.text}" for todo in todos if todo.state == "active"), "")
    return f"{sum(todo.state == 'done' for todo in todos):,} of {len(todos):,} done{active}"


def _of_objects(values: list[Any]) -> list[Todo] | None:
    todos = [_of_object(value) for value in values]
    known = [todo for todo in todos if todo is not None]
    return known if len(known) == len(todos) else None


def _of_object(value: Any) -> Todo | None:
    if not isinstance(value, dict):
        return None
    text = next((value[name] for name in TEXTS if isinstance(value.get(name), str)), None)
    state = STATES.get(str(value.get("status")))
    return None if text is None or state is None else Todo(text, state)


def _of_lines(text: str) -> list[Todo] | None:
    found = [_LINE.fullmatch(line) for line in text.splitlines() if line.strip()]
    known = [Todo(match[2], BOXES[match[1]]) for match in found if match is not None]
    return known if len(known) == len(found) else None
