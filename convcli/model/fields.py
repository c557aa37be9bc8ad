"""The fields of the intermediate format: one table, from which the order of keys, the levels of losses, the usual
reasons and the sets of what dialects lack are made.

A new field is stated in its record (`transcript`), here, and in `schemas/intermediate.schema.json`. Tests compare the
three, the page of the format, and the transcripts of the property tests.
"""

from __future__ import annotations

from typing import NamedTuple

from convcli.model.transcript import MEDIA_KINDS


class Field(NamedTuple):
    """What is known of a field, whatever the dialect.

    `is_content`: a model that reads another value reads something else. Other fields are context. `why` is the usual
    reason of a loss if the target has no such field; without it, `{title} cannot store this field`. `is_rare`: hardly
    any format has it, so a dialect lists it in `has`, instead of all others in `unsupported`. `refers`: its value names
    a message of the transcript.
    """

    why: str = ""
    is_content: bool = False
    is_rare: bool = False
    refers: bool = False


CONTENT = Field(is_content=True)
CONTEXT = Field()

TRANSCRIPT = {
    "id": CONTEXT,
    "title": CONTEXT,
    "model": CONTEXT,
    "cwd": CONTEXT,
    "createdAt": CONTEXT,
    "updatedAt": CONTEXT,
    "tools": CONTENT,
    "toolChoice": CONTENT,
    "settings": CONTEXT,
    "messages": CONTENT,
    "head": Field(refers=True),
    "extras": CONTEXT,
}
"""The fields of a transcript, by their name in JSON, in the order in which they are written. So in all tables."""

MESSAGE = {
    "role": CONTENT,
    "id": Field("target messages have no id"),
    "parentId": Field("target messages have no parent", refers=True),
    "createdAt": Field("target messages have no time"),
    "name": Field("target messages have no name"),
    "model": Field("target messages have no model of their own"),
    "provider": Field("target messages have no provider", is_rare=True),
    "parts": CONTENT,
    "stopReason": Field("target messages have no stop reason"),
    "usage": Field("target messages have no usage"),
    "cost": Field("target messages have no cost", is_rare=True),
    "error": Field("target messages have no field for a failure"),
    "weight": Field("target messages have no training weight", is_rare=True),
    "label": Field("target messages are not preference pairs", is_rare=True),
    "replaces": Field("target messages cannot mark what they replace", is_rare=True, refers=True),
    "parentCallId": Field("target messages cannot name the call that they belong to", is_rare=True, refers=True),
    "extras": CONTEXT,
}

TOOL = {
    "name": CONTENT,
    "description": CONTENT,
    "parameters": CONTENT,
    "strict": CONTEXT,
    "custom": Field(is_rare=True),
    "title": Field("target tools have no title"),
    "outputSchema": Field("target tools have no schema for their results"),
    "annotations": Field("target tools have no annotations"),
    "extras": CONTEXT,
}

OF_ANY_PART = {"metadata": CONTEXT, "extras": CONTEXT}
MEDIA = {
    "data": CONTENT,
    "url": CONTENT,
    "fileId": CONTENT,
    "path": CONTENT,
    "text": CONTENT,
    "mediaType": CONTENT,
    "name": CONTEXT,
    "detail": CONTEXT,
    **OF_ANY_PART,
}
PARTS: dict[str, dict[str, Field]] = {
    "text": {"text": CONTENT, **OF_ANY_PART},
    "reasoning": {"text": CONTENT, "summary": CONTENT, **OF_ANY_PART},
    "refusal": {"text": CONTENT, **OF_ANY_PART},
    "tool_call": {
        "id": CONTEXT,
        "name": CONTENT,
        "arguments": CONTENT,
        "rawArguments": CONTENT,
        **OF_ANY_PART,
        "custom": Field(is_rare=True),
    },
    "tool_result": {
        "toolCallId": CONTEXT,
        "name": Field("a target result names its call, not its tool", is_content=True),
        "kind": CONTENT,
        "value": CONTENT,
        "isError": CONTENT,
        "status": Field("target results have no status"),
        **OF_ANY_PART,
    },
    "opaque": {"dialect": CONTEXT, "value": CONTENT, "metadata": Field(is_rare=True), "extras": CONTEXT},
    **dict.fromkeys(MEDIA_KINDS, MEDIA),
    "image": {
        **MEDIA,
        "name": Field("target images have no name"),
        "detail": Field("target images have no detail"),
    },
}

FIELDS: dict[str, Field] = {
    **TRANSCRIPT,
    **{
        f"{node}.{name}": field
        for node, fields in {"message": MESSAGE, "tool": TOOL, **PARTS}.items()
        for name, field in fields.items()
    },
}
"""All fields under the names that losses and dialects use: `title`, `message.name`, `tool_call.arguments`."""

RARE = frozenset(name for name, field in FIELDS.items() if field.is_rare)
REFERENCES = tuple(name for name, field in FIELDS.items() if field.refers)
