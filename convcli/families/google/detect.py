"""Detects documents of the Gemini API and Vertex AI."""

from __future__ import annotations

from typing import Any

from convcli.families.google.keys import snake
from convcli.families.google.parts import DATA
from convcli.kit.objects import Native
from convcli.model.dialect import Evidence

FIELDS = frozenset((*DATA, *map(snake, DATA), "thoughtSignature", "thought_signature"))
ROLES = (None, "user", "model", "function", "tool")
ANSWERED = ("content", "finishReason", "finish_reason")
BLOCKED = ("promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata")


def recognise(document: Any) -> Evidence | None:
    """Detects `contents` or `candidates`, or a list of turns whose parts have Google's fields."""
    if isinstance(document, list):
        turns = document and all(is_content(item) for item in document)
        return Evidence(80, "turns with parts") if turns and any(item.get("parts") for item in document) else None
    if not isinstance(document, dict) or document.get("role") is not None:
        return None
    contents = document.get("contents")
    if isinstance(contents, (list, dict)):
        every = contents if isinstance(contents, list) else [contents]
        return Evidence(90, "contents with parts") if all(is_content(item) for item in every) else None
    candidates = document.get("candidates")
    dicts = isinstance(candidates, list) and all(isinstance(item, dict) for item in candidates)
    if dicts and any(key in item for item in candidates or () for key in ANSWERED):
        return Evidence(90, "candidates")
    return Evidence(80, "a response without candidates") if any(key in document for key in BLOCKED) else None


def is_content(value: Any) -> bool:
    """True for a turn whose parts have Google's fields and that has no mark of another dialect."""
    if not isinstance(value, dict) or value.get("role") not in ROLES or not ("parts" in value or "role" in value):
        return False
    if "content" in value:
        return False
    parts = value.get("parts") or []
    parts = [parts] if isinstance(parts, dict) else parts
    return isinstance(parts, list) and all(isinstance(part, dict) and _is_part(part) for part in parts)


def _is_part(part: Native) -> bool:
    return not FIELDS.isdisjoint(part) or not ({"type", "kind", "part_kind"} & part.keys())
