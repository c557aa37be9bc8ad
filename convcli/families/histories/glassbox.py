"""How ai-coding-agent-glassbox keeps an answer of Llama and sends it again: one object; results have no flag."""

from __future__ import annotations

from collections.abc import Sequence

from convcli.families.histories.entries import Entries
from convcli.kit.objects import Keys, Native, carried_by
from convcli.model.transcript import Part, Path, Reasoning, Text, ToolCall

FAILURE = "Error: "
"""What the agent writes before the text of a call that failed."""
MARKED = f'its text begins with "{FAILURE}"'

ANSWER = Keys("thought response tool_call")
CALLED = Keys("name input")


def lift_answer(native: Native, entries: Entries) -> tuple[list[Part], list[Path]]:
    """The parts of `{thought, tool_call | response}`, and where they stand in it.

    The agent shows the thought beside a call as the words of the answer; it is one where a response stands there too.
    """
    parts: list[Part] = []
    called = native.get("tool_call")
    is_shown = bool(called) and native.get("response") is None
    if native.get("thought"):
        parts.append(Text(native["thought"]) if is_shown else Reasoning(native["thought"]))
    if native.get("response"):
        parts.append(Text(native["response"]))
    spots: list[Path] = [(key,) for key in ("thought", "response") if native.get(key)]
    if called:
        parts.append(entries.call(None, called["name"], called.get("input"), CALLED.carried(called)))
        spots.append(("tool_call",))
    return parts, spots


def write_answer(parts: Sequence[Part], dialect: str, carried: Native | None) -> Native:
    """The object for an answer with at most one thought, one text and one call; a thought alone is no answer, and
    beside a call the text is written as the thought."""
    native: Native = {}
    for part in parts:
        if isinstance(part, Reasoning):
            native["thought"] = part.text
        elif isinstance(part, Text):
            native["response"] = part.text
        elif isinstance(part, ToolCall):
            called = {"name": part.name, "input": part.arguments}
            native["tool_call"] = CALLED.put(called, carried_by(part.extras, dialect))
    if native.keys() == {"response", "tool_call"}:
        native = {"thought": native["response"], "tool_call": native["tool_call"]}
    elif "thought" in native:
        native.setdefault("response", "")
    return ANSWER.put(native, carried)
