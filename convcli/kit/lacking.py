"""Sets of fields that many formats have no place for, to put together what a dialect `lacks`."""

from __future__ import annotations

from convcli.model.transcript import MEDIA_KINDS


def fields(names: str) -> frozenset[str]:
    """A set of names, or of keys, that are separated by spaces."""
    return frozenset(names.split())


MEDIA = frozenset(MEDIA_KINDS)
PARTS = ("text", "reasoning", "tool_call", "tool_result")

SESSION = frozenset(("id", "title", "cwd", "createdAt", "updatedAt", "head"))
"""What is said of a transcript that is kept."""
REQUEST = frozenset(("model", "settings", "toolChoice"))
"""What is said to a service beside messages and tools."""
TOOLS = frozenset(("tools", "tool"))
MESSAGE = frozenset(
    f"message.{name}" for name in ("id", "parentId", "createdAt", "name", "usage", "error", "stopReason")
)
"""What is said of a message, but its model."""
AROUND_PARTS = SESSION | REQUEST | TOOLS | MESSAGE
"""All of these: what is said around the parts of messages."""
METADATA = frozenset(f"{part}.metadata" for part in (*PARTS, *MEDIA))
CALL_ONLY = frozenset(("tool_call.rawArguments", "tool_result.status"))
"""What calls and results say beside their values."""
FUNCTION_ONLY = frozenset(f"tool.{name}" for name in ("title", "strict", "outputSchema", "annotations"))
"""What tools say beside name, description and parameters."""


def settings_but(*names: str) -> frozenset[str]:
    """All settings of the intermediate format but these."""
    return frozenset(f"settings.{name}" for name in SETTINGS if name not in names)


SETTINGS = (
    *("temperature", "topP", "topK", "maxOutputTokens", "stop", "seed", "presencePenalty", "frequencyPenalty"),
    *("parallelToolCalls", "reasoningEffort", "reasoningBudget", "responseFormat", "stream", "streamObfuscation"),
    *("candidateCount", "modalities", "logprobs", "topLogprobs", "verbosity", "prediction", "serviceTier", "store"),
    *("metadata", "user", "safetyIdentifier", "promptCacheKey", "promptCacheRetention", "promptCacheOptions"),
    "moderation",
)
