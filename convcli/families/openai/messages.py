"""The messages of Chat Completions: content parts, calls, results, and keys that only an assistant has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec.structs import replace

from convcli.families.openai.calls import (
    content_of,
    kind_in_turn,
    lift_call,
    of_message,
    other_keys,
    text_of_result,
    write_call,
)
from convcli.families.openai.parts import lift_answer_audio, parts_of, write_answer_audio, write_media
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.passes import PartPass, on_each_message, on_parts
from convcli.kit.texts import only_text
from convcli.model.dialect import Pass
from convcli.model.inventory import has_empty_text
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    PartPaths,
    Path,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
)

REASONING_KEYS = ("reasoning_content", "reasoning")

MESSAGE = Keys(
    "role= tool_call_id name= reasoning_content= reasoning= content= refusal= annotations audio= tool_calls= "
    "function_call="
)
RESULT = Keys("role tool_call_id name content")
RESULT_ROLES = ("tool", "function")
USUAL_KEYS = frozenset(("role", "content", "tool_calls"))
USUAL_RESULT = frozenset(RESULT.names)
CONTENT: Path = ("content",)
WriteCall: TypeAlias = Callable[[ToolCall, str], Native]


# ---------------------------------------------------------------- lift


def lift_any(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Lifts a request message: a turn or a result."""
    role = native["role"]
    if role in RESULT_ROLES:
        return _lift_result(native, context), None
    content = native.get("content")
    if len(native) == 2 and content and content.__class__ is str:  # most messages
        return Message(role, [Text(content)]), None
    return lift_message(native, context)


