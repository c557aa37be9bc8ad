"""What a record of the model holds beside its content and its calls: thoughts, and counts of tokens."""

from __future__ import annotations

from typing import Any

from convcli.dialects.gemini_cli.calls import NAME, Context, carry
from convcli.families.google.keys import Writer
from convcli.kit.objects import Keys, Native, carried_by
from convcli.model.transcript import Message, Reasoning

THOUGHT = Keys("subject description timestamp", carried="timestamp")
TOKENS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cached": "cacheReadTokens",
    "thoughts": "reasoningTokens",
    "total": "totalTokens",
}


def lift_thought(native: Native, time: Any, context: Context) -> Reasoning:
    """A thought as the program shows it to the model again: its subject in bold before its description."""
    carried, spelling = THOUGHT.take(native)
    extras, odd = dict(carried or {}), dict(spelling or {})
    subject, description = native.get("subject") or "", native.get("description") or ""
    part = Reasoning(" ".join(word for word in (f"**{subject}**" if subject else "", description) if word))
    if subject:
        odd["subject"] = subject
    for key in ("subject", "description"):
        if key not in native:
            odd.setdefault("keys", list(native))
    if "timestamp" in extras and extras["timestamp"] == time:
        extras.pop("timestamp")
        odd["clock"] = True
    carry(part, extras)
    context.spell(part, odd)
    return part


def read_tokens(native: Native) -> tuple[dict[str, int], Native]:
    """Counts, of which zero says nothing; the output of a transcript holds the thoughts too, `tokens.output` not."""
    counts = {TOKENS[key]: n for key, n in native.items() if key in TOKENS and type(n) is int and n > 0}
    rest = {
        key: n for key, n in native.items()
        if TOKENS.get(key, "") not in counts and n is not None and not (type(n) is int and n == 0)
    }  # fmt: skip
    if "outputTokens" in counts and "reasoningTokens" in counts:
        counts["outputTokens"] += counts["reasoningTokens"]
    return counts, rest


def lower_thought(part: Reasoning, time: Any, writer: Writer) -> Native:
    spelling = writer.spelling(part)
    text = part.text or "\n\n".join(part.summary or ())
    subject = spelling.get("subject", "")
    bold = f"**{subject}**"
    if not subject or not (text == bold or text.startswith(bold + " ")):
        subject, bold = "", ""
    native: Native = {"subject": subject, "description": text[len(bold) :].removeprefix(" ") if bold else text}
    if spelling.get("clock", not writer.own):
        native["timestamp"] = time
    return THOUGHT.put(native, carried_by(part.extras, NAME), spelling)


def lower_tokens(message: Message, writer: Writer) -> Native | None:
    rest = carried_by(message.extras, NAME).get("tokens", {})
    written = writer.spelling(message).get("tokens")
    usage = message.usage or {}
    if written is not None and read_tokens(written) == (usage, rest):
        return dict(written)
    if not usage and not rest:
        return None
    thoughts = usage.get("reasoningTokens", 0)
    native = {key: usage.get(name, 0) for key, name in TOKENS.items()}
    native["output"] = max(native["output"] - thoughts, 0)
    order = ("input", "output", "cached", "thoughts", "tool", "total")
    native = {**native, "tool": 0, **(rest if isinstance(rest, dict) else {})}
    return {key: native[key] for key in [*order, *native]}
