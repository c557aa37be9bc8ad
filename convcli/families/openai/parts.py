"""The content parts of Chat Completions: text, refusal, images, audio, files."""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from convcli.families.openai import request as common
from convcli.kit.blocks import Block, BlockRows, BlockTable
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.renaming import Alphabet, identifiers
from convcli.kit.settings import Setting, whole
from convcli.kit.values import split_data_url
from convcli.model.transcript import Media, Part, Refusal, Text

NAMES, IDS = identifiers(64), Alphabet("", "", 40)
"""The accepted names of tools and ids of calls."""

AUDIO = Keys("id= data= expires_at transcript")
URLS = ("data:", "https://", "http://")
TEXT = "type text refusal"
IMAGE = {"url": whole("url"), "detail": whole("detail")}
SOUND = {
    "data": whole("data"),
    "format": Setting("media_type", common.AUDIO_FORMATS.get, common.AUDIO_TYPES.get),
}
FILE = {"file_data": whole("url"), "file_id": whole("file_id"), "filename": whole("name")}


@cache
def parts_of(owner: str) -> BlockTable:
    """Returns the content parts of the dialect that owns their other keys."""
    rows = BlockRows(owner, "type")
    return rows.table(_text(rows, Text("")), _text(rows, Refusal("")), *media_of(rows))


def _text(rows: BlockRows, blank: Text | Refusal) -> Block:
    """Returns a content part whose text has the name of its type; one without is kept as it is."""
    block = rows.record(blank.type, blank, TEXT, {blank.type: whole("text")})

    def read(native: Native, context: LiftContext) -> Part | None:
        return block.read(native, context) if isinstance(native.get(blank.type), str) else None

    return replace(block, read=read)


def media_of(rows: BlockRows) -> tuple[Block, ...]:
    """Returns the content parts that are media."""
    return (
        image_of(rows),
        sound_of(rows),
        rows.member("file", Media("document"), FILE).adapted(_lift_file, _write_file),
    )


def image_of(rows: BlockRows) -> Block:
    """Returns the content part of an image with a URL, which may contain its data."""
    return with_url(rows.member("image_url", Media("image", url=""), IMAGE, "url"))


def sound_of(rows: BlockRows) -> Block:
    """Returns the content part of audio with its data, in a format that the API has."""
    return rows.member("input_audio", Media("audio", data=""), SOUND, "data").adapted(_audio, _audio)


def with_url(block: Block) -> Block:
    """Returns the block of media that have a URL, for media that have one or data."""
    return block.adapted(split_url, _join_url)


def split_url(media: Media) -> Media:
    """Returns media with the data of their URL, if it has it."""
    split = split_data_url(media.url or "")
    return media if split is None else replace(media, url=None, media_type=split[0], data=split[1])


def _join_url(media: Media) -> Media | None:
    url = common.url_of_media(media)
    return None if url is None else replace(media, url=url)


def _audio(media: Media) -> Media | None:
    return media if media.data is not None and media.media_type in common.AUDIO_TYPES else None


def _lift_file(file: Media) -> Media | None:
    """Lifts a file with its data, as a data URL, or an id; one with neither or both is kept in extras. The service
    accepts no URL of a file, but people write them."""
    if (file.url is None) == (file.file_id is None) or not (file.url or "data:").startswith(URLS):
        return None
    return split_url(file)


def _write_file(file: Media) -> Media | None:
    url = common.url_of_media(file)
    if url is None:
        return None if file.file_id is None else file
    return replace(file, url=url) if url.startswith("data:") else None


def write_media(media: Media, owner: str) -> Native | None:
    """Writes media as a content part; None if the API cannot express them."""
    return parts_of(owner).write(media)


def usual_audio(media: Media) -> Media:
    """Gives audio the usual name of its type (`audio/mpeg` for `audio/mp3`)."""
    usual = common.AUDIO_FORMATS.get(common.AUDIO_TYPES.get(media.media_type or "", ""), media.media_type)
    return media if usual == media.media_type else replace(media, media_type=usual)


def lift_answer_audio(native: Native, dialect: str) -> Media:
    """Lifts audio of an answer, or only its id, which is a fact of its own."""
    extra = AUDIO.extra(native) or {}
    if not native.get("data"):
        return Media("audio", file_id=native["id"], extras=make_extras(dialect, {"audio": extra} if extra else None))
    extra = {"id": native["id"], **extra}
    return Media("audio", data=native["data"], extras=make_extras(dialect, {"audio": extra}))


def write_answer_audio(media: Media, dialect: str) -> Native | None:
    """Writes audio of an assistant, which always has an id; None for audio from elsewhere."""
    extra = dict(get_extras(media.extras, dialect).get("audio", {}))
    id_ = extra.pop("id", None) if media.data is not None else media.file_id
    if id_ is None:
        return None
    return AUDIO.put({"id": id_} if media.data is None else {"id": id_, "data": media.data}, extra)
