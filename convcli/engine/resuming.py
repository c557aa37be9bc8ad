"""Prepares a session so that another program can continue it: what that program would drop or add is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from msgspec.structs import replace

from convcli.engine import conversion
from convcli.engine.conversion import Conversion
from convcli.kit.ids import is_uuid, uuid_of
from convcli.kit.pairing import calls_answered
from convcli.kit.results import in_words
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Message, Part, Text, ToolCall, ToolResult, Transcript

INTERRUPTED = "interrupted: the session has no result of this call"


def resumed(
    transcript: Transcript,
    target: Dialect,
    source: Dialect,
    options: Options,
    cwd: str,
    fit: Callable[[Transcript], Transcript] | None = None,
) -> Conversion:
    """Returns the session in the dialect of the program that continues it, in this directory, with all changes."""
    id_ = transcript.id if is_uuid(transcript.id) else None
    is_agent = bool(transcript.messages) and all(one.parent_call_id is not None for one in transcript.messages)
    messages = _paired(_followed(transcript.messages))
    messages = [replace(one, parent_call_id=None) for one in messages] if is_agent else messages
    prepared = replace(transcript, messages=messages, id=id_, cwd=cwd)
    prepared = prepared if fit is None else fit(prepared)
    document = conversion.write(prepared, target, options, source)
    if target.lift(document).id is None:
        document = conversion.write(replace(prepared, id=uuid_of(document)), target, options, source)
    left_out = conversion.left_out(transcript, options, source, target)
    done = conversion.read_back(transcript, document, target, source, purpose="request", left_out=left_out)
    if options.tools_of is not None:
        from convcli.engine import tool_names

        after = tool_names.renamed(transcript, source, options.tools_of)
        done.losses = tool_names.explained(done.losses, transcript, after)
    return done


def _followed(messages: list[Message]) -> list[Message]:
    """Makes messages with an unknown parent follow the previous one: a program would not send anything before it."""
    ids = {message.id for message in messages}
    if all(message.parent_id is None or message.parent_id in ids for message in messages):
        return messages
    followed: list[Message] = []
    before: str | None = None
    for message in messages:
        is_lost = message.parent_id is not None and message.parent_id not in ids
        followed.append(replace(message, parent_id=before) if is_lost else message)
        before = message.id or before
    return followed


def _paired(messages: list[Message]) -> list[Message]:
    """Gives every call exactly one result: programs drop calls without one, and results without a call."""
    parts = [part for message in messages for part in message.parts]
    answered = calls_answered(parts, is_ordered=True)
    calls = [part for part in parts if isinstance(part, ToolCall)]
    if None not in answered and len(calls) == len(answered) == len(set(answered)):
        return messages
    with_result = set(answered)
    is_open = {id(call) for index, call in enumerate(calls) if index not in with_result}
    paired: list[Message] = []
    without: list[Message] = []
    still_open = Counter[str]()
    for message in messages:
        if message.role != "tool":
            paired += without
            without = []
        paired.append(_answering(message, still_open))
        missing = [part for part in message.parts if isinstance(part, ToolCall) and id(part) in is_open]
        without += [Message("tool", [ToolResult(call.id, call.name, "error", INTERRUPTED)]) for call in missing]
    return paired + without


def _answering(message: Message, still_open: Counter[str]) -> Message:
    """Turns results that answer no open call into text."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            still_open[part.id] += 1
        elif isinstance(part, ToolResult) and still_open[part.tool_call_id]:
            still_open[part.tool_call_id] -= 1
        elif isinstance(part, ToolResult):
            part = Text(f"Result of {part.name}: {in_words(part)}")
        parts.append(part)
    if all(one is other for one, other in zip(parts, message.parts, strict=True)):
        return message
    return replace(message, role="user" if message.role == "tool" else message.role, parts=parts)
