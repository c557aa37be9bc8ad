"""Rows of ToolBench and ToolLLaMA: turns with thoughts, actions and their input as text; read-only.

Specification: the data of https://github.com/OpenBMB/ToolBench (`toolllama_G123_dfs_train.json`) and its preprocessing;
read 2026-11-27.

Quirks
- An answer is `Thought:`, `Action:` with the name of a tool, and `Action Input:` with JSON. The thought is reasoning.
- `Finish` is a tool: its call ends the conversation, with the answer in its arguments, and has no result.
- A `function` turn is the result of the call before it. There are no ids.
- The tools follow in the system text, as Python writes a list. Some rows cut it off: then they are text.
"""

from __future__ import annotations

from typing import Any

from convcli.families.rows import calls, signatures
from convcli.families.rows.training import answered
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, make_extras
from convcli.model.dialect import Dialect
from convcli.model.transcript import Part, Path, Reasoning, Text, Transcript
from convcli.validation.rules import tools
from convcli.wire.patterns import pattern

NAME = "toolbench"
ROW, TURN = Keys("id conversations"), Keys("from value")
TOOLS = "access to the following APIs:"
ACTION = pattern(r"^[ \t]*+Action:[ \t]*+([^\n]*+)\n[ \t]*+Action Input:", 8)
"""A line with an action, before the one with its input; 8 is `re.MULTILINE`."""
THOUGHT = "Thought:"


def lift(document: Any) -> Transcript:
    """Reads the turns of a row, and the tools of its system text."""
    context = LiftContext(NAME, document, node_path=("value",))
    turns = signatures.RowTurns(context)
    natives: list[Native] | None = None
    offering: Path = ()
    for i, turn in enumerate(document["conversations"]):
        path: Path = ("conversations", i)
        value, extra = turn["value"], TURN.extra(turn) or {}
        if turn["from"] == "function":
            turns.add_results([(None, value, None)], path, extra)
            continue
        message = signatures.text_message(turn["from"], value)
        if turn["from"] == "assistant":
            message.parts = _answer(value, context)
        elif turn["from"] == "system" and natives is None and TOOLS in value:
            instruction, natives = _cut(value)
            offering, message = (*path, "value"), signatures.text_message("system", instruction)
        message.extras = make_extras(NAME, extra)
        turns.add(message, path)
    offered = None if natives is None else [signatures.lift_tool(one, context, offering) for one in natives]
    return context.transcript(id=document.get("id"), tools=offered, extras=make_extras(NAME, ROW.extra(document)))


def _cut(text: str) -> tuple[str, list[Native] | None]:
    """Returns the instruction without the tools, and the tools; the whole text if they cannot be read."""
    begin = text.find("[", text.index(TOOLS))
    return (signatures.cut_tools(text, begin) if begin >= 0 else None) or (text, None)


def _answer(text: str, context: LiftContext) -> list[Part]:
    """Returns the thought and the call of an answer; its text if it has no action that can be read."""
    read = ACTION.search(text)
    before = text[: read.start()].strip() if read is not None else ""
    arguments = None if read is None else signatures.read_literal(text[read.end() :])
    is_turn = not before or before.startswith(THOUGHT)
    if read is None or not is_turn or not read[1].strip() or not isinstance(arguments, dict):
        return [Text(text)] if text else []
    said = before.removeprefix(THOUGHT).strip()
    thought: list[Part] = [Reasoning(said)] if said else []
    return [*thought, calls.CALL.lift({"name": read[1].strip(), "arguments": arguments}, context)]


DIALECT = Dialect(
    name=NAME,
    title="ToolBench rows",
    aliases=("toolllama", "tool-bench"),
    is_training=True,
    specification="OpenBMB/ToolBench, toolllama_G123_dfs_train.json; read 2026-11-27",
    framings=("records", "document"),
    forms=("row",),
    lift=lift,
    rules=(
        answered(),
        signatures.is_read(lambda text: "\nAction:" in text, lambda text: "[{'name':" in text),
        tools.unique("warning"),
    ),
    places={"id": ("id",)},
    metadata=frozenset((signatures.TYPES_KEY,)),
)
