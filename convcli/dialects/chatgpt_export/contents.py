"""ChatGPT: message contents by `content_type`, and the attached files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from convcli.kit.objects import Native, as_text, get_extras, has_content, make_extras, without_empty
from convcli.model.transcript import MEDIA_KINDS, Media, MediaKind, Opaque, Part, Path, Reasoning, Text

NAME = "chatgpt-export"
POINTER = "asset_pointer"
TEXTS = {
    "code": "text",
    "execution_output": "text",
    "system_error": "text",
    "tether_quote": "text",
    "sonic_webpage": "text",
    "tether_browsing_display": "result",
    "citable_code_output": "output_str",
    "model_editable_context": "model_set_context",
}
"""The key of the text, by content type."""
ASSETS: dict[str, MediaKind] = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
}
IMPLIED_TYPES = frozenset(("text", "multimodal_text", "code", "execution_output", "thoughts", "reasoning_recap"))
"""Types that follow from the role and parts of a message."""


class Content(NamedTuple):
    """The parts of a content, their paths in it, and its other keys."""

    parts: list[Part]
    part_paths: list[Path]
    rest: Native


def lift(content: Any) -> Content:
    """Returns the parts of a content; one of an unknown type, or without the shape of its type, is opaque."""
    if not isinstance(content, dict):
        return Content([], [], {} if content is None else {"content": content})
    kind = content.get("content_type")
    read = READERS.get(kind) if isinstance(kind, str) else None
    known = read(content) if read is not None else None
    if known is None:
        return Content([Opaque(NAME, content)], [()], {})
    pairs, used = known
    used |= {"content_type"} if kind in IMPLIED_TYPES else set()
    rest = without_empty(content, *used)
    rest = {key: value for key, value in rest.items() if (key, value) != ("language", "unknown")}
    return Content([part for part, _ in pairs], [path for _, path in pairs], rest)


PartsAndKeys = tuple[list[tuple[Part, Path]], set[str]]
"""The parts with their paths, and the keys they cover."""


def _pieces(content: Native) -> PartsAndKeys | None:
    """Reads texts and asset pointers."""
    pieces = content.get("parts")
    if not isinstance(pieces, list):
        return None
    pairs = [(_piece(piece), ("parts", k)) for k, piece in enumerate(pieces) if has_content(piece)]
    return [*pairs], {"parts"}


def _piece(piece: Any) -> Part:
    if isinstance(piece, str):
        return Text(piece)
    return (_asset(piece) if isinstance(piece, dict) else None) or Opaque(NAME, piece)


def _asset(piece: Native) -> Part | None:
    """Returns the media of an asset pointer, or the text of an audio transcription; None for anything else."""
    kind = piece.get("content_type")
    if kind == "audio_transcription" and isinstance(piece.get("text"), str):
        return Text(piece["text"], extras=_extra(piece, "content_type", "text"))
    if kind == "real_time_user_audio_video_asset_pointer" and isinstance(piece.get("audio_asset_pointer"), dict):
        sound = piece["audio_asset_pointer"]
        pointer_object = {**piece, "audio_asset_pointer": {key: sound[key] for key in sound if key != POINTER}}
        return _media_of_pointer("audio", sound.get(POINTER), pointer_object)
    return (
        _media_of_pointer(ASSETS[kind], piece.get(POINTER), piece) if isinstance(kind, str) and kind in ASSETS else None
    )


def _media_of_pointer(kind: MediaKind, pointer: Any, pointer_object: Native) -> Media | None:
    if not isinstance(pointer, str) or not pointer:
        return None
    return Media(kind, file_id=pointer, extras=_extra(pointer_object, "content_type", POINTER))


def _extra(native: Native, *used: str) -> dict[str, Native] | None:
    kept = without_empty(native, *used)
    return make_extras(NAME, kept)


def _thoughts(content: Native) -> PartsAndKeys | None:
    """Reads reasoning, thought by thought."""
    thoughts = content.get("thoughts")
    if not isinstance(thoughts, list) or not all(isinstance(thought, dict) for thought in thoughts):
        return _reasoning_texts(content)
    return [(_thought(thought), ("thoughts", k)) for k, thought in enumerate(thoughts)], {"thoughts"}


def _thought(thought: Native) -> Reasoning:
    text, summary = thought.get("content"), thought.get("summary")
    used = [key for key in ("content", "summary") if isinstance(thought.get(key), str)]
    return Reasoning(
        text if isinstance(text, str) else "",
        summary=[summary] if isinstance(summary, str) and summary else None,
        extras=_extra(thought, *used),
    )


def _reasoning_texts(content: Native) -> PartsAndKeys | None:
    """Reads reasoning given as texts."""
    pieces = content.get("parts")
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        return None
    return [(Reasoning(piece), ("parts", k)) for k, piece in enumerate(pieces) if piece], {"parts"}


def _recap(content: Native) -> PartsAndKeys | None:
    """Reads the text displayed in place of reasoning."""
    for key in ("content", "parts"):
        text = content.get(key)
        lines: list[Any] = text if isinstance(text, list) else [text]
        if lines and all(isinstance(line, str) and line for line in lines):
            return [(Reasoning("", summary=lines), (key,))], {key}
    return None


def _instructions(content: Native) -> PartsAndKeys | None:
    """Reads the user's profile and custom instructions."""
    keys = ("user_profile", "user_instructions")
    if not all(isinstance(content.get(key, ""), str) for key in keys):
        return None
    return [(Text(content[key]), (key,)) for key in keys if content.get(key)], set(keys)


