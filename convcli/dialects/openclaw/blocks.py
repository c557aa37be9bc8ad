"""The content blocks of OpenClaw and pi: text, thinking, pictures and the seven spellings of a call."""

from __future__ import annotations

from typing import Any, NamedTuple

from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of, says_something
from convcli.kit.pairing import Pairing
from convcli.kit.values import read_arguments, write_arguments
from convcli.model.transcript import Media, Message, Opaque, Origin, Part, Reasoning, Refusal, Text, ToolCall

NAME = "openclaw"

TEXT_TYPES = ("text", "input_text", "output_text")
CALL_TYPES = ("toolCall", "toolUse", "functionCall", "tool_use", "toolcall", "tool_call", "function_call")
RESULT_TYPES = ("tool_result", "tool_result_error")

TEXT = Keys("type text textSignature")
THINKING = Keys("type thinking thinkingSignature redacted")
IMAGE = Keys("type data mimeType")
CALL = Keys("type id name arguments input thoughtSignature")


class Reader(NamedTuple):
    """What the lift of one document needs everywhere."""

    origin: Origin
    pairing: Pairing
    answered: set[str]
    """Ids of the results that stand in messages: an injected copy of such a result is not lifted again."""


class Writer(NamedTuple):
    """What the lowering needs: `own` means that everything is spelled as its source did."""

    spellings: dict[int, Spelling]
    own: bool
    form: str
    tools: dict[str, Native]
    """The definitions as they are written, by name."""

    def spelling(self, record: Any) -> Spelling:
        return self.spellings.get(id(record), {})


def finish(keys: Keys, native: Native, carried: Native | None, spelling: Spelling) -> Native:
    """The object in the order of its vendor or of its source, with what was carried."""
    return keys.put({key: native[key] for key in keys.sorted(native)}, carried, spelling)


def whole(native: Native, spelling: Spelling | None, *needed: str) -> Spelling:
    """The spelling, which must list the keys when one that is usually there is missing or says nothing."""
    if all(says_something(native.get(key)) for key in needed):
        return dict(spelling or {})
    return {"keys": list(native), **(spelling or {})}


# ---------------------------------------------------------------- whose signature


def signed_by(api: Any) -> str | None:
    """The metadata key of a signature on thinking, by the provider's API that made it; None for all others."""
    if not isinstance(api, str):
        return None
    if api.startswith("google"):
        return "thoughtSignature"
    return "signature" if api.startswith(("anthropic", "bedrock")) else None


def api_of(message: Message) -> tuple[str, str] | None:
    """The API and the provider that the signatures of a message belong to."""
    for part in message.parts:
        metadata = part.metadata or {}
        if isinstance(part, Reasoning) and ("signature" in metadata or "redactedData" in metadata):
            return "anthropic-messages", "anthropic"
        if isinstance(part, (Reasoning, Text)) and "thoughtSignature" in metadata:
            return "google-generative-ai", "google"
    return None


# ---------------------------------------------------------------- lift


def lift_blocks(content: list[Native], reader: Reader, api: Any = None) -> list[Part]:
    """The parts of a list of blocks; blocks of a kind that we do not know are opaque."""
    return [lift_block(block, reader, api) for block in content]


def lift_block(native: Native, reader: Reader, api: Any = None) -> Part:
    kind = native["type"]
    if kind in TEXT_TYPES:
        return _lift_text(native, reader, api)
    if kind == "thinking":
        return _lift_thinking(native, reader, api)
    if kind in CALL_TYPES:
        return _lift_call(native, reader)
    if kind == "image" and isinstance(native.get("data"), str):
        return _lift_image(native, reader)
    return Opaque(NAME, native)


def _lift_text(native: Native, reader: Reader, api: Any) -> Text:
    carried, spelling = TEXT.take(native)
    extras = dict(carried or {})
    part = Text(native["text"])
    signature = native.get("textSignature")
    if signature and signed_by(api) == "thoughtSignature":
        part.metadata = {"thoughtSignature": signature}
    elif signature:
        extras["textSignature"] = signature
    part.extras = extras_of(NAME, extras)
    odd: Spelling = {} if native["type"] == "text" else {"type": native["type"]}
    reader.origin.spell(part, {**(spelling or {}), **odd})
    return part


def _lift_thinking(native: Native, reader: Reader, api: Any) -> Reasoning:
    carried, spelling = THINKING.take(native)
    extras = dict(carried or {})
    part = Reasoning(native["thinking"])
    signature, redacted = native.get("thinkingSignature"), native.get("redacted")
    key = signed_by(api)
    if signature and redacted is True and key == "signature":
        part.metadata = {"redactedData": signature}
    else:
        if signature and key:
            part.metadata = {key: signature}
        elif signature:
            extras["thinkingSignature"] = signature
        if redacted is not None:
            extras["redacted"] = redacted
    part.extras = extras_of(NAME, extras)
    reader.origin.spell(part, spelling or {})
    return part


def _lift_image(native: Native, reader: Reader) -> Media:
    carried, spelling = IMAGE.take(native)
    media = Media("image", data=native["data"], media_type=native.get("mimeType") or None)
    media.extras = extras_of(NAME, carried)
    reader.origin.spell(media, whole(native, spelling, "mimeType"))
    return media


