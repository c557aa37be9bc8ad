"""The content blocks of OpenClaw and pi: text, thinking, pictures and the seven spellings of a call."""

from __future__ import annotations

from typing import Any, NamedTuple

from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, carried_by, extras_of, says_something
from convcli.kit.values import read_arguments
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Refusal, Text, ToolCall

NAME = "openclaw"

TEXT_TYPES = ("text", "input_text", "output_text")
CALL_TYPES = ("toolCall", "toolUse", "functionCall", "tool_use", "toolcall", "tool_call", "function_call")
RESULT_TYPES = ("tool_result", "tool_result_error")

TEXT = Keys("type text textSignature")
THINKING = Keys("type thinking thinkingSignature redacted")
IMAGE = Keys("type data mimeType")
CALL = Keys("type id name arguments input thoughtSignature")

SESSION, REQUEST = "session", "api"
"""The forms."""


class Reader(NamedTuple):
    """What the lift of one document needs everywhere."""

    context: LiftContext
    answered: set[str]
    """Ids of the results that stand in messages: an injected copy of such a result is not lifted again."""


# ---------------------------------------------------------------- whose signature


def signed_by(api: Any) -> str | None:
    """The metadata key of a signature on thinking, by the provider's API that made it; None for all others."""
    if not isinstance(api, str):
        return None
    if api.startswith("google"):
        return "thoughtSignature"
    return "signature" if api.startswith(("anthropic", "bedrock")) else None


def api_of(message: Message) -> dict[str, str] | None:
    """The API and the provider that the signatures of a message belong to."""
    for part in message.parts:
        metadata = part.metadata or {}
        if isinstance(part, Reasoning) and ("signature" in metadata or "redactedData" in metadata):
            return {"api": "anthropic-messages", "provider": "anthropic"}
        if isinstance(part, (Reasoning, Text)) and "thoughtSignature" in metadata:
            return {"api": "google-generative-ai", "provider": "google"}
    return None


# ---------------------------------------------------------------- lift


def lift_block(native: Native, reader: Reader, api: Any = None) -> Part:
    """The part of a block; one of a kind that we do not know is opaque."""
    kind = native["type"]
    if kind in TEXT_TYPES:
        return _lift_text(native, api)
    if kind == "thinking":
        return _lift_thinking(native, api)
    if kind in CALL_TYPES:
        return _lift_call(native, reader)
    if kind != "image" or not isinstance(native.get("data"), str):
        return Opaque(NAME, native)
    extras = extras_of(NAME, IMAGE.carried(native))
    return Media("image", data=native["data"], media_type=native.get("mimeType") or None, extras=extras)


def _lift_text(native: Native, api: Any) -> Text:
    carried, signature = TEXT.carried(native) or {}, native.get("textSignature")
    is_known = bool(signature) and signed_by(api) == "thoughtSignature"
    metadata = {"thoughtSignature": signature} if is_known else None
    carried |= {"textSignature": signature} if signature and not is_known else {}
    return Text(native["text"], metadata, extras_of(NAME, carried))


def _lift_thinking(native: Native, api: Any) -> Reasoning:
    carried = THINKING.carried(native) or {}
    signature, redacted, key = native.get("thinkingSignature"), native.get("redacted"), signed_by(api)
    metadata = {key: signature} if signature and key else None
    carried |= {"thinkingSignature": signature} if signature and not key else {}
    if signature and redacted is True and key == "signature":
        metadata = {"redactedData": signature}
    elif redacted is not None:
        carried["redacted"] = redacted
    return Reasoning(native["thinking"], metadata=metadata, extras=extras_of(NAME, carried))


def _lift_call(native: Native, reader: Reader) -> ToolCall:
    carried = CALL.carried(native) or {}
    payload, other = ("arguments", "input") if native.get("arguments") is not None else ("input", "arguments")
    carried |= {other: native[other]} if says_something(native.get(other)) else {}
    metadata = {"thoughtSignature": native["thoughtSignature"]} if native.get("thoughtSignature") else None
    call_id = reader.context.pairing.call(native.get("id") or None, native["name"])
    return ToolCall(call_id, native["name"], *read_payload(native.get(payload)), metadata, extras_of(NAME, carried))


def read_payload(value: Any) -> tuple[Native, str | None]:
    """Arguments as an object, which is usual, or as JSON in a string, and the text where that is none."""
    return read_arguments(value) if isinstance(value, str) else (value or {}, None)


# ---------------------------------------------------------------- write


def write_blocks(parts: list[Part], role: str, form: str, api: Any = None) -> list[Native]:
    """The blocks of those parts that the format has a place for."""
    blocks = (write_block(part, role, form, api) for part in parts)
    return [block for block in blocks if block is not None]


def write_block(part: Part, role: str, form: str, api: Any = None) -> Native | None:
    carried, metadata, key = carried_by(part.extras, NAME), part.metadata or {}, signed_by(api)
    if isinstance(part, (Text, Refusal)):
        native = {"type": "output_text" if form == REQUEST and role == "assistant" else "text", "text": part.text}
        signed = {"textSignature": metadata[key]} if key == "thoughtSignature" and metadata.get(key) else {}
        return TEXT.put(native | signed, carried, sort=True)
    if isinstance(part, Reasoning):
        redacted = metadata.get("redactedData") if key == "signature" else None
        signature = redacted or (metadata.get(key) if key else None)
        signed = ({"thinkingSignature": signature} if signature else {}) | ({"redacted": True} if redacted else {})
        return THINKING.put({"type": "thinking", "thinking": part.text, **signed}, carried, sort=True)
    if isinstance(part, ToolCall):
        kind, payload = ("tool_use", "input") if form == REQUEST else ("toolCall", "arguments")
        signed = {"thoughtSignature": metadata["thoughtSignature"]} if metadata.get("thoughtSignature") else {}
        call: Native = {"type": kind, "id": part.id, "name": part.name, payload: part.arguments, **signed}
        return CALL.put(call, carried, sort=True)
    if isinstance(part, Media) and part.type == "image" and part.data is not None:
        return IMAGE.put({"type": "image", "data": part.data, "mimeType": part.media_type or ""}, carried, sort=True)
    return part.value if isinstance(part, Opaque) and part.dialect == NAME else None


def is_block(value: Any) -> bool:
    """May this stand among blocks? What we know must have been lifted by its kind, so it is none of these."""
    kind = value.get("type") if isinstance(value, dict) else None
    known = (*TEXT_TYPES, *CALL_TYPES, *RESULT_TYPES, "thinking")
    return isinstance(kind, str) and kind not in known and not (kind == "image" and isinstance(value.get("data"), str))
