"""Paths of fields in documents of Chat Completions and its relatives, what these store, and why the rest is lost."""

from __future__ import annotations

from convcli.families.openai.calls import CALLS
from convcli.families.openai.parts import parts_of
from convcli.families.openai.request import REQUEST_SETTINGS, TOOLS, USAGE
from convcli.kit.supported import TOOLS as TOOL_FIELDS
from convcli.kit.supported import TURNS, counted, fields, media
from convcli.kit.values import paths, usage_places
from convcli.model.transcript import Path

TO_RESPONSE: Path = ("..", "..", "..")
"""From the message of a choice to the response."""

OF_FUNCTIONS: dict[str, Path] = {**CALLS["function"].places, **TOOLS["function"].places("tool")}
"""Paths of calls and tools, whose keys are under `function`."""

OF_CALLS: dict[str, Path] = {
    **OF_FUNCTIONS,
    **paths("toolChoice=tool_choice tool_result.toolCallId=../tool_call_id message.stopReason=../finish_reason"),
}
"""Paths that all of them share."""

PLACES: dict[str, Path] = {
    **OF_CALLS,
    **REQUEST_SETTINGS.places(),
    **{
        f"settings.responseFormat.{key}": ("response_format", "json_schema", key)
        for key in ("name", "description", "schema", "strict")
    },
    **parts_of("").places(),
    **paths("createdAt=created extras.choice=.. message.error=error/message"),
    "extras.tool": (),
    **usage_places(USAGE, *TO_RESPONSE, "usage"),
    "extras.usage": (*TO_RESPONSE, "usage"),
}

COMMON = TURNS | fields("refusal.text tool_call.rawArguments")
"""Fields that all of their messages have."""
MEDIA = media("image", "data url detail") | media("audio", "data mediaType") | media("document", "data fileId name")
"""The media that Chat Completions accepts."""
ANSWERED = media("audio", "data fileId")
"""The media of its answers, which may be sent back."""
OF_ANSWERS = fields("id createdAt model message.stopReason") | counted(USAGE)
OF_REQUESTS = TOOL_FIELDS | fields("model toolChoice tool.strict")

REASONS = {
    "message.usage": "only a response has usage",
    "reasoning.summary": "thinking has no summary",
    "tool_result.status": "a tool message has no status",
    "tool_result.isError": "a tool message has no field for a failure",
}
