"""What a record of the model holds beside its content and its calls: thoughts, and counts of tokens."""

from __future__ import annotations

import re
from typing import Any

from convcli.dialects.gemini_cli.calls import NAME
from convcli.kit.objects import Keys, Native, as_object, carried_by, carry
from convcli.kit.values import pairs
from convcli.model.transcript import Message, Reasoning

THOUGHT = Keys("subject description timestamp", carried="timestamp")
SUBJECT = re.compile(r"\*\*([^*\n]+)\*\*(?: (.+))?", re.DOTALL)
TOKENS = pairs(
    "input=inputTokens output=outputTokens cached=cacheReadTokens thoughts=reasoningTokens total=totalTokens"
)
WRITTEN = ("input", "output", "cached", "thoughts", "tool", "total")


def lift_thought(native: Native, time: Any) -> Reasoning:
    """A thought as the program shows it to the model again: its subject in bold before its description."""
    subject, description = native.get("subject") or "", native.get("description") or ""
    part = Reasoning(" ".join(text for text in (f"**{subject}**" if subject else "", description) if text))
    carried = dict(THOUGHT.carried(native) or {})
    if carried.get("timestamp") == time:
        carried.pop("timestamp", None)
    carry(part, NAME, carried)
    return part


def lift_tokens(native: Native) -> tuple[dict[str, int], Native]:
    """Counts, of which zero says nothing; the output of a transcript holds the thoughts too, `tokens.output` not."""
    counts: dict[str, int] = {}
    beside: Native = {}
    for key, n in native.items():
        if type(n) is int and n > 0 and key in TOKENS:
            counts[TOKENS[key]] = n
        elif n is not None and not (type(n) is int and n == 0):
            beside[key] = n
    if "outputTokens" in counts and "reasoningTokens" in counts:
        counts["outputTokens"] += counts["reasoningTokens"]
    return counts, beside


def write_thought(part: Reasoning, time: Any) -> Native:
    """A thought; what stands in bold before it is its subject, as it is read."""
    carried = carried_by(part.extras, NAME)
    parted = SUBJECT.fullmatch(part.text)
    subject, description = (parted[1], parted[2] or "") if parted else ("", part.text)
    return THOUGHT.put({"subject": subject, "description": description, "timestamp": time}, carried)


def write_tokens(message: Message) -> Native | None:
    """The counts of tokens."""
    beside, usage = carried_by(message.extras, NAME).get("tokens"), message.usage or {}
    if not usage and not beside:
        return None
    native = {key: usage.get(TOKENS[key], 0) if key in TOKENS else 0 for key in WRITTEN}
    native["output"] = max(native["output"] - usage.get("reasoningTokens", 0), 0)
    return {**native, **as_object(beside)}
