"""Passes of policy that dialects list in their `fit`: a transcript, and the same as a target takes it.

A pass does not change its input and shares what it leaves alone. What it changes is found as a loss when the output is
read back, so no pass reports anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import is_
from typing import Any, TypeVar

from msgspec.structs import replace

from convcli.model.branches import active
from convcli.model.dialect import Convention, Pass
from convcli.model.transcript import Message, Opaque, Part, ToolCall, ToolDefinition, ToolResult, Transcript

Record = TypeVar("Record", Message, Part, ToolDefinition)


def is_response(transcript: Transcript) -> bool:
    """Only what a model answered, as services return it: no question, tools or settings, but a stop reason or usage."""
    return (
        bool(transcript.messages)
        and transcript.tools is None
        and transcript.tool_choice is None
        and not transcript.settings
        and all(message.role == "assistant" for message in transcript.messages)
        and any(message.stop_reason or message.usage for message in transcript.messages)
    )


def is_foreign_builtin(tool: ToolDefinition) -> bool:
    """A tool that a vendor runs by itself: it has nothing but a name and its owner's own keys."""
    return (
        tool.description is None
        and tool.parameters is None
        and any("tool" in carried for carried in (tool.extras or {}).values())
    )


# ---------------------------------------------------------------- passes


def on_messages(fits: Callable[[list[Message]], list[Message]]) -> Pass:
    """A pass that has to do with messages only."""

    def fitted(transcript: Transcript) -> Transcript:
        messages = fits(transcript.messages)
        return transcript if messages is transcript.messages else replace(transcript, messages=messages)

    return fitted


def on_each_message(fits: Callable[[Message], Message | None]) -> Pass:
    """A pass that looks at one message at a time; None takes it out."""
    return on_messages(lambda messages: shared(messages, [fits(message) for message in messages]))


def on_parts(fits: Callable[[Part, Message], Part | None]) -> Pass:
    """A pass that looks at one part at a time, with its message; None takes it out."""

    def fitted(message: Message) -> Message:
        parts = shared(message.parts, [fits(part, message) for part in message.parts])
        return message if parts is message.parts else replace(message, parts=parts)

    return on_each_message(fitted)


def on_results(fits: Callable[[ToolResult], ToolResult]) -> Pass:
    """A pass that looks at results only."""
    return on_parts(lambda part, _: fits(part) if part.__class__ is ToolResult else part)


def on_tools(fits: Callable[[ToolDefinition], ToolDefinition | None]) -> Pass:
    """A pass that looks at one tool definition at a time; None takes it out."""

    def fitted(transcript: Transcript) -> Transcript:
        if not transcript.tools:
            return transcript
        tools = shared(transcript.tools, [fits(tool) for tool in transcript.tools])
        return transcript if tools is transcript.tools else replace(transcript, tools=tools)

    return fitted


def shared(before: list[Record], after: Sequence[Record | None]) -> list[Record]:
    """What is left of `after`; `before` itself where nothing has changed."""
    if len(before) == len(after) and all(map(is_, before, after)):
        return before
    return [record for record in after if record is not None]


def shared_all(before: list[Message], split: Callable[[Message], list[Message]]) -> list[Message]:
    """Each message in pieces; `before` itself where every message is one piece."""
    pieces = [split(message) for message in before]
    whole = all(len(piece) == 1 and piece[0] is message for piece, message in zip(pieces, before, strict=True))
    return before if whole else [message for piece in pieces for message in piece]


def linear(transcript: Transcript) -> Transcript:
    """No events, and of a tree only the active branch: what a linear dialect holds."""
    messages = active(transcript)
    if transcript.head is None and messages is transcript.messages:
        return transcript
    return replace(transcript, messages=messages, head=None)


def answers_only(transcript: Transcript) -> Transcript:
    """What a model answered: the turns of the assistant."""
    messages = [message for message in transcript.messages if message.role == "assistant"]
    return transcript if len(messages) == len(transcript.messages) else replace(transcript, messages=messages)


def roles(names: Mapping[str, str]) -> Pass:
    """Roles that a vendor does not know are written as others (`developer` as `system`)."""
    return on_each_message(
        lambda message: replace(message, role=names[message.role]) if message.role in names else message
    )


def parts_in_roles(allowed: Mapping[str, Collection[str]]) -> Pass:
    """Parts of these types stand only in messages of these roles; elsewhere they are left out."""

    def fits(part: Part, message: Message) -> Part | None:
        return part if message.role in allowed.get(part.type, (message.role,)) else None

    return on_parts(fits)


def without(*fields: str) -> Pass:
    """Fields that this form has no place for: of the transcript (`title`) or of messages (`message.usage`)."""
    of_messages = {field.partition(".")[2] for field in fields if field.startswith("message.")}
    of_whole = [field for field in fields if not field.startswith("message.")]

    def fits(transcript: Transcript) -> Transcript:
        gone = {field: None for field in of_whole if getattr(transcript, field) is not None}
        return replace(_cleared(transcript), **gone) if gone else _cleared(transcript)

    _cleared = on_each_message(lambda message: _without(message, of_messages)) if of_messages else (lambda same: same)
    return fits


