"""A transcript's heading, and all of one of its messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.model.transcript import Reasoning, ToolCall, ToolResult, Transcript
from convcli.report.tables import View
from convcli.report.text import Paint, count, cut, filled, json_text, safe_text
from convcli.views.rows import CallPairs, part_text
from convcli.wire.decimals import builtins

LONGEST_WORD = 40
LONGEST_LINE = 79
"""Characters of a word from a file, and of a line."""


def title(row: dict[str, Any]) -> list[str]:
    """What a row of `views.rows.by_transcript` says, in few words each: of which file, what it is, and how much."""
    about = [row["title"], row["dialect"], row["model"], row["id"] and f"id {row['id']}", _dates(row)]
    numbers = [count(row[name], name[:-1]) for name in ("messages", "calls", "errors")]
    numbers += [f"{row['unpaired']:,} unpaired"] if row["unpaired"] else []
    numbers += [count(row["events"], "event")] if row["events"] else []
    numbers += [f"{row['input']:,} tokens in, {row['output']:,} out"] if row["input"] or row["output"] else []
    return [safe_text(row["file"]), *(cut(safe_text(word), LONGEST_WORD) for word in about if word), *numbers]


def heading(pieces: list[str], paint: Paint) -> str:
    """The pieces of a title, as many on a line as fit."""
    file, *words = pieces
    first, *more = words or [""]
    told = filled([f"{file}: {first}", *more], ", ", LONGEST_LINE)
    return f"{told.replace(file, paint.bold(file), 1)}\n"


def _dates(row: dict[str, Any]) -> str:
    """The minutes of begin and end."""
    begin, end = ((row[name] or "")[:16].replace("T", " ") for name in ("begin", "end"))
    return begin if begin == end or not end else f"{begin or '?'} to {end}"


def shown(transcript: Transcript, number: int, form: str, view: View) -> Iterator[str]:
    """One message: as its record in the intermediate format for `json` and `jsonl`, else as text, nothing cut.

    A terminal gets JSON over several lines. Text is never taken for Markdown: that would hide some of it.
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
        yield f"\n{_heading(part, pairs)}\n" + _whole(part, view.paint).rstrip("\n") + "\n"


def _heading(part: Any, pairs: CallPairs) -> str:
    if isinstance(part, (ToolCall, ToolResult)):
        kind = "call" if isinstance(part, ToolCall) else "result"
        return safe_text(" ".join(filter(None, ["--", kind, part.name, pairs.mark(part), pairs.status(part)])))
    return f"-- {part.type}"


def _whole(part: Any, paint: Paint) -> str:
    """JSON values over several lines."""
    if isinstance(part, ToolCall) and part.raw_arguments is None:
        return paint.json(json_text(part.arguments, indent=True))
    if isinstance(part, ToolResult) and part.kind == "data":
        return paint.json(json_text(part.value, indent=True))
    if isinstance(part, Reasoning) and part.summary:
        return safe_text("\n".join([*part.summary, part.text]), lines=True)
    return safe_text(part_text(part), lines=True)
