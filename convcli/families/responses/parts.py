"""Content parts of the Responses API, in messages and in tool outputs.

Specification: `ResponseInputContent`, `ResponseOutputMessage.content` and `FunctionCallOutput.output` of the [API
reference](https://platform.openai.com/docs/api-reference/responses), Python SDK `openai` 3.51.0; read 2026-11-20.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from convcli.families.openai import request as common
from convcli.families.openai.calls import text_of_result
from convcli.kit.objects import NOTHING, Keys, Native, as_object, get_extras, make_extras, omit, without_nulls
from convcli.kit.texts import only_text
from convcli.kit.values import DATA_URL
from convcli.model.dialect import Convention
from convcli.model.transcript import Media, Opaque, Part, Refusal, Text, ToolResult

PLACEMENT = "item in"
"""Extras keys for the item of a part: they belong to the item, not to the part."""
TEXT = Keys("type= text= annotations logprobs prompt_cache_breakpoint", groups=PLACEMENT)
REFUSAL = Keys("type refusal", groups=PLACEMENT)
IMAGE = Keys("type= image_url= file_id= detail= prompt_cache_breakpoint", groups=PLACEMENT)
FILE = Keys("type= file_data= file_url= file_id= filename= detail= prompt_cache_breakpoint", groups=PLACEMENT)
AUDIO = Keys("type input_audio", groups=PLACEMENT)

AUTO = "auto"
"""The default detail of an image in a message. The service requires the key."""


def object_in(extra: Native, key: str) -> Native:
    """Returns an object inside extras; empty if it is not one, because extras of others are not checked."""
    return as_object(extra.get(key))


# ---------------------------------------------------------------- lift


def lift_content(content: str | list[Native], dialect: str) -> list[Part]:
    """Lifts the parts of a message."""
    if isinstance(content, str):
        return [Text(content)] if content else []
    return [lift_part(part, dialect) for part in content]


def lift_part(native: Native, dialect: str) -> Part:
    """Lifts one part; one of an unknown kind, or without its main key, is opaque."""
    if len(native) == 2 and native["type"] in TEXTS:  # most parts
        return Text(native["text"])
    lift_one = LIFT.get(native["type"])
    part = None if lift_one is None else lift_one(native, dialect)
    return Opaque(dialect, native) if part is None else part


def _lift_text(native: Native, dialect: str) -> Part:
    return Text(native["text"], extras=make_extras(dialect, TEXT.extra(native)))


def _lift_refusal(native: Native, dialect: str) -> Part:
    return Refusal(native["refusal"], extras=make_extras(dialect, REFUSAL.extra(native)))


def _lift_image(native: Native, dialect: str) -> Part | None:
    """Lifts an image by its URL; an id next to it is kept in extras."""
    extra = IMAGE.extra(native) or {}
    url, file_id, detail = (native.get(key) or None for key in ("image_url", "file_id", "detail"))
    if url is None and file_id is None:
        return None
    if url is None:
        media = Media("image", file_id=file_id)
    else:
        media = common.media_of_url("image", url)
        extra |= {"file_id": file_id} if file_id is not None else {}
    media.detail = None if detail == AUTO else detail
    media.extras = make_extras(dialect, extra)
    return media


def _lift_file(native: Native, dialect: str) -> Part | None:
    """Lifts a file by the first of data, URL and id; the others are kept in extras."""
    sources = [key for key in ("file_data", "file_url", "file_id") if native.get(key)]
    if not sources:
        return None
    media = _file_of(sources[0], native[sources[0]])
    media.name, media.detail = native.get("filename") or None, native.get("detail") or None
    other_sources = {key: native[key] for key in sources[1:]}
    media.extras = make_extras(dialect, {**(FILE.extra(native) or {}), **other_sources})
    return media


def _file_of(key: str, value: str) -> Media:
    if key == "file_id":
        return Media("document", file_id=value)
    if key == "file_url" or value.startswith("data:"):
        return common.media_of_url("document", value)
    return Media("document", data=value)


def _lift_audio(native: Native, dialect: str) -> Part | None:
    body = native.get("input_audio")
    if not isinstance(body, dict) or body.keys() != {"data", "format"} or body["format"] not in common.AUDIO_FORMATS:
        return None
    media_type = common.AUDIO_FORMATS[body["format"]]
    return Media("audio", data=body["data"], media_type=media_type, extras=make_extras(dialect, AUDIO.extra(native)))


TEXTS = ("input_text", "output_text", "text")
LIFT: dict[str, Callable[[Native, str], Part | None]] = {
    **dict.fromkeys(TEXTS, _lift_text),
    "refusal": _lift_refusal,
    "input_image": _lift_image,
    "input_file": _lift_file,
    "input_audio": _lift_audio,
}


Output = tuple[Literal["text", "multimodal"], Any]


def lift_output(output: str | list[Native], dialect: str) -> tuple[Output, bool]:
    """Returns kind and value of a tool output, and whether they are complete: they cannot store parts other than texts
    and media.

    One bare text in a list is the same as that text.
    """
    if isinstance(output, str):
        return ("text", output), True
    parts = [lift_part(part, dialect) for part in output]
    known: list[Part] = [part for part in parts if isinstance(part, (Text, Media))]
    text = only_text(known) or None
    return ("multimodal", known) if text is None else ("text", text), len(known) == len(parts)


# ---------------------------------------------------------------- write


def write_part(part: Part, role: str, dialect: str) -> Native | None:
    """Writes a content part of a message with this role, or of an output; None for a part that is not content."""
    extra = omit(get_extras(part.extras, dialect), *PLACEMENT.split()) if part.extras else NOTHING
    if isinstance(part, Text):
        native = {"type": "output_text" if role == "assistant" else "input_text", "text": part.text}
        return TEXT.put(native, extra) if extra else native
    if isinstance(part, Opaque):
        return part.value if part.dialect == dialect else None
    if isinstance(part, Refusal):
        return REFUSAL.put({"type": "refusal", "refusal": part.text}, extra)
    write_one = WRITE_MEDIA.get(part.type)
    return None if write_one is None else write_one(part, extra)  # type: ignore[arg-type]


def _write_image(media: Media, extra: Native) -> Native | None:
    url = common.url_of_media(media)
    if url is None and media.file_id is None:
        return None
    source = {"image_url": url} if url is not None else {"file_id": media.file_id}
    return IMAGE.put({"type": "input_image", **source, "detail": media.detail or AUTO}, extra)


def _write_file(media: Media, extra: Native) -> Native | None:
    source = _source_of_file(media)
    if source is None:
        return None
    other_fields = without_nulls({"filename": media.name, "detail": media.detail})
    return FILE.put({"type": "input_file", **source, **other_fields}, extra)


def _source_of_file(media: Media) -> Native | None:
    if media.data is not None:
        is_typed = media.media_type is not None
        return {"file_data": DATA_URL.format(media.media_type, media.data) if is_typed else media.data}
    if media.url is not None:
        return {"file_data" if media.url.startswith("data:") else "file_url": media.url}
    return None if media.file_id is None else {"file_id": media.file_id}


def _write_audio(media: Media, extra: Native) -> Native | None:
    format_ = common.AUDIO_TYPES.get(media.media_type or "")
    if media.data is None or format_ is None:
        return None
    return AUDIO.put({"type": "input_audio", "input_audio": {"data": media.data, "format": format_}}, extra)


WRITE_MEDIA: dict[str, Callable[[Media, Native], Native | None]] = {
    "image": _write_image,
    "document": _write_file,
    "audio": _write_audio,
}


def write_output(result: ToolResult, dialect: str) -> str | list[Native]:
    """Writes a tool output: text, or a list of parts."""
    if result.kind != "multimodal":
        return text_of_result(result)
    parts = (write_part(part, "tool", dialect) for part in result.value)
    return [part for part in parts if part is not None]


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns how `lift` reads back a result for which the service has no field."""
    if result.kind == "multimodal":
        text = only_text(result.value) or None
        return None if text is None else ("text", text)
    return ("text", text_of_result(result)) if result.kind != "text" else None


RESULTS = Convention(
    _express,
    {
        "error": ("encoded", 'an output has no field for a failure: written as {"error": …}'),
        "data": ("changed", "an output is text or parts: the data is written as JSON"),
        "multimodal": ("changed", "one part of text is the same as text"),
    },
)
