"""Mistral messages: calls and results around content chunks."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.mistral.chunks import CHUNKS, NAME, lift_content
from convcli.families.openai.calls import (
    content_of,
    express_media,
    lift_call,
    of_message,
    other_keys,
    text_of_result,
    write_parts,
)
from convcli.families.openai.messages import USUAL_KEYS, USUAL_RESULT
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.passes import shared
from convcli.kit.texts import is_bare, only_text
from convcli.model.transcript import Media, Message, Part, PartPaths, Text, ToolResult

NO_ID = "null"
"""What the SDK writes as the id of a call without one."""

MESSAGE = Keys("role= content= tool_calls= prefix")
RESULT = Keys("role name content tool_call_id")


# ---------------------------------------------------------------- lift


def lift_any(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Reads a request message: a tool result or any other message."""
    if native["role"] == "tool":
        return _lift_result(native, context)
    content = native.get("content")
    if len(native) == 2 and content and content.__class__ is str:  # most messages
        return Message(native["role"], [Text(content)]), None
    return lift_message(native, context)


def lift_message(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Reads a message other than a result; `prefix: false` is the default and dropped."""
    parts, part_paths = lift_content(native.get("content"), context)
    for j, call in enumerate(native.get("tool_calls") or ()):
        parts.append(lift_call({**call, "id": None} if call.get("id") == NO_ID else call, context))
        part_paths.append(("tool_calls", j))
    extra = {} if native.keys() <= USUAL_KEYS else other_keys(MESSAGE.extra(native))
    if extra.get("prefix") is False:
        del extra["prefix"]
    return Message(native["role"], parts, extras=make_extras(NAME, extra) if extra else None), part_paths


def is_prefix(message: Message) -> bool:
    """True if this message is the prefix of the model's answer."""
    return get_extras(message.extras, NAME).get("prefix") is True


def _lift_result(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Reads a tool message; content with chunks other than text and media is also kept as an extra."""
    written_id = native.get("tool_call_id")
    id_ = None if written_id in (None, "", NO_ID) else written_id
    result = ToolResult(*context.pairing.result(id_, native.get("name") or None), "text", native.get("content") or "")
    extra = {} if native.keys() <= USUAL_RESULT else RESULT.extra(native) or {}
    if isinstance(native.get("content"), list):
        parts, _ = lift_content(native["content"], context)
        known = [part for part in parts if isinstance(part, (Text, Media))]
        texts = [part.text for part in known if is_bare(part)]
        is_text = len(known) == len(texts) < 2
        result.kind, result.value = ("text", "".join(texts)) if is_text else ("multimodal", known)
        extra |= {"content": native["content"]} if len(known) < len(parts) else {}
    return Message("tool", [result], extras=make_extras(NAME, extra) if extra else None), None


# ---------------------------------------------------------------- write


def write_message(message: Message, dialect: str = NAME) -> Native:
    """Writes one message; a result has a message of its own."""
    if message.role == "tool":
        return _write_result(message)
    text = only_text(message.parts)
    content, calls = write_parts(message.parts, NAME, CHUNKS.write) if text is None else ([], [])
    native: Native = {"role": message.role, "content": content_of(content) if text is None else text}
    if calls:
        native["tool_calls"] = calls
    return native if message.extras is None else MESSAGE.put(native, of_message(get_extras(message.extras, NAME)))


def _write_result(message: Message) -> Native:
    result = message.parts[0]
    assert isinstance(result, ToolResult)
    native: Native = {"role": "tool", "name": result.name, "content": _write_value(result)}
    native["tool_call_id"] = result.tool_call_id
    return native if message.extras is None else RESULT.put(native, get_extras(message.extras, NAME))


def _write_value(result: ToolResult) -> Any:
    if result.kind != "multimodal":
        return text_of_result(result)
    chunks = [CHUNKS.write(part) for part in result.value]
    return content_of([chunk for chunk in chunks if chunk is not None])


# ---------------------------------------------------------------- fit


def instructions_of_user(messages: list[Message]) -> list[Message]:
    """Turns system messages after an answer or a result into user messages: the API rejects them there."""
    fitted: list[Message] = []
    for message in messages:
        follows_answer = fitted and fitted[-1].role in ("assistant", "tool")
        fitted.append(replace(message, role="user") if follows_answer and message.role == "system" else message)
    return shared(messages, fitted)


def express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns the kind and value that `lift` reads back, for a lossless result that the API has no field for."""
    if result.kind != "multimodal":
        return ("text", text_of_result(result)) if result.kind != "text" else None
    return express_media(result, _read_again)


def _read_again(media: Media) -> Part | None:
    native = CHUNKS.write(media)
    return None if native is None else CHUNKS.lift(native, LiftContext(NAME, None))