def _lift_call(native: Native, reader: Reader) -> ToolCall:
    carried, spelling = CALL.take(native)
    extras = dict(carried or {})
    payload = next((key for key in ("arguments", "input") if native.get(key) is not None), "arguments")
    other = "input" if payload == "arguments" else "arguments"
    if says_something(native.get(other)):
        extras[other] = native[other]
    arguments, raw, odd = read_payload(native.get(payload))
    if (native["type"], payload) != ("toolCall", "arguments"):
        odd["as"] = [native["type"], payload]
    if not native.get("id"):
        odd["id"] = False
    call = ToolCall(reader.pairing.call(native.get("id") or None, native["name"]), native["name"], arguments, raw)
    if native.get("thoughtSignature"):
        call.metadata = {"thoughtSignature": native["thoughtSignature"]}
    call.extras = extras_of(NAME, extras)
    reader.origin.spell(call, {**whole(native, spelling, "id", payload), **odd})
    return call


def read_payload(value: Any) -> tuple[Native, str | None, Spelling]:
    """Arguments as an object, which is usual, or as JSON in a string, which is remembered."""
    if not isinstance(value, str):
        return value or {}, None, {}
    arguments, raw = read_arguments(value)
    return arguments, raw, {"text": value}


# ---------------------------------------------------------------- lower


def lower_blocks(message: Message, parts: list[Part], writer: Writer, api: Any) -> list[Native]:
    """The blocks of those parts that have one in a message of this role."""
    blocks = (lower_block(part, message.role, writer, api) for part in parts)
    return [block for block in blocks if block is not None]


def lower_block(part: Part, role: str, writer: Writer, api: Any = None) -> Native | None:
    if isinstance(part, Text):
        return _lower_text(part, role, writer, api)
    if isinstance(part, Opaque):
        return part.value if part.dialect == NAME and is_block(part.value) else None
    if isinstance(part, Media):
        return _lower_image(part, writer) if role != "assistant" or writer.own else None
    if isinstance(part, Refusal):
        return finish(TEXT, {"type": _text_type(role, writer), "text": part.text}, None, {})
    if role != "assistant" and not writer.own:
        return None
    if isinstance(part, ToolCall):
        return _lower_call(part, writer)
    return _lower_thinking(part, writer, api) if isinstance(part, Reasoning) else None


def is_block(value: Any) -> bool:
    """May this stand among blocks? What we know must have been lifted by its kind, so it is none of these."""
    kind = value.get("type") if isinstance(value, dict) else None
    known = (*TEXT_TYPES, *CALL_TYPES, *RESULT_TYPES, "thinking")
    return isinstance(kind, str) and kind not in known and not (kind == "image" and isinstance(value.get("data"), str))


def _text_type(role: str, writer: Writer) -> str:
    return "output_text" if writer.form == "api" and role == "assistant" and not writer.own else "text"


def _lower_text(part: Text, role: str, writer: Writer, api: Any) -> Native:
    spelling = writer.spelling(part)
    native: Native = {"type": spelling.get("type", _text_type(role, writer)), "text": part.text}
    if (part.metadata or {}).get("thoughtSignature") and signed_by(api) == "thoughtSignature":
        native["textSignature"] = part.metadata["thoughtSignature"]  # type: ignore[index]
    return finish(TEXT, native, carried_by(part.extras, NAME), spelling)


def _lower_thinking(part: Reasoning, writer: Writer, api: Any) -> Native:
    metadata = part.metadata or {}
    native: Native = {"type": "thinking", "thinking": part.text}
    key = signed_by(api)
    if key == "signature" and metadata.get("redactedData"):
        native |= {"thinkingSignature": metadata["redactedData"], "redacted": True}
    elif key and metadata.get(key):
        native["thinkingSignature"] = metadata[key]
    return finish(THINKING, native, carried_by(part.extras, NAME), writer.spelling(part))


def _lower_image(media: Media, writer: Writer) -> Native | None:
    """A picture with its data; the format has no field for any other media, nor for a URL."""
    if media.type != "image" or media.data is None:
        return None
    native = {"type": "image", "data": media.data, "mimeType": media.media_type or ("" if writer.own else "image/png")}
    return finish(IMAGE, native, carried_by(media.extras, NAME), writer.spelling(media))


def _lower_call(call: ToolCall, writer: Writer) -> Native:
    spelling = writer.spelling(call)
    usual = ["tool_use", "input"] if writer.form == "api" and not writer.own else ["toolCall", "arguments"]
    kind, payload = spelling.get("as", usual)
    native: Native = {"type": kind, "name": call.name, payload: write_payload(call, spelling)}
    if spelling.get("id", True):
        native["id"] = call.id
    if (call.metadata or {}).get("thoughtSignature"):
        native["thoughtSignature"] = call.metadata["thoughtSignature"]  # type: ignore[index]
    return finish(CALL, native, carried_by(call.extras, NAME), spelling)


def write_payload(call: ToolCall, spelling: Spelling) -> Any:
    """The arguments as an object; a text only where the source had one or where there is no object."""
    text = spelling.get("text")
    if text is not None and read_arguments(text) == (call.arguments, call.raw_arguments):
        return text
    return call.arguments if text is None else write_arguments(call.arguments, call.raw_arguments)
