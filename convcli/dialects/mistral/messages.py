"""The messages of Mistral: calls and results around content chunks."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.mistral.chunks import NAME, lift_chunk, lift_content, write_chunk, write_media
from convcli.families.openai.calls import (
    beside,
    content_of,
    express_media,
    lift_call,
    of_message,
    text_of_result,
    write_parts,
)
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.texts import is_bare
from convcli.model.transcript import Media, Message, Part, Spots, Text, ToolResult

NO_ID = "null"
"""What the SDK writes as the id of a call that has none."""

MESSAGE = Keys("role content tool_calls prefix", carried="prefix")
RESULT = Keys("role name content tool_call_id")


# ---------------------------------------------------------------- lift


def lift_any(native: Native, context: LiftContext) -> tuple[Message, Spots]:
    """A message of a request: a turn or a result."""
    return (_lift_result if native["role"] == "tool" else lift_message)(native, context)


def lift_message(native: Native, context: LiftContext) -> tuple[Message, Spots]:
    """A message that is no result; that it is no prefix says nothing."""
    parts, spots = lift_content(native.get("content"))
    for j, call in enumerate(native.get("tool_calls") or ()):
        parts.append(lift_call({**call, "id": None} if call.get("id") == NO_ID else call, context))
        spots.append(("tool_calls", j))
    carried = beside(MESSAGE.carried(native))
    if carried.get("prefix") is False:
        del carried["prefix"]
    return Message(native["role"], parts, extras=extras_of(NAME, carried)), spots


def is_prefix(message: Message) -> bool:
    """Does the answer of the model begin with this turn?"""
    return carried_by(message.extras, NAME).get("prefix") is True


def _lift_result(native: Native, context: LiftContext) -> tuple[Message, Spots]:
    """A tool message; content with chunks that are neither text nor media is carried whole."""
    written_id = native.get("tool_call_id")
    id_ = None if written_id in (None, "", NO_ID) else written_id
    result = ToolResult(*context.pairing.result(id_, native.get("name") or None), "text", native.get("content") or "")
    carried = RESULT.carried(native) or {}
    if isinstance(native.get("content"), list):
        parts, _ = lift_content(native["content"])
        known = [part for part in parts if isinstance(part, (Text, Media))]
        texts = [part.text for part in known if is_bare(part)]
        is_text = len(known) == len(texts) < 2
        result.kind, result.value = ("text", "".join(texts)) if is_text else ("multimodal", known)
        carried |= {"content": native["content"]} if len(known) < len(parts) else {}
    return Message("tool", [result], extras=extras_of(NAME, carried)), None


# ---------------------------------------------------------------- write


def write_message(message: Message, dialect: str = NAME) -> Native:
    """One message; a result stands in a message of its own."""
    if message.role == "tool":
        return _write_result(message)
    content, calls = write_parts(message.parts, NAME, write_chunk)
    native: Native = {"role": message.role, "content": content_of(content)}
    if calls:
        native["tool_calls"] = calls
    return MESSAGE.put(native, of_message(carried_by(message.extras, NAME)))


def _write_result(message: Message) -> Native:
    result = message.parts[0]
    assert isinstance(result, ToolResult)
    native: Native = {"role": "tool", "name": result.name, "content": _write_value(result)}
    native["tool_call_id"] = result.tool_call_id
    return RESULT.put(native, carried_by(message.extras, NAME))


def _write_value(result: ToolResult) -> Any:
    if result.kind != "multimodal":
        return text_of_result(result)
    chunks = [write_chunk(part) for part in result.value]
    return content_of([chunk for chunk in chunks if chunk is not None])


# ---------------------------------------------------------------- fit


def instructions_of_user(messages: list[Message]) -> list[Message]:
    """Behind an answer or a result, what the system says is said by the user: the API takes it nowhere else."""
    fitted: list[Message] = []
    for message in messages:
        behind = fitted and fitted[-1].role in ("assistant", "tool")
        fitted.append(replace(message, role="user") if behind and message.role == "system" else message)
    return fitted


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How `lift` reads back a result for which the API has no field of its own, where nothing of it gets lost."""
    if result.kind != "multimodal":
        return ("text", text_of_result(result)) if result.kind != "text" else None
    return express_media(result, _read_again)


def _read_again(media: Media) -> Part | None:
    native = write_media(media)
    return None if native is None else lift_chunk(native)
