"""The paths of fields in messages of Converse, the fields that they lack, and why."""

from __future__ import annotations

from convcli.families.anthropic.blocks import REASONS as OF_BLOCKS
from convcli.kit.supported import TURNS, fields, media
from convcli.kit.values import paths
from convcli.model.transcript import Path

PLACES: dict[str, Path] = {
    **paths(
        "tool_call.id=toolUse/toolUseId tool_call.name=toolUse/name tool_call.arguments=toolUse/input "
        "tool_result.toolCallId=toolResult/toolUseId tool_result.value=toolResult/content "
        "tool_result.kind=toolResult/content tool_result.isError=toolResult/status "
        "text.text=text reasoning.text=reasoningContent/reasoningText/text "
        "reasoning.metadata.signature=reasoningContent/reasoningText/signature "
        "reasoning.metadata.redactedData=reasoningContent/redactedContent document.name=document/name "
        "extras.context=document/context extras.citations=document/citations"
    ),
    **dict.fromkeys((f"extras.{key}" for key in ("type", "error", "block", "source")), ()),
    "extras.cachePoint": ("..",),
}
SUPPORTS = TURNS | media(names="data url mediaType") | {"document.text"}
SUPPORTS |= fields("document.name reasoning.metadata tool_result.isError")
"""Fields that blocks have a key for."""
REASONS = {
    **OF_BLOCKS,
    "reasoning.summary": "Converse reasoning has no summary",
    "message": "Converse rejects an empty message",
    "message.grouping": "Converse roles alternate: consecutive messages of one side are joined",
    "message.usage.reasoningTokens": "Converse does not count reasoning tokens separately",
    "image": "Converse accepts images in user messages only: PNG, JPEG, GIF or WebP, as base64 or in S3",
    "document.name": "Converse document names are letters, digits, spaces and -()[], unique in the request",
    **dict.fromkeys(("audio.mediaType", "video.mediaType"), "Converse names a format, not a media type"),
    "audio": "Converse accepts audio in user messages only: of a known format, as base64 or in S3",
    "video": "Converse accepts video in user messages only: of a known format, as base64 or in S3",
    **dict.fromkeys(
        ("tool_call.id", "tool_result.toolCallId"),
        "Converse ids are at most 64 letters, digits and _.:-, unique in the request",
    ),
    **dict.fromkeys(("tool.name", "tool_call.name"), "Converse names are at most 64 letters, digits, _ and -"),
    "tool_result.status": "a Converse result has the status success or error",
    "tool_result.value": "a Converse result accepts JSON objects, non-blank text, images, documents and video",
}
