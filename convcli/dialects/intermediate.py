"""The intermediate format itself, as a dialect: the only one that loses nothing.

Specification: `schemas/intermediate.schema.json`, version 1. In the document, `extras.form` of a node holds what
`Origin` keeps beside the records: how the dialect that was lifted spelled the node. It is not compared.
"""

from __future__ import annotations

from typing import Any

from convcli.kit.objects import Keys, Native, Spelling
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.transcript import (
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
from convcli.validation.rules import arguments, links, tools, trees
from convcli.wire import exact_json

NAME = "intermediate"
MARK, VERSION = "convcli", 1
"""The key that every document has, and its value."""

FORM = "form"
"""The member of extras that holds spellings; no dialect can have this name."""

PARTS: dict[str, Any] = {
    **{cls.type: cls for cls in (Text, Reasoning, Refusal, ToolCall, ToolResult, Opaque)},
    **dict.fromkeys(("image", "audio", "video", "document"), Media),
}


ENCODED: dict[Any, dict[str, str]] = {
    cls: dict(zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True))
    for cls in (Text, Reasoning, Refusal, Media, ToolCall, ToolResult, Opaque, Message, ToolDefinition, Transcript)
}
"""For each record, its fields by their names in JSON."""

KEYS: dict[Any, Keys] = {
    Transcript: Keys("convcli id title model cwd createdAt updatedAt tools toolChoice settings messages head extras"),
    Message: Keys("role id parentId createdAt name model parts stopReason usage error extras"),
    ToolDefinition: Keys("name description parameters strict title outputSchema annotations extras"),
    **{cls: Keys(" ".join(dict.fromkeys(["type", *ENCODED[cls]]))) for cls in dict.fromkeys(PARTS.values())},
}


def detect(document: Any) -> Clue | None:
    """By the member `convcli`, which holds the version."""
    if isinstance(document, dict) and MARK in document and "messages" in document:
        return Clue(100, "the member convcli")
    return None


# ---------------------------------------------------------------- lift


def lift(document: Native) -> Transcript:
    """The transcript that the document spells out; the spellings of another dialect come back beside it."""
    form = (document.get("extras") or {}).get(FORM) or {}
    origin = Origin(next(iter(form), NAME), spot=())
    transcript: Transcript = _record(document, Transcript, origin)
    origin.document = origin.spellings.pop(id(transcript), {})
    origin.invented = set(origin.document.pop(INVENTED, ()))
    if not exact_json.exact(document[MARK], VERSION):
        origin.document[NAME] = {**origin.document.get(NAME, {}), MARK: document[MARK]}
    transcript.messages = [_lift_message(message, i, origin) for i, message in enumerate(document["messages"])]
    tools = document.get("tools")
    if tools is not None:
        transcript.tools = [_record(tool, ToolDefinition, origin) for tool in tools]
        origin.tools = [("tools", i) for i in range(len(tools))]
    transcript.origin = origin
    return transcript


def _lift_message(native: Native, index: int, origin: Origin) -> Message:
    message: Message = _record(native, Message, origin)
    message.parts = [_lift_part(part, origin) for part in native["parts"]]
    origin.places.append((("messages", index), [("parts", k) for k in range(len(message.parts))]))
    return message


def _lift_part(native: Native, origin: Origin) -> Part:
    part: Part = _record(native, PARTS[native["type"]], origin)
    if isinstance(part, ToolResult) and part.kind == "multimodal":
        part.value = [_lift_part(inner, origin) for inner in part.value]
    return part


def _record(native: Native, cls: Any, origin: Origin) -> Any:
    """One record: what the format does not know is carried, the form of the node goes back to `origin`."""
    names = ENCODED[cls]
    values = {names[key]: value for key, value in native.items() if key in names and value is not None}
    record = cls(**{**REQUIRED.get(cls, {}), **values})
    carried, spelling = KEYS[cls].take(native)
    extras = dict(native.get("extras") or {})
    form = extras.pop(FORM, {})
    if carried:
        extras[NAME] = carried
    record.extras = extras or None
    origin.spell(record, {**form.get(origin.dialect, {}), **({NAME: spelling} if spelling else {})})
    return record


REQUIRED: dict[Any, dict[str, Any]] = {ToolResult: {"value": None}, Opaque: {"value": None}}
"""Fields whose value may be null."""

INVENTED = "invented"
"""The member of the form of the transcript with the ids that a lift had to make up."""


# ---------------------------------------------------------------- lower


def lower(transcript: Transcript, options: Options) -> Native:
    """The document; with `form="plain"` without the spellings of the source."""
    origin = None if options.form == "plain" else transcript.origin
    document = _native(transcript, origin)
    document["messages"] = [_lower_message(message, origin) for message in transcript.messages]
    if transcript.tools is not None:
        document["tools"] = [_native(tool, origin) for tool in transcript.tools]
    form = dict(origin.document) if origin is not None else {}
    own = form.pop(NAME, None)
    if origin is not None and origin.invented and origin.dialect != NAME:
        form[INVENTED] = sorted(origin.invented)
    return _finish({MARK: (own or {}).get(MARK, VERSION), **document}, transcript, form, own, origin)


def _lower_message(message: Message, origin: Origin | None) -> Native:
    native = _native(message, origin)
    native["parts"] = [_lower_part(part, origin) for part in message.parts]
    return native


def _lower_part(part: Part, origin: Origin | None) -> Native:
    native = _native(part, origin)
    if isinstance(part, ToolResult) and part.kind == "multimodal":
        native["value"] = [_lower_part(inner, origin) for inner in part.value]
    return native


def _native(record: Any, origin: Origin | None) -> Native:
    """A record as an object; `messages`, `parts` and `tools` are put in by the caller, at their place."""
    native: Native = {} if isinstance(record, (Message, ToolDefinition, Transcript)) else {"type": record.type}
    required = REQUIRED.get(type(record), {})
    for key, name in ENCODED[type(record)].items():
        value = getattr(record, name)
        if (value is not None or name in required) and name not in ("extras", "origin"):
            native[key] = value
    if isinstance(record, Transcript):
        return native
    form = dict(origin.spellings.get(id(record), {})) if origin is not None else {}
    return _finish(native, record, form, form.pop(NAME, None), origin)


def _finish(native: Native, record: Any, form: Spelling, own: Spelling | None, origin: Origin | None) -> Native:
    extras: Native = {name: carried for name, carried in (record.extras or {}).items() if name != NAME}
    if form and origin is not None:
        extras[FORM] = {origin.dialect: form}
    keys = KEYS[type(record)]
    native = {key: native[key] for key in keys.sorted(native)}
    if extras:
        native["extras"] = extras
    return keys.put(native, (record.extras or {}).get(NAME), own)


def _places() -> dict[str, Path]:
    """In the document of the format every field stands under its own name."""
    nodes: dict[str, Any] = {"message": Message, "tool": ToolDefinition, **PARTS}
    places: dict[str, Path] = {f"{node}.{key}": (key,) for node, cls in nodes.items() for key in ENCODED[cls]}
    return places | {key: (key,) for key in ENCODED[Transcript]} | {"extras": ("extras",)}


RULES = (
    links.paired(links.Manner(where="later")),
    arguments.not_filled(),
    tools.chosen(alone=tools.EVERY),
    tools.unique(),
    trees.rooted(),
)

DIALECT = Dialect(
    name=NAME,
    title="the intermediate format",
    specification="schemas/intermediate.schema.json, version 1",
    framings=("document", "records"),
    forms=("transcript", "plain"),
    detect=detect,
    lift=lift,
    lower=lower,
    rules=RULES,
    places=_places(),
    carries_all=True,
)