def _screen(content: Native) -> PartsAndKeys | None:
    """Reads a computer screenshot."""
    screenshot = content.get("screenshot")
    shown = _asset(screenshot) if isinstance(screenshot, dict) else None
    return None if shown is None else ([(shown, ("screenshot",))], {"screenshot"})


def _under(key: str) -> Callable[[Native], PartsAndKeys | None]:
    """Returns a reader for one text under this key."""

    def read(content: Native) -> PartsAndKeys | None:
        text = content.get(key)
        if text is not None and not isinstance(text, str):
            return None
        return [(Text(text), (key,))] if text else [], {key}

    return read


READERS: dict[str, Callable[[Native], PartsAndKeys | None]] = {
    "text": _pieces,
    "multimodal_text": _pieces,
    "thoughts": _thoughts,
    "reasoning_recap": _recap,
    "user_editable_context": _instructions,
    "computer_output": _screen,
    **{kind: _under(key) for kind, key in TEXTS.items()},
}


# ---------------------------------------------------------------- files


def attach(files: list[Any], content: Content) -> list[tuple[Part, Path]] | None:
    """Returns the attached files to which no part points, and adds names and types to those with a pointer.

    Returns None for a list with anything but files.
    """
    if not all(isinstance(file, dict) and isinstance(file.get("id"), str) and file["id"] for file in files):
        return None
    media = [part for part in content.parts if isinstance(part, Media)]
    pointed = {(part.file_id or "").partition("://")[2]: part for part in media}
    more: list[tuple[Part, Path]] = []
    for k, file in enumerate(files):
        kind = _text(file, "mime_type")
        if file["id"] not in pointed:
            pointed[file["id"]] = Media(_kind(kind or ""), file_id=file["id"])
            more.append((pointed[file["id"]], ("metadata", "attachments", k)))
        _name(pointed[file["id"]], file)
    return more


def _name(media: Media, file: Native) -> None:
    """Sets what an attached file states and its pointer does not."""
    media.name, media.media_type = _text(file, "name"), _text(file, "mime_type")
    known = {"id", *(["name"] if media.name else []), *(["mime_type"] if media.media_type else [])}
    extra = get_extras(media.extras, NAME)
    rest = without_empty(file, *known)
    rest = {key: value for key, value in rest.items() if key not in extra or extra[key] != value}
    media.extras = make_extras(NAME, extra, attachment=rest)


def _text(native: Native, key: str) -> str | None:
    return as_text(native.get(key))


def _kind(media_type: str) -> MediaKind:
    return next((kind for kind in MEDIA_KINDS if media_type.startswith(f"{kind}/")), "document")
