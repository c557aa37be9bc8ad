"""The message parts that rows of Copilot CLI can store."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.copilot_cli.rows import (
    JOINT,
    NAME,
)
from convcli.families.google.parts import kind_of
from convcli.kit.objects import get_extras, make_extras
from convcli.kit.passes import shared
from convcli.kit.values import MEDIA_TYPES
from convcli.model.transcript import (
    Media,
    Message,
    Part,
    Reasoning,
    Text,
)


def picture_of(media: Media, *, inside: bool) -> Media | None:
    """Returns the media with only the fields that Copilot CLI stores, or None if it cannot store it.

    It needs data and has a media type. Inside a tool result only images are possible.
    """
    if media.data is None or (inside and media.type != "image"):
        return None
    bare = Media(media.type, data=media.data, media_type=media.media_type or MEDIA_TYPES[media.type])
    bare.type = kind_of(bare.media_type)
    if not inside:
        bare.name, bare.extras = media.name or None, make_extras(NAME, get_extras(media.extras, NAME))
    elif bare.type != "image":
        return None
    return media if bare == media else bare


def joined(message: Message) -> Message:
    """Joins the thoughts and the texts of a message: one thought, then one text, then files or calls."""
    thoughts = [part for part in message.parts if isinstance(part, Reasoning)]
    texts = [part for part in message.parts if isinstance(part, Text)]
    others = [part for part in message.parts if not isinstance(part, (Reasoning, Text))]
    parts: list[Part] = [*_join(thoughts), *_join(texts), *others]
    parts = shared(message.parts, parts)
    return message if parts is message.parts else replace(message, parts=parts)


def _join(parts: list[Any]) -> list[Any]:
    text = JOINT.join(part.text for part in parts if part.text)
    if not text:
        return []
    return parts if len(parts) == 1 else [type(parts[0])(text)]