def lift_message(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Lifts a message that is not a result. Returns its parts in the order in which they were made, and their paths."""
    parts: list[Part] = []
    part_paths: list[Path] = []
    content, calls = native.get("content"), native.get("tool_calls")
    is_usual = (calls and len(native) == 3 and "content" in native) or native.keys() <= USUAL_KEYS
    for key in () if is_usual else REASONING_KEYS:
        thought = native.get(key)
        if thought and not (parts and parts[-1] == Reasoning(thought)):  # some servers write it under both keys
            parts.append(Reasoning(thought))
            part_paths.append((key,))
    if content.__class__ is list:
        parts += [parts_of(context.dialect).lift(one, context) for one in content]
        part_paths += [("content", j) for j in range(len(content))]
    elif content:
        parts.append(Text(content))
        part_paths.append(CONTENT)
    if not is_usual:
        if native.get("refusal"):
            parts.append(Refusal(native["refusal"]))
            part_paths.append(("refusal",))
        if native.get("audio"):
            parts.append(lift_answer_audio(native["audio"], context.dialect))
            part_paths.append(("audio",))
    for j, call in enumerate(calls) if calls else ():
        parts.append(lift_call(call, context))
        part_paths.append(("tool_calls", j))
    if is_usual:
        return Message(native["role"], parts), part_paths
    if native.get("function_call"):
        parts.append(lift_call({"function": native["function_call"]}, context))
        part_paths.append(("function_call",))
    extras = make_extras(context.dialect, other_keys(MESSAGE.extra(native)))
    return Message(native["role"], parts, name=native.get("name") or None, extras=extras), part_paths


def _lift_result(native: Native, context: LiftContext) -> Message:
    id_, content = native.get("tool_call_id"), native.get("content")
    if id_ and len(native) == 3 and content.__class__ is str:  # most results
        id_, name = context.pairing.result(id_, None)
        return Message("tool", [ToolResult(id_, name, "text", content)])
    id_, name = context.pairing.result(id_ or None, native.get("name") or None)
    kind, value = _lift_value(content, context) if content.__class__ is list else ("text", content or "")
    extras = None if native.keys() <= USUAL_RESULT else make_extras(context.dialect, RESULT.extra(native))
    return Message("tool", [ToolResult(id_, name, kind, value)], extras=extras)  # type: ignore[arg-type]


def _lift_value(content: list[Native], context: LiftContext) -> tuple[str, Any]:
    parts = [parts_of(context.dialect).lift(part, context) for part in content]
    text = only_text(parts)
    return ("multimodal", parts) if text is None else ("text", text)


# ---------------------------------------------------------------- write


def write_message(message: Message, dialect: str, write_call: WriteCall = write_call) -> Native:
    """Writes one message; a result is its own message."""
    if message.role == "tool":
        return _write_result(message, dialect)
    text = only_text(message.parts)
    native = {"role": message.role, "content": text} if text is not None else _write_parts(message, dialect, write_call)
    if message.name is None and message.extras is None:  # most messages
        return native
    if message.name is not None:
        native["name"] = message.name
    return MESSAGE.put(native, of_message(get_extras(message.extras, dialect)), sort=True)


def _write_parts(message: Message, dialect: str, write_call: WriteCall) -> Native:
    """Writes the keys of the parts. The last refusal has its own key unless it has extras; others are content."""
    content: list[Part] = []
    calls: list[Native] = []
    thoughts: list[str] = []
    refusal: Refusal | None = None
    audio: Native | None = None
    for part in message.parts:
        if part.__class__ is Text:
            content.append(part)
        elif part.__class__ is ToolCall:
            calls.append(write_call(part, dialect))
        elif part.__class__ is Reasoning:
            thoughts.append(part.text)
        elif part.__class__ is Refusal:
            content += [] if refusal is None else [refusal]
            refusal = part
        elif part.__class__ is Opaque and kind_in_turn(part) == ToolCall.type:
            calls.append(part.value)
        elif audio is None and part.__class__ is Media and part.type == "audio" and message.role == "assistant":
            audio = write_answer_audio(part, dialect)
            content += [part] if audio is None else []
        else:
            content.append(part)
    if refusal is not None and get_extras(refusal.extras, dialect):
        content.append(refusal)
        refusal = None
    native: Native = {"role": message.role}
    if thoughts:
        native |= zip(REASONING_KEYS, thoughts, strict=False)
    written = _write_content(content, dialect)
    is_alone = not calls and refusal is None and not audio
    native["content"] = "" if written is None and is_alone else written
    if refusal is not None and refusal.text:
        native["refusal"] = refusal.text
    if audio:
        native["audio"] = audio
    if calls:
        native["tool_calls"] = calls
    return native


def _write_content(parts: list[Part], dialect: str) -> Any:
    """Writes the content of a message; None if there is none."""
    if not parts:
        return None
    text = only_text(parts)
    if text is not None:
        return text
    written = _write_all(parts, dialect)
    return content_of(written) if written else None


def _write_all(parts: list[Part], dialect: str) -> list[Native]:
    """Writes content parts, without those that the API cannot express."""
    write = parts_of(dialect).write
    native: Native | None
    return [native for part in parts if (native := part.value if part.__class__ is Opaque else write(part)) is not None]


def _write_result(message: Message, dialect: str) -> Native:
    result = message.parts[0]
    assert isinstance(result, ToolResult)
    value = result.value if result.kind == "text" and not result.is_error else _write_value(result, dialect)
    native = {"role": "tool", "tool_call_id": result.tool_call_id, "content": value}
    return native if message.extras is None else RESULT.put(native, get_extras(message.extras, dialect))


def _write_value(result: ToolResult, dialect: str) -> Any:
    if result.kind != "multimodal":
        return text_of_result(result)
    return _write_all(result.value, dialect) or ""


# ---------------------------------------------------------------- fit


def texts_only(result: ToolResult, owner: str = "") -> ToolResult:
    """Reduces a tool message to bare text: media move to a user message, and a single text becomes the value itself,
    unless it has the `owner`'s extras."""
    if result.kind != "multimodal":
        return result
    parts: list[Any] = [part for part in result.value if not isinstance(part, Media)]
    parts = [replace(part, metadata=None) if isinstance(part, Text) and part.metadata else part for part in parts]
    if len(parts) < 2 and all(isinstance(part, Text) and not get_extras(part.extras, owner) for part in parts):
        text = "".join(part.text for part in parts)
        return ToolResult(result.tool_call_id, result.name, "text", text, extras=result.extras)
    if parts == result.value:
        return result
    return ToolResult(result.tool_call_id, result.name, "multimodal", parts, extras=result.extras)


def express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns how `lift` reads back a result for which the API has no field."""
    if result.kind != "multimodal":
        return ("text", text_of_result(result)) if result.kind != "text" else None
    media = [part for part in result.value if isinstance(part, Media)]
    if not media or any(write_media(file, "") is None for file in media):
        return None  # the API has a field for texts, and no convention keeps the rest
    fitted = texts_only(result)
    return fitted.kind, fitted.value


def one_reasoning(message: Message) -> Message:
    """Merges reasoning into one text; its summary is used if it has no other."""
    thoughts = [part for part in message.parts if isinstance(part, Reasoning)]
    if not thoughts or (len(thoughts) == 1 and thoughts[0].text):
        return message
    text = REASONING_SEPARATOR.join(
        filter(None, (thought.text or REASONING_SEPARATOR.join(thought.summary or ()) for thought in thoughts))
    )
    others = [part for part in message.parts if not isinstance(part, Reasoning)]
    return replace(message, parts=[*([Reasoning(text)] if text else []), *others])


REASONING_SEPARATOR = "\n\n"
"""Separates texts of reasoning that are merged."""


def without_empty_refusal(owner: str) -> PartPass:
    """Drops a refusal without text, unless it has the owner's extras."""
    return on_parts(lambda part, _: part if part.text or get_extras(part.extras, owner) else None, "refusal")


def without_empty_text(owner: str) -> Pass:
    """Drops a text that is empty and alone, unless it has the owner's extras."""

    def drop_empty_text(message: Message) -> Message:
        if not any(map(_is_empty, message.parts)):
            return message
        contents = [part for part in message.parts if part.type in CONTENT_TYPES]
        if len(contents) != 1 or not _is_empty(contents[0]) or get_extras(contents[0].extras, owner):
            return message
        return replace(message, parts=[part for part in message.parts if part is not contents[0]])

    return on_each_message(drop_empty_text, has_empty_text)


def _is_empty(part: Part) -> bool:
    return part.__class__ is Text and not part.text


CONTENT_TYPES = ("text", "image", "document", "opaque")
