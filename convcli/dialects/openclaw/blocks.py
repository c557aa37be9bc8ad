"""OpenClaw and pi content: blocks with the seven spellings of a call, and results, which may be messages too."""

from __future__ import annotations

from typing import Any, NamedTuple

from convcli.kit.contexts import LiftContext
from convcli.kit.objects import NOTHING, Keys, Native, get_extras, has_content, make_extras
from convcli.kit.results import has_failed, in_words
from convcli.kit.values import read_arguments
from convcli.model.dialect import Convention
from convcli.model.transcript import Media, Message, Opaque, Part, Path, Reasoning, Refusal, Text, ToolCall, ToolResult

NAME = "openclaw"

TEXT_TYPES = ("text", "input_text", "output_text")
CALL_TYPES = ("toolCall", "toolUse", "functionCall", "tool_use", "toolcall", "tool_call", "function_call")
RESULT_TYPES = frozenset(("tool_result", "tool_result_error"))

TEXT = Keys("type text textSignature")
THINKING = Keys("type thinking thinkingSignature redacted")
IMAGE = Keys("type data mimeType")
CALL = Keys("type id name arguments input thoughtSignature partialJson")
USUAL_CALL = frozenset(("type", "id", "name", "arguments"))
"""The keys of most calls."""

SESSION, REQUEST = "session", "api"
"""The forms."""


Lifted = list[tuple[Message, list[Path]]]
"""Messages, with the paths of their parts relative to them."""


class Reader(NamedTuple):
    """The shared state of one document's lift."""

    context: LiftContext
    answered: set[str]
    """Ids of results in messages: an injected copy of such a result is not read again."""


# ---------------------------------------------------------------- whose signature


def signed_by(api: Any) -> str | None:
    """Returns the metadata key of a thinking signature from the provider API that issued it; None for others."""
    if not isinstance(api, str):
        return None
    if api.startswith("google"):
        return "thoughtSignature"
    return "signature" if api.startswith(("anthropic", "bedrock")) else None


def api_of(message: Message) -> tuple[str, str] | None:
    """Returns the API and the provider that a message's signatures belong to."""
    for part in message.parts:
        metadata = part.metadata or {}
        if isinstance(part, Reasoning) and ("signature" in metadata or "redactedData" in metadata):
            return "anthropic-messages", "anthropic"
        if isinstance(part, (Reasoning, Text)) and "thoughtSignature" in metadata:
            return "google-generative-ai", "google"
    return None


# ---------------------------------------------------------------- lift


def lift_block(native: Native, reader: Reader, api: Any = None) -> Part:
    """Returns the part for a block; one of an unknown kind becomes opaque."""
    kind = native["type"]
    if kind in TEXT_TYPES:
        return _lift_text(native, api)
    if kind == "thinking":
        return _lift_thinking(native, api)
    if kind in CALL_TYPES:
        return _lift_call(native, reader)
    if kind != "image" or not isinstance(native.get("data"), str):
        return Opaque(NAME, native)
    extras = make_extras(NAME, IMAGE.extra(native))
    return Media("image", data=native["data"], media_type=native.get("mimeType") or None, extras=extras)


def _lift_text(native: Native, api: Any) -> Text:
    if len(native) == 2:  # most texts
        return Text(native["text"])
    extra, signature = TEXT.extra(native), native.get("textSignature")
    metadata = None
    if signature and signed_by(api) == "thoughtSignature":
        metadata = {"thoughtSignature": signature}
    elif signature:
        extra = {**(extra or {}), "textSignature": signature}
    return Text(native["text"], metadata, make_extras(NAME, extra))


def _lift_thinking(native: Native, api: Any) -> Reasoning:
    if len(native) == 2:  # without a signature
        return Reasoning(native["thinking"])
    extra = THINKING.extra(native) or {}
    signature, redacted, key = native.get("thinkingSignature"), native.get("redacted"), signed_by(api)
    metadata = {key: signature} if signature and key else None
    extra |= {"thinkingSignature": signature} if signature and not key else {}
    if signature and redacted is True and key == "signature":
        metadata = {"redactedData": signature}
    elif redacted is not None:
        extra["redacted"] = redacted
    return Reasoning(native["thinking"], metadata=metadata, extras=make_extras(NAME, extra))


