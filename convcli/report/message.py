"""The heading of a transcript, and the full content of one message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.model.transcript import Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.report.tables import View
from convcli.report.text import Paint, cut, filled, json_text, safe_text
from convcli.validation.wording import counted
from convcli.views.rows import CallPairs, part_text
from convcli.views.times import moment_of
from convcli.wire.decimals import builtins

LONGEST_WORD = 40
LONGEST_LINE = 79
"""Limits on the characters of a word from a file, and of a line."""


def title(row: dict[str, Any], *, hides_events: bool = False) -> list[str]:
    """Summarizes a row of `views.rows.by_transcript` in short phrases: file, title, dialect, model, dates, counts."""
    about = [row["title"], row["dialect"], row["model"], row["id"] and f"id {row['id']}", _dates(row)]
    numbers = _numbers(row, " hidden (--events show)" if hides_events else "")
    return [safe_text(row["file"]), *(cut(safe_text(word), LONGEST_WORD) for word in about if word), *numbers]


def _numbers(row: dict[str, Any], of_events: str = "") -> list[str]:
    """Lists the non-zero counts; `of_events` is appended to the number of events."""
    numbers = [counted(row[name], name[:-1]) for name in ("messages", "calls", "errors")]
    numbers += [f"{row['unpaired']:,} unpaired"] if row.get("unpaired") else []
    numbers += [f"{counted(row['events'], 'event')}{of_events}"] if row["events"] else []
    return numbers + ([f"{row['input']:,} tokens in, {row['output']:,} out"] if row["input"] or row["output"] else [])


class Totals:
    """Totals of rows of `views.rows.by_transcript`."""

    def __init__(self) -> None:
        self.rows = 0
        self._sums = dict.fromkeys(("messages", "calls", "errors", "events", "input", "output"), 0)

    def add(self, row: dict[str, Any]) -> None:
        """Adds a row."""
        self.rows += 1
        for name in self._sums:
            self._sums[name] += row[name]

    def reported(self) -> str:
        """Returns the totals on one line."""
        first, *others = _numbers(self._sums)
        return filled([f"{counted(self.rows, 'transcript')}: {first}", *others], ", ", LONGEST_LINE) + "\n"


def heading(pieces: list[str], paint: Paint, width: int | None = None) -> str:
    """Joins the pieces of a title, as many per line as fit the terminal or a usual line."""
    file, *words = pieces
    first, *more = words or [""]
    joined = filled([f"{file}: {first}", *more], ", ", LONGEST_LINE if width is None else width - 1)
    return f"{joined.replace(file, paint.bold(file), 1)}\n"


def _dates(row: dict[str, Any]) -> str:
    """Formats begin and end to the minute."""
    times = (row[name] if moment_of(row[name]) else None for name in ("begin", "end"))
    begin, end = ((time or "")[:16].replace("T", " ") for time in times)
    return begin if begin == end or not end else f"{begin or '?'} to {end}"


def line(row: dict[str, Any], width: int, paint: Paint) -> str:
    """Formats a row of `views.rows.by_message` as one terminal line, with widths independent of other rows."""
    when = (row["time"] or "")[11:19]
    status = "" if row["status"] in (None, "ok") else f"{row['status']} "
    place = f"{when:<8} {row['message']:>4}  {row['role']:<9} {row['kind']:<9} "
    tool = f"{safe_text(row['tool'])}: " if row["tool"] else ""
    text = safe_text(" ".join((row["text"] or "")[: 4 * width].split()))
    return f"{paint.dim(place)}{paint.severity('error', status) if status else ''}" + cut(
        f"{tool}{text}", max(width - len(place) - len(status), LONGEST_WORD)
    )


def shown(transcript: Transcript, number: int, form: str, view: View) -> Iterator[str]:
    """Yields one message: as its record in the intermediate format for `json` and `jsonl`, else as full text.

    On a terminal, JSON is indented, edits and patches are diffs, and Markdown of a model is rendered, unless
    `view.whole`.
    """
    message = transcript.messages[number]
    if form in ("json", "jsonl"):
        text = json_text(builtins(message), indent=form == "json" and view.width is not None)
        yield view.paint.json(text) + "\n"
        return
    more = [message.name, message.model, message.created_at, message.stop_reason, message.error]
    yield safe_text(" · ".join([f"message {number}", message.role, *filter(None, more)])) + "\n"
    if message.usage:
        yield safe_text(", ".join(f"{name} {value:,}" for name, value in message.usage.items())) + "\n"
    pairs = CallPairs(transcript)
    for part in message.parts:
        if view.width is None or view.whole:
            text = _whole(part, view.paint)
        else:
            text = _changes(part, pairs, view.paint) or _laid_out(part, message.role, view.width, view.paint)
        yield f"\n{_heading(part, pairs)}\n" + text.rstrip("\n") + "\n"


def _heading(part: Any, pairs: CallPairs) -> str:
    if isinstance(part, (ToolCall, ToolResult)):
        kind = "call" if isinstance(part, ToolCall) else "result"
        return safe_text(" ".join(filter(None, ["--", kind, part.name, pairs.mark(part), pairs.status(part)])))
    return f"-- {part.type}"


def _changes(part: Any, pairs: CallPairs, paint: Paint) -> str:
    """Returns the changes that a call asks for; empty for anything else."""
    from convcli.report.patches import call_with_changes
    from convcli.views.changes import change_of_call

    if not isinstance(part, ToolCall):
        return ""
    number = next(number for number, (_, _, call) in enumerate(pairs.calls) if call is part)
    changes = change_of_call(part, pairs.results_of.get(number, ()))
    return call_with_changes(part.arguments, changes, paint) if changes.files else ""


def _laid_out(part: Any, role: str, width: int, paint: Paint) -> str:
    """Lays out text for a terminal: text of a model as Markdown, other text wrapped between words."""
    from convcli.report.markdown import rendered, wrapped

    text = _whole(part, paint)
    if isinstance(part, Reasoning) or (isinstance(part, Text) and role == "assistant"):
        return rendered(text, width, colour=paint.colour)
    is_json = isinstance(part, ToolCall) or (isinstance(part, ToolResult) and part.kind == "data")
    return text if is_json else wrapped(text, width)


def _whole(part: Any, paint: Paint) -> str:
    """Returns the full text of a part, with JSON indented."""
    if isinstance(part, ToolCall) and part.raw_arguments is None:
        return paint.json(json_text(part.arguments, indent=True))
    if isinstance(part, ToolResult) and part.kind == "data":
        return paint.json(json_text(part.value, indent=True))
    if isinstance(part, Reasoning) and part.summary:
        return safe_text("\n".join([*part.summary, part.text]), lines=True)
    return safe_text(part_text(part), lines=True)
