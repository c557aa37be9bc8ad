"""What the reports say about the Gemini API and Vertex AI: reasons, places, conventions."""

from __future__ import annotations

from convcli.families.google import config
from convcli.families.google.results import express
from convcli.kit.lacking import fields, settings_but
from convcli.kit.values import paths
from convcli.model.dialect import Convention
from convcli.model.transcript import Path

CONVENTIONS = (
    Convention(
        express,
        {
            "data": ("changed", "a string in a response is read as text"),
            "error": ("changed", "a string under error is read as the text of the error"),
            "multimodal": ("changed", "an answer without media is text"),
        },
    ),
)

SHORT = "the name of a function is short and has few characters"
LOSSES = {
    "refusal": "Google has no field for a refusal: the words are written as text",
    "message.grouping": "a turn that calls must not follow a turn of the model, and the system speaks once",
    "message.role": "Google has one system instruction, and the roles user and model",
    "message.name": "turns have no name",
    "message.id": "turns have no id",
    "message.parentId": "turns have no parent",
    "message.createdAt": "turns have no time",
    "message.model": "turns have no model of their own",
    "message.usage": "only a response has usage",
    "message.usage.cacheWriteTokens": "usage has no count of what is written to a cache",
    "message.stopReason": "only a response has a finish reason, and it has a list of them",
    "message.error": "a turn has no field for its failure",
    "reasoning.summary": "a thought is one text",
    "tool_call.rawArguments": "arguments are an object, never text",
    **dict.fromkeys(("tool_call.name", "tool_result.name", "tool.name"), SHORT),
    "tool_result.value": "the texts of an answer stand in one string before its media",
    "tool_result.status": "an answer has no status",
    "tool_result.isError": "the key error says it",
    "tool.strict": "declarations have no strict mode",
    "tool.title": "declarations have no title",
    "tool.annotations": "declarations have no annotations",
    "toolChoice": "a choice needs declared functions",
    "settings.parallelToolCalls": "Google has no setting for parallel calls",
    "settings.stream": "the method streams, not a field of the request",
    "settings.responseFormat": "Google takes JSON or a schema alone",
    "settings.reasoningEffort": "the service has no such level of thinking",
    "settings.serviceTier": "the tiers are standard, flex and priority, and Vertex AI has none",
    "settings.store": "the service keeps no answers: what is called store there is about logs",
    "settings.metadata": "labels are for billing only, and must be short",
    "mediaType": "Google wants a media type",
    "metadata": "only a provider itself takes its context back",
    "title": "there is no place for a title",
    "cwd": "there is no place for a directory",
}

SETTING_KEYS = {
    **{ours: theirs for theirs, ours in config.SETTINGS.items()},
    "responseFormat": "responseMimeType",
    "modalities": "responseModalities",
    "reasoningEffort": "thinkingConfig/thinkingLevel",
    "reasoningBudget": "thinkingConfig/thinkingBudget",
}

LACKS = fields(
    "title cwd updatedAt message.id message.parentId message.createdAt message.name message.model message.error "
    "reasoning.summary tool_call.rawArguments tool_result.status tool.strict tool.title tool.annotations"
)
"""What no form has a place for."""
LACKS |= settings_but("serviceTier", *SETTING_KEYS)
LACKS_BY_FORM = {
    "request": LACKS | fields("id createdAt message.usage message.stopReason"),
    "response": LACKS | fields("tools tool toolChoice settings head"),
    "list": LACKS | fields("id createdAt message.usage message.stopReason model tools tool toolChoice settings"),
}

USAGE = ("..", "..", "..", "usageMetadata")

FORMAT = ("generationConfig", "responseMimeType")

PLACES: dict[str, Path] = {
    **paths("id=responseId createdAt=createTime toolChoice=toolConfig/functionCallingConfig settings=generationConfig"),
    **{f"settings.{ours}": ("generationConfig", *theirs.split("/")) for ours, theirs in SETTING_KEYS.items()},
    **{f"settings.responseFormat.{key}": FORMAT for key in ("type", "name", "description", "strict")},
    **paths(
        "settings.serviceTier=serviceTier settings.responseFormat.schema=generationConfig/responseSchema "
        "message.stopReason=../finishReason message.error=error/message"
    ),
    "message.usage": USAGE,
    **{f"message.usage.{ours}": (*USAGE, *theirs) for theirs, ours in config.COUNTS.items()},
    "extras.content": (),
    "extras.response": (),
    "extras.candidate": ("..",),
    "extras.usageMetadata": USAGE,
    "extras.tool": (),
    **paths(
        "tool_call.id=functionCall/id tool_call.name=functionCall/name tool_call.arguments=functionCall/args "
        "tool_result.toolCallId=functionResponse/id tool_result.name=functionResponse/name "
        "tool_result.kind=functionResponse/response tool_result.value=functionResponse/response "
        "tool_result.isError=functionResponse/response tool.outputSchema=response"
    ),
}

ENVELOPE = fields("response candidate usageMetadata")

REPEATS = frozenset(("/candidates/*/index", "/usageMetadata/candidatesTokenCount"))
"""Values that say where they stand, or are said in a sum."""
