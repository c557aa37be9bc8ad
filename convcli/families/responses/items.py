"""Single items of the Responses API: calls, reasoning and outputs. Facts of an item are stored on its part.

Specification: `ResponseInputItem` and `ResponseOutputItem` of the [API
reference](https://platform.openai.com/docs/api-reference/responses), Python SDK `openai` 3.51.0; read 2026-11-20.
"""

from __future__ import annotations

from typing import Any

from convcli.families.responses.parts import lift_output, write_output
from convcli.kit.blocks import in_metadata
from convcli.kit.calls import CallTable, Form
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, without_nulls
from convcli.model.transcript import Part, Reasoning, ToolResult
from convcli.wire import exact_json

REASONING = Keys("type= id= summary= content= encrypted_content= status")
OUTPUT = Keys("type= id= call_id= name= namespace caller status output=")
CALL, CUSTOM_CALL = "function_call", "custom_tool_call"
OUTPUT_OF_FUNCTION, OUTPUT_OF_CUSTOM = "function_call_output", "custom_tool_call_output"
OUTPUTS = frozenset((OUTPUT_OF_FUNCTION, OUTPUT_OF_CUSTOM))
BARE_OUTPUT = frozenset(("type", "call_id", "name", "output"))
"""The keys of an output that has no facts of its own."""
MARKS = frozenset(("additional_tools", "configuration_update", "compaction_trigger"))
"""Items with which a client changes settings for what follows: they are not messages."""

COMPLETED = {"status": "completed"}
"""The default of an item."""
CALL_FORMS: tuple[tuple[str, str, Form], ...] = ((CALL, "arguments", "json"), (CUSTOM_CALL, "input", "free"))
CALLS = {
    kind: CallTable(
        f"type= id call_id=id namespace name=name {arguments}=arguments status caller async",
        {"id": in_metadata("itemId")},
        form=form,
        constants={"type": kind},
        defaults=COMPLETED,
    )
    for kind, arguments, form in CALL_FORMS
}
"""The keys of calls, by the type of their item."""

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


def see_call(free: set[str], id_: str | None, kind: str) -> None:
    """Records a call: `free` are the ids of the latest calls of custom tools, whose outputs are items of another
    type."""
    if id_ and kind == CUSTOM_CALL:
        free.add(id_)
    elif id_ and free:
        free.discard(id_)


def usual_output(id_: str | None, free: set[str]) -> str:
    """Returns the usual output type of this call."""
    return OUTPUT_OF_CUSTOM if free and id_ in free else OUTPUT_OF_FUNCTION


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
    output = native["output"]
    id_, name = context.pairing.result(native.get("call_id") or None, native.get("name") or None)
    if output.__class__ is str and kind == usual and native.keys() <= BARE_OUTPUT:  # most results
        return ToolResult(id_, name, "text", output)
    extra = OUTPUT.extra(native, COMPLETED) or {}
    (form, value), is_whole = lift_output(output, context.dialect)
    if not is_whole:
        extra["output"] = output
    if kind != usual:
        extra = {"type": kind, **extra}
    extras = make_extras(context.dialect, extra)
    return ToolResult(id_, name, form, value, metadata=_lift_id(native), extras=extras)


def write_result(result: ToolResult, dialect: str, usual: str, *, named: bool) -> Native:
    """Writes a result as an item, with the `usual` type for its call; `named`: with the name of its tool if no call has
    it."""
    name = {"name": result.name} if named else {}
    about = {"call_id": result.tool_call_id, **name, "output": write_output(result, dialect)}
    if result.metadata is None and result.extras is None:  # most results
        return {"type": usual, **about}
    extra = dict(get_extras(result.extras, dialect))
    kind = extra.pop("type", None)
    if "output" in extra and lift_output(extra["output"], dialect)[0] != (result.kind, result.value):
        del extra["output"]
    return OUTPUT.put({"type": kind if kind in OUTPUTS else usual, **_write_id(result), **about}, extra)
