"""Content parts of the Responses API, in messages and in the outputs of tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.families.openai import request as common
from convcli.families.openai.calls import text_of_result as said
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.values import DATA_URL
from convcli.model.transcript import Media, Opaque, Origin, Part, Refusal, Text, ToolResult
from convcli.wire import exact_json

TEXT = Keys(
    "type text annotations logprobs prompt_cache_breakpoint", carried="annotations logprobs prompt_cache_breakpoint"
)
REFUSAL = Keys("type refusal")
IMAGE = Keys("type image_url file_id detail prompt_cache_breakpoint", carried="prompt_cache_breakpoint")
FILE = Keys(
    "type file_data file_url file_id filename detail prompt_cache_breakpoint", carried="prompt_cache_breakpoint"
)
AUDIO = Keys("type input_audio")

AUTO = {"detail": "auto"}
"""The detail of an image in a message: the service wants the key, and this value says nothing."""


def take(keys: Keys, native: Native, usual: Native) -> tuple[Native, Spelling]:
    """What must be carried and how the object was spelled, where the `usual` values say nothing either."""
    carried, spelling = keys.take(native)
    quiet = {key: value for key, value in usual.items() if key in native and exact_json.exact(native[key], value)}
    if not quiet:
        return carried or {}, spelling or {}
    rest = {key: value for key, value in (carried or {}).items() if key not in quiet}
    return rest, {**(spelling or {}), "keys": list(native), "blank": {**(spelling or {}).get("blank", {}), **quiet}}


def inner(carried: Native, key: str) -> Native:
    """An object inside what is carried; empty where it is none, for what others put there is not checked."""
    value = carried.get(key)
    return value if isinstance(value, dict) else {}


def is_bare(part: Part, origin: Origin) -> bool:
    """Nothing but text, spelled as usual: a string could say the same."""
    return (
        isinstance(part, Text)
        and bool(part.text)
        and part.extras is None
        and part.metadata is None
        and id(part) not in origin.spellings
    )


# ---------------------------------------------------------------- lift


def lift_content(content: str | list[Native], text: str, origin: Origin) -> list[Part]:
    """The parts of a message; `text` is the type that text usually has in it."""
    if isinstance(content, str):
        return [Text(content)] if content else []
    return [lift_part(part, text, origin) for part in content]


def lift_part(native: Native, text: str, origin: Origin) -> Part:
    """One part; one of an unknown kind, or without what its kind is about, is opaque."""
    lift_one = LIFT.get(native["type"])
    lifted = None if lift_one is None else lift_one(native, origin.dialect)
    if lifted is None:
        return Opaque(origin.dialect, native)
    part, spelling = lifted
    if isinstance(part, Text) and native["type"] != text:
        spelling["type"] = native["type"]
    origin.spell(part, spelling)
    return part


Lifted = tuple[Part, Spelling] | None


def _lift_text(native: Native, dialect: str) -> Lifted:
    carried, spelling = take(TEXT, native, {})
    return Text(native["text"], extras=extras_of(dialect, carried)), spelling


def _lift_refusal(native: Native, dialect: str) -> Lifted:
    carried, spelling = take(REFUSAL, native, {})
    return Refusal(native["refusal"], extras=extras_of(dialect, carried)), spelling


def _lift_image(native: Native, dialect: str) -> Lifted:
    carried, spelling = take(IMAGE, native, AUTO)
    url, file_id, detail = (native.get(key) or None for key in ("image_url", "file_id", "detail"))
    detail = None if detail == "auto" else detail
    if url is None:
        return None if file_id is None else (_image(dialect, carried, file_id=file_id, detail=detail), spelling)
    if file_id is not None:
        carried["file_id"] = file_id
    return common.media_of_url("image", url, detail=detail, extras=extras_of(dialect, carried)), spelling


def _image(dialect: str, carried: Native, **fields: Any) -> Media:
    return Media("image", extras=extras_of(dialect, carried), **fields)


def _lift_file(native: Native, dialect: str) -> Lifted:
    """The first of data, URL and id is the file; others beside it are carried."""
    carried, spelling = take(FILE, native, {})
    given = [key for key in ("file_data", "file_url", "file_id") if native.get(key)]
    if not given:
        return None
    carried |= {key: native[key] for key in given[1:]}
    kind, value = given[0], native[given[0]]
    if value.startswith("data:") != (kind == "file_data"):
        spelling["in"] = kind
    media = (
        common.media_of_url("document", value) if kind == "file_data" and "in" not in spelling else Media("document")
    )
    if kind == "file_id":
        media.file_id = value
    elif kind == "file_url":
        media.url = value
    elif "in" in spelling:
        media.data = value
    media.name, media.detail = native.get("filename") or None, native.get("detail") or None
    media.extras = extras_of(dialect, carried)
    return media, spelling


def _lift_audio(native: Native, dialect: str) -> Lifted:
    body = native.get("input_audio")
    if not isinstance(body, dict) or list(body) != ["data", "format"] or body["format"] not in common.AUDIO_FORMATS:
        return None
    carried, spelling = take(AUDIO, native, {})
    media_type = common.AUDIO_FORMATS[body["format"]]
    return Media("audio", data=body["data"], media_type=media_type, extras=extras_of(dialect, carried)), spelling


LIFT: dict[str, Callable[[Native, str], Lifted]] = {
    "input_text": _lift_text,
    "output_text": _lift_text,
    "text": _lift_text,
    "refusal": _lift_refusal,
    "input_image": _lift_image,
    "input_file": _lift_file,
    "input_audio": _lift_audio,
}


def lift_output(output: str | list[Native], origin: Origin) -> tuple[Any, Any, Native, Spelling]:
    """Kind and value of what a tool answered, what must be carried of it, and how it was spelled.

    A list with a part that is neither text nor media is carried whole.
    """
    if isinstance(output, str):
        return "text", output, {}, {}
    parts = [lift_part(part, "input_text", origin) for part in output]
    known: list[Part] = [part for part in parts if isinstance(part, (Text, Media))]
    carried = {"output": output} if len(known) < len(parts) else {}
    if len(known) == 1 and is_bare(known[0], origin):
        return "text", known[0].text, carried, {} if carried else {"output": "list"}  # type: ignore[union-attr]
    return "multimodal", known, carried, {}


# ---------------------------------------------------------------- lower


def lower_part(part: Part, role: str, dialect: str, spelling: Spelling, *, own: bool) -> Native | None:
    """A content part; None where the service takes none such in a message of this role."""
    if isinstance(part, Opaque):
        return part.value if part.dialect == dialect else None
    if isinstance(part, Text):
        text = spelling.get("type", "output_text" if role == "assistant" else "input_text")
        carried = {key: value for key, value in carried_by(part.extras, dialect).items() if key != "item"}
        return TEXT.put({"type": text, "text": part.text}, carried, spelling)
    if isinstance(part, Media):
        return lower_media(part, dialect, spelling, own=own) if role != "assistant" or own else None
    if isinstance(part, Refusal) and (role == "assistant" or own):
        carried = {key: value for key, value in carried_by(part.extras, dialect).items() if key != "item"}
        return REFUSAL.put({"type": "refusal", "refusal": part.text}, carried, spelling)
    return None


def lower_media(media: Media, dialect: str, spelling: Spelling, *, own: bool) -> Native | None:
    """An image or a file; audio only where it came from here, for the service lists it no more."""
    carried = {key: value for key, value in carried_by(media.extras, dialect).items() if key != "item"}
    if media.type == "image":
        source = _image_source(media)
        detail = {"detail": media.detail} if media.detail is not None else {} if own else AUTO
        return IMAGE.put({"type": "input_image", **source, **detail}, carried, spelling) if source else None
    if media.type == "document":
        source = _file_source(media, spelling)
        more = {"filename": media.name, "detail": media.detail}
        said = {key: value for key, value in more.items() if value is not None}
        return FILE.put({"type": "input_file", **source, **said}, carried, spelling) if source else None
    format_ = common.AUDIO_TYPES.get(media.media_type or "")
    if not own or media.data is None or format_ is None:
        return None
    return AUDIO.put({"type": "input_audio", "input_audio": {"data": media.data, "format": format_}}, carried, spelling)


def _image_source(media: Media) -> Native:
    url = common.url_of_media(media)
    if url is not None:
        return {"image_url": url}
    return {} if media.file_id is None else {"file_id": media.file_id}


def _file_source(media: Media, spelling: Spelling) -> Native:
    if media.data is not None:
        bare = spelling.get("in") == "file_data"
        type_ = media.media_type or "application/octet-stream"
        return {"file_data": media.data if bare else DATA_URL.format(type_, media.data)}
    if media.url is not None:
        given = "file_data" if media.url.startswith("data:") else "file_url"
        return {spelling.get("in", given): media.url}
    return {} if media.file_id is None else {"file_id": media.file_id}


def lower_output(result: ToolResult, dialect: str, spellings: dict[int, Spelling], *, own: bool) -> str | list[Native]:
    """What a tool answered: a list of parts, or text. There is no field for a failure, nor for data."""
    if result.kind != "multimodal":
        text = said(result)
        listed = spellings.get(id(result), {}).get("output") == "list" if spellings else False
        return [{"type": "input_text", "text": text}] if listed else text
    parts = (
        lower_part(part, "tool", dialect, spellings.get(id(part), {}) if spellings else {}, own=own)
        for part in result.value
    )
    return [part for part in parts if part is not None]


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How `lift` reads back a result for which the service has no field of its own."""
    if result.kind == "multimodal":
        only = result.value[0] if len(result.value) == 1 else None
        bare = isinstance(only, Text) and only.text and only.extras is None and only.metadata is None
        return ("text", only.text) if bare else None  # type: ignore[union-attr]
    return ("text", said(result)) if result.kind != "text" else None
