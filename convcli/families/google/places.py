"""Reasons, paths and conventions of the Gemini API and Vertex AI for reports."""

from __future__ import annotations

from convcli.families.google import config
from convcli.families.google.parts import CALLS
from convcli.families.google.results import express
from convcli.kit.supported import METADATA, TOOLS, TURNS, counted, fields, lacking, media
from convcli.kit.values import paths, usage_places
from convcli.model.dialect import Convention
from convcli.model.transcript import Path

CONVENTIONS = (
    Convention(
        express,
        {
            "data": ("changed", "a string in a response is read as text"),
            "error": ("changed", "a string under `error` is read as the text of the error"),
            "multimodal": ("changed", "an answer without media is text"),
        },
    ),
)

SHORT = "Google limits the length and the characters of a function name"
LOSSES = {
    "refusal": "Google has no field for a refusal: it is written as text",
    "message.grouping": "a turn with calls must not follow a model turn, and Google has one system instruction",
    "message.role": "Google has one system instruction, and the roles user and model",
    "message.name": "target turns have no name",
    "message.id": "target turns have no id",
    "message.parentId": "target turns have no parent",
    "message.createdAt": "target turns have no time",
    "message.model": "target turns have no model of their own",
    "message.usage": "only a response has usage",
    "message.usage.cacheWriteTokens": "target usage has no count of tokens written to a cache",
    "message.stopReason": "only a response has a finish reason, from Google's own list",
    "message.error": "target turns have no field for a failure",
    "reasoning.summary": "a thought is one text",
    "tool_call.rawArguments": "arguments must be an object, not a string",
    **dict.fromkeys(("tool_call.name", "tool_result.name", "tool.name"), SHORT),
    "tool_result.value": "the texts of an answer are one string before its media",
    "tool_result.status": "target answers have no status",
    "tool_result.isError": "the key `error` expresses it",
    "tool.strict": "target declarations have no strict mode",
    "tool.title": "target declarations have no title",
    "tool.annotations": "target declarations have no annotations",
    "toolChoice": "Google allows a choice only with declared functions",
    "settings.parallelToolCalls": "Google has no setting for parallel calls",
    "settings.stream": "the API method decides about streaming, not a field of the request",
    "settings.responseFormat": "Google supports only JSON or a schema",
    "settings.reasoningEffort": "the service has no such level of thinking",
    "settings.serviceTier": "the tiers are standard, flex and priority, and Vertex AI has none",
    "settings.store": "the service does not keep answers: its `store` is about logs",
    "settings.metadata": "labels are for billing only, and must be short",
    "mediaType": "Google requires a media type",
    "metadata": "only the provider itself accepts its context back",
}

SETTING_KEYS = {
    **{ours: theirs for theirs, ours in config.SETTINGS.items()},
    "responseFormat": "responseMimeType",
    "modalities": "responseModalities",
    "reasoningEffort": "thinkingConfig/thinkingLevel",
    "reasoningBudget": "thinkingConfig/thinkingBudget",
}

OF_PARTS = media(names="data url mediaType name") | (METADATA - fields("refusal.metadata tool_result.metadata"))
"""Fields of media, and signatures. There is no part for a refusal, and the answer to a call has no signature."""
SUPPORTS = TURNS | OF_PARTS
SUPPORTS |= fields("tool_result.name tool_result.isError")
"""Fields that every form has."""
SUPPORTS_BY_FORM = {
    "request": SUPPORTS
    | TOOLS
    | fields("model toolChoice tool.outputSchema")
    | {f"settings.{name}" for name in SETTING_KEYS},
    "response": lacking(SUPPORTS, "tool_result")
    | counted(config.COUNTS)
    | fields("id createdAt model message.stopReason"),
    "list": SUPPORTS,
}

USAGE = ("..", "..", "..", "usageMetadata")

FORMAT = ("generationConfig", "responseMimeType")

OF_CALLS = CALLS.places | paths(
    "tool_result.toolCallId=functionResponse/id tool_result.name=functionResponse/name "
    "tool_result.kind=functionResponse/response tool_result.value=functionResponse/response"
)
"""The paths of calls and results in their parts."""

PLACES: dict[str, Path] = {
    **paths("id=responseId createdAt=createTime toolChoice=toolConfig/functionCallingConfig settings=generationConfig"),
    **{f"settings.{ours}": ("generationConfig", *theirs.split("/")) for ours, theirs in SETTING_KEYS.items()},
    **{f"settings.responseFormat.{key}": FORMAT for key in ("type", "name", "description", "strict")},
    **paths(
        "settings.serviceTier=serviceTier settings.responseFormat.schema=generationConfig/responseSchema "
        "message.stopReason=../finishReason message.error=error/message"
    ),
    **usage_places(config.COUNTS, *USAGE),
    "extras.content": (),
    "extras.response": (),
    "extras.candidate": ("..",),
    "extras.usageMetadata": USAGE,
    "extras.tool": (),
    **OF_CALLS,
    **paths("tool_result.isError=functionResponse/response tool.outputSchema=response"),
}

ENVELOPE = fields("response candidate usageMetadata")

REPEATS = frozenset(("/candidates/*/index", "/usageMetadata/candidatesTokenCount"))
"""Values that only repeat their position, or a sum of others."""
