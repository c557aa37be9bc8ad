"""The intermediate format as a dialect: the only one that loses nothing.

Specification: `schemas/intermediate.schema.json`, version 1. The key `form` at the root of a document records how its
source was spelled. The engine writes and reads it (`engine/spelling`); it is not part of the transcript.
"""

from __future__ import annotations

from typing import Any

from convcli.kit.objects import Keys, Native, get_extras, omit
from convcli.model import fields
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import (
    MEDIA_KINDS,
    Media,
    Message,
    Opaque,
    Origin,
    Part,
    Path,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import links, tools, trees

NAME = "intermediate"
MARK, VERSION = "convcli", 1
"""The key of every document, and its value."""


PARTS: dict[str, Any] = {
    **{cls.type: cls for cls in (Text, Reasoning, Refusal, ToolCall, ToolResult, Opaque)},
    **dict.fromkeys(MEDIA_KINDS, Media),
}


ENCODED: dict[Any, dict[str, str]] = {
    cls: dict(zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True))
    for cls in (Text, Reasoning, Refusal, Media, ToolCall, ToolResult, Opaque, Message, ToolDefinition, Transcript)
}
"""By record type: JSON key → field."""

KEYS: dict[Any, Keys] = {
    Transcript: Keys((MARK, *fields.TRANSCRIPT, "form")),
    Message: Keys(fields.MESSAGE),
    ToolDefinition: Keys(fields.TOOL),
    **{cls: Keys(("type", *fields.PARTS[kind])) for kind, cls in PARTS.items()},
}


# ---------------------------------------------------------------- lift


def lift(document: Native) -> Transcript:
    """Returns the transcript of the document."""
    origin = Origin(NAME, node_path=())
    transcript: Transcript = _record(document, Transcript)
    transcript.messages = [_lift_message(message, i, origin) for i, message in enumerate(document["messages"])]
    tools = document.get("tools")
    if tools is not None:
        transcript.tools = [_record(tool, ToolDefinition) for tool in tools]
        origin.tools = [("tools", i) for i in range(len(tools))]
    transcript.origin = origin
    return transcript


def _lift_message(native: Native, index: int, origin: Origin) -> Message:
    message: Message = _record(native, Message)
    message.parts = [_lift_part(part) for part in native["parts"]]
    origin.places.append((("messages", index), [("parts", k) for k in range(len(message.parts))]))
    return message


def _lift_part(native: Native) -> Part:
    part: Part = _record(native, PARTS[native["type"]])
    if isinstance(part, ToolResult) and part.kind == "multimodal":
        part.value = [_lift_part(inner) for inner in part.value]
    return part


def _record(native: Native, cls: Any) -> Any:
    """Returns one record; unknown keys become extras."""
    names = ENCODED[cls]
    values = {names[key]: value for key, value in native.items() if key in names and value is not None}
    record = cls(**{**REQUIRED.get(cls, {}), **values})
    extra = KEYS[cls].extra(native)
    if extra:
        record.extras = {**(native.get("extras") or {}), NAME: extra}
    return record


REQUIRED: dict[Any, dict[str, Any]] = {ToolResult: {"value": None}, Opaque: {"value": None}}
"""Fields whose value may be null."""


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Native:
    """Returns the document; the engine adds `form` unless the form is `plain`."""
    document = _native(transcript)
    document["messages"] = [_write_message(message) for message in transcript.messages]
    if transcript.tools is not None:
        document["tools"] = [_finished(_native(tool), tool) for tool in transcript.tools]
    return _finished({MARK: VERSION, **document}, transcript)


def _write_message(message: Message) -> Native:
    native = _native(message)
    native["parts"] = [_write_part(part) for part in message.parts]
    return _finished(native, message)


def _write_part(part: Part) -> Native:
    native = _native(part)
    if isinstance(part, ToolResult) and part.kind == "multimodal":
        native["value"] = [_write_part(inner) for inner in part.value]
    return _finished(native, part)


def _native(record: Any) -> Native:
    """Returns a record as an object; the caller sets `messages`, `parts` and `tools`."""
    native: Native = {} if isinstance(record, (Message, ToolDefinition, Transcript)) else {"type": record.type}
    required = REQUIRED.get(type(record), {})
    for key, name in ENCODED[type(record)].items():
        value = getattr(record, name)
        if (value is not None or name in required) and name not in ("extras", "origin"):
            native[key] = value
    return native


def _finished(native: Native, record: Any) -> Native:
    """Returns the object in the key order of the format, with its extras and unknown keys."""
    extra = get_extras(record.extras, NAME)
    extras = omit(record.extras or {}, NAME)
    return KEYS[type(record)].put(native | ({"extras": extras} if extras else {}), extra, sort=True)


def _places() -> dict[str, Path]:
    """Returns the place of each field: its own key."""
    nodes: dict[str, Any] = {"message": Message, "tool": ToolDefinition, **PARTS}
    places: dict[str, Path] = {f"{node}.{key}": (key,) for node, cls in nodes.items() for key in ENCODED[cls]}
    return places | {key: (key,) for key in ENCODED[Transcript]} | {"extras": ("extras",)}


RULES = (
    links.paired(links.PairingRules(where="later")),
    tools.chosen(alone=tools.EVERY),
    tools.unique(),
    trees.rooted(),
)

DIALECT = Dialect(
    name=NAME,
    title="the intermediate format",
    aliases=("convcli", "ir"),
    specification="schemas/intermediate.schema.json, version 1",
    framings=("document", "records"),
    forms=("transcript", "plain"),
    lift=lift,
    write=write,
    fit=(),
    repeats=frozenset(("/form", "/convcli")),
    rules=RULES,
    places=_places(),
    carries_all=True,
    keeps_form=True,
    supports=fields.TEXTS.union(fields.FIELDS),
)
