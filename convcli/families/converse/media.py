"""Media of Amazon Bedrock's Converse API: formats, sources and document names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit, together, without_nulls
from convcli.kit.values import pairs
from convcli.model.transcript import Media, MediaKind, Part, ToolDefinition


class ConverseService(NamedTuple):
    """What differs between Converse and its relatives.

    `owner` is the name for keys without a field · `location` is the kind of source for a file in S3, `location_type`
    its key for that · `encoded`: bytes are base64 in an object, as in the JSON files of Strands Agents ·
    `success` is the status of a result that has not failed, if one is stated.
    """

    owner: str
    location: str = "s3Location"
    location_type: Mapping[str, str] = {}
    encoded: bool = False
    success: str | None = None

    def lift_bytes(self, value: Any) -> str | None:
        """Returns base64; None for an object that has anything else."""
        if isinstance(value, dict):
            return value["data"] if value.keys() == ENCODED else None
        return value  # type: ignore[no-any-return]

    def write_bytes(self, data: str) -> Any:
        """Returns base64 as this service stores it in JSON."""
        return {"__bytes_encoded__": True, "data": data} if self.encoded else data


MEDIA: dict[MediaKind, Keys] = {
    "image": Keys("format= source= error", groups="cachePoint"),
    "document": Keys("format= name= source= context citations", groups="cachePoint"),
    "video": Keys("format source", groups="cachePoint"),
    "audio": Keys("format= source= error", groups="cachePoint"),
}

S3 = Keys("type uri= bucketOwner")

ENCODED = {"__bytes_encoded__", "data"}
"""The keys of bytes in an object."""
FIELD = {"bytes": "data", "text": "text", "content": "text"}
"""The `Media` field for each kind of source except a file in S3, which is a URL."""

OFFICE = "application/vnd.openxmlformats-officedocument."
TYPES = {
    "image": pairs("png=image/png jpeg=image/jpeg gif=image/gif webp=image/webp"),
    "document": pairs(
        "pdf=application/pdf csv=text/csv html=text/html txt=text/plain md=text/markdown doc=application/msword "
        f"docx={OFFICE}wordprocessingml.document xls=application/vnd.ms-excel xlsx={OFFICE}spreadsheetml.sheet"
    ),
    "video": pairs(
        "mp4=video/mp4 mov=video/quicktime mkv=video/x-matroska webm=video/webm flv=video/x-flv mpeg=video/mpeg "
        "mpg=video/mpeg wmv=video/x-ms-wmv three_gp=video/3gpp"
    ),
    "audio": pairs(
        "mp3=audio/mpeg wav=audio/wav aac=audio/aac flac=audio/flac opus=audio/opus ogg=audio/ogg mp4=audio/mp4 "
        "mka=audio/x-matroska webm=audio/webm pcm=audio/pcm mkv=audio/x-matroska m4a=audio/mp4 x-aac=audio/aac "
        "mpeg=audio/mpeg mpga=audio/mpeg"
    ),
}
"""The media type of each format; of several formats with one type, the first is written."""

FORMATS = {kind: {media_type: name for name, media_type in reversed(table.items())} for kind, table in TYPES.items()}


def kind_of(union: Native) -> str:
    """Returns the name of the one member that is set; empty if none or several are set."""
    members = [key for key, value in union.items() if value is not None]
    return members[0] if len(members) == 1 else ""


def other_keys(part: Part | ToolDefinition, owner: str) -> Native:
    """Returns the extras that belong in the block itself."""
    extra = get_extras(part.extras, owner)
    return omit(extra, "cachePoint")


# ---------------------------------------------------------------- lift


def lift_media(kind: MediaKind, body: Native, service: ConverseService) -> Media | None:
    """Returns media, or None for an unknown kind of source."""
    form, format_ = kind_of(body["source"]), body.get("format") or ""
    field = "url" if form == service.location else FIELD.get(form)
    value, rest = (None, {}) if field is None else _lift_source(form, body["source"], service)
    if field is None or value is None:
        return None
    media_type = TYPES[kind].get(format_)
    extra = {**(MEDIA[kind].extra(body) or {}), **({"source": rest} if rest else {})}
    if format_ and media_type is None:
        extra["format"] = format_
    name = body["name"] or None if kind == "document" else None
    fields: dict[str, Any] = {field: value, "media_type": media_type, "name": name}
    return Media(kind, **fields, extras=make_extras(service.owner, extra))


def _lift_source(form: str, source: Native, service: ConverseService) -> tuple[str | None, Native]:
    """Returns the value of a source, and what must be kept in extras."""
    value = source[form]
    if form == "bytes":
        return service.lift_bytes(value), {}
    if form == service.location:
        if not value.items() >= service.location_type.items():
            return None, {}
        extra = S3.extra(omit(value, *service.location_type))
        return value["uri"], {"s3Location": extra} if extra else {}
    return (_text_of(value), {"content": value}) if form == "content" else (value, {})


def _text_of(content: list[Native]) -> str | None:
    """Returns the text of a document given in pieces; None if any piece is not text."""
    texts = [block["text"] for block in content if block.keys() == {"text"}]
    return "\n".join(texts) if len(texts) == len(content) else None


# ---------------------------------------------------------------- write


def write_media(media: Media, service: ConverseService) -> Native | None:
    """Returns the body of a media block."""
    extra = other_keys(media, service.owner)
    source = _write_source(media, extra.pop("source", {}), service)
    if source is None:
        return None
    format_ = FORMATS[media.type].get(media.media_type or "") or extra.get("format")
    name = media.name or "" if media.type == "document" else None
    native = without_nulls({"format": format_ or None, "name": name, "source": source})
    return MEDIA[media.type].ordered({**together(extra), **native})


def _write_source(media: Media, extra: Native, service: ConverseService) -> Native | None:
    if media.data is not None:
        return {"bytes": service.write_bytes(media.data)}
    if media.text is not None:
        content = extra.get("content")
        return {"content": content} if content is not None and _text_of(content) == media.text else {"text": media.text}
    if media.url is None:
        return None
    stated = {**service.location_type, "uri": media.url}
    return {service.location: S3.put(stated, extra.get("s3Location"))}
