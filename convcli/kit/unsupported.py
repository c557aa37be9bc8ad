"""Sets of fields that many formats cannot store, to build a dialect's `unsupported`."""

from __future__ import annotations

from convcli.model.transcript import MEDIA_KINDS


def fields(names: str) -> frozenset[str]:
    """Returns a set of names or keys that are separated by spaces."""
    return frozenset(names.split())


MEDIA = frozenset(MEDIA_KINDS)
PARTS = ("text", "reasoning", "tool_call", "tool_result")

SESSION = frozenset(("id", "title", "cwd", "createdAt", "updatedAt", "head"))
"""Fields of a stored transcript."""
REQUEST = frozenset(("model", "settings", "toolChoice"))
"""Fields of a request other than messages and tools."""
TOOLS = frozenset(("tools", "tool"))
MESSAGE = frozenset(
    f"message.{name}" for name in ("id", "parentId", "createdAt", "name", "usage", "error", "stopReason")
)
"""Fields of a message, except its model."""
AROUND_PARTS = SESSION | REQUEST | TOOLS | MESSAGE
"""All of these: the fields around the parts of messages."""
METADATA = frozenset(f"{part}.metadata" for part in (*PARTS, *MEDIA))
CALL_ONLY = frozenset(("tool_call.rawArguments", "tool_result.status"))
"""Fields of calls and results other than their values."""
FUNCTION_ONLY = frozenset(f"tool.{name}" for name in ("title", "strict", "outputSchema", "annotations"))
"""Fields of tools other than name, description and parameters."""


def settings_but(*names: str) -> frozenset[str]:
    """Returns all settings of the intermediate format except these."""
    return frozenset(f"settings.{name}" for name in SETTINGS if name not in names)


SETTINGS = (
    *("temperature", "topP", "topK", "maxOutputTokens", "stop", "seed", "presencePenalty", "frequencyPenalty"),
    *("parallelToolCalls", "reasoningEffort", "reasoningBudget", "responseFormat", "stream", "streamObfuscation"),
    *("candidateCount", "modalities", "logprobs", "topLogprobs", "verbosity", "prediction", "serviceTier", "store"),
    *("metadata", "user", "safetyIdentifier", "promptCacheKey", "promptCacheRetention", "promptCacheOptions"),
    "moderation",
)
