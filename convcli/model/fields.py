"""The fields of the intermediate format: one table, from which the order of keys, the levels of losses, the usual
reasons and the sets of what dialects lack are made.

A new field is stated in its record (`transcript`), here, and in `schemas/intermediate.schema.json`. Tests compare the
three, the page of the format, and the transcripts of the property tests.
"""

from __future__ import annotations

import msgspec

from convcli.model.transcript import MEDIA_KINDS


class FormatField(msgspec.Struct, frozen=True):
    """What is known of a field, whatever the dialect.

    `is_content`: a model that reads another value reads something else. Other fields are context. `why` is the usual
    reason of a loss if the target has no such field; without it, `{title} cannot store this field`. `is_rare`: hardly
    any format has it, so a dialect that has it names it in `supports`. `refers`: its value names a message of the
    transcript.
    """

    why: str = ""
    is_content: bool = False
    is_rare: bool = False
    refers: bool = False


CONTENT = FormatField(is_content=True)
CONTEXT = FormatField()

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
    "head": FormatField(refers=True),
    "extras": CONTEXT,
}
"""The fields of a transcript, by their name in JSON, in the order in which they are written. So in all tables."""

MESSAGE = {
    "role": CONTENT,
    "id": FormatField("target messages have no id"),
    "parentId": FormatField("target messages have no parent", refers=True),
    "createdAt": FormatField("target messages have no time"),
    "name": FormatField("target messages have no name"),
    "model": FormatField("target messages have no model of their own"),
    "provider": FormatField("target messages have no provider", is_rare=True),
    "parts": CONTENT,
    "stopReason": FormatField("target messages have no stop reason"),
    "usage": FormatField("target messages have no usage"),
    "cost": FormatField("target messages have no cost", is_rare=True),
    "error": FormatField("target messages have no field for a failure"),
    "weight": FormatField("target messages have no training weight", is_rare=True),
    "label": FormatField("target messages are not preference pairs", is_rare=True),
    "replaces": FormatField("target messages cannot mark what they replace", is_rare=True, refers=True),
    "parentCallId": FormatField("target messages cannot name the call that they belong to", is_rare=True, refers=True),
    "extras": CONTEXT,
}

TOOL = {
    "name": CONTENT,
    "description": CONTENT,
    "parameters": CONTENT,
    "strict": CONTEXT,
    "custom": FormatField(is_rare=True),
    "title": FormatField("target tools have no title"),
    "outputSchema": FormatField("target tools have no schema for their results"),
    "annotations": FormatField("target tools have no annotations"),
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
PARTS: dict[str, dict[str, FormatField]] = {
    "text": {"text": CONTENT, **OF_ANY_PART},
    "reasoning": {"text": CONTENT, "summary": CONTENT, **OF_ANY_PART},
    "refusal": {"text": CONTENT, **OF_ANY_PART},
    "tool_call": {
        "id": CONTEXT,
        "name": CONTENT,
        "arguments": CONTENT,
        "rawArguments": CONTENT,
        **OF_ANY_PART,
        "custom": FormatField(is_rare=True),
    },
    "tool_result": {
        "toolCallId": CONTEXT,
        "name": FormatField("a target result names its call, not its tool", is_content=True),
        "kind": CONTENT,
        "value": CONTENT,
        "isError": CONTENT,
        "status": FormatField("target results have no status"),
        **OF_ANY_PART,
    },
    "opaque": {"dialect": CONTEXT, "value": CONTENT, "metadata": FormatField(is_rare=True), "extras": CONTEXT},
    **dict.fromkeys(MEDIA_KINDS, MEDIA),
    "image": {
        **MEDIA,
        "name": FormatField("target images have no name"),
        "detail": FormatField("target images have no detail"),
    },
}

FIELDS: dict[str, FormatField] = {
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
