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


def signatures(part: Part, api: Any) -> tuple[str, ...]:
    """The metadata that a block of this part has a place for, in a message that this API has made."""
    key = signed_by(api)
    if isinstance(part, ToolCall) or (isinstance(part, Text) and key == "thoughtSignature"):
        return ("thoughtSignature",)
    if isinstance(part, Reasoning) and key is not None:
        return ("redactedData",) if key == "signature" and (part.metadata or {}).get("redactedData") else (key,)
    return ()


# ---------------------------------------------------------------- lift


def lift_blocks(content: list[Native], reader: Reader, api: Any = None) -> list[Part]:
    """The parts of a list of blocks; blocks of a kind that we do not know are opaque."""
    return [lift_block(block, reader, api) for block in content]


def lift_block(native: Native, reader: Reader, api: Any = None) -> Part:
    kind = native["type"]
    if kind in TEXT_TYPES:
        return _lift_text(native, api)
    if kind == "thinking":
        return _lift_thinking(native, api)
    if kind in CALL_TYPES:
        return _lift_call(native, reader)
    if kind == "image" and isinstance(native.get("data"), str):
        media_type = native.get("mimeType") or None
        extras = extras_of(NAME, IMAGE.carried(native))
        return Media("image", data=native["data"], media_type=media_type, extras=extras)
    return Opaque(NAME, native)


def _lift_text(native: Native, api: Any) -> Text:
    carried = TEXT.carried(native) or {}
    part, signature = Text(native["text"]), native.get("textSignature")
    if signature and signed_by(api) == "thoughtSignature":
        part.metadata = {"thoughtSignature": signature}
    elif signature:
        carried["textSignature"] = signature
    part.extras = extras_of(NAME, carried)
    return part


def _lift_thinking(native: Native, api: Any) -> Reasoning:
    carried = THINKING.carried(native) or {}
    part = Reasoning(native["thinking"])
    signature, redacted, key = native.get("thinkingSignature"), native.get("redacted"), signed_by(api)
    if signature and redacted is True and key == "signature":
        part.metadata, redacted = {"redactedData": signature}, None
    elif signature and key:
        part.metadata = {key: signature}
    elif signature:
        carried["thinkingSignature"] = signature
    part.extras = extras_of(NAME, carried if redacted is None else {**carried, "redacted": redacted})
    return part


def _lift_call(native: Native, reader: Reader) -> ToolCall:
    carried = CALL.carried(native) or {}
    payload = next((key for key in ("arguments", "input") if native.get(key) is not None), "arguments")
    other = "input" if payload == "arguments" else "arguments"
    if says_something(native.get(other)):
        carried[other] = native[other]
    call_id = reader.context.pairing.call(native.get("id") or None, native["name"])
    call = ToolCall(call_id, native["name"], *read_payload(native.get(payload)), extras=extras_of(NAME, carried))
    if native.get("thoughtSignature"):
        call.metadata = {"thoughtSignature": native["thoughtSignature"]}
    return call


def read_payload(value: Any) -> tuple[Native, str | None]:
    """Arguments as an object, which is usual, or as JSON in a string, and the text where that is none."""
    return read_arguments(value) if isinstance(value, str) else (value or {}, None)


# ---------------------------------------------------------------- write


def write_blocks(parts: list[Part], role: str, form: str, api: Any = None) -> list[Native]:
    """The blocks of those parts that the format has a place for."""
    blocks = (write_block(part, role, form, api) for part in parts)
    return [block for block in blocks if block is not None]


def write_block(part: Part, role: str, form: str, api: Any = None) -> Native | None:
    carried, metadata = carried_by(part.extras, NAME), part.metadata or {}
    if isinstance(part, (Text, Refusal)):
        kind = "output_text" if form == REQUEST and role == "assistant" else "text"
        native = {"type": kind, "text": part.text}
        if "thoughtSignature" in metadata and signatures(part, api):
            native["textSignature"] = metadata["thoughtSignature"]
        return TEXT.put(native, carried, sort=True)
    if isinstance(part, Reasoning):
        return _write_thinking(part, carried, api)
    if isinstance(part, ToolCall):
        return _write_call(part, carried, form)
    if isinstance(part, Media):
        return _write_image(part, carried)
    return part.value if isinstance(part, Opaque) and part.dialect == NAME else None


def _write_thinking(part: Reasoning, carried: Native, api: Any) -> Native:
    native: Native = {"type": "thinking", "thinking": part.text}
    metadata = part.metadata or {}
    for key in signatures(part, api):
        if metadata.get(key):
            native["thinkingSignature"] = metadata[key]
            native |= {"redacted": True} if key == "redactedData" else {}
    return THINKING.put(native, carried, sort=True)


def _write_image(media: Media, carried: Native) -> Native | None:
    """A picture with its data; the format has no field for any other media, nor for a URL."""
    if media.type != "image" or media.data is None:
        return None
    return IMAGE.put({"type": "image", "data": media.data, "mimeType": media.media_type or ""}, carried, sort=True)


def _write_call(call: ToolCall, carried: Native, form: str) -> Native:
    kind, payload = ("tool_use", "input") if form == REQUEST else ("toolCall", "arguments")
    arguments = call.arguments if call.raw_arguments is None else call.raw_arguments
    native: Native = {"type": kind, "id": call.id, "name": call.name, payload: arguments}
    if (call.metadata or {}).get("thoughtSignature"):
        native["thoughtSignature"] = call.metadata["thoughtSignature"]  # type: ignore[index]
    return CALL.put(native, carried, sort=True)


def is_block(value: Any) -> bool:
    """May this stand among blocks? What we know must have been lifted by its kind, so it is none of these."""
    kind = value.get("type") if isinstance(value, dict) else None
    known = (*TEXT_TYPES, *CALL_TYPES, *RESULT_TYPES, "thinking")
    return isinstance(kind, str) and kind not in known and not (kind == "image" and isinstance(value.get("data"), str))