def _lift_call(native: Native, reader: Reader) -> ToolCall:
    if len(native) == len(USUAL_CALL) and native.keys() == USUAL_CALL and native["arguments"].__class__ is dict:
        call_id = reader.context.pairing.call(native["id"] or None, native["name"])
        return ToolCall(call_id, native["name"], native["arguments"])
    extra = CALL.extra(native) or {}
    payload, other = ("arguments", "input") if native.get("arguments") is not None else ("input", "arguments")
    if has_content(native.get(other)):
        extra[other] = native[other]
    metadata = {"thoughtSignature": native["thoughtSignature"]} if native.get("thoughtSignature") else None
    arguments, raw = read_payload(native.get(payload))
    text = native.get("partialJson")
    if text is not None:
        reading, torn = read_arguments(text) if raw is None and isinstance(text, str) else ({}, None)
        if torn is not None and reading == arguments:
            raw = torn
        elif has_content(text):
            extra["partialJson"] = text
    call_id = reader.context.pairing.call(native.get("id") or None, native["name"])
    return ToolCall(call_id, native["name"], arguments, raw, metadata, make_extras(NAME, extra))


def read_payload(value: Any) -> tuple[Native, str | None]:
    """Reads arguments from an object, which is usual, or a JSON string; also returns the string if it is not JSON."""
    return read_arguments(value) if isinstance(value, str) else (value or {}, None)


# ---------------------------------------------------------------- write


def write_blocks(parts: list[Part], role: str, form: str, api: Any = None) -> list[Native]:
    """Writes the blocks of the parts that the format supports."""
    blocks = (write_block(part, role, form, api) for part in parts)
    return [block for block in blocks if block is not None]


def write_block(part: Part, role: str, form: str, api: Any = None) -> Native | None:
    extra, metadata, key = get_extras(part.extras, NAME), part.metadata or {}, signed_by(api)
    if isinstance(part, (Text, Refusal)):
        native = {"type": "output_text" if form == REQUEST and role == "assistant" else "text", "text": part.text}
        signed = {"textSignature": metadata[key]} if key == "thoughtSignature" and metadata.get(key) else {}
        return TEXT.put(native | signed, extra, sort=True)
    if isinstance(part, Reasoning):
        redacted = metadata.get("redactedData") if key == "signature" else None
        signature = redacted or (metadata.get(key) if key else None)
        signed = ({"thinkingSignature": signature} if signature else {}) | ({"redacted": True} if redacted else {})
        return THINKING.put({"type": "thinking", "thinking": part.text, **signed}, extra, sort=True)
    if isinstance(part, ToolCall):
        kind, payload = ("tool_use", "input") if form == REQUEST else ("toolCall", "arguments")
        signed = {"thoughtSignature": metadata["thoughtSignature"]} if metadata.get("thoughtSignature") else {}
        torn = {} if part.raw_arguments is None else {"partialJson": part.raw_arguments}
        call: Native = {"type": kind, "id": part.id, "name": part.name, payload: part.arguments, **signed, **torn}
        return CALL.put(call, extra, sort=True)
    if isinstance(part, Media) and part.type == "image" and part.data is not None:
        return IMAGE.put({"type": "image", "data": part.data, "mimeType": part.media_type or ""}, extra, sort=True)
    return part.value if isinstance(part, Opaque) and part.dialect == NAME else None


def is_block(value: Any) -> bool:
    """True if an opaque value may be written as a block: known kinds must have been read as such."""
    kind = value.get("type") if isinstance(value, dict) else None
    known = (*TEXT_TYPES, *CALL_TYPES, *RESULT_TYPES, "thinking")
    return isinstance(kind, str) and kind not in known and not (kind == "image" and isinstance(value.get("data"), str))


# ---------------------------------------------------------------- results

IDS = ("toolCallId", "tool_call_id", "toolUseId", "tool_use_id")
NAMES = ("toolName", "name")
FLAGS = ("isError", "is_error")
FAILED = ("error", "failed")

