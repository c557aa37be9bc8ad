"""Rows of xLAM and APIGen: a query, the tools and the calls that answer it; read-only.

Specification: the card of the data set Salesforce/xlam-function-calling-60k; read 2026-11-23.

Quirks
- `answers` and `tools` are JSON strings. A row has no text of the assistant, and no results.
- The parameters of a tool are its arguments by name, with Python's types (`str, optional`, `List[int]`). convcli reads
  them as JSON Schema, and reports the types of the row as lost. An argument is required unless its type is optional or
  it has a default.
"""

from __future__ import annotations

from typing import Any

from convcli.families.rows import calls, signatures
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, make_extras
from convcli.kit.supported import fields
from convcli.kit.values import read_json
from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Text, Transcript
from convcli.validation.rules import tools

NAME = "xlam"
QUERY, ANSWERS, TOOLS = "query", "answers", "tools"
ROW = Keys("id query answers tools")
NO_CALLS: list[Native] = []


def lift(document: Any) -> Transcript:
    """Reads a row as a user message and an answer with calls."""
    context = LiftContext(NAME, document, node_path=())
    extra = ROW.extra(document) or {}
    context.add(signatures.text_message("user", document[QUERY]), (QUERY,))
    natives = _read_answers(document[ANSWERS])
    if natives is None:
        answer = Message("assistant", [Text(document[ANSWERS])])
    else:
        answer = Message("assistant", [calls.CALL.lift(native, context) for native in natives])
    context.add(answer, (ANSWERS,))
    offered = calls.read_tools(document[TOOLS])
    if offered is None:
        extra[TOOLS] = document[TOOLS]
    id_ = document.get("id")
    if id_ is not None and not isinstance(id_, str):
        extra, id_ = {"id": id_, **extra}, None
    definitions = None if offered is None else [signatures.lift_tool(one, context, (TOOLS,)) for one in offered]
    return context.transcript(id=id_, tools=definitions, extras=make_extras(NAME, extra))


def _read_answers(text: str) -> list[Native] | None:
    """Returns the calls of an answer, of which there may be none; None if they cannot be read."""
    return NO_CALLS if read_json(text) == [] else calls.read_natives(text)


DIALECT = Dialect(
    name=NAME,
    title="xLAM rows",
    aliases=("apigen", "xlam-function-calling"),
    is_training=True,
    specification="card of Salesforce/xlam-function-calling-60k; read 2026-11-23",
    framings=("records", "document"),
    forms=("row",),
    lift=lift,
    rules=(
        signatures.is_read(lambda _: True, lambda _: False),
        signatures.keeps_tools(TOOLS),
        tools.unique("warning"),
    ),
    places={"id": ("id",), "tools": (TOOLS,)},
    envelope=fields("id"),
    metadata=frozenset((signatures.TYPES_KEY,)),
)
