"""Paths of fields in the documents of Chat Completions and its relatives, the fields that they lack, and why."""

from __future__ import annotations

from convcli.families.openai.request import REQUEST_SETTINGS, USAGE
from convcli.kit.unsupported import TOOLS, fields
from convcli.kit.values import paths, usage_places
from convcli.model.transcript import Path

TO_RESPONSE: Path = ("..", "..", "..")
"""From the message of a choice to the response."""

CALLS: dict[str, Path] = paths(
    "toolChoice=tool_choice tool.name=function/name tool.parameters=function/parameters tool_call.name=function/name "
    "tool_call.arguments=function/arguments tool_call.rawArguments=function/arguments "
    "tool_result.toolCallId=../tool_call_id message.stopReason=../finish_reason"
)
"""Paths that all of them share."""

PLACES: dict[str, Path] = {
    **CALLS,
    **REQUEST_SETTINGS.places(),
    **{
        f"settings.responseFormat.{key}": ("response_format", "json_schema", key)
        for key in ("name", "description", "schema", "strict")
    },
    **paths(
        "createdAt=created extras.choice=.. "
        "tool.description=function/description tool.strict=function/strict image.detail=image_url/detail "
        "document.name=file/filename message.error=error/message"
    ),
    "extras.tool": (),
    **usage_places(USAGE, *TO_RESPONSE, "usage"),
    "extras.usage": (*TO_RESPONSE, "usage"),
}

COMMONLY_UNSUPPORTED = fields(
    "title cwd updatedAt head image.name message.id message.parentId message.createdAt message.model message.error "
    "tool.title tool.outputSchema tool.annotations tool_result.status tool_result.isError"
)
"""Fields that no message of theirs has, for any service."""

OF_ANSWERS = fields("message.stopReason message.usage")
OF_REQUESTS = TOOLS | fields("toolChoice settings")


def unsupported_by_form(
    always: frozenset[str], of_answers: str = "", response: str = "response"
) -> dict[str, frozenset[str]]:
    """Returns what each form lacks, if only a response has `of_answers`."""
    without_answers = always | OF_ANSWERS | fields(of_answers)
    return {
        "request": without_answers,
        "list": without_answers | OF_REQUESTS | {"model"},
        response: always | OF_REQUESTS,
    }


REASONS = {
    "message.usage": "only a response has usage",
    "reasoning.summary": "thinking has no summary",
    "tool_result.status": "a tool message has no status",
    "tool_result.isError": "a tool message has no field for a failure",
}
