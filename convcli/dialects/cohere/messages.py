"""The messages of Cohere: parts, plans, calls, and results that are text or documents."""

from __future__ import annotations

from typing import Any

from convcli.families.openai.calls import (
    content_of,
    express_media,
    lift_call,
    text_of_result,
    write_parts,
)
from convcli.families.openai.parts import image_of
from convcli.kit.blocks import BlockRows
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit, without_nulls
from convcli.kit.settings import whole
from convcli.kit.texts import is_bare
from convcli.kit.values import read_arguments
from convcli.model.transcript import Media, Message, Opaque, Part, PartPaths, Path, Reasoning, Text, ToolResult
from convcli.wire import exact_json

NAME = "cohere"
PLAN = "tool_plan"
MESSAGE = Keys("role= tool_plan= content= tool_calls= citations")
RESULT = Keys("role tool_call_id content")
ROWS = BlockRows(NAME, "type", "document")
CONTENT = ROWS.table(
    ROWS.record("text", Text(""), "type text", {"text": whole("text")}),
    ROWS.record("thinking", Reasoning(""), "type thinking", {"thinking": whole("text")}),
    image_of(ROWS),
)


# ---------------------------------------------------------------- messages


def lift_message(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Returns a message or a result; a plan becomes reasoning before everything else."""
    if native["role"] == "tool":
        return _lift_result(native, context)
    content = native.get("content")
    lifted: list[tuple[Part, Path]] = [(Reasoning(native[PLAN]), (PLAN,))] if native.get(PLAN) else []
    if isinstance(content, list):
        lifted += [(CONTENT.lift(part, context), ("content", j)) for j, part in enumerate(content)]
    elif content:
        lifted.append((Text(content), ("content",)))
    for j, call in enumerate(native.get("tool_calls") or ()):
        lifted.append((_lift_call(call, context), ("tool_calls", j)))
    extras = make_extras(NAME, MESSAGE.extra(native))
    return Message(native["role"], [part for part, _ in lifted], extras=extras), [node_path for _, node_path in lifted]


def _lift_call(native: Native, context: LiftContext) -> Part:
    function = native.get("function")
    is_named = isinstance(function, dict) and isinstance(function.get("name"), str)
    return lift_call(native, context) if is_named else Opaque(NAME, native)


def write_message(message: Message, *, listed: bool = False) -> Native:
    """Returns a message or a result.

    With `listed`, as in responses, content is a list even for a single text.
    """
    if message.role == "tool":
        return _write_result(message)
    content, calls = write_parts(message.parts, NAME, CONTENT.write)
    whole = content if listed or not content else content_of(content)
    native = without_nulls({"role": message.role, "content": whole or None, "tool_calls": calls or None})
    return MESSAGE.put(native, get_extras(message.extras, NAME))


# ---------------------------------------------------------------- results


def _lift_result(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    kind, value, extra = _lift_value(native.get("content"), context)
    ids = context.pairing.result(native.get("tool_call_id") or None, None)
    result = ToolResult(*ids, kind, value, extras=make_extras(NAME, extra))
    return Message("tool", [result], extras=make_extras(NAME, RESULT.extra(native))), None


def _write_result(message: Message) -> Native:
    result = message.parts[0]
    assert isinstance(result, ToolResult)
    native = {"role": "tool", "tool_call_id": result.tool_call_id, "content": _write_value(result)}
    return RESULT.put(native, get_extras(message.extras, NAME))


def _lift_value(content: Any, context: LiftContext) -> tuple[Any, Any, Native]:
    """Returns the kind and value of a result, and what must be kept of it.

    One document is an object, several are a list of objects. Next to texts, a document becomes a text. Other parts are
    unsupported in a result: such a list is kept whole in extras.
    """
    if not isinstance(content, list):
        return "text", content or "", {}
    if content and all(map(_is_document, content)):
        document_extras = [omit(part["document"], "data") for part in content]
        return "data", _read_documents(content), {"documents": document_extras} if any(document_extras) else {}
    pieces = [_lift_piece(part, context) for part in content]
    parts = [part for part in pieces if isinstance(part, Text)]
    extra = {"content": content} if len(parts) < len(pieces) else {}
    if not parts or (len(parts) == 1 and is_bare(parts[0])):
        return "text", parts[0].text if parts else "", extra
    return "multimodal", parts, extra


def _write_value(result: ToolResult) -> Any:
    extra = get_extras(result.extras, NAME)
    if "content" in extra and _lift_value(extra["content"], LiftContext(NAME, None))[:2] == (result.kind, result.value):
        return extra["content"]
    if result.kind == "multimodal":
        return [_write_piece(part) for part in result.value if isinstance(part, Text)]
    value = {"error": result.value} if result.kind == "error" or result.is_error else result.value
    if result.kind != "text" and _are_documents(value):
        return _documents(value, extra.get("documents", []))
    return text_of_result(result)


def _is_document(part: Native) -> bool:
    body = part.get("document")
    return part["type"] == "document" and len(part) == 2 and isinstance(body, dict) and "data" in body


def _are_documents(value: Any) -> bool:
    """True if documents can express the value: one object, or several in a list."""
    return isinstance(value, dict) or (
        isinstance(value, list) and len(value) > 1 and all(isinstance(item, dict) for item in value)
    )


def _documents(value: Any, document_extras: list[Native]) -> list[Native]:
    """Returns the documents of a value, each with the keys that its data had next to it."""
    items = value if isinstance(value, list) else [value]
    rests = document_extras if len(document_extras) == len(items) else [{} for _ in items]
    return [{"type": "document", "document": {"data": item, **rest}} for item, rest in zip(items, rests, strict=True)]


def _read_documents(content: list[Native]) -> Any:
    """Returns the value of documents. Their data may be JSON in a string, as in Cohere's guides."""
    values = [_read_data(part["document"]["data"]) for part in content]
    return values if len(values) > 1 else values[0]


def _read_data(data: Any) -> Any:
    if not isinstance(data, str):
        return data
    value, raw = read_arguments(data)
    return {"data": data} if raw is not None else value


def _lift_piece(native: Native, context: LiftContext) -> Part:
    if not _is_document(native):
        return CONTENT.lift(native, context)
    text = exact_json.write_text(_read_data(native["document"]["data"]))
    return Text(text, extras={NAME: {"document": native["document"]}})


def _write_piece(part: Text) -> Native | None:
    extra = get_extras(part.extras, NAME)
    if "document" in extra:
        return {"type": "document", "document": extra["document"]}
    return CONTENT.write(part)


# ---------------------------------------------------------------- fit


def express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns the kind and value that a result without its own API field is read back as, if nothing is lost."""
    if result.kind == "text":
        return None
    if result.kind != "multimodal":
        kind, value, _ = _lift_value(_write_value(result), LiftContext(NAME, None))
        return None if kind == result.kind and exact_json.exact(value, result.value) else (kind, value)
    return express_media(result, _read_again)


def _read_again(media: Media) -> Part | None:
    native = CONTENT.write(media)
    return None if native is None else CONTENT.lift(native, LiftContext(NAME, None))
