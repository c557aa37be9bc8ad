"""Session traces of the Hugging Face Hub: the simple format (STS), which its viewer shows for any program.

Specification: https://huggingface.co/docs/hub/session-traces-format, docs/hub/session-traces-format.md of
huggingface/hub-docs at 9d14846; read 2026-11-23. Sessions of Claude Code, Codex and pi are kept there as they are.

Quirks
- The first row names the session and the `harness`, the program that made it; the default is convcli.
- A message has one text, one thought before it, and calls, whose arguments are a JSON string.
- A result has no field for a failure: only its text is written. Media have no field.
- A session of pi may have a harness too, but its rows have ids.
"""

from __future__ import annotations

from typing import Any

from convcli.families import tables
from convcli.kit.ids import set_session_id
from convcli.kit.supported import fields
from convcli.model.transcript import MEDIA_KINDS, Reasoning, Text, Transcript

NAME = "hf-trace"
TABLE = {
    "title": "Hugging Face session traces",
    "lines": True,
    "where": {"type": "message"},
    "object": "message",
    "role": "role",
    "text": "content",
    "always": ["content"],
    "reasoning": "reasoningContent",
    "calls": {
        "at": "toolCalls",
        "id": "id",
        "defaults": {"type": "function"},
        "name": "function/name",
        "arguments": "function/arguments",
        "arguments-as": "json",
    },
    "results": {"value": "content", "call": "toolCallId", "json": False},
    "time": "timestamp",
    "time-in": "milliseconds",
    "model": "model",
    "conversation": {
        "where": {"type": "session"},
        "constants": {"harness": "convcli"},
        "id": "id",
        "title": "name",
    },
}


def _content(transcript: Transcript) -> Any:
    """Returns the content from which a missing session id is derived."""
    return [
        [message.role, [part.text if isinstance(part, (Text, Reasoning)) else part.type for part in message.parts]]
        for message in transcript.messages
    ]


DIALECT = tables.built_in(
    NAME,
    TABLE,
    passes=(set_session_id(_content),),
    aliases=("sts", "hf-traces"),
    specification="docs/hub/session-traces-format.md of huggingface/hub-docs at 9d14846; read 2026-11-23",
    forms=("session",),
    reasons={
        "message.role": "Hugging Face traces have only one role for instructions",
        "message.model": "Hugging Face traces name the model on each answer",
        "model": "Hugging Face traces name the model on each answer",
        "text": "a Hugging Face trace message has one text",
        "reasoning": "a Hugging Face trace message has one thought",
        "refusal": "Hugging Face traces have no field for a refusal: it is written as text",
        **dict.fromkeys(MEDIA_KINDS, "messages of Hugging Face traces are text"),
        "tool_result.name": "a tool result in a Hugging Face trace has only the id of its call",
    },
    metadata=fields("usage"),
    envelope=frozenset(("harness", "row")),
)
