"""What Converse accepts, as passes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from convcli.dialects.bedrock_converse.blocks import lift_block
from convcli.dialects.bedrock_converse.media import FORMATS, NAME, TYPES, kind_of, other_keys
from convcli.dialects.bedrock_converse.messages import side
from convcli.dialects.bedrock_converse.request import SETTINGS, USAGE, lift_format, write_format
from convcli.dialects.bedrock_converse.rules import IDS, NAMES
from convcli.families.anthropic import policy
from convcli.families.anthropic.usage import keep_supported_usage
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import keep_parts_of_roles, refusals_as_texts
from convcli.kit.objects import get_extras
from convcli.kit.passes import MEDIA, on_each_message, on_each_part, on_messages, on_parts, on_results, shared
from convcli.kit.renaming import DIGITS, LETTERS, Alphabet, Renaming
from convcli.kit.results import apply_convention, with_parts
from convcli.kit.values import pairs, with_total
from convcli.model.dialect import Pass
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, ToolResult, Transcript

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

EFFORT_LIMIT = 16

FINISH = pairs(
    "end_turn=stop tool_use=tool_calls max_tokens=length content_filtered=content_filter stop_sequence=stop "
    "guardrail_intervened=content_filter malformed_model_output=error malformed_tool_use=error "
    "model_context_window_exceeded=length"
)
"""Meanings of a response's `stopReason`; of several with one meaning, the first is written."""
FINISH_OF = pairs(
    "stop=end_turn tool_calls=tool_use length=max_tokens content_filter=content_filtered refusal=content_filtered"
)


# ---------------------------------------------------------------- parts


def _keep_signed(part: Reasoning) -> Reasoning | None:
    """Returns reasoning that was signed or redacted for Claude, whose signatures are valid on all its platforms."""
    signed = policy.signed(part)
    data = (signed.metadata or {}).get("redactedData") if signed is not None else None
    return signed if data is None or _is_base64(data) else None


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return False


def _keep_supported_media(media: Media) -> Media | None:
    """Returns media in a known format, as base64 or in S3; documents may also be text, of any format."""
    is_document = media.type == "document"
    is_embedded = media.data is not None or (media.text is not None and is_document)
    if not is_embedded and not (media.url or "").startswith("s3://"):
        return None
    format_ = _format(media)
    if not format_ and not is_document and "format" not in other_keys(media):
        return None
    media_type = TYPES[media.type].get(format_)
    return media if media_type == media.media_type else replace(media, media_type=media_type)


def _format(media: Media) -> str:
    """Returns the format by media type, else by the beginning of the data or the end of the name."""
    if media.media_type is not None:
        media_type = media.media_type.partition(";")[0].strip().lower()
        return FORMATS[media.type].get(ALIASES.get(media_type, media_type), "")
    if "format" in other_keys(media):
        return ""
    guesses = [
        media_type.rpartition("/")[2]
        for head, media_type in policy.MAGIC.items()
        if (media.data or "").startswith(head)
    ]
    guesses.append((media.name or media.url or "").rpartition(".")[2].lower())
    return next((name for name in guesses if name in TYPES[media.type]), "")


def _keep_own_opaque(part: Opaque, message: Message) -> Opaque | None:
    """Returns a Converse block that is read back as opaque, else None."""
    value = part.value
    kind = kind_of(value) if part.dialect == NAME and isinstance(value, dict) and "type" not in value else ""
    if not kind or kind == "cachePoint" or (kind == "toolResult" and message.role == "user"):
        return None
    return part if isinstance(lift_block(value, LiftContext(NAME, None)), Opaque) else None


def _drop_unsupported_content(result: ToolResult) -> ToolResult:
    """Drops blank text and audio from a result."""
    if result.kind == "multimodal":
        return policy.keep_supported_value(result, NAME, _keep_result_media)
    is_blank = result.kind != "data" and result.value and not result.value.strip()
    return replace(result, value="") if is_blank else result


def _keep_result_media(media: Media) -> Media | None:
    return None if media.type == "audio" else _keep_supported_media(media)


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


def keep_supported_finish(transcript: Transcript) -> Transcript:
    """Maps stop reasons and counts to those of the API."""
    native = get_extras(transcript.extras, NAME).get("stopReason", "")

    def fit_finish(message: Message) -> Message:
        reason, usage = message.stop_reason, keep_supported_usage(with_total(message.usage or {}), USAGE)
        if reason is not None and FINISH.get(native, native) != reason:
            reason = FINISH[FINISH_OF.get(reason, "end_turn")]
        is_same = reason == message.stop_reason and usage == message.usage
        return message if is_same else replace(message, stop_reason=reason, usage=usage)

    return on_each_message(fit_finish)(transcript)


TURNS: tuple[Pass, ...] = (
    policy.drop_empty_model,
    *policy.pair_turns(NAMES, IDS),
    keep_parts_of_roles(PARTS_IN_ROLES),
    refusals_as_texts,
    on_parts(lambda part, _: policy.not_blank(part), "text"),
    on_parts(lambda part, _: _keep_signed(part), "reasoning"),
    on_parts(lambda part, _: _keep_supported_media(part), *MEDIA),
    on_parts(_keep_own_opaque, "opaque"),
    on_results(_drop_unsupported_content),
    apply_convention(RESULTS),
    named_documents,
)
joined = on_messages(_join_sides)
not_empty = on_each_message(lambda message: message if message.parts else None)


# ---------------------------------------------------------------- tools and settings


def typed_object(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema with the type object."""
    return schema if schema.get("type") == "object" else {**schema, "type": "object"}


def keep_supported_settings(transcript: Transcript) -> Transcript:
    """Keeps settings within the limits of the service, and a tool choice that it knows."""
    settings = {name: value for name, value in (transcript.settings or {}).items() if _is_allowed(name, value)}
    format_ = write_format(settings.get("responseFormat", {}))
    if format_ is not None:
        settings["responseFormat"] = lift_format(format_)
    choice = None if transcript.tool_choice == "none" else transcript.tool_choice
    if choice == transcript.tool_choice and (settings or None) == transcript.settings:
        return transcript
    return replace(transcript, settings=settings or None, tool_choice=choice)


def _is_allowed(name: str, value: Any) -> bool:
    limits: dict[str, Callable[[Any], bool]] = {
        "maxOutputTokens": lambda count: count >= 1,
        "temperature": lambda number: 0 <= number <= 1,
        "topP": lambda number: 0 <= number <= 1,
        "stop": all,
        "reasoningEffort": lambda effort: 0 < len(effort) <= EFFORT_LIMIT,
        "responseFormat": lambda format_: write_format(format_) is not None,
        "metadata": lambda texts: bool(SETTINGS.write({"metadata": texts}, {})),
        "serviceTier": lambda tier: bool(SETTINGS.write({"serviceTier": tier}, {})),
    }
    return name in limits and limits[name](value)
