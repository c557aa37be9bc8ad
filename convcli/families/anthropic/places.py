"""The paths of fields in the documents of Anthropic's API, whole or streamed, and why blocks lack some fields."""

from __future__ import annotations

from convcli.families.anthropic.request import SETTINGS
from convcli.families.anthropic.usage import USAGE
from convcli.kit import unsupported
from convcli.kit.values import paths, usage_places
from convcli.model.transcript import Path

PLACES: dict[str, Path] = {
    **paths(
        "message.error=error/message tool_call.name=name tool_call.arguments=input tool_call.rawArguments=input "
        "tool_result.toolCallId=tool_use_id tool_result.value=content tool_result.kind=content "
        "reasoning.text=thinking reasoning.metadata.redactedData=data tool.parameters=input_schema "
        "message.stopReason=stop_reason toolChoice=tool_choice "
        "settings.parallelToolCalls=tool_choice/disable_parallel_tool_use"
    ),
    **usage_places(USAGE, "usage"),
    **SETTINGS.places(),
    "extras.tool": (),
}

ENVELOPE = unsupported.fields("type service_tier container diagnostics usage inference_geo request_id")

REASONS = {
    "text": "the API refuses blank texts",
    "reasoning.summary": "thinking has no summary",
    **dict.fromkeys(("text.metadata", "tool_call.metadata"), "only thinking has an Anthropic signature"),
    "refusal": "there is no block for a refusal: it is written as text",
    "opaque": "the block belongs to another vendor",
    "tool_call": "only the assistant can call tools",
    "tool_call.rawArguments": "the input of a call must be an object",
    "tool_result.value": "a result contains text, images and documents; a failed one must not be empty",
}
"""Why a field of a block is lost or changed."""

UNSUPPORTED = (unsupported.METADATA - {"reasoning.metadata"} | unsupported.CALL_ONLY) | unsupported.fields(
    "audio video image.name image.detail document.detail reasoning.summary tool_result.name"
)
"""Fields that blocks have no key for."""
