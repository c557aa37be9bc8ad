"""Thoughts and token counts of a model record."""

from __future__ import annotations

import re
from typing import Any

from convcli.dialects.gemini_cli.calls import NAME
from convcli.kit.objects import Keys, Native, add_extras, as_object, get_extras
from convcli.kit.values import pairs
from convcli.model.transcript import Message, Reasoning
from convcli.wire.patterns import pattern

THOUGHT = Keys("subject= description= timestamp")
SUBJECT = pattern(r"\*\*([^*\n]+)\*\*(?: (.+))?", re.DOTALL)
TOKENS = pairs(
    "input=inputTokens output=outputTokens cached=cacheReadTokens thoughts=reasoningTokens total=totalTokens"
)
NAMES = frozenset(TOKENS.values())
WRITTEN = [(key, TOKENS.get(key, "")) for key in ("input", "output", "cached", "thoughts", "tool", "total")]
"""The counts in the program's order, and our names; it always writes all of them."""


def lift_thought(native: Native, time: Any) -> Reasoning:
    """Returns a thought as the program sends it to the model: its subject in bold before its description."""
    subject, description = native.get("subject") or "", native.get("description") or ""
    part = Reasoning(" ".join(text for text in (f"**{subject}**" if subject else "", description) if text))
    extra = THOUGHT.extra(native)
    if extra is not None and extra.get("timestamp") == time:
        extra.pop("timestamp", None)
    if extra:
        add_extras(part, NAME, extra)
    return part


def lift_tokens(native: Native) -> tuple[dict[str, int], Native]:
    """Returns the token counts without zeros, and the other members.

    A transcript's output count includes thoughts; `tokens.output` excludes them.
    """
    counts: dict[str, int] = {}
    other_counts: Native = {}
    for key, n in native.items():
        if type(n) is int and n > 0 and key in TOKENS:
            counts[TOKENS[key]] = n
        elif n is not None and not (type(n) is int and n == 0):
            other_counts[key] = n
    if "outputTokens" in counts and "reasoningTokens" in counts:
        counts["outputTokens"] += counts["reasoningTokens"]
    return counts, other_counts


def write_thought(part: Reasoning, time: Any) -> Native:
    """Returns a thought; leading bold text is its subject, as `lift_thought` writes it."""
    extra = get_extras(part.extras, NAME)
    parted = SUBJECT.fullmatch(part.text)
    subject, description = (parted[1], parted[2] or "") if parted else ("", part.text)
    return THOUGHT.put({"subject": subject, "description": description, "timestamp": time}, extra)


def has_lasting_tokens(message: Message) -> bool:
    """True if `lift_tokens` surely returns the counts that `write_tokens` writes of a message: the names are known, and
    none is zero."""
    usage = message.usage or {}
    if message.extras or not NAMES.issuperset(usage):
        return False
    outside = usage.get("outputTokens", 0) - usage.get("reasoningTokens", 0)
    return all(type(n) is int and n > 0 for n in usage.values()) and (outside > 0 or "outputTokens" not in usage)


def write_tokens(message: Message) -> Native | None:
    """Returns the token counts, or None if there are none."""
    other_counts, usage = get_extras(message.extras, NAME).get("tokens"), message.usage or {}
    if not usage and not other_counts:
        return None
    native = {key: usage.get(name, 0) for key, name in WRITTEN}
    native["output"] = max(native["output"] - usage.get("reasoningTokens", 0), 0)
    return {**native, **as_object(other_counts)}
