"""AI SDK model messages: what is sent to a model, and its answers; version 4 is read-only."""

from __future__ import annotations

from typing import Any

from convcli.families.ai_sdk.parts import (
    OPTIONS,
    is_shaped,
    lift_output,
    lift_provided,
    tables,
    write_output,
    write_provided,
)
from convcli.families.ai_sdk.shown import is_steering
from convcli.kit.blocks import BlockTable
from convcli.kit.calls import arguments_of
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit
from convcli.kit.texts import text_of
from convcli.model.transcript import Message, Opaque, Part, Path, Text, ToolCall, ToolResult

NAME = "vercel-ai"
MESSAGE = Keys("role content")
SHOWN_ONLY = "approval dynamic rawInput state"
"""Keys of a call in a UI message that a model message does not define."""
CALL = Keys(f"type toolCallId toolName input args {OPTIONS}", groups=SHOWN_ONLY)
RESULT = Keys("type toolCallId toolName output result isError")


def _table(role: str) -> BlockTable:
    return tables(NAME).answered if role == "assistant" else tables(NAME).asked


# ---------------------------------------------------------------- lift


def lift_message(native: Native, path: Path, context: LiftContext) -> None:
    """Reads a message, or one for each result of a tool message, whose other parts are user messages."""
    role, content = native["role"], native.get("content")
    extra = MESSAGE.extra(native)
    if isinstance(content, str):
        parts: list[Part] = [Text(content)] if content else []
        context.add(Message(role, parts, extras=make_extras(NAME, extra)), path, [("content",)] * len(parts))
        return
    if role != "tool":
        parts = [_lift_part(item, role, context) for item in content or ()]
        part_paths: list[Path] = [("content", j) for j in range(len(parts))]
        context.add(Message(role, parts, extras=make_extras(NAME, extra)), path, part_paths)
        return
    for j, item in enumerate(content or ()):
        is_result = item["type"] == "tool-result"
        part = _lift_result(item, context) if is_result else Opaque(NAME, item)
        extras = make_extras(NAME, {"message": extra}) if extra and not j else None
        context.add(Message("tool" if is_result else "user", [part], extras=extras), path, [("content", j)])


def _lift_part(native: Native, role: str, context: LiftContext) -> Part:
    if native["type"] == "tool-call":
        return lift_call(native, context)
    return _table(role).lift(native, context)


def lift_call(native: Native, context: LiftContext) -> ToolCall:
    """Reads a call; traces have its input as a string, version 4 under another name."""
    arguments, raw = arguments_of(native.get("input", native.get("args")))
    id_ = context.pairing.call(native["toolCallId"] or None, native["toolName"])
    extra = dict(CALL.extra(native) or {})
    metadata, rest = lift_provided(native.get(OPTIONS))
    extra |= {OPTIONS: rest} if rest else {}
    extra |= {"args": native["args"]} if "input" in native and native.get("args") is not None else {}
    return ToolCall(id_, native["toolName"], arguments, raw, metadata, make_extras(NAME, extra))


def _lift_result(native: Native, context: LiftContext) -> ToolResult:
    id_, name = context.pairing.result(native["toolCallId"] or None, native["toolName"] or None)
    result = ToolResult(id_, name, "text", "")
    extra = dict(RESULT.extra(native) or {})
    if isinstance(native.get("output"), dict):
        rest = lift_output(native["output"], result, context)
        extra |= {"output": rest} if rest else {}
        extra |= {key: native[key] for key in ("result", "isError") if native.get(key) is not None}
    else:
        result.value, failed = native.get("result"), native.get("isError") is True
        is_text = isinstance(result.value, str)
        result.kind = ("error" if failed else "text") if is_text else "data"
        result.is_error = True if failed and not is_text else None
    result.extras = make_extras(NAME, extra)
    return result


# ---------------------------------------------------------------- write


def write_messages(messages: list[Message]) -> list[Native]:
    """Writes a message for each turn, and one for consecutive results."""
    natives: list[Native] = []
    results: list[Native] | None = None
    for message in messages:
        extra = dict(get_extras(message.extras, NAME))
        if is_steering(message, NAME):  # a user message, to a model
            del extra["type"]
        items = _tool_items(message)
        if items is None:
            natives.append(_write_turn(message, extra))
            results = None
            continue
        message_keys = extra.pop("message", None)
        if results is None or message_keys:
            results = []
            natives.append(MESSAGE.put({"role": "tool", "content": results}, message_keys))
        results += items
    return natives


def _tool_items(message: Message) -> list[Native] | None:
    """Returns the items of a tool message; None for a message of another role."""
    if message.role == "tool":
        return [_write_result(part) for part in message.parts if isinstance(part, ToolResult)]
    values = [part.value for part in message.parts if isinstance(part, Opaque) and part.dialect == NAME]
    is_answer = bool(values) and len(values) == len(message.parts) and message.role == "user"
    return values if is_answer and all(value.get("type") in TOOL_ITEM_TYPES for value in values) else None


TOOL_ITEM_TYPES = ("tool-approval-response",)


def _write_turn(message: Message, extra: Native) -> Native:
    if message.role == "system":
        text = text_of(message.parts, "\n\n")
        return MESSAGE.put({"role": "system", "content": text}, extra)
    parts = [part for part in message.parts if not is_shaped(part, NAME, "step-", "source", "data-", "steering-")]
    natives = (write_call(part) if isinstance(part, ToolCall) else _table(message.role).write(part) for part in parts)
    items = [native for native in natives if native is not None]
    item = items[0] if len(items) == 1 else {}
    is_bare = item.keys() == {"type", "text"} and item["type"] == "text" and item["text"]
    return MESSAGE.put({"role": message.role, "content": item["text"] if is_bare else items or ""}, extra)


def write_call(call: ToolCall) -> Native:
    """Writes a call; arguments that are not an object are written as their string."""
    extra = omit(get_extras(call.extras, NAME), *SHOWN_ONLY.split())
    options = write_provided(call.metadata, extra.pop(OPTIONS, {}))
    input_ = call.arguments if call.raw_arguments is None else call.raw_arguments
    native = {"type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": input_}
    return CALL.put({**native, **({OPTIONS: options} if options else {})}, extra)


def _write_result(result: ToolResult) -> Native:
    extra = dict(get_extras(result.extras, NAME))
    output: Any = write_output(result, extra.pop("output", None), NAME)
    native = {"type": "tool-result", "toolCallId": result.tool_call_id, "toolName": result.name, "output": output}
    return RESULT.put(native, extra)
