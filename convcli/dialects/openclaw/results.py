"""The results of OpenClaw and pi: messages of their own, or blocks in a message."""

from __future__ import annotations

from typing import Any

from convcli.dialects.openclaw.blocks import NAME, REQUEST, TEXT_TYPES, Reader, lift_block, write_blocks
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, carried_by, extras_of, says_something
from convcli.model.dialect import Convention
from convcli.model.transcript import ToolResult
from convcli.wire import exact_json

IDS = ("toolCallId", "tool_call_id", "toolUseId", "tool_use_id")
NAMES = ("toolName", "name")
FLAGS = ("isError", "is_error")
FAILED = ("error", "failed")

_KEYS = "toolCallId tool_call_id toolUseId tool_use_id toolName name content details isError is_error"
RESULT = Keys(f"role {_KEYS} timestamp", carried="details timestamp")
BLOCK = Keys(f"type {_KEYS}", carried="details")


# ---------------------------------------------------------------- lift


def lift_result(native: Native, reader: Reader, outer: Native | None = None) -> ToolResult:
    """The result of a message, or of a block in the message `outer`, which may say what the block does not."""
    carried = (RESULT if outer is None else BLOCK).carried(native) or {}
    around = outer or {}
    stated_id = _first(native, IDS) or _first(around, IDS)
    id_, name = reader.context.pairing.result(stated_id, _first(native, NAMES) or _first(around, NAMES))
    for keys, value in ((IDS, id_), (NAMES, name)):
        carried |= {key: native[key] for key in keys if native.get(key) and native[key] != value}
    kind, value, is_error = read_value(native.get("content"), has_failed(native) or has_failed(around), reader)
    return ToolResult(id_, name, kind, value, True if is_error else None, extras=extras_of(NAME, carried))  # type: ignore[arg-type]


def _first(native: Native, keys: tuple[str, ...]) -> str | None:
    return next((native[key] for key in keys if native.get(key)), None)


def has_failed(native: Native) -> bool:
    """What OpenClaw itself calls a failure: a flag, the type of the block, or `details.status`; never the text."""
    details = native.get("details")
    return (
        any(native.get(key) is True for key in FLAGS)
        or native.get("type") == "tool_result_error"
        or (isinstance(details, dict) and details.get("status") in FAILED)
    )


def read_value(content: Any, failed: bool, reader: Reader) -> tuple[str, Any, bool]:
    """Kind and value of a result, and whether a value that is no text is an error.

    A string or one text block is text, other blocks are parts, anything else is data.
    """
    text = "error" if failed else "text"
    if not says_something(content):
        return text, "", False
    if isinstance(content, str):
        return text, content, False
    if not isinstance(content, list) or not all(map(_is_shown, content)):
        return "data", content, failed
    if len(content) == 1 and list(content[0]) == ["type", "text"]:
        return text, content[0]["text"], False
    return "multimodal", [lift_block(block, reader) for block in content], failed


def _is_shown(block: Any) -> bool:
    """Text or a picture: all that a result with parts may hold."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind in TEXT_TYPES:
        return isinstance(block.get("text"), str)
    return kind == "image" and isinstance(block.get("data"), str) and isinstance(block.get("mimeType", ""), str)


# ---------------------------------------------------------------- write


def write_result(result: ToolResult, form: str) -> Native:
    """The result: in a session a message without its role, in a request a block."""
    failed = result.kind == "error" or bool(result.is_error)
    ids: Native = {"toolCallId": result.tool_call_id, "toolName": result.name, "isError": failed}
    if form == REQUEST:
        kind = "tool_result_error" if failed else "tool_result"
        ids = {"type": kind, "tool_use_id": result.tool_call_id, **({"is_error": True} if failed else {})}
    keys = BLOCK if form == REQUEST else RESULT
    return keys.put({**ids, "content": write_value(result, form)}, carried_by(result.extras, NAME), sort=True)


def write_value(result: ToolResult, form: str) -> Any:
    if result.kind == "multimodal":
        return write_blocks(result.value, "toolResult", form)
    text = exact_json.write_text(result.value) if result.kind == "data" else str(result.value)
    return text if form == REQUEST else [{"type": "text", "text": text}]


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How `lift` reads back a result whose value is more than text and pictures with their data."""
    failed = result.kind == "error" or bool(result.is_error)
    kind, value, _ = read_value(write_value(result, "session"), failed, Reader(LiftContext(NAME, None), set()))
    return None if kind == result.kind else (kind, value)


RESULTS = Convention(
    express,
    {
        **dict.fromkeys(
            ("error", "data"), ("changed", "a result holds text and pictures: the data is written as JSON")
        ),
        "multimodal": ("changed", "of media a result holds only pictures with their data"),
    },
)
