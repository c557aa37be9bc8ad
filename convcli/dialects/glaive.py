"""Rows of Glaive's function calling: a text with the tools, and a text with the whole conversation; read-only.

Specification: the data set glaiveai/glaive-function-calling-v2; read 2026-11-27.

Quirks
- A turn begins a line with `USER:`, `ASSISTANT:` or `FUNCTION RESPONSE:`. `<|endoftext|>` ends an answer.
- A call is `<functioncall>` and an object. Its arguments are JSON in single quotes, which is no JSON, or an object.
- The tools follow the instruction, one object after the other.
"""

from __future__ import annotations

from typing import Any

from convcli.families.rows import calls, signatures
from convcli.families.rows.training import answered
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, make_extras
from convcli.kit.values import read_json
from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Part, Text, Transcript
from convcli.validation.rules import tools
from convcli.wire.patterns import pattern

NAME = "glaive"
SYSTEM, CHAT = "system", "chat"
ROW = Keys("system chat")
HEAD, CALL, END = "SYSTEM:", "<functioncall>", "<|endoftext|>"
ROLES = {"USER:": "user", "ASSISTANT:": "assistant", "FUNCTION RESPONSE:": "tool"}
MARK = pattern(r"^[ \t]*(USER:|ASSISTANT:|FUNCTION RESPONSE:)", 8)
"""The mark at the beginning of a turn; 8 is `re.MULTILINE`."""
QUOTED = pattern(r"""\{\s*"name":\s*"([^"\\]+)",\s*"arguments":\s*'(.*)'\s*\}""", 16)
"""A call with its arguments in single quotes; 16 is `re.DOTALL`."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Reads the turns of the chat, and the tools of the system text."""
    context = LiftContext(NAME, document, node_path=())
    turns = signatures.RowTurns(context)
    text = document[SYSTEM].removeprefix(HEAD).strip()
    begin = text.find("{")
    instruction, natives = signatures.cut_tools(text, begin) or (text, None)
    if instruction:
        turns.add(Message("system", [Text(instruction)]), (SYSTEM,))
    for role, value in _turns(document[CHAT]):
        if role == "tool":
            turns.add_results([(None, value, None)], (CHAT,), {})
        elif role == "assistant":
            turns.add(Message(role, _answer(value.removesuffix(END).strip(), context)), (CHAT,))
        else:
            turns.add(signatures.text_message(role, value), (CHAT,))
    offered = None if natives is None else [signatures.lift_tool(one, context, (SYSTEM,)) for one in natives]
    return context.transcript(tools=offered, extras=make_extras(NAME, ROW.extra(document)))


def _turns(chat: str) -> list[tuple[str, str]]:
    """Returns the role and the text of each turn. Text before the first mark is the user's."""
    pieces = MARK.split(chat)
    turns = [(ROLES[mark], value.strip()) for mark, value in zip(pieces[1::2], pieces[2::2], strict=True)]
    return [("user", pieces[0].strip()), *turns] if pieces[0].strip() else turns


def _answer(text: str, context: LiftContext) -> list[Part]:
    """Returns the text before a call, and the call; the text if there is no call, or if it cannot be read."""
    before, _, rest = text.partition(CALL)
    native = _read_call(rest.strip().removesuffix(END).strip()) if rest else None
    said: list[Part] = [Text(before.strip())] if before.strip() else []
    if native is None:
        return [Text(text)] if text else []
    return [*said, calls.CALL.lift(native, context)]


def _read_call(text: str) -> Native | None:
    quoted = QUOTED.fullmatch(text)
    if quoted is None:
        value = read_json(text)
        return value if calls.is_call(value) else None
    arguments = quoted[2]
    bare = arguments.replace("\\'", "'")
    return {"name": quoted[1], "arguments": arguments if read_json(bare) is None else bare}


DIALECT = Dialect(
    name=NAME,
    title="Glaive rows",
    aliases=("glaive-function-calling", "glaive-v2"),
    is_training=True,
    specification="glaiveai/glaive-function-calling-v2; read 2026-11-27",
    framings=("records", "document"),
    forms=("row",),
    lift=lift,
    rules=(
        answered(),
        signatures.is_read(lambda text: CALL in text, lambda text: '"parameters"' in text),
        tools.unique("warning"),
    ),
    places={"tools": (SYSTEM,)},
    metadata=frozenset((signatures.TYPES_KEY,)),
)
