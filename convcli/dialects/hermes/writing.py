"""Writes rows of Hermes and of Qwen's templates: tools in the instruction, calls and results in texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from convcli.dialects.hermes.lifting import CONVERSATIONS, MESSAGES, NAME, NAMES, QWEN, QWEN_XML, RESULT, ROWS, TURNS
from convcli.dialects.hermes.text import (
    BREAK,
    CALL_END,
    read_tools,
    with_tools,
    write_call,
    write_result,
    write_text_result,
)
from convcli.families.rows import calls, order, qwen
from convcli.families.rows.sections import ToolSection
from convcli.families.rows.thoughts import JOINT, write_thought
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, get_extras, omit
from convcli.kit.texts import text_of
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Part, Reasoning, Text, ToolCall, ToolDefinition, ToolResult, Transcript
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

TAGS = {"system": "system", "user": "human", "assistant": "gpt", "tool": "tool"}
ROLES_OF_QWEN = {"system": "system", "user": "user", "assistant": "assistant", "tool": "user"}


class Style(NamedTuple):
    """How a form is written: the column of its turns, their tags, the text between a text and its first call, and the
    functions that write a call, a result and an instruction with tools."""

    column: str
    tags: dict[str, str]
    joint: str
    write_call: Callable[[Native], str]
    write_result: Callable[[Native], str]
    with_tools: Callable[[str, list[Native]], str]


def _with_tools_of(section: ToolSection) -> Callable[[str, list[Native]], str]:
    return lambda text, natives: section.put(text, list(map(qwen.write_json, natives)))


STYLES = {
    CONVERSATIONS: Style(CONVERSATIONS, TAGS, BREAK, write_call, write_result, with_tools),
    QWEN: Style(MESSAGES, ROLES_OF_QWEN, BREAK, qwen.write_call, write_text_result, _with_tools_of(qwen.JSON_TOOLS)),
    QWEN_XML: Style(
        MESSAGES, ROLES_OF_QWEN, JOINT, qwen.write_function, write_text_result, _with_tools_of(qwen.XML_TOOLS)
    ),
}


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a row, with the tools in its instruction."""
    style = STYLES[options.form or CONVERSATIONS]
    role_key, text_key = NAMES[style.column]
    turns = [_write_turn(turn, style) for turn in order.turns_of(transcript.messages)]
    if transcript.tools:
        first = transcript.messages[0] if transcript.messages else None
        is_system = first is not None and first.role == "system"
        if not is_system or first is None or not _same(stated_tools(first), transcript.tools):
            if not is_system:
                turns.insert(0, {role_key: "system", text_key: ""})
            natives = [calls.write_tool(tool, NAME, wrapped=True) for tool in transcript.tools]
            turns[0][text_key] = style.with_tools(turns[0][text_key], natives)
    native: Native = {} if transcript.id is None else {"id": transcript.id}
    native[style.column] = turns
    extra = omit(get_extras(transcript.extras, NAME), *native)
    return ROWS[style.column].put(native, extra, sort=True)


def _same(stated: list[ToolDefinition] | None, offered: list[ToolDefinition]) -> bool:
    return stated is not None and exact_json.exact(builtins(stated), builtins(offered))


def _write_turn(turn: list[Message], style: Style) -> Native:
    message = turn[0]
    if message.role == "tool":
        value = BREAK.join(_write_result(part, style) for one in turn for part in one.parts)
    elif message.role == "assistant":
        thought = "".join(part.text for part in message.parts if isinstance(part, Reasoning))
        value = write_thought(thought, _write_answer(message, style))
    else:
        value = text_of(message.parts)
    role_key, text_key = NAMES[style.column]
    return TURNS[style.column].put(
        {role_key: style.tags[message.role], text_key: value}, get_extras(message.extras, NAME)
    )


def _write_answer(message: Message, style: Style) -> str:
    """Returns texts and calls in order."""
    written = ""
    for part in message.parts:
        if isinstance(part, Text):
            written += (written and BREAK) + part.text
        elif isinstance(part, ToolCall):
            is_call_before = written.endswith(CALL_END)
            written += (written and (BREAK if is_call_before else style.joint)) + style.write_call(
                calls.CALL.write(part, NAME)
            )
    return written


def _write_result(part: Part, style: Style) -> str:
    if not isinstance(part, ToolResult):
        return part.text if isinstance(part, Text) else ""
    body = RESULT.put({"name": part.name, "content": part.value}, get_extras(part.extras, NAME))
    return style.write_result(body)


def stated_tools(message: Message) -> list[ToolDefinition] | None:
    """Returns the tools that an instruction lists if all of its text is kept as text, else None."""
    part = message.parts[0] if message.parts else None
    read = read_tools(part.text) if isinstance(part, Text) else None
    if read is None or (isinstance(part, Text) and read[0] != part.text):
        return None
    context = LiftContext(NAME, None)
    return [calls.lift_tool(native, context, ()) for native in read[1]]
