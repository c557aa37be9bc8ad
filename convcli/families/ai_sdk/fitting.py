"""What the AI SDK's messages cannot store, and what replaces it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from convcli.families.ai_sdk.parts import lift_shown, write_shown
from convcli.kit import custom, fitting, passes, results
from convcli.kit.contexts import LiftContext
from convcli.kit.supported import TURNS, fields, media
from convcli.kit.texts import text_of
from convcli.kit.values import paths
from convcli.model.dialect import Convention, LossKind
from convcli.model.transcript import MEDIA_KINDS, Message, Text, ToolResult
from convcli.wire import exact_json


def shown_results(owner: str) -> Convention:
    """Returns how a UI message gives back results for which it has no field."""

    def express(result: ToolResult) -> tuple[str, Any] | None:
        if result.kind == "error" or result.is_error:
            text = results.in_words(result)
            is_whole = result.kind == "error" or result.kind == "data"
            return ("error", text) if result.kind != "error" and is_whole else None
        kind, value = lift_shown(write_shown(result, owner), LiftContext(owner, None))
        same = kind == result.kind and (kind == "multimodal" or exact_json.exact(value, result.value))
        return None if same else (kind, value)

    return Convention(express, SHOWN_LOSSES)


SHOWN_LOSSES: Mapping[str, tuple[LossKind, str]] = {
    "data": ("changed", "in a UI message, an output that is a string is always text"),
    "error": ("changed", "in a UI message, a failure is only text: the data is written as JSON"),
    "multimodal": ("changed", "the output of a UI message has no field for a failure"),
}


def _one_text(message: Message) -> Message:
    """Joins instructions into one text."""
    if message.role != "system" or (len(message.parts) == 1 and isinstance(message.parts[0], Text)):
        return message
    text = text_of(message.parts, "\n\n")
    return message if not message.parts else replace(message, parts=[Text(text)] if text else [])


COMMON = (
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    results.separate_results,
    results.one_result_each,
    custom.as_functions,
    fitting.keep_parts_of_roles({"reasoning": ("assistant",), "tool_call": ("assistant",)}),
    passes.on_each_message(_one_text),
)
"""The passes that all shapes of messages need."""

SUPPORTS = TURNS | media(names="data url mediaType name metadata")
SUPPORTS |= fields(
    "text.metadata reasoning.metadata tool_call.metadata tool_call.rawArguments tool_result.name tool_result.status"
)
REASONS: dict[str, str] = {
    "tool_result": "a UI message stores a result in the part of its call",
    "tool_result.status": "a result is only available or denied",
    "tool_result.isError": "an output of several pieces has no field for a failure",
    "refusal": "AI SDK messages have no part for a refusal: it is written as text",
    "metadata": "AI SDK messages store metadata only of known providers",
    **dict.fromkeys(MEDIA_KINDS, "AI SDK messages store media only as data or as a URL of a known type"),
}
PLACES = paths(
    "tool_call.id=toolCallId tool_call.name=toolName tool_call.arguments=input tool_call.rawArguments=input "
    "tool_result.toolCallId=toolCallId tool_result.name=toolName tool_result.value=output "
    "tool_result.kind=output tool_result.isError=output tool_result.status=output extras.message=.."
)