_KEYS = "toolCallId= tool_call_id= toolUseId= tool_use_id= toolName= name= content= details isError= is_error="
RESULT = Keys(f"role= {_KEYS} timestamp")
BLOCK = Keys(f"type= {_KEYS}")


def lift_result(native: Native, reader: Reader, outer: Native | None = None, usual: Native = NOTHING) -> ToolResult:
    """Reads the result in a message, or in a block of the message `outer`, whose keys fill in missing ones. `usual`
    values are no extras."""
    extra = (RESULT if outer is None else BLOCK).extra(native, usual) or {}
    outer_message = outer or {}
    ids, names = [key for key in IDS if native.get(key)], [key for key in NAMES if native.get(key)]
    stated_id = native[ids[0]] if ids else _first(outer_message, IDS)
    id_, name = reader.context.pairing.result(stated_id, native[names[0]] if names else _first(outer_message, NAMES))
    if len(ids) > 1 or len(names) > 1:  # few results
        extra |= {key: native[key] for key in ids[1:] if native[key] != id_}
        extra |= {key: native[key] for key in names[1:] if native[key] != name}
    has_failed = _is_failure(native) or (outer is not None and _is_failure(outer))
    kind, value, is_error = read_value(native.get("content"), has_failed, reader)
    return ToolResult(id_, name, kind, value, True if is_error else None, extras=make_extras(NAME, extra))  # type: ignore[arg-type]


def _first(native: Native, keys: tuple[str, ...]) -> str | None:
    for key in keys:
        if native.get(key):
            return native[key]  # type: ignore[no-any-return]
    return None


def _is_failure(native: Native) -> bool:
    """True for what OpenClaw itself calls a failure: a flag, the block type, or `details.status`; never the text."""
    details = native.get("details")
    return (
        native.get("isError") is True
        or native.get("is_error") is True
        or native.get("type") == "tool_result_error"
        or (isinstance(details, dict) and details.get("status") in FAILED)
    )


def read_value(content: Any, failed: bool, reader: Reader) -> tuple[str, Any, bool]:
    """Returns the kind and value of a result, and whether a value other than text is an error.

    A string or one text block is text, other blocks are parts, anything else is data.
    """
    text = "error" if failed else "text"
    if not has_content(content):
        return text, "", False
    if isinstance(content, str):
        return text, content, False
    if not isinstance(content, list) or not all(map(_is_result_block, content)):
        return "data", content, failed
    if len(content) == 1 and list(content[0]) == ["type", "text"]:
        return text, content[0]["text"], False
    return "multimodal", [lift_block(block, reader) for block in content], failed


def _is_result_block(block: Any) -> bool:
    """True for text or an image: nothing else may be in a result with parts."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind in TEXT_TYPES:
        return isinstance(block.get("text"), str)
    return kind == "image" and isinstance(block.get("data"), str) and isinstance(block.get("mimeType", ""), str)


def write_result(result: ToolResult, form: str) -> Native:
    """Writes the result: in a session a message without its role, in a request a block."""
    failed = has_failed(result)
    ids: Native = {"toolCallId": result.tool_call_id, "toolName": result.name, "isError": failed}
    if form == REQUEST:
        kind = "tool_result_error" if failed else "tool_result"
        ids = {"type": kind, "tool_use_id": result.tool_call_id, **({"is_error": True} if failed else {})}
    keys = BLOCK if form == REQUEST else RESULT
    return keys.put({**ids, "content": write_value(result, form)}, get_extras(result.extras, NAME), sort=True)


def write_value(result: ToolResult, form: str) -> Any:
    if result.kind == "multimodal":
        return write_blocks(result.value, "toolResult", form)
    text = in_words(result)
    return text if form == REQUEST else [{"type": "text", "text": text}]


def express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns the kind and value that `lift` reads back, if they are not just text and images with their data."""
    reader = Reader(LiftContext(NAME, None), set())
    kind, value, _ = read_value(write_value(result, SESSION), has_failed(result), reader)
    return None if kind == result.kind else (kind, value)


RESULTS = Convention(
    express,
    {
        **dict.fromkeys(
            ("error", "data"), ("changed", "a result has only text and images: the data is written as JSON")
        ),
        "multimodal": ("changed", "a result has no media but images with their data"),
    },
)
