"""The messages of AG-UI: the agent's input at the beginning of a run, and the contents of a snapshot."""

from __future__ import annotations

from typing import Any

from convcli.kit.blocks import as_json_text, of_json_text
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.definitions import Definitions
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys, Native, get_extras, keep_apart, make_extras, omit, together
from convcli.kit.results import in_words
from convcli.kit.texts import text_of
from convcli.model.transcript import (
    MEDIA_KINDS,
    Media,
    MediaKind,
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

NAME = "ag-ui"
ASKING = ("developer", "system", "user")
"""Roles whose messages have text; user messages may also have media."""
MESSAGE = Envelope("id=id role= name=name content= toolCalls= toolCallId= error= encryptedValue subagentRunId metadata")
CALL = CallTable(
    "id=id type= function/name=name function/arguments=arguments encryptedValue metadata",
    form="json",
    blank=True,
    constants={"type": "function"},
)
TEXT = Keys("type= id text= metadata")
MEDIA = Keys("type= id source= metadata")
SOURCE = Keys("type= value= mimeType= provider")
DEFINITIONS = Definitions("name=name description=description parameters=parameters metadata", {"description": ""})
"""What the agent may call."""
INSTRUCTION_SEPARATOR = "\n\n"
"""Separates instructions, which are joined into one string."""
SOURCES = {"data": "data", "url": "url", "file": "file_id"}
"""The `Media` field for each kind of source."""


# ---------------------------------------------------------------- content


def lift_content(content: Any) -> list[Part]:
    """Returns the parts of a string or of a list of parts; none for an empty string."""
    if isinstance(content, list):
        return [_lift_part(native) for native in content]
    return [Text(content)] if content else []


def spots_of(content: Any, at: Path) -> list[Path]:
    """Returns the paths of the parts of this content."""
    return [(*at, i) for i in range(len(content))] if isinstance(content, list) else [at] if content else []


def _lift_part(native: Native) -> Part:
    kind, source = native.get("type"), native.get("source")
    if kind == "text" and isinstance(native.get("text"), str):
        return Text(native["text"], extras=make_extras(NAME, TEXT.extra(native)))
    if kind in MEDIA_KINDS and isinstance(source, dict) and source.get("type") in SOURCES and source.get("value"):
        return _lift_media(kind, native, source)
    return Opaque(NAME, native)


def _lift_media(kind: MediaKind, native: Native, source: Native) -> Media:
    part = Media(kind, media_type=source.get("mimeType") or None)
    setattr(part, SOURCES[source["type"]], source["value"])
    inner = SOURCE.extra(source)
    part.extras = make_extras(NAME, {**(MEDIA.extra(native) or {}), **({"source": inner} if inner else {})})
    return part


def write_content(parts: list[Part]) -> Any:
    """Returns a string if that expresses everything, else a list of parts."""
    if not parts:
        return ""
    if len(parts) == 1 and isinstance(parts[0], Text) and parts[0].text and not get_extras(parts[0].extras, NAME):
        return parts[0].text
    return [native for part in parts if (native := _write_part(part)) is not None]


def _write_part(part: Part) -> Native | None:
    if isinstance(part, Text):
        return TEXT.put({"type": "text", "text": part.text}, get_extras(part.extras, NAME), sort=True)
    if isinstance(part, Opaque):
        return part.value if part.dialect == NAME and isinstance(part.value, dict) and "type" in part.value else None
    return _write_media(part) if isinstance(part, Media) else None


def _write_media(part: Media) -> Native | None:
    extra = dict(get_extras(part.extras, NAME))
    source_extras = extra.pop("source", {})
    for kind, field in SOURCES.items():
        value = getattr(part, field)
        if value and (kind != "data" or part.media_type):
            media_type = {} if part.media_type is None else {"mimeType": part.media_type}
            source = SOURCE.put({"type": kind, "value": value, **media_type}, source_extras)
            return MEDIA.put({"type": part.type, "source": source}, extra, sort=True)
    return None


# ---------------------------------------------------------------- messages


def lift_message(native: Native, context: LiftContext) -> tuple[Message, list[Path]]:
    """Returns a message and the paths of its parts."""
    role = native["role"]
    if role in ASKING:
        message = Message(role, lift_content(native["content"]))
        part_paths = spots_of(native["content"], ("content",))
    elif role == "assistant":
        message, part_paths = _lift_answer(native, context)
    elif role == "tool":
        message, part_paths = Message("tool", [_lift_result(native, context)]), [()]
    else:
        return Message("event", [Opaque(NAME, native)]), [()]
    unread = {key: native[key] for key in OF_ROLES if key not in READ[role] and native.get(key) is not None}
    message.extras = make_extras(NAME, {**(MESSAGE.lift(native, message) or {}), **keep_apart(unread, ASIDE)})
    return message, part_paths


OF_ROLES = ("toolCalls", "toolCallId", "error")
"""Keys that only messages of some roles have."""
READ: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(ASKING, ()),
    "assistant": ("toolCalls",),
    "tool": ("toolCallId", "error"),
}


