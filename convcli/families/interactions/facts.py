"""Paths of fields in the documents of the Interactions API, and the fields that they lack."""

from __future__ import annotations

from convcli.families.interactions.response import USAGE
from convcli.kit import unsupported
from convcli.kit.unsupported import fields
from convcli.kit.values import paths, usage_places
from convcli.model.transcript import Path

OF_RESPONSES = fields("id createdAt updatedAt message.stopReason message.usage message.error")
OF_REQUESTS = unsupported.TOOLS | {"toolChoice", "settings"}
COMMONLY_UNSUPPORTED = (unsupported.SESSION | unsupported.MESSAGE | unsupported.METADATA) - OF_RESPONSES
COMMONLY_UNSUPPORTED -= fields("reasoning.metadata")
COMMONLY_UNSUPPORTED |= unsupported.FUNCTION_ONLY | fields("tool_result.status")
COMMONLY_UNSUPPORTED |= fields(
    "message.grouping message.model refusal reasoning.summary image.name audio.name audio.detail document.name"
)
"""Fields that neither a request nor a response has."""

PLACES: dict[str, Path] = {
    **paths(
        "createdAt=created updatedAt=updated extras.step=../.. reasoning.text=summary "
        "reasoning.metadata.thoughtSignature=signature tool_call.rawArguments=arguments tool_result.toolCallId=call_id "
        "tool_result.value=result tool_result.kind=result tool_result.isError=is_error "
        "message.stopReason=../../status extras.usage=../../usage"
    ),
    **usage_places(USAGE, "..", "..", "usage"),
    "message.error": ("..", "..", "errors", 0, "message"),
    "extras.request": (),
}

REASONS = {
    "refusal": "the Interactions API has no field for a refusal: it is written as text",
    "reasoning.summary": "a thought has one summary, which is its text",
    "metadata": "only the provider itself accepts its context back",
    "message.grouping": "the Interactions API merges consecutive answers, and has one system instruction",
    "message.role": "the Interactions API has one system instruction, and steps of the user and the model",
    "message.model": "steps have no model of their own",
    "tool_call.rawArguments": "arguments must be an object, not a string",
    "tool_result.status": "a result has no status",
}

ENVELOPE = fields(
    "status usage object environment_id request continuation_ids continuation_token service_tier errors created updated"
)
REPEATS = ("usage/total_output_tokens",)
"""Values that are a sum of others, or a part of it."""
