"""Distinguishes language, messages, parts and calls from ids, paths, versions and other metadata, by value alone."""

from __future__ import annotations

import json
from typing import Any

from convcli.wire.patterns import pattern

LONGEST = 2000
"""Characters of a string that are looked at."""
SHORTEST_SENTENCE, SHORTEST = 2, 4
"""Words of language with and without punctuation at its end."""
LEAST_SHARE = 0.6
"""Of the tokens of a string that are words, where it is language."""
WORD = pattern(r"[\"'(\[*_“‘«¿¡-]*[^\W\d_]+(?:[-'’/][^\W\d_]+)*[\"')\]*_.,;:!?…”’»-]*")
SENTENCE_END = pattern(r"[.!?…][\"')\]*_”’»]*\s*\Z")
UNSPACED = pattern(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]"
)
"""Letters of scripts that need no spaces between words (Thai, Burmese, Khmer, kana, Han, Hangul)."""
SHORTEST_UNSPACED = 4
DEEPEST = 64
"""Levels of nested lists and objects that are looked at."""

SPEAKERS = frozenset(("role", "author", "from", "speaker", "sender"))
SPOKEN = ("content", "parts", "contents", "message", "text", "value")
ANSWERED, NESTED = ("choices", "candidates", "messages"), ("message", "content")
"""Keys of lists of answers, and of the message of one."""
CALL_IDS = frozenset(("tool_call_id", "toolCallId", "call_id", "callId", "tool_use_id", "toolUseId"))
CALLED = frozenset(("arguments", "input", "args", "rawInput", "kwargs"))
CALLS = frozenset(
    ("function", "function_call", "tool_use", "tool_call", "tool-call", "toolCall", "functionCall", "functionResponse",
     "tool_result", "tool-result", "toolResult", "toolUse", "tool_calls", "toolCalls")
)  # fmt: skip
"""Types of objects, and keys, of calls and their results."""
MEDIA = frozenset(
    ("image", "image_url", "input_image", "audio", "audio_url", "input_audio", "video", "video_url", "document",
     "media", "input_file")
)  # fmt: skip
STORED = frozenset(
    ("source", "image_url", "input_audio", "audio_url", "video_url", "file_data", "inline_data", "inlineData", "data")
)
"""Types of parts with media, and keys of their data or URLs."""


def is_language(text: str) -> bool:
    """True if a person or a model wrote the string: several words of any language, or JSON that holds such a string."""
    if text.isascii() and " " not in text and "\n" not in text and text[:1] not in ("{", "["):
        return False
    start = text[:LONGEST]
    if text[:1] in ("{", "["):
        inner = _parsed(text)
        if inner is not None:
            return holds_content(inner)
    if not start.isascii():
        unspaced = len(UNSPACED.findall(start))
        if unspaced >= SHORTEST_UNSPACED and unspaced * 2 >= len(start.replace(" ", "")):
            return True
    tokens = start.split()
    words = sum(WORD.fullmatch(token) is not None for token in tokens)
    least = SHORTEST_SENTENCE if SENTENCE_END.search(start) else SHORTEST
    return words >= least and words >= LEAST_SHARE * len(tokens)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def holds_content(value: Any, depth: int = DEEPEST) -> bool:
    """True if the JSON value is or holds language, a message, a part with text or media, or a call."""
    if isinstance(value, str):
        return is_language(value)
    if depth == 0:
        return False
    if isinstance(value, dict):
        return is_part_of_conversation(value) or any(holds_content(each, depth - 1) for each in value.values())
    return isinstance(value, list) and any(holds_content(each, depth - 1) for each in value)


def holds_message(value: Any) -> bool:
    """True if the JSON value is a message, a list of messages, or an answer with `choices` or `candidates`."""
    if isinstance(value, list):
        return any(isinstance(each, dict) and is_message(each) for each in value)
    return isinstance(value, dict) and (is_message(value) or any(holds_message(value.get(key)) for key in ANSWERED))


def is_message(value: dict[str, Any]) -> bool:
    """True if the object names an author and contains text."""
    nested = (value.get(key) for key in NESTED)
    if any(isinstance(each, dict) and is_message(each) for each in nested):
        return True
    return any(isinstance(value.get(key), str) for key in SPEAKERS) and any(value.get(key) for key in SPOKEN)


def is_part_of_conversation(value: dict[str, Any]) -> bool:
    """True if the object is a message, a part with text or media, a call or a result, in the usual keys of any
    vendor."""
    if is_message(value):
        return True
    kind = value.get("type")
    if isinstance(kind, str):
        text = value.get("text")
        if kind.endswith("text") and isinstance(text, str) and text.strip():
            return True
        if kind in CALLS and ("name" in value or "id" in value):
            return True
        if kind in MEDIA and any(value[key] for key in STORED.intersection(value)):
            return True
    if not CALL_IDS.isdisjoint(value) and any(value[key] for key in CALLED.intersection(value)):
        return True
    return any(bool(value[key]) and isinstance(value[key], (dict, list)) for key in CALLS.intersection(value))