def _without(message: Message, fields: Collection[str]) -> Message:
    gone = {field: None for field in fields if getattr(message, field) is not None}
    return replace(message, **gone) if gone else message


def only_own_opaque(owner: str) -> Pass:
    """Opaque parts of other vendors are left out, those in results too."""

    def fits(part: Part, _: Message) -> Part | None:
        if part.__class__ is Opaque:
            return part if part.dialect == owner else None
        return part

    return on_parts(fits)


def expressed(*conventions: Convention) -> Pass:
    """Results for which the vendor has no field are written by a convention."""

    def fits(result: ToolResult) -> ToolResult:
        for convention in conventions:
            expressed_as = convention.express(result)
            if expressed_as is not None:
                kind: Any = expressed_as[0]
                return replace(result, kind=kind, value=expressed_as[1], is_error=None)
        return result

    return on_results(fits)


def with_parameters(*, typed: bool = False) -> Pass:
    """A schema for every function, empty where it has none; `typed`: with a root type."""

    def fits(tool: ToolDefinition) -> ToolDefinition:
        if is_foreign_builtin(tool) or (tool.parameters is not None and ("type" in tool.parameters or not typed)):
            return tool
        stated = {"properties": {}} if tool.parameters is None else tool.parameters
        return replace(tool, parameters={"type": "object", **stated})

    return on_tools(fits)


def functions_only(owner: str) -> Pass:
    """Tools that another vendor runs by itself are left out."""

    def fits(tool: ToolDefinition) -> ToolDefinition | None:
        is_own = owner in (tool.extras or {})
        return None if is_foreign_builtin(tool) and not is_own else tool

    return on_tools(fits)


# ---------------------------------------------------------------- order of results


def results_first(messages: list[Message]) -> list[Message]:
    """The messages with every result directly behind the turn that called, in the order in which the results came."""
    if _in_place(messages):
        return messages
    order: list[Message] = []
    late: dict[str, list[Message]] = {}
    caller: dict[str, int] = {}
    for message in messages:
        result = _result_of(message)
        if result is None or result.tool_call_id not in caller:
            _open_calls(message, len(order), caller)
            order.append(message)
        elif _follows(order, caller[result.tool_call_id]):
            order.append(message)
        else:
            late.setdefault(result.tool_call_id, []).append(message)
    return _insert(order, late, caller) if late else messages


def _in_place(messages: list[Message]) -> bool:
    """Quick, for most conversations: does every result stand behind the assistant's turn that called?"""
    open_calls: set[str] = set()
    for message in messages:
        if message.role == "tool":
            result = _result_of(message)
            if result is None or result.tool_call_id not in open_calls:
                return False
        elif message.role == "assistant":
            open_calls = {part.id for part in message.parts if type(part) is ToolCall}
        else:
            open_calls = set()
    return True


def results_apart(message: Message) -> list[Message]:
    """Results in messages of their own, the rest between them; what the message itself says stays with the first."""
    if not any(isinstance(part, ToolResult) for part in message.parts):
        return [message] if message.parts or message.role != "tool" else []
    pieces: list[Message] = []
    for part in message.parts:
        result = isinstance(part, ToolResult)
        if not result and pieces and pieces[-1].role != "tool":
            pieces[-1].parts.append(part)
            continue
        pieces.append(Message("tool" if result else "user" if message.role == "tool" else message.role, [part]))
    if len(pieces) == 1 and pieces[0].role == message.role:
        return [message]
    first = pieces[0]
    for name in ("id", "parent_id", "created_at", "extras"):
        setattr(first, name, getattr(message, name))
    return pieces


def _result_of(message: Message) -> ToolResult | None:
    first = message.parts[0] if message.role == "tool" and message.parts else None
    return first if type(first) is ToolResult else None


def _open_calls(message: Message, index: int, caller: dict[str, int]) -> None:
    for part in message.parts:
        if isinstance(part, ToolCall):
            caller[part.id] = index


def _follows(order: list[Message], index: int) -> bool:
    """Is there nothing but results behind the message at `index`?"""
    return order[-1].role == "tool" or index == len(order) - 1


def _insert(order: list[Message], late: dict[str, list[Message]], caller: dict[str, int]) -> list[Message]:
    behind: dict[int, list[Message]] = {}
    for id_, results in late.items():
        index = caller[id_]
        while index + 1 < len(order) and order[index + 1].role == "tool":
            index += 1
        behind.setdefault(index, []).extend(results)
    out: list[Message] = []
    for index, message in enumerate(order):
        out.append(message)
        out += behind.get(index, ())
    return out


results_behind_calls = on_messages(results_first)
"""Every result directly behind the turn that called."""

separate_results = on_messages(lambda messages: shared_all(messages, results_apart))
"""Every result in a message of its own."""
