"""Reads ShareGPT rows: tags, turns, and the other columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from convcli.families.rows import calls, media, order
from convcli.families.rows.order import calls_of
from convcli.families.rows.pairs import CHOSEN, REJECTED, lift_pair
from convcli.families.rows.thoughts import read_thought, text_parts
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, make_extras, omit
from convcli.model.transcript import Message, Part, Path, Reasoning, Text, ToolResult, Transcript

NAME = "sharegpt"
ROW = Keys("id= conversations= conversation= chosen= rejected= system= tools= images videos audios kto_tag= label=")
TURN = Keys("from value=")
PAIR = Keys("human assistant")
KTO = ("kto_tag", "label")
ROLES = {
    **dict.fromkeys(("system",), "system"),
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "bing", "bard"), "assistant"),
    **dict.fromkeys(("function_call", "function-call"), "call"),
    **dict.fromkeys(("observation", "observations", "tool", "function_response"), "tool"),
}
"""Maps tags to the role of their turn."""
AUTHORS = ("chatgpt", "bing", "bard")
"""Tags that name the author of an answer."""
TAGS = {"system": "system", "user": "human", "assistant": "gpt", "call": "function_call", "tool": "observation"}
LABELS = {True: CHOSEN, False: REJECTED}
CONVERSATIONS, PREFERENCE = "conversations", "preference"
"""The forms of a row."""


def lift(document: Any) -> Transcript:
    """Reads a row; a preference pair becomes a tree."""
    context = LiftContext(NAME, document, node_path=("value",))
    turns = list(turns_in(document))
    media_columns = media.MediaColumns(
        document, (_text_with_marks(role, turn["value"] or "") for role, turn, _ in turns)
    )
    _lift_line(
        document, [*turns, answer_in(document, CHOSEN)] if is_pair_in(document) else turns, media_columns, context
    )
    extra = omit(ROW.extra(document) or {}, *media_columns.columns)
    head: str | None = None
    if is_pair_in(document):
        context.origin.form = PREFERENCE
        other = LiftContext(NAME, document, node_path=("value",))
        _lift_line(document, [*turns, answer_in(document, REJECTED)], media_columns.again(), other)
        head = lift_pair(context, other)
        extra |= {key: document[key] for key in KTO if document.get(key) is not None}
    else:
        extra |= {key: document[key] for key in (CHOSEN, REJECTED) if document.get(key) is not None}
        extra |= _label(document, context)
    id_ = document.get("id")
    if id_ is not None and not isinstance(id_, str):
        extra, id_ = {**extra, "id": id_}, None
    tools, unread = _tools(document.get("tools"), context)
    return context.transcript(id=id_, head=head, tools=tools, extras=make_extras(NAME, {**extra, **unread}))


Turn: TypeAlias = tuple[str, Native, Path]
"""The role of a turn, the turn and its path."""


def _lift_line(row: Native, turns: list[Turn], media_columns: media.MediaColumns, context: LiftContext) -> None:
    """Reads the instruction and these turns."""
    if row.get("system"):
        context.add(Message("system", [Text(row["system"])]), ("system",), [()])
    lifting = _TurnLifting(context, media_columns)
    for role, turn, place in turns:
        lifting.turn(role, turn, place)


def is_pair_in(row: Native) -> bool:
    return all(isinstance(row.get(key), dict) and row[key].keys() >= {"from", "value"} for key in (CHOSEN, REJECTED))


def answer_in(row: Native, column: str) -> Turn:
    return ROLES[row[column]["from"]], row[column], (column,)


def turns_in(row: Native) -> Iterator[Turn]:
    """Yields the role, the turn and the path of each turn; a pair is two turns."""
    for i, turn in enumerate(row.get("conversations") or ()):
        yield ROLES[turn["from"]], turn, ("conversations", i)
    for i, pair in enumerate(row.get("conversation") or ()):
        extra = PAIR.extra(pair) or {}
        yield "user", {"from": "human", "value": pair["human"], **extra}, ("conversation", i, "human")
        yield "assistant", {"from": "gpt", "value": pair["assistant"]}, ("conversation", i, "assistant")


def _text_with_marks(role: str, value: str) -> str:
    """Returns the text of a turn that may contain file marks."""
    if role == "assistant":
        return read_thought(value)[1]
    return value if role in ("user", "tool") else ""


def _label(row: Native, context: LiftContext) -> Native:
    """Sets the label of the last turn; returns other label columns as extras."""
    keys = [key for key in KTO if row.get(key) is not None]
    if keys and isinstance(row[keys[0]], bool) and context.messages:
        context.origin.aliases["kto_tag"] = keys[0]
        context.messages[-1].label = LABELS[row[keys.pop(0)]]
    return {key: row[key] for key in keys}


def _tools(text: str | None, context: LiftContext) -> tuple[Any, Native]:
    """Returns the tools of a row; their string as an extra if it cannot be read."""
    natives = calls.read_tools(text) if text else None
    if natives is None:
        return None, {"tools": text} if text else {}
    return [calls.lift_tool(native, context, ("tools",)) for native in natives], {}


class _TurnLifting:
    """Builds a conversation from turns: results answer the calls of the turn before them."""

    def __init__(self, context: LiftContext, media_columns: media.MediaColumns) -> None:
        self.context, self.media_columns = context, media_columns
        self.open: list[str] = []

    def turn(self, role: str, native: Native, place: Path) -> None:
        """Reads a turn as one message, or one for each result."""
        value, extra = native["value"] or "", TURN.extra({**native, "from": None})
        node_path: Path = () if place[0] == "conversation" else ("value",)
        parent: Path = ("..",) * len(place)
        if role == "tool":
            turns: list[tuple[Message, list[Path]]] = [(message, [()]) for message in self._results(value)]
        else:
            turns = [self._message(role, native["from"], value)]
            self.open = [call.id for call in calls_of(turns[0][0])]
        if role == "call" and not self.open:
            extra = {"from": native["from"], **(extra or {})}
        turns[0][0].extras = make_extras(NAME, extra)
        for message, files in turns:
            self.context.add(message, place, [(*parent, *file) if file else node_path for file in files])

    def _message(self, role: str, tag: str, value: str) -> tuple[Message, list[Path]]:
        """Returns the message of a turn, and the paths of the files among its parts."""
        if role == "call":
            parts = self._calls(value)
            return Message("assistant", parts), [()] * len(parts)
        thought, text = read_thought(value) if role == "assistant" else ("", value)
        located_parts = (
            self.media_columns.parts(text) if role != "system" else [(part, ()) for part in text_parts(text)]
        )
        if thought:
            located_parts = [(Reasoning(thought), ()), *located_parts]
        name = tag if tag in AUTHORS else None
        return Message(role, [part for part, _ in located_parts], name=name), [file for _, file in located_parts]

    def _calls(self, value: str) -> list[Part]:
        """Returns a thought and the calls; the text if they cannot be read."""
        thought, rest = read_thought(value)
        natives = calls.read_natives(rest)
        if natives is None:
            return text_parts(value)
        call_parts: list[Part] = [calls.CALL.lift(native, self.context) for native in natives]
        return [*([Reasoning(thought)] if thought else []), *call_parts]

    def _results(self, value: str) -> list[Message]:
        texts, ids = order.split_results(value, len(self.open)), self.open
        self.open = []
        return [self._result(text, ids[i] if i < len(ids) else None) for i, text in enumerate(texts)]

    def _result(self, text: str, id_: str | None) -> Message:
        id_, name = self.context.pairing.result(id_, None)
        result = ToolResult(id_, name, "text", "")
        return Message("tool", [order.valued(result, [part for part, _ in self.media_columns.parts(text)])])