def _lift_answer(native: Native, context: LiftContext) -> tuple[Message, list[Path]]:
    parts = lift_content(native.get("content"))
    part_paths = spots_of(native.get("content"), ("content",))
    for j, call in enumerate(native.get("toolCalls") or ()):
        parts.append(CALL.lift(call, context))
        part_paths.append(("toolCalls", j))
    return Message("assistant", parts), part_paths


def _lift_result(native: Native, context: LiftContext) -> ToolResult:
    """Returns a result. The model reads a failed result's error, unless the content differs from it."""
    result = lift_result(native, context)
    error, content = native.get("error"), native["content"]
    if error is not None and isinstance(content, str):
        result.kind, result.value = "error", content or error
        result.extras = make_extras(NAME, {"error": error} if content not in ("", error) else None)
    elif error is not None:
        result.is_error, result.extras = True, make_extras(NAME, {"error": error} if error else None)
    return result


def lift_result(native: Native, context: LiftContext) -> ToolResult:
    """Returns a tool result: a string, or parts."""
    content = native["content"]
    id_, name = context.pairing.result(native["toolCallId"] or None, None)
    if not isinstance(content, list):
        return ToolResult(id_, name, "text", content)
    return ToolResult(id_, name, "multimodal", [_lift_inner(part) for part in lift_content(content)])


def _lift_inner(part: Part) -> Part:
    """Returns a part of a result, which may be text or media; anything else becomes text, as JSON."""
    return as_json_text(part.value, NAME, "part") if isinstance(part, Opaque) else part


def write_result(result: ToolResult) -> Any:
    """Returns the content of a result."""
    if result.kind == "multimodal":
        natives = [of_json_text(part, NAME, "part") or _write_part(part) for part in result.value]
        return [native for native in natives if native is not None]
    return in_words(result)


def write_messages(message: Message) -> list[Native]:
    """Returns a message as agent input; thoughts become messages of their own before it."""
    extra = together(omit(get_extras(message.extras, NAME), *ASIDE))
    if message.role == "event":
        return [part.value for part in message.parts if isinstance(part, Opaque)]
    thoughts = [write_thought(part, message, j) for j, part in enumerate(message.parts) if isinstance(part, Reasoning)]
    content_parts: list[Part] = [part for part in message.parts if not isinstance(part, Reasoning)]
    answer = _write_answer(content_parts) if message.role == "assistant" else {}
    if thoughts and not (answer if message.role == "assistant" else content_parts):
        return thoughts
    native: Native = {"role": message.role, **answer}
    if message.role == "tool":
        native |= _write_tool(content_parts)
    elif message.role == "user":
        native["content"] = write_content(content_parts)
    elif message.role != "assistant":
        native["content"] = text_of(content_parts, INSTRUCTION_SEPARATOR)
    unnamed = {"id": ""} if message.id is None else {}
    return [*thoughts, MESSAGE.write(message, extra, **unnamed, **native)]


ASIDE = ("error",)
"""Keys of a message's extras that concern its run."""


def _write_tool(parts: list[Part]) -> Native:
    result = next(part for part in parts if isinstance(part, ToolResult))
    error = get_extras(result.extras, NAME).get("error")
    failed = result.kind == "error" or result.is_error
    error_text = error if error is not None else result.value if result.kind == "error" else ""
    native = {"content": write_result(result), "toolCallId": result.tool_call_id}
    return {**native, "error": error_text} if failed else native


def _write_answer(parts: list[Part]) -> Native:
    text = text_of(parts)
    calls = [CALL.write(part, NAME) for part in parts if isinstance(part, ToolCall)]
    return {**({"content": text} if text else {}), **({"toolCalls": calls} if calls else {})}


def thought_id(part: Reasoning, message: Message, j: int) -> str:
    """Returns the id of a thought's message: its own, else one derived from the id of the turn."""
    known = get_extras(part.extras, NAME).get("messageId")
    return known if isinstance(known, str) and known else usual_thought_id(message, j)


def usual_thought_id(message: Message, j: int) -> str:
    """Returns the derived id of the thought that is part `j` of a turn."""
    return f"{message.id or 'turn'}-thought-{j + 1}"


def write_thought(part: Reasoning, message: Message, j: int) -> Native:
    """Returns the message of a thought."""
    extra = omit(get_extras(part.extras, NAME), "messageId")
    return {"id": thought_id(part, message, j), "role": "reasoning", "content": part.text, **extra}
