"""Turns as short as the tests of this folder need them."""

from __future__ import annotations

from typing import Any

from convcli.model.transcript import Message, Text, ToolCall, ToolResult


def user(text: str, **fields: Any) -> Message:
    return Message("user", [Text(text)], **fields)


def call(id_: str) -> ToolCall:
    return ToolCall(id_, "f", {})


def calling(*ids: str) -> Message:
    return Message("assistant", list(map(call, ids)))


def result(id_: str, text: str = "ok") -> Message:
    return Message("tool", [ToolResult(id_, "f", "text", text)])
