"""Detects documents of the Model Context Protocol."""

from __future__ import annotations

from typing import Any

from convcli.dialects.mcp.sampling import FINISH
from convcli.kit.objects import Native
from convcli.kit.values import pairs
from convcli.model.dialect import Evidence

BLOCK_MARKS = pairs(
    "tool_use=input tool_result=toolUseId image=mimeType audio=mimeType resource_link=uri resource=resource"
)
"""Block type other than text → a key of such a block."""


def detect(document: Any) -> Evidence | None:
    """Detects `inputSchema`, JSON-RPC, `structuredContent`, `isError` or sampling."""
    if isinstance(document, list):
        return Evidence(95, "tools have inputSchema") if document and all(map(_is_tool, document)) else None
    if not isinstance(document, dict):
        return None
    payload = next((document[key] for key in ("result", "params") if isinstance(document.get(key), dict)), document)
    match = _detect_payload(payload)
    wrapped = match is not None and payload is not document and "jsonrpc" in document
    return Evidence(97, f"JSON-RPC: {match.reason}") if wrapped and match is not None else match


def _detect_payload(payload: Native) -> Evidence | None:
    tools, content = payload.get("tools"), payload.get("content")
    if isinstance(payload.get("messages"), list):
        return _detect_sampling(payload)
    if isinstance(tools, list):
        return _detect_tools(payload, tools)
    if "role" in payload:
        reason = payload.get("stopReason")
        answered = isinstance(reason, str) and reason in FINISH and "model" in payload
        return Evidence(91, "the answer has a stopReason of sampling") if answered else None
    if isinstance(content, list) and all(isinstance(block, dict) and "type" in block for block in content):
        marks = [key for key in ("structuredContent", "isError", "resultType") if key in payload]
        return (
            Evidence(92, f"the result has content and {marks[0]}")
            if marks
            else Evidence(60, "the result has content blocks and no role")
        )
    return None


def _detect_tools(payload: Native, tools: list[Any]) -> Evidence | None:
    if tools:
        return Evidence(95, "tools have inputSchema") if all(map(_is_tool, tools)) else None
    marks = [key for key in ("nextCursor", "resultType", "ttlMs", "cacheScope") if key in payload]
    if marks:
        return Evidence(92, f"the list has tools and {marks[0]}")
    return Evidence(30, "the list of tools is empty") if payload.keys() <= {"tools", "_meta"} else None


def _detect_sampling(payload: Native) -> Evidence | None:
    tools = payload.get("tools")
    if any(message.get("role") == "model" for message in payload["messages"] if isinstance(message, dict)):
        return None  # Genkit's requests have the same tools
    if isinstance(tools, list) and tools and all(map(_is_tool, tools)):
        return Evidence(96, "tools have inputSchema")
    marks = [key for key in ("systemPrompt", "modelPreferences", "includeContext") if key in payload]
    if marks:
        return Evidence(92, marks[0])
    contents = [message.get("content") for message in payload["messages"] if isinstance(message, dict)]
    if any(isinstance(content, dict) and ("text" in content or _has_mark(content)) for content in contents):
        return Evidence(91, "content is one block")
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    results = any(
        isinstance(block, dict) and block.get("type") == "tool_result" and _has_mark(block) for block in blocks
    )
    return Evidence(91, "tool_result blocks have toolUseId") if results else None


def _is_tool(native: Any) -> bool:
    return isinstance(native, dict) and "inputSchema" in native and "name" in native


def _has_mark(block: Native) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind in BLOCK_MARKS and BLOCK_MARKS[kind] in block
