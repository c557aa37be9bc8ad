"""Lifts and writes one message of Inspect: a turn or a tool result."""

from __future__ import annotations

from typing import Any

from convcli.dialects.inspect_ai.blocks import BLOCKS, NAME
from convcli.families.openai.calls import content_of
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, get_extras, make_extras
from convcli.kit.results import has_failed, in_words, result_of
from convcli.kit.texts import only_text
from convcli.model.transcript import Message, Part, Path, Text, ToolCall, ToolResult
from convcli.wire import exact_json

TURN = Envelope("id=id content= source metadata role= tool_calls= tool_call_id function error model=model")
RESULT = Envelope("id=id content= source metadata role= tool_calls tool_call_id= function= error= model")
CALL = CallTable("id=id function=name arguments=arguments type", form="object", constants={"type": "function"})
UNKNOWN = "unknown"
"""The default type of an error."""


# ---------------------------------------------------------------- lift


def lift_message(native: Native, path: Path, context: LiftContext) -> None:
    """Lifts a turn or a result."""
    lift_one = _lift_result if native["role"] == "tool" else _lift_turn
    message, part_paths = lift_one(native, context)
    if native["role"] == "tool" and native.get("error") is not None and not native.get("content"):
        context.origin.routes[(*path, "content")] = (*path, "error", "message")
    context.add(message, path, part_paths)


def _lift_turn(native: Native, context: LiftContext) -> tuple[Message, list[Path]]:
    message = Message(native["role"], [])
    message.extras = make_extras(NAME, TURN.lift(native, message))
    parts = _lift_content(native.get("content"), context)
    part_paths: list[Path] = [("content", j) for j in range(len(parts))]
    if isinstance(native.get("content"), str):
        part_paths = [("content",)] * len(parts)
    calls = native.get("tool_calls") or []
    parts += [CALL.lift(call, context) for call in calls]
    message.parts = parts
    return message, [*part_paths, *(("tool_calls", j) for j in range(len(calls)))]


def _lift_content(content: Any, context: LiftContext) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)] if content else []
    return [BLOCKS.lift(block, context) for block in content or ()]


def _lift_result(native: Native, context: LiftContext) -> tuple[Message, list[Path]]:
    """Lifts a result. The text of a failure is in its error; its content is then empty."""
    message = Message("tool", [])
    extra = dict(RESULT.lift(native, message) or {})
    id_, name = context.pairing.result(native.get("tool_call_id") or None, native.get("function") or None)
    kind, value = _lift_value(native.get("content"), context)
    result = ToolResult(id_, name, kind, value)  # type: ignore[arg-type]
    error = native.get("error")
    if error is not None:
        extra |= {"content": native["content"]} if native.get("content") else {}
        rest = {key: item for key, item in error.items() if key != "message" and item not in (None, UNKNOWN)}
        extra |= {"error": rest} if rest else {}
        result = ToolResult(id_, name, "error", error["message"])
    message.parts, message.extras = [result], make_extras(NAME, extra)
    return message, [()]


def _lift_value(content: Any, context: LiftContext) -> tuple[str, Any]:
    """Returns kind and value: text, or parts; a single bare text is text."""
    if not isinstance(content, list):
        return "text", content or ""
    parts = [BLOCKS.lift_inside(block, context) for block in content]
    text = only_text(parts)
    return ("multimodal", parts) if text is None else ("text", text)


# ---------------------------------------------------------------- write


def write_message(message: Message) -> Native:
    """Returns a turn or a result."""
    extra = dict(get_extras(message.extras, NAME))
    result = result_of(message)
    if result is not None:
        return _write_result(message, result, extra)
    blocks = [native for part in message.parts if (native := BLOCKS.write(part)) is not None]
    calls = [CALL.write(part, NAME) for part in message.parts if isinstance(part, ToolCall)]
    called = {"tool_calls": calls} if calls and message.role == "assistant" else {}
    return TURN.write(message, extra, content=content_of(blocks), role=message.role, **called)


def _write_result(message: Message, result: ToolResult, extra: Native) -> Native:
    error = extra.pop("error", {})
    content = result.value
    if result.kind == "data":
        content = exact_json.write_text(content)
    elif result.kind == "multimodal":
        content = [native for part in content if (native := BLOCKS.write_inside(part)) is not None]
    fields: Native = {"role": "tool", "tool_call_id": result.tool_call_id, "function": result.name}
    content_extra = extra.pop("content", "")
    if has_failed(result):
        content, fields["error"] = content_extra, {"type": UNKNOWN, "message": in_words(result), **error}
    return RESULT.write(message, extra, content=content, **fields)
