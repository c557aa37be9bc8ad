"""What a Converse request and response accept around their messages, as passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from convcli.dialects.bedrock_converse.request import NAME, SETTINGS, lift_format, write_format
from convcli.families.anthropic.usage import keep_supported_usage
from convcli.families.converse.messages import USAGE
from convcli.kit.objects import get_extras
from convcli.kit.passes import on_each_message
from convcli.kit.values import pairs, with_total
from convcli.model.transcript import Message, Transcript

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
