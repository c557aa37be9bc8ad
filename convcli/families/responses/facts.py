"""Paths of fields in the documents of the Responses API, and the fields that they lack."""

from __future__ import annotations

from convcli.families.responses.response import USAGE
from convcli.kit.supported import CALLS, ITEMS, METADATA, OPAQUE, TOOLS, counted, fields, media
from convcli.kit.values import paths, usage_places
from convcli.model.transcript import Path

OF_ITEMS: dict[str, Path] = paths(
    "extras.item=../.. text.metadata.itemId=../../id refusal.metadata.itemId=../../id reasoning.metadata.itemId=id "
    "reasoning.text=content tool_call.metadata.itemId=id tool_call.id=call_id tool_call.rawArguments=arguments "
    "tool_result.metadata.itemId=id tool_result.toolCallId=call_id tool_result.value=output"
)
"""Paths of fields of parts, in everything with items."""
PLACES: dict[str, Path] = {
    **OF_ITEMS,
    "createdAt": ("created_at",),
    "extras.usage": ("..", "..", "usage"),
    "extras.request": (),
    "message.stopReason": ("..", "..", "status"),
    "message.error": ("..", "..", "error", "message"),
    **usage_places(USAGE, "..", "..", "usage"),
}

FILES = media("image", "data url fileId mediaType detail") | media("document", "data url fileId mediaType name detail")
"""Fields of media: there are images and files."""
COMMON = ITEMS | CALLS | OPAQUE | (METADATA - media(names="metadata")) | FILES
COMMON |= fields("reasoning refusal.text tool_call.rawArguments tool_call.custom tool_result.name")
"""Fields that both a request and a response have."""
OF_RESPONSES = counted(USAGE) | fields("id createdAt model message.stopReason message.error")
OF_REQUESTS = TOOLS | fields("model toolChoice tool.strict tool.custom tool.outputSchema")

REASONS = {
    "reasoning": "the Responses API accepts in a request only its own reasoning, and no empty one",
    "message.grouping": "the Responses API merges consecutive answers",
    "message.id": "items of the Responses API have their own ids",
    "message.parentId": "items of the Responses API have no parent",
    "message.name": "items of the Responses API have no name",
    "message.createdAt": "items of the Responses API have no time",
    "tool_result.isError": "an output has no field for a failure",
    "tool_call.name": "the name of a tool has at most 128 letters, digits, _ and -",
    "tool_result.name": "a result has the name of its call, which has at most 128 letters, digits, _ and -",
}

ENVELOPE = fields(
    "background billing completed_at created_at incomplete_details logprobs metadata object output_text "
    "prompt_cache_key prompt_cache_retention request safety_identifier service_tier status store tool_usage usage user"
)
