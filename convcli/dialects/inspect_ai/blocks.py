"""The content blocks of Inspect, and strings that are referenced by hash."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.kit.blocks import Block, BlockRows, in_metadata
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Fields
from convcli.kit.objects import Native, drop_extra_keys, omit
from convcli.kit.settings import Setting, whole
from convcli.kit.values import DATA_URL, MEDIA_TYPES
from convcli.model.transcript import Media, MediaKind, Part, Reasoning, Refusal, Text

NAME = "inspect-ai"
ROWS = BlockRows(NAME, "type")
ATTACHMENT = "attachment://"
FORMATS = {"audio": ("wav", "mp3"), "video": ("mp4", "mpeg", "mov")}
"""The formats that media must name; the first is the default."""
TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg", "mov": "video/quicktime"}
FORMAT_OF_TYPE = {media_type: name for name, media_type in TYPES.items()} | {"audio/mp3": "mp3", "audio/x-wav": "wav"}


def resolved(value: Any, attachments: Native) -> Any:
    """Returns the value with references replaced by attachments; unknown references stay."""
    if isinstance(value, str):
        text = attachments.get(value.removeprefix(ATTACHMENT)) if value.startswith(ATTACHMENT) else None
        return text if isinstance(text, str) else value
    if isinstance(value, list):
        return [resolved(item, attachments) for item in value]
    return {key: resolved(item, attachments) for key, item in value.items()} if isinstance(value, dict) else value


def _refusal() -> Block:
    """Returns the block for a text that is marked as a refusal."""
    block = ROWS.record("text", Refusal(""), "type text refusal citations", {"text": whole("text")})

    def read(native: Native, context: LiftContext) -> Part | None:
        others = omit(native, "refusal")
        return block.read(others, context) if native.get("refusal") is True else None

    def write(part: Any) -> Native | None:
        native = block.write(part)
        return None if native is None else {**native, "refusal": True}

    return replace(block, read=read, write=write)


def _media(kind: MediaKind, order: str, fields: Fields) -> Block:
    """Returns the block for media: a URL, a data URL, or a path if it is neither."""
    block = ROWS.media(kind, kind, order, {kind: "url", **fields})
    formats = FORMATS.get(kind, ())

    def read(native: Native, context: LiftContext) -> Part | None:
        part = block.read(native, context)
        if not isinstance(part, Media):
            return part
        if part.url is not None and ":" not in part.url:
            part.url, part.path = None, part.url
        stated = native.get("format")
        if formats and stated in ((FORMAT_OF_TYPE.get(part.media_type),) if part.media_type else TYPES):
            part.media_type = part.media_type or TYPES[native["format"]]
            part.extras = drop_extra_keys(part.extras, NAME, "format")
        return part

    def write(part: Media) -> Native | None:
        media_type = part.media_type or MEDIA_TYPES[kind]
        source = part.path or part.url or (DATA_URL.format(media_type, part.data) if part.data is not None else None)
        native = None if source is None else block.write(replace(part, url=source, data=None, path=None))
        if native is None or not formats:
            return native
        name = FORMAT_OF_TYPE.get(media_type)
        return {**native, "format": native.get("format", name)} if name in formats or "format" in native else None

    return replace(block, read=read, write=write)


def _reasoning(*, is_redacted: bool) -> Block:
    """Returns the block for a thought; if redacted, its text is the provider's encrypted data."""
    text = in_metadata("redactedData") if is_redacted else whole("text")
    signature: Fields = {} if is_redacted else {"signature": in_metadata("signature")}
    fields = {"reasoning": text, "summary": SUMMARY, **signature}
    block = ROWS.record("reasoning", Reasoning(""), "type reasoning summary signature redacted", fields)

    def read(native: Native, context: LiftContext) -> Part | None:
        others = omit(native, "redacted")
        return block.read(others, context) if bool(native.get("redacted")) is is_redacted else None

    def write(part: Any) -> Native | None:
        if is_redacted is not ("redactedData" in (part.metadata or {}) and not part.text):
            return None
        native = block.write(part)
        return {**native, "redacted": True} if native is not None and is_redacted else native

    return replace(block, read=read, write=write)


SUMMARY = Setting("summary", lambda text: [text], lambda texts: "\n\n".join(texts) or None)
BLOCKS = ROWS.table(
    _refusal(),
    ROWS.record("text", Text(""), "type text refusal citations", {"text": whole("text")}),
    _reasoning(is_redacted=True),
    _reasoning(is_redacted=False),
    _media("image", "type image detail", {"detail": "detail"}),
    _media("audio", "type audio format", {}),
    _media("video", "type video format", {}),
    _media("document", "type document filename mime_type", {"filename": "name", "mime_type": "media_type"}),
)
