"""Lifts Hermes rows: turns become messages, with the calls, results and tools in their texts."""

from __future__ import annotations

from typing import Any

from convcli.dialects.hermes.text import has_functions, read_answer, read_results, read_tools
from convcli.families.rows import calls
from convcli.families.rows.order import calls_of
from convcli.families.rows.thoughts import read_thought
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, make_extras
from convcli.model.transcript import Message, Part, Path, Reasoning, Text, ToolDefinition, ToolResult, Transcript

NAME = "hermes"
CONVERSATIONS, QWEN, QWEN_XML = "conversations", "qwen", "qwen-xml"
"""The forms of a row."""
MESSAGES = "messages"
ROWS = {CONVERSATIONS: Keys("id conversations"), MESSAGES: Keys("id messages")}
TURNS = {CONVERSATIONS: Keys("from value"), MESSAGES: Keys("role content")}
NAMES = {CONVERSATIONS: ("from", "value"), MESSAGES: ("role", "content")}
"""By the column of the turns: the keys of a row, those of a turn, and those of its role and text."""
RESULT = Keys("name content")
ROLES = {"system": "system", "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant"}


def column_of(row: Native) -> str:
    """Returns the column with the turns of a row."""
    return CONVERSATIONS if row.get(CONVERSATIONS) is not None else MESSAGES


def lift(document: Any) -> Transcript:
    """Returns the conversation of a row."""
    column = column_of(document)
    context = LiftContext(NAME, document, node_path=(NAMES[column][1],))
    lifting = _TextLifting(context, column)
    for i, turn in enumerate(document[column]):
        lifting.turn(turn, (column, i))
    context.origin.form = QWEN_XML if lifting.has_functions else QWEN if column == MESSAGES else CONVERSATIONS
    extra, id_ = ROWS[column].extra(document) or {}, document.get("id")
    if id_ is not None and not isinstance(id_, str):
        extra, id_ = {**extra, "id": id_}, None
    return context.transcript(id=id_, tools=lifting.tools, extras=make_extras(NAME, extra))


class _TextLifting:
    """Lifts the turns of a row; results answer the calls of the turn before them."""

    def __init__(self, context: LiftContext, column: str) -> None:
        self.context = context
        self.column = column
        self.open: list[str] = []
        self.tools: list[ToolDefinition] | None = None
        self.schemas: dict[str, Any] = {}
        self.has_functions = False

    def turn(self, native: Native, place: Path) -> None:
        """Lifts one turn: one message, or a message per result."""
        role_key, text_key = NAMES[self.column]
        value, extras = native[text_key] or "", make_extras(NAME, TURNS[self.column].extra(native))
        results = self._results(native[role_key], value)
        if results:
            results[0].extras = extras
            for message in results:
                self.context.add(message, place)
            return
        message = Message(ROLES[native[role_key]], [], extras=extras)
        if message.role == "assistant":
            message.parts = self._answer(value)
        elif place[-1] == 0 and message.role == "system":
            value = self._instruction(value, (*place, text_key))
            if not value and self.tools is not None and extras is None:
                return
        if message.role != "assistant" and value:
            message.parts = [Text(value)]
        self.open = [call.id for call in calls_of(message)]
        self.context.add(message, place)

    def _instruction(self, value: str, place: Path) -> str:
        read = read_tools(value)
        if read is None:
            return value
        self.tools = [calls.lift_tool(native, self.context, place) for native in read[1]]
        self.schemas = {tool.name: tool.parameters for tool in reversed(self.tools)}
        return read[0]

    def _answer(self, value: str) -> list[Part]:
        thought, rest = read_thought(value)
        parts: list[Part] = [Reasoning(thought)] if thought else []
        pieces = read_answer(rest, self.schemas)
        if pieces is None:
            return [*parts, *([Text(rest)] if rest else [])]
        self.has_functions |= has_functions(rest)
        for piece in pieces:
            parts.append(Text(piece) if isinstance(piece, str) else calls.CALL.lift(piece, self.context))
        return parts

    def _results(self, tag: str, value: str) -> list[Message]:
        """Returns the results of a tool turn; Qwen's templates write them as a user turn after calls."""
        is_of_tools = tag == "tool"
        if not is_of_tools and not (self.open and tag == "user" and self.column == MESSAGES):
            return []
        read = read_results(value, are_texts=not is_of_tools)
        if read is None and not is_of_tools:
            return []
        ids, self.open = self.open, []
        pieces = [value] if read is None else read
        return [self._result(piece, ids[i] if i < len(ids) else None) for i, piece in enumerate(pieces)]

    def _result(self, piece: str | Native, id_: str | None) -> Message:
        body: Native = {"content": piece} if isinstance(piece, str) else piece
        id_, name = self.context.pairing.result(id_, body.get("name"))
        kind: Any = "text" if isinstance(body["content"], str) else "data"
        extras = make_extras(NAME, RESULT.extra(body))
        return Message("tool", [ToolResult(id_, name, kind, body["content"], extras=extras)])
