"""The changes of a call on a terminal: each file with its counts, and its lines in color with their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.report.text import Paint, json_text, safe_text
from convcli.views.changes import Change, Changes, Line

COLORS = {"+": "32", "-": "31", "@": "2"}
"""SGR codes by the sign of a line."""


def call_with_changes(arguments: dict[str, Any], changes: Changes, paint: Paint) -> str:
    """Returns the arguments of a call: its changes as diffs, and the others as JSON."""
    others = {name: value for name, value in arguments.items() if name not in changes.names}
    shown = [paint.json(json_text(others, indent=True))] if others else []
    return "\n".join((*shown, *("\n".join(_lines(change, paint)) for change in changes.files)))


def _lines(change: Change, paint: Paint) -> Iterator[str]:
    kind = "" if change.kind == "changed" else f"  {change.kind}"
    counts = f"  {paint.in_colour('32', f'+{change.added:,}')} {paint.in_colour('31', f'-{change.removed:,}')}"
    yield f"{paint.bold(safe_text(change.path))}{kind}{counts}"
    width = max((len(str(line.number)) for line in change.lines if line.number is not None), default=0)
    for line in change.lines:
        yield _line(line, width, paint)


def _line(line: Line, width: int, paint: Paint) -> str:
    text = safe_text(line.text, lines=True)
    number = f"{line.number or '':>{width}} " if width else ""
    if line.sign == "@":
        return paint.dim(f"{' ' * len(number)}@@ {text}".rstrip())
    color = COLORS.get(line.sign)
    shown = f"{line.sign} {text}".rstrip()
    return f"{paint.dim(number) if number else ''}{shown if color is None else paint.in_colour(color, shown)}"
