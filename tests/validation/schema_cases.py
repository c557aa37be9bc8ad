"""Documents that their schemas accept, what is changed in them, and other ways to a verdict."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from convcli.model.findings import Finding
from convcli.validation import schemas
from convcli.validation.quick_schemas import QuickValidator

CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
REQUEST: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "22"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "tool_choice": "auto",
}
TRANSCRIPT: dict[str, Any] = {
    "convcli": 1,
    "messages": [
        {
            "role": "user",
            "parts": [{"type": "text", "text": "Hi"}, {"type": "image", "url": "https://example.org/a.png"}],
        },
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": {}}]},
        {
            "role": "tool",
            "parts": [{"type": "tool_result", "toolCallId": "c", "name": "f", "kind": "text", "value": "22"}],
        },
    ],
    "toolChoice": {"name": "f"},
}
DOCUMENTS = {"openai-chat": REQUEST, "intermediate": TRANSCRIPT}


def changed(document: Any, pointer: str, *value: Any) -> Any:
    """A copy with the value at the pointer replaced, or removed when none is given."""
    copied = copy.deepcopy(document)
    *steps, last = [int(step) if step.isdigit() else step for step in pointer.split("/")[1:]]
    node = copied
    for step in steps:
        node = node[step]
    if value:
        node[last] = value[0]
    else:
        del node[last]
    return copied


def without_the_fast_one(name: str, document: Any) -> list[Finding]:
    """The findings where jsonschema_rs is not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schemas, "fast_validator", lambda name, **_: None)
        return schemas.findings(name, document)


def quickly(name: str, document: Any) -> bool:
    """The verdict without a validator. Raises UndecidedError."""
    return QuickValidator(1_000_000).passes(schemas.schema(name), document)
