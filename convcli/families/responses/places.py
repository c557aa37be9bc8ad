"""Where the fields of a transcript stand in the documents of OpenAI Responses, whole or assembled from a stream."""

from __future__ import annotations

from convcli.families.responses.response import USAGE
from convcli.model.transcript import Path

PLACES: dict[str, Path] = {
    "createdAt": ("created_at",),
    "settings.reasoningEffort": ("reasoning", "effort"),
    "settings.responseFormat": ("text", "format"),
    "message.stopReason": ("..", "..", "status"),
    "extras.usage": ("..", "..", "usage"),
    "extras.item": ("..", ".."),
    "extras.request": (),
    "text.metadata.itemId": ("..", "..", "id"),
    "refusal.metadata.itemId": ("..", "..", "id"),
    "reasoning.metadata.itemId": ("id",),
    "reasoning.metadata.encryptedContent": ("encrypted_content",),
    "reasoning.text": ("content",),
    "tool_call.metadata.itemId": ("id",),
    "tool_call.id": ("call_id",),
    "tool_call.rawArguments": ("arguments",),
    "tool_result.metadata.itemId": ("id",),
    "tool_result.toolCallId": ("call_id",),
    "tool_result.value": ("output",),
    "message.error": ("..", "..", "error", "message"),
    "message.usage": ("..", "..", "usage"),
    **{f"message.usage.{ours}": ("..", "..", "usage", *theirs) for theirs, ours in USAGE.items()},
}
