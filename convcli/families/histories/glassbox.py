"""How ai-coding-agent-glassbox stores a Llama answer and sends it again: as one object. Results have no failure
flag."""

from __future__ import annotations

from collections.abc import Sequence

from convcli.families.histories.entries import Entries
from convcli.kit.objects import Keys, Native, get_extras
from convcli.model.transcript import Part, Path, Reasoning, Text, ToolCall

FAILURE = "Error: "
"""The agent's prefix of the text of a failed call."""
MARKED = f'its text begins with "{FAILURE}"'

ANSWER = Keys("thought response tool_call")
CALLED = Keys("name input")


def lift_answer(native: Native, entries: Entries) -> tuple[list[Part], list[Path]]:
    """Returns the parts of `{thought, tool_call | response}`, and their paths.

    The agent shows the thought of a call as the answer's text. With a response, it is reasoning.
    """
    parts: list[Part] = []
    called = native.get("tool_call")
    is_shown = bool(called) and native.get("response") is None
    if native.get("thought"):
        parts.append(Text(native["thought"]) if is_shown else Reasoning(native["thought"]))
    if native.get("response"):
        parts.append(Text(native["response"]))
    part_paths: list[Path] = [(key,) for key in ("thought", "response") if native.get(key)]
    if called:
        parts.append(entries.call(None, called["name"], called.get("input"), CALLED.extra(called)))
        part_paths.append(("tool_call",))
    return parts, part_paths


def write_answer(parts: Sequence[Part], dialect: str, extra: Native | None) -> Native:
    """Writes the object for an answer with at most one thought, one text and one call. A thought alone is not an
    answer; with a call, the text is written as the thought."""
    native: Native = {}
    for part in parts:
        if isinstance(part, Reasoning):
            native["thought"] = part.text
        elif isinstance(part, Text):
            native["response"] = part.text
        elif isinstance(part, ToolCall):
            called = {"name": part.name, "input": part.arguments}
            native["tool_call"] = CALLED.put(called, get_extras(part.extras, dialect))
    if native.keys() == {"response", "tool_call"}:
        native = {"thought": native["response"], "tool_call": native["tool_call"]}
    elif "thought" in native:
        native.setdefault("response", "")
    return ANSWER.put(native, extra)
