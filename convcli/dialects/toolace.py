"""Rows of ToolACE: turns of `from` and `value` with calls as Python writes them; read-only.

Specification: the data set Team-ACE/ToolACE; read 2026-11-27.

Quirks
- An answer with calls is `[f(a="x"), g()]`, and nothing else. Names of tools may contain spaces, dots and slashes.
- A `tool` turn is a JSON list with the name and the results of each call of the turn before it. There are no ids.
- The tools are a JSON list in the system text, between the instructions. Their types are Python's (`dict`, `float`):
  convcli reads them as JSON Schema, and reports the types of the row as lost.
"""

from __future__ import annotations

from typing import Any

from convcli.families.rows import calls, signatures
from convcli.families.rows.training import answered
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, except_keys, make_extras, objects_in
from convcli.kit.values import read_json
from convcli.model.dialect import Dialect, Evidence
from convcli.model.transcript import Message, Path, Text, Transcript
from convcli.validation.rules import tools

NAME = "toolace"
ROW, TURN = Keys("system conversations"), Keys("from value")
TAGS = ("user", "assistant", "tool")
TOOLS = '[{"name":'


def detect(document: Any) -> Evidence | None:
    """Detects turns with a call as Python writes it, or a system text with a list of tools.

    A call in brackets is one that the reader of signatures accepts, not a pattern.
    """
    turns = objects_in(document.get("conversations")) if isinstance(document, dict) else []
    if not turns or not isinstance(document.get("system"), str):
        return None
    if any(turn.get("from") not in TAGS or not isinstance(turn.get("value"), str) for turn in turns):
        return None
    if TOOLS in document["system"]:
        return Evidence(97, "turns, and a list of tools in the system text")
    answers = [turn["value"] for turn in turns if turn["from"] == "assistant"]
    return Evidence(96, "answers with calls in brackets") if any(map(signatures.read_calls, answers)) else None


def lift(document: Any) -> Transcript:
    """Reads the turns of a row, and the tools of its system text."""
    context = LiftContext(NAME, document, node_path=("value",))
    turns = signatures.RowTurns(context)
    text = document.get("system") or ""
    begin = text.find(TOOLS)
    instruction, natives = (signatures.cut_tools(text, begin) if begin >= 0 else None) or (text, None)
    if instruction:
        turns.add(Message("system", [Text(instruction)]), ("system",), [()])
    for i, turn in enumerate(document["conversations"]):
        _lift_turn(turn, turns, ("conversations", i))
    offered = None if natives is None else [signatures.lift_tool(one, context, ("system",)) for one in natives]
    return context.transcript(tools=offered, extras=make_extras(NAME, ROW.extra(document)))


def _lift_turn(turn: Native, turns: signatures.RowTurns, path: Path) -> None:
    extra, value = TURN.extra(turn) or {}, turn["value"]
    if turn["from"] == "tool":
        turns.add_results(_results(value, len(turns.open)), path, extra)
        return
    natives = signatures.read_calls(value) if turn["from"] == "assistant" else None
    message = signatures.text_message(turn["from"], value)
    if natives is not None:
        message = Message("assistant", [calls.CALL.lift(native, turns.context) for native in natives])
    message.extras = make_extras(NAME, extra)
    turns.add(message, path)


def _results(text: str, count: int) -> list[tuple[str | None, Any, Native | None]]:
    """Returns the name, the value and the other keys of each result; the text if it is not one result per call."""
    value = read_json(text)
    listed = objects_in(value)
    is_known = all(isinstance(one.get("name"), str) and one.get("results") is not None for one in listed)
    if not listed or not is_known or len(listed) != len(value) or len(listed) != count:
        return [(None, text, None)]
    return [(one["name"], one["results"], except_keys(one, "name", "results")) for one in listed]


def _looks_called(text: str) -> bool:
    return text.lstrip().startswith("[") and text.rstrip().endswith(")]")


DIALECT = Dialect(
    name=NAME,
    title="ToolACE rows",
    aliases=("tool-ace",),
    is_training=True,
    specification="Team-ACE/ToolACE; read 2026-11-27",
    framings=("records", "document"),
    forms=("row",),
    detect=detect,
    lift=lift,
    rules=(
        answered(),
        signatures.is_read(_looks_called, lambda text: TOOLS in text),
        tools.unique("warning"),
    ),
    places={"tools": ("system",)},
    metadata=frozenset((signatures.TYPES_KEY,)),
)
