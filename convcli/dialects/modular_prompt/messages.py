"""The messages of modular-prompt: attachments, calls, results by kind, and both as they were written before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from convcli.families.histories.entries import silent, without
from convcli.families.openai import request as common
from convcli.families.openai.calls import lift_call, lower_call
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Origin,
    Part,
    Path,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)

NAME = "modular-prompt"

MESSAGE = Keys("type role content name toolCalls cacheHint", carried="cacheHint")
RESULT = Keys("type role toolCallId name kind value cacheHint", carried="cacheHint")
OLD_RESULT = Keys("type role content toolCallId name cacheHint", carried="cacheHint")
CALL = Keys("id name arguments metadata")
ATTACHMENT = {"text": Keys("type text"), "image_url": Keys("type image_url"), "file": Keys("type file")}
INNER = {"image_url": Keys("url"), "file": Keys("path mime_type")}
MEDIA_KINDS = ("image", "audio", "video")
UNTYPED = {"document": "application/octet-stream"}
"""The type of a file that the source does not name: a file needs one."""


# ---------------------------------------------------------------- lift


def lift_messages(natives: list[Native], prefix: Path, document: Any, origin: Origin) -> list[Message]:
    """The messages, with or without `type`."""
    pairing = Pairing(document)
    origin.invented = pairing.invented
    messages: list[Message] = []
    for i, native in enumerate(natives):
        message, spots = (_lift_result if native["role"] == "tool" else _lift_message)(native, pairing, origin)
        messages.append(message)
        origin.places.append(((*prefix, i), spots))
    return messages


def _lift_message(native: Native, pairing: Pairing, origin: Origin) -> tuple[Message, list[Path]]:
    carried, spelling = MESSAGE.take(native)
    content = native.get("content")
    odd = silent(native, "type", *(() if "content" in native else ("content",)))
    if isinstance(content, list):
        parts = [_lift_attachment(item, origin) for item in content]
        spots: list[Path] = [("content", j) for j in range(len(parts))]
        odd |= {"content": "list"} if _is_bare(parts) else {}
    else:
        parts = [Text(content)] if content else []
        spots = [("content",)] * len(parts)
    for j, call in enumerate(native.get("toolCalls") or ()):
        parts.append(lift_tool_call(call, pairing, origin))
        spots.append(("toolCalls", j))
    message = Message(native["role"], parts, name=native.get("name") or None, extras=extras_of(NAME, carried))
    origin.spell(message, {**(spelling or {}), **odd})
    return message, spots


def _is_bare(parts: Sequence[Part]) -> bool:
    """Is it one text and nothing else, so that a string can say it?"""
    return len(parts) == 1 and isinstance(parts[0], (Text, Refusal)) and NAME not in (parts[0].extras or {})


def lift_tool_call(native: Native, pairing: Pairing, origin: Origin) -> Part:
    """A call, or one in the shape of Chat Completions, as it was written before."""
    if "function" in native:
        part = lift_call(native, pairing, origin, NAME)
        origin.spell(part, {**origin.spellings.get(id(part), {}), "old": True})
        return part
    carried, spelling = CALL.take(native)
    id_ = pairing.call(native.get("id") or None, native["name"])
    call = ToolCall(id_, native["name"], native.get("arguments") or {}, metadata=native.get("metadata") or None)
    call.extras = extras_of(NAME, carried)
    missing = silent(native, "id", *(() if "arguments" in native else ("arguments",)))
    origin.spell(call, {**(spelling or {}), **missing})
    return call


def _lift_result(native: Native, pairing: Pairing, origin: Origin) -> tuple[Message, list[Path]]:
    old = native.get("kind") is None
    carried, spelling = (OLD_RESULT if old else RESULT).take(native)
    id_, name = pairing.result(native.get("toolCallId") or None, native.get("name") or None)
    result = ToolResult(id_, name, "text", native["content"]) if old else _lift_kind(id_, name, native, origin)
    message = Message("tool", [result], extras=extras_of(NAME, carried))
    odd = {**silent(native, "type", "name", "toolCallId"), **({"old": True} if old else {})}
    origin.spell(message, {**(spelling or {}), **odd})
    return message, [()]


def _lift_kind(id_: str, name: str, native: Native, origin: Origin) -> ToolResult:
    """A result of today; an error that is no string is data that failed."""
    kind, value = native["kind"], native["value"]
    if kind == "multimodal":
        return ToolResult(id_, name, kind, [_lift_attachment(item, origin) for item in value])
    if kind == "error" and not isinstance(value, str):
        return ToolResult(id_, name, "data", value, is_error=True)
    return ToolResult(id_, name, kind, value)


def _lift_attachment(native: Native, origin: Origin) -> Part:
    kind = native["type"]
    if kind not in ATTACHMENT:
        return Opaque(NAME, native)
    outer, spelling = ATTACHMENT[kind].take(native)
    if kind == "text":
        part: Part = Text(native["text"], extras=extras_of(NAME, outer))
        origin.spell(part, spelling or {})
        return part
    body = native[kind]
    inner, inner_spelling = INNER[kind].take(body)
    part = _lift_file(body) if kind == "file" else common.media_of_url("image", body["url"])
    part.extras = extras_of(NAME, {**(outer or {}), **({kind: inner} if inner else {})})
    odd = {**(inner_spelling or {}), **(silent(body, "mime_type") if kind == "file" else {})}
    origin.spell(part, {**(spelling or {}), **({"inner": odd} if odd else {})})
    return part


def _lift_file(native: Native) -> Media:
    media_type = native.get("mime_type") or ""
    kind: Any = next((kind for kind in MEDIA_KINDS if media_type.startswith(kind + "/")), "document")
    return Media(kind, path=native["path"], media_type=media_type or None)


# ---------------------------------------------------------------- lower


class Writer:
    """What the lowers of one transcript share. `own`: written as it was."""

    __slots__ = ("own", "spellings")

    def __init__(self, transcript: Transcript) -> None:
        self.own = transcript.origin is not None and transcript.origin.dialect == NAME
        self.spellings = transcript.spelling(NAME)

    def spelling(self, record: Any) -> Spelling:
        return self.spellings.get(id(record), {}) if self.spellings else {}

    def message(self, message: Message) -> Native:
        """A message with its type, as an element of a prompt has it."""
        if message.role == "tool":
            return self._result(message)
        spelling = self.spelling(message)
        native: Native = {"type": "message", "role": "system" if message.role == "developer" else message.role}
        native["content"] = self._content(message, spelling)
        if message.name is not None:
            native["name"] = message.name
        calls = [self.call(part) for part in message.parts if isinstance(part, ToolCall)]
        if calls:
            native["toolCalls"] = calls
        return MESSAGE.put(without(native, spelling), carried_by(message.extras, NAME), spelling)

    def _content(self, message: Message, spelling: Spelling) -> Any:
        parts = [part for part in message.parts if not isinstance(part, ToolCall)]
        said = [(part, self._attachment(part)) for part in parts]
        kept = [part for part, native in said if native is not None]
        if not kept:
            return ""
        if _is_bare(kept) and spelling.get("content") != "list":
            return kept[0].text  # type: ignore[union-attr]
        return [native for _, native in said if native is not None]

    def call(self, call: ToolCall) -> Native:
        """A call with its arguments as an object, or in the shape in which the source had it."""
        spelling = self.spelling(call)
        if spelling.get("old"):
            return lower_call(call, spelling, NAME)
        native: Native = {"id": call.id, "name": call.name, "arguments": call.arguments}
        if call.metadata is not None:
            native["metadata"] = call.metadata
        return CALL.put(without(native, spelling), carried_by(call.extras, NAME), spelling)

    def _result(self, message: Message) -> Native:
        result = next(part for part in message.parts if isinstance(part, ToolResult))
        spelling = self.spelling(message)
        native: Native = {"type": "message", "role": "tool", "toolCallId": result.tool_call_id, "name": result.name}
        carried = carried_by(message.extras, NAME)
        if spelling.get("old"):
            native["content"] = result.value
            native = {key: native[key] for key in OLD_RESULT.sorted(native)}
            return OLD_RESULT.put(without(native, spelling), carried, spelling)
        native["kind"] = "error" if result.is_error and result.kind == "data" else result.kind
        native["value"] = self._value(result)
        return RESULT.put(without(native, spelling), carried, spelling)

    def _value(self, result: ToolResult) -> Any:
        if result.kind != "multimodal":
            return result.value
        return [native for native in map(self._attachment, result.value) if native is not None]

    def _attachment(self, part: Part) -> Native | None:
        """One attachment; None for what there is none for."""
        spelling = self.spelling(part)
        carried = dict(carried_by(part.extras, NAME))
        if isinstance(part, (Text, Refusal)):
            return ATTACHMENT["text"].put({"type": "text", "text": part.text}, carried, spelling)
        if not isinstance(part, Media):
            return part.value if isinstance(part, Opaque) and part.dialect == NAME else None
        body = _lower_media(part)
        if body is None:
            return None
        kind, inner = body
        written = spelling.get("inner", {})
        inner = INNER[kind].put(without(inner, written), carried.pop(kind, None), written)
        return ATTACHMENT[kind].put({"type": kind, kind: inner}, carried, spelling)


def _lower_media(media: Media) -> tuple[str, Native] | None:
    url = common.url_of_media(media) if media.type == "image" else None
    if url is not None:
        return "image_url", {"url": url}
    if media.path is None:
        return None
    return "file", {"path": media.path, "mime_type": media.media_type or UNTYPED.get(media.type, f"{media.type}/*")}


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How a result comes back for which there is no form: a failure whose value is a string is an error."""
    return ("error", result.value) if result.is_error and isinstance(result.value, str) else None
