"""Where the fields of a transcript stand in the documents of Chat Completions, whole or assembled from a stream."""

from __future__ import annotations

from convcli.families.openai.request import SETTINGS, USAGE
from convcli.model.transcript import Path

UP: Path = ("..", "..", "..")
"""From the message of a choice to the response."""

PLACES: dict[str, Path] = {
    "id": ("id",),
    "model": ("model",),
    "createdAt": ("created",),
    "toolChoice": ("tool_choice",),
    **{f"settings.{ours}": (theirs,) for theirs, ours in SETTINGS.items()},
    "settings.stop": ("stop",),
    "settings.responseFormat": ("response_format",),
    "message.name": ("name",),
    "message.stopReason": ("..", "finish_reason"),
    "extras.choice": ("..",),
    "tool.name": ("function", "name"),
    "tool.description": ("function", "description"),
    "tool.parameters": ("function", "parameters"),
    "tool.strict": ("function", "strict"),
    "extras.tool": (),
    "tool_call.id": ("id",),
    "tool_call.name": ("function", "name"),
    "tool_call.arguments": ("function", "arguments"),
    "tool_call.rawArguments": ("function", "arguments"),
    "tool_result.toolCallId": ("..", "tool_call_id"),
    "image.detail": ("image_url", "detail"),
    "document.name": ("file", "filename"),
    "message.usage": (*UP, "usage"),
    **{f"message.usage.{ours}": (*UP, "usage", *theirs) for theirs, ours in USAGE.items()},
    "message.error": ("error", "message"),
    "extras.usage": (*UP, "usage"),
}
