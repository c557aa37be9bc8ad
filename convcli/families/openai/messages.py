"""The messages of Chat Completions: content parts, calls, results, and keys that only an assistant has."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.families.openai.calls import (
    ARGUMENTS,
    kind_in_turn,
    lift_call,
    of_message,
    other_keys,
    read_call,
    text_of_result,
    write_call,
)
from convcli.families.openai.parts import lift_answer_audio, lift_part, write_answer_audio, write_media, write_text
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.passes import PartPass, on_each_message, on_parts
from convcli.kit.texts import only_text
from convcli.model.dialect import Pass
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    PartPaths,
    Path,
    Reasoning,
    Refusal,
    Step,
    Text,
    ToolCall,
    ToolResult,
)

REASONING_KEYS = ("reasoning_content", "reasoning")

MESSAGE = Keys(
    "role tool_call_id name reasoning_content reasoning content refusal annotations audio tool_calls function_call",
    extra="tool_call_id annotations",
)
RESULT = Keys("role tool_call_id name content")
RESULT_ROLES = ("tool", "function")


# ---------------------------------------------------------------- lift


def lift_any(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Lifts a request message: a turn or a result. The usual ones take a fast path."""
    return USUAL.get(tuple(native), _lift_unusual)(native, context)


def _lift_unusual(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    if native["role"] in RESULT_ROLES:
        return _lift_result(native, context), None
    return lift_message(native, context)


def _lift_text(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    role, content = native["role"], native["content"]
    if content.__class__ is not str or not content or role in RESULT_ROLES:
        return _lift_unusual(native, context)
    return Message(role, [Text(content)]), None


def _lift_text_result(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    content = native["content"]
    if content.__class__ is not str or native["role"] != "tool" or not native["tool_call_id"]:
        return _lift_unusual(native, context)
    id_, name = context.pairing.result(native["tool_call_id"], None)
    return Message("tool", [ToolResult(id_, name, "text", content)]), None


def _lift_text_and_calls(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    role, content, calls = native["role"], native["content"], native["tool_calls"]
    if content.__class__ is list or role in RESULT_ROLES or not calls:
        return _lift_unusual(native, context)
    parts: list[Part] = [Text(content)] if content else []
    parts += [lift_call(call, context) for call in calls]
    return Message(role, parts), _spots_of_calls(len(calls), is_behind_text=bool(content))


@lru_cache(maxsize=64)
def _spots_of_calls(count: int, *, is_behind_text: bool) -> PartPaths:
    return *([("content",)] if is_behind_text else []), *(("tool_calls", j) for j in range(count))


USUAL: dict[tuple[str, ...], Callable[[Native, LiftContext], tuple[Message, PartPaths]]] = {
    ("role", "content"): _lift_text,
    ("role", "tool_call_id", "content"): _lift_text_result,
    ("role", "content", "tool_calls"): _lift_text_and_calls,
}
"""Fast lifts, by the keys of a message whose content is a text or, with calls, null."""


def lift_message(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Lifts a message that is not a result. Returns its parts in the order in which they were made, and their paths."""
    lifting = _Lifting([], [], context)
    for key in MESSAGE.sorted(native):
        if key in SAYING and native[key]:
            SAYING[key](native[key], key, lifting)
    extra = other_keys(MESSAGE.extra(native))
    name = native.get("name") or None
    return Message(
        native["role"], lifting.parts, name=name, extras=make_extras(context.dialect, extra)
    ), lifting.part_paths


class _Lifting(msgspec.Struct, frozen=True):
    """The state of lifting one message."""

    parts: list[Part]
    part_paths: list[Path]
    context: LiftContext

    def add(self, part: Part, *node_path: Step) -> None:
        self.parts.append(part)
        self.part_paths.append(node_path)


def _content(content: str | list[Native], key: str, lifting: _Lifting) -> None:
    if isinstance(content, str):
        lifting.add(Text(content), key)
        return
    for j, native in enumerate(content):
        lifting.add(lift_part(native, lifting.context.dialect), key, j)


def _reasoning(text: str, key: str, lifting: _Lifting) -> None:
    """Lifts reasoning once, because some servers write it under both keys."""
    before = lifting.parts[-1] if lifting.parts else None
    if not (isinstance(before, Reasoning) and before.text == text):
        lifting.add(Reasoning(text), key)


def _calls(calls: list[Native], key: str, lifting: _Lifting) -> None:
    for j, call in enumerate(calls):
        lifting.add(lift_call(call, lifting.context), key, j)


def _older_call(native: Native, key: str, lifting: _Lifting) -> None:
    extra = ARGUMENTS.extra(native)
    call = read_call(native, None, lifting.context)
    call.extras = make_extras(lifting.context.dialect, {"function": extra} if extra else None)
    lifting.add(call, key)


SAYING: dict[str, Callable[[Any, str, _Lifting], None]] = {
    "reasoning_content": _reasoning,
    "reasoning": _reasoning,
    "content": _content,
    "refusal": lambda text, key, lifting: lifting.add(Refusal(text), key),
    "audio": lambda native, key, lifting: lifting.add(lift_answer_audio(native, lifting.context.dialect), key),
    "tool_calls": _calls,
    "function_call": _older_call,
}
"""The keys of a message that contain its parts."""


def _lift_result(native: Native, context: LiftContext) -> Message:
    id_, name = context.pairing.result(native.get("tool_call_id") or None, native.get("name") or None)
    content = native.get("content")
    kind, value = _lift_value(content, context.dialect) if isinstance(content, list) else ("text", content or "")
    result = ToolResult(id_, name, kind, value)  # type: ignore[arg-type]
    return Message("tool", [result], extras=make_extras(context.dialect, RESULT.extra(native)))


def _lift_value(content: list[Native], dialect: str) -> tuple[str, Any]:
    parts = [lift_part(part, dialect) for part in content]
    text = only_text(parts)
    return ("multimodal", parts) if text is None else ("text", text)


# ---------------------------------------------------------------- write


class MessageBuilder:
    """The keys of one message while its parts are written."""

    __slots__ = ("audio", "calls", "content", "dialect", "reasoning", "refusal", "role")

    def __init__(self, role: str, dialect: str) -> None:
        self.role, self.dialect = role, dialect
        self.content: list[Native] = []
        self.calls: list[Native] = []
        self.reasoning: list[str] = []
        self.refusal: Refusal | None = None
        self.audio: Native | None = None

    def add(self, part: Part) -> None:
        """Adds a part, if the format has a field for it."""
        if isinstance(part, Text):
            self.content.append(write_text(part, self.dialect))
        elif isinstance(part, ToolCall):
            self.calls.append(write_call(part, self.dialect, free=True))
        elif isinstance(part, Media):
            self._add_media(part)
        elif isinstance(part, Reasoning):
            self.reasoning.append(part.text)
        elif isinstance(part, Refusal):
            self._add_refusal(part)
        elif isinstance(part, Opaque):
            (self.calls if kind_in_turn(part) == ToolCall.type else self.content).append(part.value)

    def _add_media(self, media: Media) -> None:
        is_answer = self.role == "assistant" and media.type == "audio" and self.audio is None
        self.audio = write_answer_audio(media, self.dialect) if is_answer else self.audio
        if not is_answer or self.audio is None:
            native = write_media(media, self.dialect)
            self.content += [] if native is None else [native]

    def _add_refusal(self, refusal: Refusal) -> None:
        """Adds a refusal. The last one has its own key, unless it has extras; earlier ones are content parts."""
        if self.refusal is not None:
            self.content.append(write_text(self.refusal, self.dialect))
        self.refusal = refusal

    def native(self) -> Native:
        """Returns the message so far."""
        native: Native = {"role": self.role, **dict(zip(REASONING_KEYS, self.reasoning, strict=False))}
        if self.refusal is not None and get_extras(self.refusal.extras, self.dialect):
            self.content.append(write_text(self.refusal, self.dialect))
            self.refusal = None
        native["content"] = self._content()
        refusal = None if self.refusal is None else self.refusal.text
        for key, value in (("refusal", refusal), ("audio", self.audio), ("tool_calls", self.calls)):
            if value:
                native[key] = value
        return native

    def _content(self) -> Any:
        content = self.content
        if not content:
            return None if self.calls or self.refusal or self.audio else ""
        is_text = len(content) == 1 and tuple(content[0]) == USUAL_TEXT and content[0]["type"] == "text"
        return content[0]["text"] if is_text else content


USUAL_TEXT = ("type", "text")


def write_message(message: Message, dialect: str) -> Native:
    """Writes one message; a result is its own message."""
    if message.role == "tool":
        return _write_result(message, dialect)
    builder = MessageBuilder(message.role, dialect)
    for part in message.parts:
        builder.add(part)
    drop_empty_name = {} if message.name is None else {"name": message.name}
    extra = of_message(get_extras(message.extras, dialect))
    return MESSAGE.put({**builder.native(), **drop_empty_name}, extra, sort=bool(drop_empty_name))


def _write_result(message: Message, dialect: str) -> Native:
    result = message.parts[0]
    assert isinstance(result, ToolResult)
    native = {"role": "tool", "tool_call_id": result.tool_call_id, "content": _write_value(result, dialect)}
    return RESULT.put(native, get_extras(message.extras, dialect))


def _write_value(result: ToolResult, dialect: str) -> Any:
    if result.kind != "multimodal":
        return text_of_result(result)
    builder = MessageBuilder("tool", dialect)
    for part in result.value:
        builder.add(part)
    return builder.content or ""


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

    return on_each_message(drop_empty_text)


def _is_empty(part: Part) -> bool:
    return part.__class__ is Text and not part.text


CONTENT_TYPES = ("text", "image", "document", "opaque")
