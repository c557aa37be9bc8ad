"""Single items of the Responses API: calls, reasoning and outputs. Facts of an item are stored on its part.

Specification: `ResponseInputItem` and `ResponseOutputItem` of the [API
reference](https://platform.openai.com/docs/api-reference/responses), Python SDK `openai` 3.51.0; read 2026-11-20.
"""

from __future__ import annotations

from typing import Any

from convcli.families.responses.parts import lift_output, write_output
from convcli.kit.contexts import LiftContext
from convcli.kit.custom import input_of, lift_input
from convcli.kit.objects import Keys, Native, get_extras, make_extras, without_nulls
from convcli.kit.values import read_arguments, write_arguments
from convcli.model.transcript import Part, Reasoning, ToolCall, ToolResult
from convcli.wire import exact_json

REASONING = Keys("type= id= summary= content= encrypted_content= status")
OUTPUT = Keys("type= id= call_id= name= namespace caller status output=")
CALLS = {
    kind: Keys(f"type= id= call_id= namespace name= {body}= status caller async")
    for kind, body in (("function_call", "arguments"), ("custom_tool_call", "input"))
}
CUSTOM_CALL = "custom_tool_call"
OUTPUT_OF_FUNCTION, OUTPUT_OF_CUSTOM = "function_call_output", "custom_tool_call_output"
OUTPUTS = frozenset((OUTPUT_OF_FUNCTION, OUTPUT_OF_CUSTOM))
MARKS = frozenset(("additional_tools", "configuration_update", "compaction_trigger"))
"""Items with which a client changes settings for what follows: they are not messages."""

COMPLETED = {"status": "completed"}
"""The default of an item."""

PIECES = {"summary": "summary_text", "content": "reasoning_text"}
REASONING_SEPARATOR = "\n\n"
"""Separates the pieces of reasoning when they are one text."""


def kind_of(native: Native) -> str:
    """Returns the type of an item: without `type` it is a message or a reference."""
    kind: str | None = native.get("type")
    return kind if kind is not None else "message" if "role" in native else "item_reference"


def _lift_id(native: Native) -> Native | None:
    return {"itemId": native["id"]} if native.get("id") else None


def _write_id(part: Part) -> Native:
    id_ = part.metadata.get("itemId") if part.metadata else None
    return {} if id_ is None else {"id": id_}


# ---------------------------------------------------------------- calls


def lift_call(native: Native, kind: str, context: LiftContext) -> ToolCall:
    """Lifts a call. The input of a custom tool is free text, whatever it looks like."""
    extra = CALLS[kind].extra(native, COMPLETED) or {}
    name, id_ = native["name"], native.get("call_id") or None
    extras, id_ = make_extras(context.dialect, extra), context.pairing.call(id_, name)
    if kind == CUSTOM_CALL:
        return ToolCall(id_, name, lift_input(native["input"]), None, _lift_id(native), extras, custom=True)
    arguments, raw = read_arguments(native["arguments"])
    return ToolCall(id_, name, arguments, raw, _lift_id(native), extras)


def write_call(call: ToolCall, dialect: str) -> Native:
    """Writes the call of a function or a custom tool as an item."""
    text = input_of(call)
    kind = "function_call" if text is None else CUSTOM_CALL
    native = {"type": kind, **_write_id(call), "call_id": call.id, "name": call.name}
    if text is not None:
        native["input"] = text
    else:
        native["arguments"] = write_arguments(call.arguments, call.raw_arguments)
    return CALLS[kind].put(native, get_extras(call.extras, dialect))


# ---------------------------------------------------------------- reasoning


def lift_reasoning(native: Native, dialect: str) -> Reasoning:
    """Lifts reasoning. Several pieces of content become one text; pieces with anything but text are kept whole in
    extras."""
    extra = REASONING.extra(native, COMPLETED) or {}
    texts = {key: _texts(native.get(key) or []) for key in PIECES}
    for key, kind in PIECES.items():
        if not exact_json.exact(native.get(key) or [], _pieces(kind, texts[key])):
            extra[key] = native[key]
    metadata = _lift_id(native) or {}
    if native.get("encrypted_content"):
        metadata["encryptedContent"] = native["encrypted_content"]
    text = REASONING_SEPARATOR.join(texts["content"])
    return Reasoning(text, texts["summary"] or None, metadata or None, make_extras(dialect, extra))


def write_reasoning(part: Reasoning, dialect: str) -> Native:
    """Writes reasoning as an item; extra pieces are used if they still have its text."""
    native = {
        "type": "reasoning",
        **_write_id(part),
        "summary": _pieces(PIECES["summary"], part.summary or []),
        "content": _pieces(PIECES["content"], [part.text]) if part.text else None,
        "encrypted_content": (part.metadata or {}).get("encryptedContent"),
    }
    extra = dict(get_extras(part.extras, dialect))
    if "summary" in extra and _texts(extra["summary"]) != (part.summary or []):
        del extra["summary"]
    if "content" in extra and REASONING_SEPARATOR.join(_texts(extra["content"])) != part.text:
        del extra["content"]
    return REASONING.put(without_nulls(native), extra)


def _texts(pieces: Any) -> list[str]:
    return [piece["text"] for piece in pieces if isinstance(piece.get("text"), str)]


def _pieces(kind: str, texts: list[str]) -> list[Native]:
    return [{"type": kind, "text": text} for text in texts]


# ---------------------------------------------------------------- outputs


def lift_result(native: Native, kind: str, usual: str, context: LiftContext) -> ToolResult:
    """Lifts a result. Its type is kept in extras if it is not the `usual` one for that call."""
    extra = OUTPUT.extra(native, COMPLETED) or {}
    id_, name = context.pairing.result(native.get("call_id") or None, native.get("name") or None)
    (form, value), is_whole = lift_output(native["output"], context.dialect)
    if not is_whole:
        extra["output"] = native["output"]
    if kind != usual:
        extra = {"type": kind, **extra}
    extras = make_extras(context.dialect, extra)
    return ToolResult(id_, name, form, value, metadata=_lift_id(native), extras=extras)


def write_result(result: ToolResult, dialect: str, usual: str, *, named: bool) -> Native:
    """Writes a result as an item, with the `usual` type for its call; `named`: with the name of its tool if no call has
    it."""
    extra = dict(get_extras(result.extras, dialect))
    kind = extra.pop("type", None)
    native = {"type": kind if kind in OUTPUTS else usual, **_write_id(result)}
    native["call_id"] = result.tool_call_id
    if named:
        native["name"] = result.name
    native["output"] = write_output(result, dialect)
    if "output" in extra and lift_output(extra["output"], dialect)[0] != (result.kind, result.value):
        del extra["output"]
    return OUTPUT.put(native, extra)
