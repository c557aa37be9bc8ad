"""Items of the Responses API, one by one: calls, reasoning and outputs; facts of an item ride on its part."""

from __future__ import annotations

from typing import Any

from convcli.families.responses.parts import lift_output, lower_output, take
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.kit.values import read_arguments, write_arguments
from convcli.model.transcript import Origin, Reasoning, ToolCall, ToolResult
from convcli.wire import exact_json

REASONING = Keys("type id summary content encrypted_content status", carried="status")
OUTPUT = Keys("type id call_id name namespace caller status output", carried="namespace caller status")
CALLS = {
    "function_call": Keys(
        "type id call_id namespace name arguments status caller async", carried="namespace status caller async"
    ),
    "custom_tool_call": Keys(
        "type id call_id namespace name input status caller async", carried="namespace status caller async"
    ),
}
OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output"))
MARKS = frozenset(("additional_tools", "configuration_update", "compaction_trigger"))
"""Items by which a client changes the settings of what follows: nobody said them."""

COMPLETED = {"status": "completed"}
"""What an item is that does not say otherwise."""

PIECES = {"summary": "summary_text", "content": "reasoning_text"}
BETWEEN = "\n\n"
"""What stands between the pieces of reasoning when they are one text."""


def kind_of(native: Native) -> str:
    """The type of an item: without `type` it is a message or a reference."""
    kind: str | None = native.get("type")
    return kind if kind is not None else "message" if "role" in native else "item_reference"


def _item_id(native: Native) -> Native | None:
    return {"itemId": native["id"]} if native.get("id") else None


# ---------------------------------------------------------------- calls


def lift_call(native: Native, kind: str, pairing: Pairing, origin: Origin) -> ToolCall:
    """The input of a custom tool is free text: it is the raw text of the arguments, whatever it looks like."""
    carried, spelling = take(CALLS[kind], native, COMPLETED)
    arguments: dict[str, Any] = {}
    raw: str | None
    if kind == "custom_tool_call":
        raw, carried = native["input"], {"type": kind, **carried}
    else:
        arguments, raw = read_arguments(native["arguments"])
        if raw is None and exact_json.write_text(arguments) != native["arguments"]:
            spelling["arguments"] = native["arguments"]
    if not native.get("call_id"):
        spelling["call_id"] = False
    name = native["name"]
    call = ToolCall(pairing.call(native.get("call_id") or None, name), name, arguments, raw, _item_id(native))
    call.extras = extras_of(origin.dialect, carried)
    origin.spell(call, spelling)
    return call


def lower_call(call: ToolCall, id_: Native, dialect: str, spelling: Spelling) -> Native:
    """The item with `id_`, its own id, where it has one."""
    carried = dict(carried_by(call.extras, dialect))
    custom = carried.pop("type", None) == "custom_tool_call"
    kind = "custom_tool_call" if custom else "function_call"
    native = {"type": kind, **id_}
    if spelling.get("call_id", True):
        native["call_id"] = call.id
    native["name"] = call.name
    if custom:
        native["input"] = call.raw_arguments or ""
    else:
        native["arguments"] = _arguments(call, spelling)
    return CALLS[kind].put(native, carried, spelling)


def _arguments(call: ToolCall, spelling: Spelling) -> str:
    """As the source wrote them, where that still says the arguments of the call."""
    written: str | None = spelling.get("arguments")
    if (
        written is not None
        and call.raw_arguments is None
        and exact_json.exact(read_arguments(written)[0], call.arguments)
    ):
        return written
    return write_arguments(call.arguments, call.raw_arguments)


# ---------------------------------------------------------------- reasoning


def lift_reasoning(native: Native, origin: Origin) -> Reasoning:
    """Several pieces of content are one text; pieces that hold more than text are carried whole."""
    carried, spelling = take(REASONING, native, COMPLETED)
    texts: dict[str, list[str]] = {}
    for key, kind in PIECES.items():
        pieces = native.get(key) or []
        texts[key] = [piece["text"] for piece in pieces if isinstance(piece.get("text"), str)]
        if not exact_json.exact(pieces, _pieces(kind, texts[key])):
            carried[key] = pieces
    text = BETWEEN.join(texts["content"])
    if texts["content"] != ([text] if text else []):
        spelling["pieces"] = texts["content"]
    metadata = _item_id(native) or {}
    if native.get("encrypted_content"):
        metadata["encryptedContent"] = native["encrypted_content"]
    part = Reasoning(text, texts["summary"] or None, metadata or None, extras_of(origin.dialect, carried))
    origin.spell(part, spelling)
    return part


def lower_reasoning(part: Reasoning, id_: Native, dialect: str, spelling: Spelling, *, own: bool) -> Native | None:
    """The item; None where the vendor did not make it: only its own reasoning can be given back to it."""
    encrypted = (part.metadata or {}).get("encryptedContent")
    if not own and not id_ and encrypted is None:
        return None
    native: Native = {"type": "reasoning", **id_}
    if part.summary or not own:
        native["summary"] = _pieces(PIECES["summary"], part.summary or [])
    texts = spelling.get("pieces", [])
    texts = texts if BETWEEN.join(texts) == part.text else [part.text]
    if texts:
        native["content"] = _pieces(PIECES["content"], texts)
    if encrypted is not None:
        native["encrypted_content"] = encrypted
    return REASONING.put(native, carried_by(part.extras, dialect), spelling)


def _pieces(kind: str, texts: list[str]) -> list[Native]:
    return [{"type": kind, "text": text} for text in texts]


# ---------------------------------------------------------------- outputs


def lift_result(native: Native, kind: str, pairing: Pairing, origin: Origin) -> ToolResult:
    """The answer to a call. Calls do not say which of them it is but by id."""
    carried, spelling = take(OUTPUT, native, COMPLETED)
    id_, name = pairing.result(native.get("call_id") or None, native.get("name") or None)
    form, value, more, odd = lift_output(native["output"], origin)
    type_ = {"type": kind} if kind == "custom_tool_call_output" else {}
    given = {key: bool(native.get(key)) for key in ("call_id", "name") if bool(native.get(key)) != (key == "call_id")}
    result = ToolResult(id_, name, form, value, metadata=_item_id(native))
    result.extras = extras_of(origin.dialect, {**type_, **carried, **more})
    origin.spell(result, {**spelling, **odd, **given})
    return result


def lower_result(
    result: ToolResult, id_: Native, dialect: str, spellings: dict[int, Spelling], *, own: bool, named: bool
) -> Native:
    """The item; `named`: with the name of its tool, where the source does not decide that."""
    spelling = spellings.get(id(result), {})
    carried = dict(carried_by(result.extras, dialect))
    custom = carried.pop("type", None) == "custom_tool_call_output"
    native = {"type": "custom_tool_call_output" if custom else "function_call_output", **id_}
    if spelling.get("call_id", True):
        native["call_id"] = result.tool_call_id
    if spelling.get("name", named):
        native["name"] = result.name
    native["output"] = lower_output(result, dialect, spellings, own=own)
    return OUTPUT.put(native, carried, spelling)
