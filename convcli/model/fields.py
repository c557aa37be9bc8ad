"""The fields of the intermediate format: one table, from which the order of keys, the levels of losses and the usual
reasons are made.

A new field is stated in its record (`transcript`), here, and in `schemas/intermediate.schema.json`. Tests compare the
three, the page of the format, and the transcripts of the property tests.
"""

from __future__ import annotations

import msgspec

from convcli.model.transcript import MEDIA_KINDS


class FormatField(msgspec.Struct, frozen=True):
    """What is known of a field, whatever the dialect.

    `is_content`: a model that reads another value reads something else. Other fields are context. `why` is the usual
    reason of a loss if the target has no such field, before `in` and its title; without it, `{title} cannot store this
    field`. `refers`: its value names a message of the transcript.
    """

    why: str = ""
    is_content: bool = False
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
    "id": FormatField("messages have no id"),
    "parentId": FormatField("messages have no parent", refers=True),
    "createdAt": FormatField("messages have no time"),
    "name": FormatField("messages have no name"),
    "model": FormatField("messages have no model of their own"),
    "provider": FormatField("messages have no provider"),
    "parts": CONTENT,
    "stopReason": FormatField("messages have no stop reason"),
    "usage": FormatField("messages have no usage"),
    "cost": FormatField("messages have no cost"),
    "error": FormatField("messages have no field for a failure"),
    "weight": FormatField("messages have no training weight"),
    "label": FormatField("messages are not preference pairs"),
    "replaces": FormatField("messages cannot mark what they replace", refers=True),
    "parentCallId": FormatField("messages cannot name the call that they belong to", refers=True),
    "extras": CONTEXT,
}

TOOL = {
    "name": CONTENT,
    "description": CONTENT,
    "parameters": CONTENT,
    "strict": CONTEXT,
    "custom": CONTEXT,
    "title": FormatField("tools have no title"),
    "outputSchema": FormatField("tools have no schema for their results"),
    "annotations": FormatField("tools have no annotations"),
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
        "custom": CONTEXT,
    },
    "tool_result": {
        "toolCallId": CONTEXT,
        "name": FormatField("a result names its call, not its tool,", is_content=True),
        "kind": CONTENT,
        "value": CONTENT,
        "isError": CONTENT,
        "status": FormatField("results have no status"),
        **OF_ANY_PART,
    },
    "opaque": {"dialect": CONTEXT, "value": CONTENT, "metadata": CONTEXT, "extras": CONTEXT},
    **dict.fromkeys(MEDIA_KINDS, MEDIA),
    "image": {
        **MEDIA,
        "name": FormatField("images have no name"),
        "detail": FormatField("images have no detail"),
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

REFERENCES = tuple(name for name, field in FIELDS.items() if field.refers)
TEXTS = frozenset(("messages", "message.role", "message.parts", "message.grouping", "text.text", "extras"))
"""What nearly every dialect supports: messages with a role and texts, and its own extras."""


def is_supported(field: str, supports: frozenset[str]) -> bool:
    """True if `supports` names the field, what contains it, or something in it."""
    steps = field.split(".")
    if any(".".join(steps[:end]) in supports for end in range(1, len(steps) + 1)):
        return True
    return any(name.startswith(f"{field}.") for name in supports)
