"""The results of OpenClaw and pi: messages of their own, blocks in a message, and copies injected into the call."""

from __future__ import annotations

from typing import Any

from convcli.dialects.openclaw.blocks import (
    NAME,
    TEXT_TYPES,
    Reader,
    Writer,
    finish,
    lift_block,
    lower_block,
    whole,
)
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of, says_something
from convcli.kit.pairing import Pairing
from convcli.model.transcript import Media, Origin, Text, ToolCall, ToolResult
from convcli.wire import exact_json

IDS = ("toolCallId", "tool_call_id", "toolUseId", "tool_use_id")
NAMES = ("toolName", "name")
FLAGS = ("isError", "is_error")
FAILED = ("error", "failed")

_KEYS = "toolCallId tool_call_id toolUseId tool_use_id toolName name content details isError is_error"
RESULT = Keys(f"role {_KEYS} timestamp", carried="details timestamp")
BLOCK = Keys(f"type {_KEYS}", carried="details")

Read = tuple[str, Any, bool]
"""Kind and value of a result, and whether a value that is no text is an error."""


# ---------------------------------------------------------------- lift


def lift_result(native: Native, reader: Reader, outer: Native | None = None) -> ToolResult:
    """The result of a message or of a block in the message `outer`; how it was spelled is remembered at the result."""
    keys = RESULT if outer is None else BLOCK
    carried, spelling = keys.take(native)
    around = outer or {}
    extras = dict(carried or {})
    given = _first(native, IDS) or _first(around, IDS)
    id_, name = reader.pairing.result(given, _first(native, NAMES) or _first(around, NAMES))
    failed = has_failed(native) or has_failed(around)
    (kind, value, is_error), odd = read_value(native.get("content"), failed, reader)
    for table, said, usual in ((IDS, id_, _usual_ids(keys)), (NAMES, name, _usual_names(keys))):
        same = [key for key in table if native.get(key) == said and said]
        extras |= {key: native[key] for key in table if native.get(key) and key not in same}
        if same != usual:
            odd[table[0]] = same
    flags = {key: native[key] for key in FLAGS if isinstance(native.get(key), bool)}
    if flags != _usual_flags(keys, failed):
        odd["flags"] = flags
    if failed and not has_failed(native):
        odd["around"] = True
    if native.get("type", "tool_result") != "tool_result":
        odd["type"] = native["type"]
    result = ToolResult(id_, name, kind, value, True if is_error else None, extras=extras_of(NAME, extras))  # type: ignore[arg-type]
    reader.origin.spell(result, {**whole(native, spelling, "content"), **odd})
    return result


def _first(native: Native, keys: tuple[str, ...]) -> str | None:
    return next((native[key] for key in keys if native.get(key)), None)


def _usual_ids(keys: Keys) -> list[str]:
    return ["toolCallId"] if keys is RESULT else ["tool_use_id"]


def _usual_names(keys: Keys) -> list[str]:
    return ["toolName"] if keys is RESULT else []


def _usual_flags(keys: Keys, failed: bool) -> dict[str, bool]:
    if keys is RESULT:
        return {"isError": failed}
    return {"is_error": True} if failed else {}


def has_failed(native: Native) -> bool:
    """What OpenClaw itself calls a failure: a flag, the type of the block, or `details.status`; never the text."""
    details = native.get("details")
    return (
        any(native.get(key) is True for key in FLAGS)
        or native.get("type") == "tool_result_error"
        or (isinstance(details, dict) and details.get("status") in FAILED)
    )


def read_value(content: Any, failed: bool, reader: Reader) -> tuple[Read, Spelling]:
    """What a result says: a string or one text block is text, other blocks are parts, anything else is data."""
    text = "error" if failed else "text"
    if not says_something(content):
        return (text, "", False), {}
    if isinstance(content, str):
        return (text, content, False), {"content": "string"}
    if not isinstance(content, list) or not all(map(_is_shown, content)):
        return ("data", content, failed), {"content": "data"}
    if len(content) == 1 and content[0].keys() == {"type", "text"} and next(iter(content[0])) == "type":
        odd = {} if content[0]["type"] == "text" else {"content": content[0]["type"]}
        return (text, content[0]["text"], False), odd
    return ("multimodal", [lift_block(block, reader) for block in content], failed), {}


