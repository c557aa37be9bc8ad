"""Take the keys that a dialect knows, carry the rest: helpers that every lift and lower share."""

from __future__ import annotations

from convcli.model.transcript import Message, ToolCall, ToolDefinition, ToolResult, Transcript


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
