"""Transcripts as rows of a table: by call, result and message, by tool call, or by transcript."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any, TypeAlias

import msgspec

from convcli.kit.pairing import calls_answered
from convcli.model.branches import active
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.views.gists import gist
from convcli.views.times import moment_of
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

Row: TypeAlias = dict[str, Any]

LONGEST = 2_000
"""Characters of text in a row, unless the full text is requested."""


UNWELL = {name: name for name in ("length", "content_filter", "refusal", "error", "aborted")}
"""Stop reasons of answers that did not end normally."""


class CallPairs:
    """Links calls to their results by a common mark, `#1` for the first call.

    If calls share an id, a result answers the oldest open call before it (`calls_answered`).
    """

    def __init__(self, transcript: Transcript) -> None:
        self.calls = list(_located(transcript, ToolCall))
        self.results = list(_located(transcript, ToolResult))
        answered = calls_answered(part for message in transcript.messages for part in message.parts)
        self.call_of: dict[int, int | None] = {}
        self.results_of: dict[int, list[tuple[int, Message, ToolResult]]] = {}
        for located, index in zip(self.results, answered, strict=True):
            self.call_of[id(located[2])] = index
            if index is not None:
                self.results_of.setdefault(index, []).append(located)
        self.mark_of = {id(call): f"#{index + 1}" for index, (_, _, call) in enumerate(self.calls)}
        self.answered = {id(self.calls[index][2]) for index in self.results_of}
        self.unpaired = len(self.calls) - len(self.results_of) + list(self.call_of.values()).count(None)

    def mark(self, part: ToolCall | ToolResult) -> str:
        """Returns the mark of a call or result; `?` for a result that answers no call."""
        if isinstance(part, ToolCall):
            return self.mark_of[id(part)]
        index = self.call_of[id(part)]
        return "?" if index is None else f"#{index + 1}"

    def status(self, part: ToolCall | ToolResult) -> str | None:
        """Returns `open` or `orphan` without a partner; of a result its status, `error` or `ok`."""
        if isinstance(part, ToolCall):
            return None if id(part) in self.answered else "open"
        if self.call_of[id(part)] is None:
            return "orphan"
        return "error" if is_error(part) else part.status or "ok"


def _located(transcript: Transcript, kind: Any) -> Iterator[tuple[int, Message, Any]]:
    """Yields all parts of a kind, with the index of their message and the message."""
    for index, message in enumerate(transcript.messages):
        for part in message.parts:
            if isinstance(part, kind):
                yield index, message, part


def is_error(part: Part) -> bool:
    """True for the result of a failed call."""
    return isinstance(part, ToolResult) and (part.kind == "error" or part.is_error is True)


# --- one transcript --------------------------------------------------------------------------------------------------


def by_message(transcript: Transcript, *, longest: int | None = LONGEST, in_short: int = 0) -> Iterator[Row]:
    """Yields a row for each call and result, and for each group of other parts in a message.

    With `in_short`, a call is summarized in so many characters.

    `message` counts from 0 · `call` is the mark that a call shares with its result · `size` in characters · `tokens`
    are those of the answer, in its first row · `status` is that of a call, `branch` for inactive messages, or why an
    answer did not end normally.
    """
    pairs = CallPairs(transcript)
    active_ids = {id(message) for message in active(transcript)} if transcript.head is not None else None
    for index, message in enumerate(transcript.messages):
        tokens = (message.usage or {}).get("outputTokens")
        is_inactive = active_ids is not None and id(message) not in active_ids and message.role != "event"
        state = "branch" if is_inactive else "error" if message.error else UNWELL.get(message.stop_reason or "")
        for parts in _together(message.parts):
            row = {
                "message": index,
                "role": message.role,
                **_summary_of(parts, pairs, longest, in_short),
                "tokens": tokens,
            }
            row["status"] = row["status"] or state
            if not parts and message.error:
                row |= {"size": len(message.error), "text": message.error[:longest]}
            yield row | {"name": message.name, "model": message.model, "time": message.created_at}
            tokens = None


def _together(parts: list[Part]) -> Iterator[list[Part]]:
    """Yields each call and result alone, and groups of other parts; one empty group for an empty message."""
    if not parts:
        yield []
    for alone, group in groupby(parts, lambda part: isinstance(part, (ToolCall, ToolResult, Reasoning))):
        same = list(group)
        yield from ([part] for part in same) if alone else [same]


def _summary_of(parts: list[Part], pairs: CallPairs, longest: int | None, in_short: int) -> Row:
    tool = parts[0] if parts and isinstance(parts[0], (ToolCall, ToolResult)) else None
    texts = list(filter(None, map(part_text, parts)))
    text = _short(tool, in_short) if in_short and isinstance(tool, ToolCall) else "\n".join(texts)
    return {
        "kind": ", ".join(dict.fromkeys(map(kind_of, parts))),
        "tool": tool.name if tool is not None else None,
        "call": pairs.mark(tool) if tool is not None else None,
        "status": pairs.status(tool) if tool is not None else None,
        "size": sum(map(len, texts)),
        "text": text if longest is None else text[:longest],
    }


def _short(call: ToolCall, width: int) -> str:
    return call.raw_arguments if call.raw_arguments is not None else gist(call.arguments, width)


def kind_of(part: Part) -> str:
    """Returns the kind of a part as rows name it."""
    return {"tool_call": "call", "tool_result": "result"}.get(part.type, part.type)


def part_text(part: Part) -> str:
    """Returns the visible text of a part: its text, its arguments or value as JSON, or a description of its file."""
    match part:
        case Text() | Refusal():
            return part.text
        case Reasoning():
            return part.text or "\n".join(part.summary or ())
        case ToolCall():
            return part.raw_arguments if part.raw_arguments is not None else _json(part.arguments)
        case ToolResult():
            return _value(part.value)
        case Media():
            return _medium(part)
        case Opaque():
            return _json(part.value)


def _value(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(item, msgspec.Struct) for item in value):
        return "\n".join(part_text(item) for item in value)
    return value if isinstance(value, str) else _json(value)


def _medium(part: Media) -> str:
    """Describes a medium without its bytes."""
    if part.text is not None:
        return part.text
    where = f"base64 of {len(part.data):,}" if part.data is not None else part.url or part.file_id or part.path or ""
    return f"[{' '.join(filter(None, (part.type, part.name, part.media_type, where)))}]"


def _json(value: Any) -> str:
    return exact_json.write_text(builtins(value))


def by_call(transcript: Transcript, *, longest: int | None = LONGEST, in_short: int = 0) -> Iterator[Row]:
    """Yields a row for each call with its result, for each further result, and for results that answer no call.

    With `in_short`, arguments are summarized in so many characters.

    `asked` and `answered` are message indexes · `seconds` between the two, if both have times.
    """
    pairs = CallPairs(transcript)
    for index, asked in enumerate(pairs.calls):
        for answer in pairs.results_of.get(index) or (None,):
            yield _pair(asked, answer, pairs, longest, in_short)
    for answer in pairs.results:
        if pairs.call_of[id(answer[2])] is None:
            yield _pair(None, answer, pairs, longest, in_short)


def _pair(asked: Any, answer: Any, pairs: CallPairs, longest: int | None, in_short: int) -> Row:
    part = (asked or answer)[2]
    value = "" if answer is None else part_text(answer[2])
    return {
        "call": pairs.mark(part),
        "tool": part.name,
        "status": pairs.status(answer[2] if answer is not None else part),
        "seconds": _seconds(asked, answer),
        "asked": asked and asked[0],
        "answered": answer and answer[0],
        "size": len(value),
        "arguments": asked and (_short(part, in_short) if in_short else part_text(part)[:longest]),
        "result": answer and value[:longest],
    }


def _seconds(asked: Any, answer: Any) -> float | None:
    if asked is None or answer is None:
        return None
    seconds = seconds_between(asked[1].created_at, answer[1].created_at)
    return None if seconds is None else round(seconds, 3)


def seconds_between(begin: str | None, end: str | None) -> float | None:
    """Returns the seconds between two times; None if one is missing or invalid."""
    first, last = moment_of(begin), moment_of(end)
    return None if first is None or last is None else (last - first).total_seconds()


# --- many transcripts ------------------------------------------------------------------------------------------------


def by_transcript(transcript: Transcript, file: str, line: int | None, dialect: str) -> Row:
    """Returns a row of counts.

    `line` is that of a record, or the row of a table from 0; None if the file is one transcript. `messages` are those
    of the source, without messages nested in others; `events` are events. `unpaired` counts calls without a result and
    results without a call. `input` and `output` are tokens, as far as recorded.
    """
    kinds = Counter(part.type for message in transcript.messages for part in message.parts)
    roles = Counter(message.role for message in _outer(transcript))
    usage = [message.usage for message in transcript.messages if message.usage]
    return {
        "file": file,
        "line": line,
        "dialect": dialect,
        "messages": roles.total() - roles["event"],
        "calls": kinds["tool_call"],
        "results": kinds["tool_result"],
        "errors": sum(is_error(part) for message in transcript.messages for part in message.parts),
        "unpaired": CallPairs(transcript).unpaired,
        "reasoning": kinds["reasoning"],
        "images": kinds["image"],
        "events": roles["event"],
        **{role: roles[role] for role in ("system", "developer", "user", "assistant", "tool")},
        "input": sum(counts.get("inputTokens", 0) for counts in usage),
        "output": sum(counts.get("outputTokens", 0) for counts in usage),
        **about(transcript),
    }


def about(transcript: Transcript) -> Row:
    """Returns a transcript's own metadata; the model may be named only by its messages."""
    times = [message.created_at for message in transcript.messages if message.created_at]
    models = dict.fromkeys(message.model for message in transcript.messages if message.model)
    return {
        "model": transcript.model or ", ".join(models) or None,
        "title": transcript.title,
        "id": transcript.id,
        "begin": transcript.created_at or (times[0] if times else None),
        "end": transcript.updated_at or (times[-1] if times else None),
    }


def _outer(transcript: Transcript) -> Iterator[Message]:
    """Yields the messages that have their own place in the source, or their own id, not inside or together with another
    one of the same speaker. Results speak for nobody."""
    origin = transcript.origin
    known = origin is not None and len(origin.places) == len(transcript.messages)
    before: Path | None = None
    speaker, id_ = "", None
    for index, message in enumerate(transcript.messages):
        place = origin.places[index][0] if origin is not None and known else ("messages", index)
        has_own_place = before is None or not before or place[: len(before)] != before
        is_other = message.role != speaker or message.id not in (None, id_)
        if has_own_place or (is_other and "tool" not in (speaker, message.role)):
            before = place if has_own_place else before
            speaker, id_ = message.role, message.id
            yield message
