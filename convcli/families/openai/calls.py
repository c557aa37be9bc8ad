"""Calls as Chat Completions and its relatives write them, and what a result says where only text can stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.kit.values import read_arguments, read_written_arguments, write_arguments
from convcli.model.transcript import Media, Message, Opaque, Origin, Part, Text, ToolCall, ToolResult
from convcli.wire import exact_json

CALL = Keys("id type function custom")
ARGUMENTS = Keys("name arguments")
CUSTOM = Keys("name input")
PLAIN = ("id", "type", "function")
PLAIN_FUNCTION = ("name", "arguments")
BODY = {"function": ARGUMENTS, "custom": CUSTOM}
"""The member of a call that holds its name and arguments, by the type of the call."""


def lift_call(native: Native, pairing: Pairing, origin: Origin, dialect: str) -> Part:
    """A call of a function or of a custom tool; one of another type is opaque."""
    if _is_plain(native):
        function = native["function"]
        name, written = function["name"], function["arguments"]
        arguments, raw, same = read_written_arguments(written)
        plain = ToolCall(pairing.call(native["id"], name), name, arguments, raw)
        if not same and raw is None:
            origin.spell(plain, {"arguments": written})
        return plain
    kind = native.get("type") or "function"
    body = native.get(kind)
    if kind not in BODY or not isinstance(body, dict):
        part: Part = Opaque(dialect, native)
        origin.spell(part, {"in": "tool_calls"})
        return part
    outer, spelling = CALL.take(native)
    inner, inner_spelling = BODY[kind].take(body)
    call, written = (_read_custom if kind == "custom" else read_call)(body, native.get("id") or None, pairing)
    type_ = {"type": kind} if kind == "custom" else {}
    more = {key: native[key] for key in BODY if key != kind and native.get(key)}
    call.extras = extras_of(dialect, {**type_, **more, **(outer or {}), **({kind: inner} if inner else {})})
    missing = [key for key in ("id", "type") if not native.get(key)]
    odd = {"keys": list(native), "missing": missing} if missing else {}
    origin.spell(call, {**odd, **(spelling or {}), **written, **({kind: inner_spelling} if inner_spelling else {})})
    return call


def _is_plain(native: Native) -> bool:
    """What nearly every call looks like: all its keys, in order, and arguments as text."""
    if tuple(native) != PLAIN or not native["id"] or native["type"] != "function":
        return False
    function = native["function"]
    return isinstance(function, dict) and tuple(function) == PLAIN_FUNCTION and isinstance(function["arguments"], str)


def read_call(function: Native, id_: str | None, pairing: Pairing) -> tuple[ToolCall, Spelling]:
    """The call, and how its arguments were written where they are not the compact JSON of an object."""
    written = function.get("arguments")
    if isinstance(written, str):
        arguments, raw, same = read_written_arguments(written)
        odd: Spelling = {} if same or raw is not None else {"arguments": written}
    else:
        arguments, raw, odd = written or {}, None, {"arguments": written}
    name = function["name"]
    return ToolCall(pairing.call(id_, name), name, arguments, raw_arguments=raw), odd


def _read_custom(custom: Native, id_: str | None, pairing: Pairing) -> tuple[ToolCall, Spelling]:
    """A call whose input is free text: it is the raw text of the arguments, whatever it looks like."""
    name = custom["name"]
    return ToolCall(pairing.call(id_, name), name, {}, raw_arguments=custom.get("input") or ""), {}


CUSTOM_TYPES = ("custom", "custom_tool_call")


def is_custom(call: ToolCall) -> bool:
    """Is it the call of a custom tool, whose input is free text?"""
    return any(carried.get("type") in CUSTOM_TYPES for carried in (call.extras or {}).values())


def lower_call(call: ToolCall, spelling: Spelling, dialect: str) -> Native:
    """The call with its arguments as JSON in a string, or as its source wrote them."""
    carried = carried_by(call.extras, dialect)
    native: Native = {"id": call.id, "type": "function"}
    kind = "custom" if carried.get("type") == "custom" else "function"
    if kind == "custom":
        custom = {"name": call.name, "input": call.raw_arguments or ""}
        native |= {"type": "custom", "custom": CUSTOM.put(custom, carried.get("custom"), spelling.get("custom"))}
    else:
        native["function"] = lower_function(call, spelling, dialect)
    for key in spelling.get("missing", ()):
        del native[key]
    outer = {key: value for key, value in carried.items() if key not in ("type", kind)}
    return CALL.put(native, outer, spelling)


def lower_function(call: ToolCall, spelling: Spelling, dialect: str) -> Native:
    """The member of a call that holds its name and arguments."""
    native: Native = {"name": call.name}
    if "arguments" in spelling and _is_same(call, spelling["arguments"]):
        if spelling["arguments"] is not None:
            native["arguments"] = spelling["arguments"]
    else:
        native["arguments"] = write_arguments(call.arguments, call.raw_arguments)
    return ARGUMENTS.put(native, carried_by(call.extras, dialect).get("function"), spelling.get("function"))


def _is_same(call: ToolCall, written: Any) -> bool:
    """Does what the source wrote still say the arguments of the call?"""
    said = read_arguments(written)[0] if isinstance(written, str) else written or {}
    return call.raw_arguments is None and exact_json.exact(said, call.arguments)


def of_message(carried: Native, spelling: Spelling, own: bool) -> Native:
    """What was carried of the message itself: not what stood in the choice or the response around it."""
    around = ("choice", "usage") if not own or "usage" in spelling else ("choice",)
    if any(key in carried for key in around):
        return {key: value for key, value in carried.items() if key not in around}
    return carried


def is_bare_text(part: Part) -> bool:
    """Text that says nothing else."""
    return isinstance(part, Text) and part.extras is None


def said(result: ToolResult) -> str:
    """The text of a result that is not multimodal: text has no field for data or failure."""
    if result.kind == "error" or result.is_error:
        return exact_json.write_text({"error": result.value})
    return exact_json.write_text(result.value) if result.kind == "data" else str(result.value)


def files_of(message: Message, lower_media: Callable[[Media, Spelling], Native | None]) -> list[Native]:
    """A user message with the media of a result, which a tool message cannot hold."""
    natives: list[Native] = []
    for result in message.parts:
        if isinstance(result, ToolResult) and result.kind == "multimodal":
            files = [lower_media(part, {}) for part in result.value if isinstance(part, Media)]
            content = [file for file in files if file is not None]
            if content:
                natives.append({"role": "user", "content": [{"type": "text", "text": envelope(result)}, *content]})
    return natives


def envelope(result: ToolResult) -> str:
    """The text before media that belong to a result."""
    return f"Attached to the result of {result.name} ({result.tool_call_id}):"
