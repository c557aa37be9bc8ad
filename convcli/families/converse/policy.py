"""What Converse accepts, as passes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from convcli.families.anthropic import policy
from convcli.families.converse.blocks import lift_block
from convcli.families.converse.media import FORMATS, TYPES, ConverseService, kind_of, other_keys
from convcli.families.converse.messages import side
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import keep_parts_of_roles, refusals_as_texts
from convcli.kit.passes import MEDIA, on_each_message, on_each_part, on_messages, on_parts, on_results, shared
from convcli.kit.renaming import DIGITS, LETTERS, WORD, Alphabet, Renaming, identifiers
from convcli.kit.results import apply_convention, with_parts
from convcli.kit.values import pairs
from convcli.model.dialect import Pass
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, ToolResult, Transcript

NAMES, IDS = identifiers(64), Alphabet("letters, digits, _, ., : and -", WORD + ".:-", 64)
"""`NAMES` for tools, `IDS` for calls."""

PARTS_IN_ROLES = {
    **policy.PARTS_IN_ROLES,
    **dict.fromkeys(("audio", "video"), ("user",)),
    "opaque": ("system", "developer", "user", "assistant"),
}

ALIASES = pairs("image/jpg=image/jpeg audio/mp3=audio/mpeg audio/x-wav=audio/wav audio/x-m4a=audio/mp4")

LABEL = LETTERS + DIGITS + " -()[]"
LABEL_LIMIT = 200
LABELS = Alphabet("", LABEL, LABEL_LIMIT)
"""The characters of a document name."""

# ---------------------------------------------------------------- parts


def keep_signed(part: Reasoning) -> Reasoning | None:
    """Returns reasoning that was signed or redacted for Claude, whose signatures are valid on all its platforms."""
    signed = policy.signed(part)
    data = (signed.metadata or {}).get("redactedData") if signed is not None else None
    return signed if data is None or _is_base64(data) else None


def keep_signed_or_plain(part: Reasoning) -> Reasoning | None:
    """Same as `keep_signed`, but keeps the text of unsigned reasoning, for programs with other services too."""
    return keep_signed(part) or (replace(part, metadata=None) if part.text else None)


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return False


def _keep_supported_media(media: Media, owner: str) -> Media | None:
    """Returns media in a known format, as base64 or in S3; documents may also be text, of any format."""
    is_document = media.type == "document"
    is_embedded = media.data is not None or (media.text is not None and is_document)
    if not is_embedded and not (media.url or "").startswith("s3://"):
        return None
    format_ = _format(media, owner)
    if not format_ and not is_document and "format" not in other_keys(media, owner):
        return None
    media_type = TYPES[media.type].get(format_)
    return media if media_type == media.media_type else replace(media, media_type=media_type)


def _format(media: Media, owner: str) -> str:
    """Returns the format by media type, else by the beginning of the data or the end of the name."""
    if media.media_type is not None:
        media_type = media.media_type.partition(";")[0].strip().lower()
        return FORMATS[media.type].get(ALIASES.get(media_type, media_type), "")
    if "format" in other_keys(media, owner):
        return ""
    guesses = [
        media_type.rpartition("/")[2]
        for head, media_type in policy.MAGIC.items()
        if (media.data or "").startswith(head)
    ]
    guesses.append((media.name or media.url or "").rpartition(".")[2].lower())
    return next((name for name in guesses if name in TYPES[media.type]), "")


def _keep_own_opaque(part: Opaque, message: Message, service: ConverseService) -> Opaque | None:
    """Returns a Converse block that is read back as opaque, else None."""
    value = part.value
    kind = kind_of(value) if part.dialect == service.owner and isinstance(value, dict) and "type" not in value else ""
    if not kind or kind == "cachePoint" or (kind == "toolResult" and message.role == "user"):
        return None
    return part if isinstance(lift_block(value, LiftContext(service.owner, None), service), Opaque) else None


def _drop_unsupported_content(result: ToolResult, owner: str) -> ToolResult:
    """Drops blank text and audio from a result."""
    if result.kind == "multimodal":
        return policy.keep_supported_value(result, owner, lambda media: _keep_result_media(media, owner))
    is_blank = result.kind != "data" and result.value and not result.value.strip()
    return replace(result, value="") if is_blank else result


def _keep_result_media(media: Media, owner: str) -> Media | None:
    return None if media.type == "audio" else _keep_supported_media(media, owner)


def express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns the kind and value that a result without its own API field is read back as."""
    if result.kind == "multimodal" and not result.value:
        return "error" if result.is_error else "text", ""
    return None if result.kind == "data" and isinstance(result.value, dict) else policy.as_one_text(result)


RESULTS = policy.results_in_text(
    express, "a Converse result is JSON objects or text: other data is written as JSON text"
)


def named_documents(transcript: Transcript) -> Transcript:
    """Gives every document of a request a unique, valid name."""
    labels = Renaming((), LABELS)

    def set_name(part: Part) -> Part:
        if isinstance(part, ToolResult):
            return with_parts(part, set_name)
        if not isinstance(part, Media) or part.type != "document":
            return part
        name = labels.another(_label(part.name))
        return part if name == part.name else replace(part, name=name)

    return on_each_part(set_name)(transcript)


def _label(name: str | None) -> str:
    """Returns a valid document name: without file suffix or consecutive spaces."""
    if name and "  " not in name and LABELS.accepts(name):
        return name
    stem, dot, ending = (name or "").rpartition(".")
    kept = stem if dot and ending.isalnum() else name or ""
    valid_text = "".join(char if char in LABEL else " " for char in kept).split()
    return " ".join(valid_text)[:LABEL_LIMIT] or "document"


# ---------------------------------------------------------------- messages


def _join_sides(messages: list[Message]) -> list[Message]:
    """Joins consecutive messages of one side, except results. Only the first message of a side keeps its extras."""
    joined: list[Message] = []
    for _, turn in groupby(messages, side):
        runs = [(role, list(run)) for role, run in groupby(turn, lambda message: message.role)]
        first, *others = [message for role, run in runs for message in (run if role == "tool" else [_join(run)])]
        joined += [first, *(replace(one, extras=None) if one.extras else one for one in others)]
    return shared(messages, joined)


def _join(turn: list[Message]) -> Message:
    if len(turn) == 1:
        return turn[0]
    reason = next((message.stop_reason for message in reversed(turn) if message.stop_reason), None)
    usage = next((message.usage for message in turn if message.usage), None)
    parts = [part for message in turn for part in message.parts]
    return replace(turn[0], parts=parts, stop_reason=reason, usage=usage)


def keep_supported_turns(
    service: ConverseService, reasoning: Callable[[Reasoning], Reasoning | None] = keep_signed
) -> tuple[Pass, ...]:
    """Returns the passes for turns and parts: those that the API has blocks for, in messages where it accepts them. A
    relative may accept other reasoning."""
    return (
        policy.drop_empty_model,
        *policy.pair_turns(NAMES, IDS),
        keep_parts_of_roles(PARTS_IN_ROLES),
        refusals_as_texts,
        on_parts(lambda part, _: policy.not_blank(part), "text"),
        on_parts(lambda part, _: reasoning(part), "reasoning"),
        on_parts(lambda part, _: _keep_supported_media(part, service.owner), *MEDIA),
        on_parts(lambda part, message: _keep_own_opaque(part, message, service), "opaque"),
        on_results(lambda result: _drop_unsupported_content(result, service.owner)),
        apply_convention(RESULTS),
        named_documents,
    )


joined = on_messages(_join_sides)
not_empty = on_each_message(lambda message: message if message.parts else None)
