"""How ai-coding-agent-glassbox keeps an answer of Llama and sends it again: one object; results have no flag."""

from __future__ import annotations

from collections.abc import Sequence

from convcli.families.histories.entries import has_failed, in_words, silent, without
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.model.transcript import Origin, Part, Path, Reasoning, Refusal, Text, ToolCall, ToolResult

FAILED = "Error: "
"""What the agent writes before the text of a call that failed."""

ANSWER = Keys("thought response tool_call")
CALLED = Keys("name input")


def lift_answer(native: Native, dialect: str, pairing: Pairing, origin: Origin) -> tuple[list[Part], list[Path]]:
    """The parts of `{thought, tool_call | response}`, and where they stand in it."""
    parts: list[Part] = []
    if native.get("thought"):
        parts.append(Reasoning(native["thought"]))
    if native.get("response"):
        parts.append(Text(native["response"]))
    spots: list[Path] = [(key,) for key in ("thought", "response") if native.get(key)]
    called = native.get("tool_call")
    if called:
        carried, spelling = CALLED.take(called)
        id_ = pairing.call(None, called["name"])
        call = ToolCall(id_, called["name"], called.get("input") or {}, extras=extras_of(dialect, carried))
        origin.spell(call, {**(spelling or {}), **({} if "input" in called else silent(called, "input"))})
        parts.append(call)
        spots.append(("tool_call",))
    return parts, spots


def lower_answer(parts: Sequence[Part], dialect: str, spelling: Spelling) -> Native:
    """The object for an answer with at most one call, whose spelling is `spelling`; texts are joined."""
    native: Native = {}
    for key, kind in (("thought", Reasoning), ("response", (Text, Refusal))):
        texts = [part.text for part in parts if isinstance(part, kind)]
        if texts:
            native[key] = "\n".join(texts)
    for call in parts:
        if isinstance(call, ToolCall):
            called = without({"name": call.name, "input": call.arguments}, spelling)
            native["tool_call"] = CALLED.put(called, carried_by(call.extras, dialect), spelling)
    return native


def said(result: ToolResult) -> str:
    """The text of a result: data as JSON; of a failure with the mark of the agent."""
    text = in_words(result)
    return text if not has_failed(result) or text.startswith(FAILED) else FAILED + text
