"""Paths of fields in the documents of the Interactions API, and the fields that they lack."""

from __future__ import annotations

from convcli.families.interactions import steps
from convcli.families.interactions.response import USAGE
from convcli.kit.supported import CALLS, ITEMS, TOOLS, counted, fields
from convcli.kit.values import paths, usage_places
from convcli.model.transcript import Path

OF_RESPONSES = counted(USAGE) | fields("id createdAt updatedAt model message.stopReason message.error")
OF_REQUESTS = TOOLS | fields("model toolChoice")
COMMON = ITEMS | CALLS | (steps.blocks_of("").supports() - {"tool_call.rawArguments"})
COMMON |= fields("tool_result.name tool_result.isError")
"""Fields that every form has."""

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
