"""Lifts harmony text: assistant messages up to a final text are one turn."""

from __future__ import annotations

from typing import Any

from convcli.dialects.harmony.text import ANALYSIS, ASSISTANT, COMMENTARY, FINAL, FUNCTIONS, ROLES, Spoken
from convcli.dialects.harmony.text import read as read_pieces
from convcli.dialects.harmony.typescript import HEAD
from convcli.dialects.harmony.typescript import read as read_tools
from convcli.families.rows import calls
from convcli.families.rows.order import calls_of
from convcli.families.rows.thoughts import JOINT, text_parts
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, make_extras
from convcli.kit.pairing import Pairing
from convcli.kit.values import read_arguments
from convcli.model.transcript import (
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)

NAME = "harmony"
ROW = Keys("text")
PLACE: Path = ("text",)
INSTRUCTIONS = "# Instructions\n\n"
JSON = "json"


def lift(document: Any) -> Transcript:
    """Returns the conversation of a row."""
    context = LiftContext(NAME, document, node_path=())
    lifting = _PieceLifting(context)
    for piece in read_pieces(document["text"]):
        lifting.piece(piece)
    lifting.end_turn()
    return context.transcript(tools=lifting.tools, extras=make_extras(NAME, ROW.extra(document)))


class WaitingCalls:
    """The calls that wait for results: a result answers the first of its name in the turn before it."""

    def __init__(self) -> None:
        self.pairing = Pairing(None)
        self._turn: list[ToolCall] = []

    def begin(self, turn: list[ToolCall]) -> None:
        """Begins an assistant turn with these calls, which the pairing has already."""
        self._turn = list(turn)

    def answer(self, name: str) -> str:
        """Returns the call id of the next result of this name."""
        call = next((call for call in self._turn if call.name == name), None)
        if call is not None:
            self._turn.remove(call)
        return self.pairing.result(None if call is None else call.id, name)[0]


class _PieceLifting:
    """Lifts the messages of a row; those of the assistant are one turn up to a final text."""

    def __init__(self, context: LiftContext) -> None:
        self.context = context
        self.waiting = WaitingCalls()
        self.waiting.pairing = context.pairing
        self.turn: list[Spoken] = []
        self.tools: list[ToolDefinition] | None = None

    def piece(self, piece: Spoken | str) -> None:
        """Lifts the next message."""
        if not isinstance(piece, str) and piece.author == ASSISTANT:
            if self.turn and self.turn[0].name != piece.name:
                self.end_turn()
            self.turn.append(piece)
            if piece.channel == FINAL and not piece.to and (piece.content or len(self.turn) == 1):
                self.end_turn()
            return
        self.end_turn()
        message = Message("event", [Opaque(NAME, piece)]) if isinstance(piece, str) else self._message(piece)
        if message is not None:
            self.context.add(message, PLACE)

    def end_turn(self) -> None:
        """Adds the assistant messages so far as one turn."""
        pieces, self.turn = self.turn, []
        if pieces:
            message = Message(ASSISTANT, self._parts(pieces), name=pieces[0].name or None)
            self.waiting.begin(calls_of(message))
            self.context.add(message, PLACE)

    def _parts(self, pieces: list[Spoken]) -> list[Part]:
        pieces = [piece for piece in pieces if piece.content or piece.to]
        parts: list[Part] = []
        for i, piece in enumerate(pieces):
            if piece.to:
                parts.append(self._call(piece))
            elif piece.channel == ANALYSIS:
                parts.append(Reasoning(piece.content, extras=_extras(piece, ANALYSIS)))
            else:
                usual = FINAL if i == len(pieces) - 1 else COMMENTARY
                parts.append(Text(piece.content, extras=_extras(piece, usual)))
        return parts

    def _call(self, piece: Spoken) -> ToolCall:
        arguments, raw = read_arguments(piece.content)
        name, more = _function(piece.to)
        id_ = self.context.pairing.call(None, name)
        return ToolCall(id_, name, arguments, raw, extras=_extras(piece, COMMENTARY, JSON, more))

    def _message(self, piece: Spoken) -> Message | None:
        if piece.author == "developer":
            return self._instruction(piece)
        if piece.author in ROLES:
            extras = make_extras(NAME, {"role": "system"}) if piece.author == "system" else None
            return Message(piece.author, text_parts(piece.content), name=piece.name or None, extras=extras)
        name, more = _function(piece.author)
        id_ = self.waiting.answer(name)
        return Message(
            "tool", [ToolResult(id_, name, "text", piece.content, extras=_extras(piece, COMMENTARY, "", more))]
        )

    def _instruction(self, piece: Spoken) -> Message | None:
        instruction, natives = read_instruction(piece.content)
        if natives is None or self.tools is not None:
            instruction, natives = piece.content.removeprefix(INSTRUCTIONS), None
        if natives is not None:
            self.tools = [calls.lift_tool(native, self.context, PLACE) for native in natives]
        return Message("system", text_parts(instruction)) if instruction else None


def _function(name: str) -> tuple[str, Native]:
    """Returns the name of a tool, and extras if it is not a function of the developer."""
    return (name.removeprefix(FUNCTIONS), {}) if name.startswith(FUNCTIONS) else (name, {"namespace": ""})


def _extras(piece: Spoken, channel: str, kind: str = "", more: Native | None = None) -> Any:
    """Returns channel and content type of a message as extras if they are not the defaults."""
    extra = dict(more or {})
    if piece.channel != channel:
        extra["channel"] = piece.channel
    if piece.type not in ("", kind):
        extra["type"] = piece.type
    return make_extras(NAME, extra)


def read_instruction(content: str) -> tuple[str, list[Native] | None]:
    """Returns the developer's instruction, and the tools after it or None."""
    at = content.rfind(HEAD)
    before, section = (content[:at], content[at:]) if at >= 0 else (content, "")
    natives = read_tools(section) if section and (not before or before.endswith(JOINT)) else None
    instruction = content if natives is None else before.removesuffix(JOINT)
    return instruction.removeprefix(INSTRUCTIONS), natives
