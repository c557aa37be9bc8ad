"""Messages of Ollama's native chat: one text, thinking, images as base64, calls with object arguments."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.families.openai.calls import text_of_result
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit
from convcli.kit.texts import is_bare, text_of
from convcli.kit.values import type_of_image
from convcli.model.transcript import (
    Media,
    Message,
    Part,
    PartPaths,
    Path,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)
from convcli.wire import exact_json

NAME = "ollama"

MESSAGE = Keys("role content thinking images tool_calls")
RESULT = Envelope("role= content= images= tool_name=name tool_call_id=tool_call_id")
CALL = CallTable(
    "id=id type function/index function/name=name function/arguments=arguments",
    form="object",
    defaults={"type": "function"},
)

JOINT = "\n\n"
"""What the server puts between the texts of two consecutive messages of one role (collate in template/template.go)."""


# ---------------------------------------------------------------- lift


def lift_message(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Reads a message or a tool result."""
    if native["role"] == "tool":
        return _lift_result(native, context)
    lifted: list[tuple[Part, Path]] = []
    if native.get("thinking"):
        lifted.append((Reasoning(native["thinking"]), ("thinking",)))
    if native.get("content"):
        lifted.append((Text(native["content"]), ("content",)))
    lifted += [(_lift_image(data), ("images", j)) for j, data in enumerate(native.get("images") or ())]
    for j, call in enumerate(native.get("tool_calls") or ()):
        lifted.append((_lift_call(call, j, context), ("tool_calls", j)))
    extras = make_extras(NAME, MESSAGE.extra(native))
    return Message(native["role"], [part for part, _ in lifted], extras=extras), [node_path for _, node_path in lifted]


def _lift_image(data: str) -> Media:
    return Media("image", data=data, media_type=type_of_image(data))


def _lift_call(native: Native, index: int, context: LiftContext) -> ToolCall:
    """Reads a call. Its index only repeats its position."""
    function = native["function"]
    if exact_json.exact(function.get("index"), index):
        native = {**native, "function": omit(function, "index")}
    return CALL.lift(native, context)


def _lift_result(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Reads a tool message; older clients write the tool name under `name`."""
    result = ToolResult("", "", *_lift_value(native))
    extra = RESULT.lift(native, result) or {}
    name = result.name or (extra.pop("name") if extra.get("name") else None)
    result.tool_call_id, result.name = context.pairing.result(result.tool_call_id or None, name)
    return Message("tool", [result], extras=make_extras(NAME, extra)), [()]


def _lift_value(native: Native) -> tuple[Any, Any]:
    """Returns the kind and value of a result."""
    text = native.get("content") or ""
    images: list[Part] = [_lift_image(data) for data in native.get("images") or ()]
    return ("multimodal", [*([Text(text)] if text else []), *images]) if images else ("text", text)


# ---------------------------------------------------------------- write


def write_message(message: Message) -> Native:
    """Writes a message with one text and one thought, or a tool result."""
    if message.role == "tool":
        return _write_result(message)
    thoughts = [part.text for part in message.parts if isinstance(part, Reasoning)]
    native = {
        "role": message.role,
        "content": text_of(message.parts, JOINT),
        "thinking": JOINT.join(thoughts) if thoughts else None,
        **_write_images(message.parts),
        "tool_calls": [CALL.write(part, NAME) for part in message.parts if isinstance(part, ToolCall)] or None,
    }
    return MESSAGE.write(native, get_extras(message.extras, NAME))


def _write_images(parts: list[Part]) -> Native:
    images = [part.data for part in parts if isinstance(part, Media) and part.type == "image" and part.data is not None]
    return {"images": images} if images else {}


def _write_result(message: Message) -> Native:
    result = message.parts[0]
    assert isinstance(result, ToolResult)
    return RESULT.write(result, get_extras(message.extras, NAME), role="tool", **_write_value(result))


def _write_value(result: ToolResult) -> Native:
    if result.kind != "multimodal":
        return {"content": text_of_result(result)}
    return {"content": text_of(result.value, JOINT), **_write_images(result.value)}


# ---------------------------------------------------------------- fit


def as_pictures(part: Part, message: Message) -> Part | None:
    """Keeps images with data, typed by their first bytes, and drops other media; a refusal becomes text."""
    if isinstance(part, Refusal):
        return Text(part.text)
    if not isinstance(part, Media):
        return part
    if part.type != "image" or part.data is None:
        return None
    detected = type_of_image(part.data)
    return part if part.media_type == detected else replace(part, media_type=detected)


def one_text(messages: list[Message]) -> list[Message]:
    """Joins the texts of an assistant message, and splits those of others into messages of their own."""
    reread: list[Message] = []
    for message in messages:
        texts = [part for part in message.parts if isinstance(part, Text)]
        if message.role == "tool" or (len(texts) < 2 and all(text.text for text in texts)):
            reread.append(message)
        elif message.role == "assistant":
            reread.append(_with_text(message, JOINT.join(text.text for text in texts)))
        else:
            reread.append(_with_text(message, texts[0].text))
            reread += [Message(message.role, [Text(text.text)] if text.text else []) for text in texts[1:]]
    return reread


def _with_text(message: Message, text: str) -> Message:
    """Returns the message with this text in place of its texts."""
    parts = [part for part in message.parts if not isinstance(part, Text)]
    return replace(message, parts=[*([Text(text)] if text else []), *parts])


def one_thought(message: Message) -> Message:
    """Joins several thoughts into one, and drops empty ones."""
    thoughts = [part for part in message.parts if isinstance(part, Reasoning)]
    if not thoughts or (len(thoughts) == 1 and thoughts[0].text):
        return message
    text = JOINT.join(thought.text for thought in thoughts)
    parts = [part for part in message.parts if not isinstance(part, Reasoning)]
    return replace(message, parts=[*([Reasoning(text)] if text else []), *parts])


def read_again(result: ToolResult) -> ToolResult:
    """Returns the result as it is read back: text, or text and images."""
    kind, value = _lift_value(_write_value(result))
    is_unchanged = kind == result.kind and value == result.value
    return result if is_unchanged else replace(result, kind=kind, value=value, is_error=None)


def express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns the kind and value that `lift` reads back, for a lossless result that the API has no field for."""
    reread = read_again(result)
    if reread is result or (result.kind == "multimodal" and not all(map(_is_kept, result.value))):
        return None
    return reread.kind, reread.value


def _is_kept(part: Part) -> bool:
    """True if a text or an image is read back unchanged."""
    if isinstance(part, Media):
        return part.data is not None and part == _lift_image(part.data)
    return is_bare(part)
