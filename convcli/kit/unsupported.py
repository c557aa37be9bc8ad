"""Sets of fields that many formats cannot store, for a dialect's `unsupported`. What it stores of them stands in its
`supports`."""

from __future__ import annotations

from convcli.model.fields import MESSAGE as MESSAGE_FIELDS
from convcli.model.fields import RARE, TOOL, TRANSCRIPT
from convcli.model.transcript import MEDIA_KINDS


def fields(names: str) -> frozenset[str]:
    """Returns a set of names or keys that are separated by spaces."""
    return frozenset(names.split())


MEDIA = frozenset(MEDIA_KINDS)
PARTS = ("text", "reasoning", "tool_call", "tool_result")

REQUEST = frozenset(("model", "settings", "toolChoice"))
"""Fields of a request other than messages and tools."""
SESSION = frozenset(TRANSCRIPT) - REQUEST - {"messages", "tools", "extras"}
"""Fields of a stored transcript."""
TOOLS = frozenset(("tools", "tool"))
MESSAGE = (
    frozenset(f"message.{name}" for name in MESSAGE_FIELDS if name not in ("role", "parts", "model", "extras")) - RARE
)
"""Fields of a message, except its model and rare ones."""
AROUND_PARTS = SESSION | REQUEST | TOOLS | MESSAGE
"""All of these: the fields around the parts of messages."""
METADATA = frozenset(f"{part}.metadata" for part in (*PARTS, *MEDIA))
CALL_ONLY = frozenset(("tool_call.rawArguments", "tool_result.status"))
"""Fields of calls and results other than their values."""
FUNCTION_ONLY = (
    frozenset(f"tool.{name}" for name in TOOL if name not in ("name", "description", "parameters", "extras")) - RARE
)
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