def _is_shown(block: Any) -> bool:
    """Text or a picture: all that a result with parts may hold."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind in TEXT_TYPES:
        return isinstance(block.get("text"), str)
    return kind == "image" and isinstance(block.get("data"), str) and isinstance(block.get("mimeType", ""), str)


# ---------------------------------------------------------------- lower


def lower_result(result: ToolResult, writer: Writer, keys: Keys) -> Native:
    """The result as a message or as a block."""
    spelling = writer.spelling(result)
    failed = result.kind == "error" or bool(result.is_error)
    carried = carried_by(result.extras, NAME)
    native: Native = {}
    if keys is BLOCK:
        native["type"] = spelling.get("type", "tool_result_error" if failed and not writer.own else "tool_result")
    native |= dict.fromkeys(spelling.get(IDS[0], _usual_ids(keys)), result.tool_call_id)
    native |= dict.fromkeys(spelling.get(NAMES[0], _usual_names(keys)), result.name)
    native |= spelling.get("flags", _usual_flags(keys, failed))
    if failed and not has_failed({**carried, **native}) and not spelling.get("around"):
        native |= _usual_flags(keys, True)
    content = write_value(result, writer, spelling)
    if says_something(content) or keys is RESULT or not writer.own:
        native["content"] = content
    return finish(keys, native, carried, spelling)


def write_value(result: ToolResult, writer: Writer, spelling: Spelling) -> Any:
    style = spelling.get("content")
    if result.kind == "multimodal":
        role = "toolResult"
        blocks = [lower_block(part, role, writer) for part in result.value if isinstance(part, (Text, Media))]
        return [block for block in blocks if block is not None]
    if result.kind == "data" and style == "data":
        return result.value
    text = exact_json.write_text(result.value) if result.kind == "data" else str(result.value)
    if not text and ("content" in spelling.get("blank", ()) or "content" not in spelling.get("keys", ("content",))):
        return None
    if style == "string" or (writer.form == "api" and not writer.own):
        return text
    return [{"type": style if style in TEXT_TYPES else "text", "text": text}]


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How `lift` reads back a result whose value is more than text and pictures with their data."""
    writer = Writer({}, False, "session", {})
    reader = Reader(Origin(NAME), Pairing(None), set())
    failed = result.kind == "error" or bool(result.is_error)
    (kind, value, _), _ = read_value(write_value(result, writer, {}), failed, reader)
    return None if kind == result.kind else (kind, value)


# ---------------------------------------------------------------- injected calls

INJECTED = ("toolCalls", "tool_calls")
"""Keys of a message under which other programs put calls, and perhaps their results, beside the content."""


def read_injected(native: Native) -> tuple[str, Any]:
    """Name and arguments of an injected call; OpenAI's calls have theirs under `function`."""
    function = native.get("function")
    inner: Native = function if isinstance(function, dict) else native
    arguments = next((inner[key] for key in ("args", "arguments", "input") if inner.get(key) is not None), None)
    return str(inner.get("name") or "unknown"), arguments


def injected_result(native: Native, call: ToolCall) -> ToolResult | None:
    """The result inside an injected call, in Gemini's shape."""
    found = native.get("result")
    part = found[0] if isinstance(found, list) and found else found
    if not says_something(part):
        return None
    response = (part.get("functionResponse") or {}).get("response") if isinstance(part, dict) else part
    failed = native.get("status") == "error"
    if isinstance(response, dict) and len(response) == 1:
        key = next(iter(response))
        failed = failed or key == "error"
        response = response[key] if key in ("output", "result", "error") else response
    if isinstance(response, str):
        return ToolResult(call.id, call.name, "error" if failed else "text", response)
    return ToolResult(call.id, call.name, "data", response, True if failed else None)
