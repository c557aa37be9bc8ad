"""Writes the messages of a transcript as text of a family of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec.structs import replace

from convcli.dialects.chat_text.families import FAMILIES, Family, Tools
from convcli.dialects.chat_text.lifting import NAME, ROW, TEXT
from convcli.families.rows.calls import write_tool
from convcli.families.rows.order import turns_of
from convcli.kit.objects import get_extras
from convcli.kit.texts import text_of
from convcli.model.branches import INSTRUCTIONS
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolDefinition, ToolResult, Transcript


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a row with the text. The form is the family."""
    family = FAMILIES[options.form or next(iter(FAMILIES))]
    return ROW.put({TEXT: text_in(family, transcript.messages, transcript.tools)}, get_extras(transcript.extras, NAME))


def text_in(family: Family, messages: Sequence[Message], offered: Sequence[ToolDefinition] | None = None) -> str:
    """Returns the text of these messages and tools in a family."""
    writer = _TextWriter(family)
    spoken, at, section = list(messages), 0, ""
    if family.tools and offered:
        spoken, at, section = writer.put_tools(spoken, family.tools[0], offered)
    for turn in turns_of(spoken[:at]):
        writer.add(turn)
    writer.pieces += [section] if section else []
    for turn in turns_of(spoken[at:]):
        writer.add(turn)
    return writer.text()


class _TextWriter:
    """The text of a family while it is written: its pieces, the role of the last turn, whether that turn may go
    on, and the calls so far with the ids that they are written with."""

    def __init__(self, family: Family) -> None:
        self.family, self.style = family, family.style
        self.pieces: list[str] = [self.style.start]
        self.before, self.is_open = "", False
        self.ids: dict[str, str] = {}
        self.count = 0

    def put_tools(
        self, messages: list[Message], tools: Tools, offered: Sequence[ToolDefinition]
    ) -> tuple[list[Message], int, str]:
        """Returns the messages with the section in one of them; or the messages, the place of the turn of the tools
        between them, and this turn."""
        definitions = [tools.write(write_tool(tool, NAME, wrapped=True)) for tool in offered]
        role: Literal["user", "system"] = "user" if tools.turn == "user" else "system"
        of_user = [at for at, message in enumerate(messages) if message.role == "user"]
        if tools.section.joint is None:
            text = tools.section.put("", definitions)
            at = of_user[-1] if tools.is_late and of_user else 0
            return messages, at, f"{self.style.heads[tools.turn]}{text}{self._end(tools.turn)}"
        instructions = (at for at, message in enumerate(messages) if message.role not in INSTRUCTIONS)
        at = next(instructions, len(messages)) if role == "user" else 0
        first = messages[at] if at < len(messages) and messages[at].role == role else None
        text = tools.section.put(text_of(first.parts) if first else "", definitions)
        holder = Message(role, [Text(text)]) if first is None else replace(first, parts=[Text(text)])
        return [*messages[:at], holder, *messages[at if first is None else at + 1 :]], 0, ""

    def add(self, turn: list[Message]) -> None:
        """Adds a message, or the results of one turn."""
        message, style = turn[0], self.style
        goes_on = style.goes_on and self.before == "tool" and message.role == "assistant"
        if self.is_open and not goes_on and message.role != "tool":
            self.pieces.append(style.ends["assistant"])
        self.is_open = False
        if message.role == "assistant":
            head = "" if goes_on else self._head(message)
            self.pieces.append(f"{head}{self._answer(message, goes_on=goes_on)}")
            self._end_answer(message)
        elif message.role == "tool":
            before, between, after = style.results
            results = [part for one in turn for part in one.parts if isinstance(part, ToolResult)]
            written = (style.result(one, self.ids.get(one.tool_call_id, one.tool_call_id)) for one in results)
            body = f"{before}{between.join(written)}{after}"
            self.pieces.append(body if self.style.holds_results else f"{style.heads['tool']}{body}{style.ends['tool']}")
            self.is_open = self.style.holds_results
        else:
            self.pieces.append(f"{self._head(message)}{text_of(message.parts)}{self._end(message.role)}")
        self.before = message.role

    def text(self) -> str:
        """Returns the whole text; nothing without turns."""
        return "".join(self.pieces) if self.pieces[1:] else ""

    def _head(self, message: Message) -> str:
        """Returns the head of a turn. A role, or the name of a user, that has no head is a word in that of the user."""
        heads, role = self.style.heads, message.role
        if role == "assistant" and not heads[role]:  # the answer would be read as the end of what stands before it
            return "" if self.before in ("user", "tool") else f"{heads['user']}{self.style.ends['user']}"
        word = message.name if role == "user" and message.name else role
        if word in heads and word == role:
            return heads[role]
        before, mark, after = heads["user"].rpartition("user")
        head = f"{before}{word}{after}"
        is_head = bool(mark) and self.family.head.fullmatch(head) is not None
        return head if is_head else heads.get(role, heads["system"])

    def _end(self, role: str) -> str:
        return self.style.ends.get(role, self.style.ends["user"])

    def _answer(self, message: Message, *, goes_on: bool) -> str:
        """Returns the thought, the texts and the calls of an answer."""
        style = self.style
        thought = "".join(part.text for part in message.parts if isinstance(part, Reasoning))
        begin, end = style.thought
        pieces = [f"{begin}{thought}{end}" if thought else "" if goes_on else style.no_thought]
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        written = [self._call(part) for part in message.parts if isinstance(part, ToolCall)]
        before, between, after = style.calls
        if len(written) == 1 and before == "[":  # Llama 3 has a list only of several calls
            before = after = ""
        pieces += [style.before_text, *texts] if written else texts
        if written:
            joint = style.before_calls if any(texts) else ""
            pieces.append(f"{joint}{before}{between.join(written)}{after}")
        return "".join(pieces)

    def _call(self, call: ToolCall) -> str:
        number, self.count = self.count, self.count + 1
        self.ids[call.id] = self.style.id(call, number)
        assert self.style.call is not None, "calls are dropped where a family has none"
        return self.style.call(call, number)

    def _end_answer(self, message: Message) -> None:
        """Ends the turn, unless results and another answer may stand in it."""
        self.is_open = self.style.holds_results and any(isinstance(part, ToolCall) for part in message.parts)
        if not self.is_open:
            self.pieces.append(self.style.ends["assistant"])
