"""Reads the turns of a text by the marks of its family."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.chat_text.calls import WrittenCall, gemma_values
from convcli.dialects.chat_text.families import FAMILIES, Family, family_of
from convcli.families.rows import calls, signatures
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, make_extras
from convcli.kit.texts import split_between
from convcli.kit.values import read_arguments, read_json
from convcli.model.branches import INSTRUCTIONS
from convcli.model.transcript import Message, Part, Reasoning, Text, ToolCall, ToolDefinition, ToolResult, Transcript

NAME = "chat-text"
ROW = Keys("text")
TEXT = "text"
RETURN, RESPONSE = "## Return of ", "response:"
"""How a result of Kimi K2 and of Gemma 4 begins."""


def split_at(text: str, marks: tuple[str, str] | None) -> list[str]:
    """Returns the text before, between and after pairs of marks, in turn. Without a closing mark, each piece ends
    where the next begins."""
    if marks is None:
        return [text]
    opening, closing = marks
    if closing:
        return split_between(text, opening, closing)
    first, *others = text.split(opening)
    return [first, *(piece for one in others for piece in (one, ""))]


def lift(document: Any) -> Transcript:
    """Reads the turns of a text. A text without marks is one answer."""
    context = LiftContext(NAME, document, node_path=())
    turns = signatures.RowTurns(context)
    name = family_of(document[TEXT])
    context.origin.form = name or next(iter(FAMILIES))
    if not name and document[TEXT]:
        turns.add(signatures.text_message("assistant", document[TEXT]), (TEXT,))
    tools: list[ToolDefinition] | None = None
    has_begun = False
    for key, text in _turns(document[TEXT], FAMILIES[name]) if name else ():
        family, rest = FAMILIES[name], text
        if tools is None:
            is_first = not (has_begun if key == "user" else context.messages)
            rest, tools = _read_tools(key, text, is_first, family, context)
        if rest.strip():
            _add(family.roles.get(key, key), rest, family, turns)
        has_begun = has_begun or any(message.role not in INSTRUCTIONS for message in context.messages[-1:])
    return context.transcript(tools=tools, extras=make_extras(NAME, ROW.extra(document)))


def _read_tools(
    key: str, text: str, is_first: bool, family: Family, context: LiftContext
) -> tuple[str, list[ToolDefinition] | None]:
    """Returns the text of a turn and the tools in it. They stand in the first turn, in the first of the user, or in a
    turn of their own."""
    for tools in family.tools:
        if tools.turn != key or not (tools.is_late or is_first):
            continue
        section = tools.section
        section = section._replace(head=_without_ends(section.head, family), tail=_without_ends(section.tail, family))
        if (read := section.read(text)) is not None:
            return read[0], [calls.lift_tool(native, context, (TEXT,)) for native in read[1]]
    return text, None


def _without_ends(text: str, family: Family) -> str:
    """Removes marks that end a turn or a section, and white space between them."""
    for mark in family.ends:
        text = "".join(piece for at, piece in enumerate(text.split(mark)) if at == 0 or piece.strip())
    return text


def _turns(text: str, family: Family) -> Iterator[tuple[str, str]]:
    """Yields the key and the text of each turn that has text."""
    pieces = family.head.split(text)
    for key, value in zip(pieces[1::2], pieces[2::2], strict=True):
        value = _without_ends(value, family)
        if family is FAMILIES["mistral"]:
            value = value.removeprefix(" ").removesuffix(" ")
        if value.strip():
            yield key, value


def _add(role: str, text: str, family: Family, turns: signatures.RowTurns) -> None:
    pieces = split_at(text, family.result)
    is_results = role == "user" and len(pieces) > 1 and not any(piece.strip() for piece in pieces[::2])
    if role == "tool" or is_results:
        _add_results(pieces[1::2] or [text], turns)
    elif role == "assistant":
        _add_answer(pieces if family.style.goes_on else [text], family, turns)
    else:
        known = role if role in ("system", "developer", "user") else "user"
        turns.add(Message(known, [Text(text)], name=None if known == role else role), (TEXT,))


def _add_answer(pieces: list[str], family: Family, turns: signatures.RowTurns) -> None:
    """Adds an answer, and the results inside it: every second piece."""
    for at, piece in enumerate(pieces):
        if at % 2:
            _add_results([piece], turns)
        elif parts := _answer(piece, family, turns.context):
            turns.add(Message("assistant", parts), (TEXT,))


def _add_results(texts: list[str], turns: signatures.RowTurns) -> None:
    """Adds results by their ids, or in the order of the calls."""
    waiting, turns.open = turns.open[: len(texts)], turns.open[len(texts) :]
    for at, (id_, text) in enumerate(map(_result, texts)):
        id_, name = turns.context.pairing.result(id_ or (waiting[at] if at < len(waiting) else None), None)
        turns.context.add(Message("tool", [ToolResult(id_, name, "text", text)]), (TEXT,))


def _result(text: str) -> tuple[str | None, str]:
    """Returns the id and the text of a result."""
    text = text.removeprefix("\n").removesuffix("\n")
    id_, mark, content = text.partition("[TOOL_CONTENT]")
    if mark:
        return id_, content
    if text.startswith(RETURN):
        id_, _, content = text.removeprefix(RETURN).partition("\n")
        return id_, content
    if text.startswith(RESPONSE) and "{" in text:
        values = text[text.index("{") :]
        value = (gemma_values(values) or {}).get("value")
        return None, value if isinstance(value, str) else values
    value = read_json(text)
    native = value if isinstance(value, dict) and value.keys() == {"content", "call_id"} else {}
    is_known = isinstance(native.get("content"), str) and isinstance(native.get("call_id"), str)
    return (native["call_id"], native["content"]) if is_known else (None, text)


def _answer(text: str, family: Family, context: LiftContext) -> list[Part]:
    """Returns the thought, the texts and the calls of an answer."""
    begin, end = family.thought
    before, mark, rest = text.partition(end)
    inside = before.lstrip().removeprefix(begin)
    parts: list[Part] = []
    if mark and (before.lstrip().startswith(begin) or not inside.strip()):
        parts = [Reasoning(inside.strip("\n"))] if inside.strip() else []
        text = rest.lstrip("\n")
    whole = family.whole(text) if family.whole is not None else None
    if whole is not None:
        return [*parts, *(_call(one, context) for one in whole)]
    said = ""
    for at, piece in enumerate(split_at(text, family.call)):
        read = family.read_calls(piece) if at % 2 else None
        if read is None:
            said += piece if at % 2 == 0 or family.call is None else piece.join(family.call)
        else:
            parts += [Text(said.strip("\n"))] if said.strip() else []
            parts += [_call(one, context) for one in read]
            said = ""
    return [*parts, Text(said.strip("\n"))] if said.strip() else parts


def _call(one: WrittenCall, context: LiftContext) -> ToolCall:
    values, raw = read_arguments(one.arguments) if isinstance(one.arguments, str) else (one.arguments, None)
    if not isinstance(values, dict):
        values, raw = {}, calls.write_json(values)
    return ToolCall(context.pairing.call(one.id, one.name), one.name, values, raw)
