"""Lifts streams of whole runs: events with texts, calls and results grow into turns.

A run has several model turns, and the results in between. Nothing marks the end of a turn: it lasts until a result or
anything else that is not part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from convcli.kit import streams
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, add_extras, merge
from convcli.kit.streams import Pieces
from convcli.model.branches import branch
from convcli.model.dialect import Pass
from convcli.model.transcript import Extras, Message, Opaque, Part, Path, Text, ToolCall, ToolResult, Transcript

# ---------------------------------------------------------------- lift


class Run:
    """The turns of a run while its events arrive. Extras are stored under the family's name."""

    def __init__(self, name: str, family: str, document: Any) -> None:
        context = LiftContext(name, document)
        self.family = family
        self.origin, self.pairing, self.messages = context.origin, context.pairing, context.messages
        self.open: Message | None = None
        self._texts: list[tuple[Text, Pieces, list[Path]]] = []
        self._part_paths: list[list[Path]] = []
        self._at: dict[int, int] = {}  # the index of a message, by its identity

    def turn(self, role: str, at: int, fresh: bool = False) -> Message:
        """Returns the open turn of this role, or a new one."""
        if self.open is None or self.open.role != role or fresh:
            self.open = self._add(Message(role, []), at)
        return self.open

    def aside(self, event: Native, at: int) -> None:
        """Adds an event; the open turn continues after it."""
        self._add(Message("event", [Opaque(self.family, event)]), at)
        self._part_paths[-1].append(())

    def _add(self, message: Message, at: int) -> Message:
        self._at[id(message)] = len(self.messages)
        self.messages.append(message)
        self._part_paths.append([])
        self.origin.places.append(((at,), self._part_paths[-1]))
        return message

    def text(self, message: Message, text: str, node_path: Path) -> None:
        """Appends to the text of a turn; after a call, a new text starts."""
        if not text:
            return
        if not message.parts or not isinstance(message.parts[-1], Text):
            self.part(message, Text(""), node_path)
            self._texts.append((message.parts[-1], Pieces(), []))  # type: ignore[arg-type]
        _, grown, places = next(known for known in reversed(self._texts) if known[0] is message.parts[-1])
        grown.append(text)
        places.append(node_path)

    def part(self, message: Message, part: Part, node_path: Path) -> None:
        """Adds a part to a turn; `node_path` is its path in the events."""
        at = self._at[id(message)]
        message.parts.append(part)
        self._part_paths[at].append(streams.apart(self.origin.places[at][0], node_path))

    def call(self, id_: str | None, name: str, body: Native, extras: Extras | None, node_path: Path) -> Message:
        """Adds a call to the open model turn, or to a new one."""
        message = self.turn("assistant", int(node_path[0]))
        call = ToolCall(self.pairing.call(id_, name), name, body, extras=extras)
        self.part(message, call, node_path)
        return message

    def result(self, id_: str | None, name: str | None, result: ToolResult, node_path: Path) -> Message:
        """Adds a result as its own message, with the id and the name of its call."""
        result.tool_call_id, result.name = self.pairing.result(id_, name)
        self.open = self._add(Message("tool", []), int(node_path[0]))
        self.part(self.open, result, node_path)
        return self.open

    def path(self, message: Message) -> Path:
        """Returns the path of a message: that of its first event."""
        return self.origin.places[self._at[id(message)]][0]

    def elsewhere(self, message: Message, key: str, place: Path) -> None:
        """Records that this key of a message's first event is at another path."""
        self.origin.routes[*self.path(message), key] = place

    def add_extras(self, message: Message, extra: Native | None, at: int) -> None:
        """Adds keys of an event without a field to the extras of its message."""
        streams.state_extras(message, self.family, extra, (at,), self.origin.routes, self.path(message))

    def failed(self, at: int, error: str | None, extra: Native, place: Path = ()) -> None:
        """Ends the open model turn, or an empty one, with an error; `place` is the path of the error."""
        message = self.turn("assistant", at)
        self.elsewhere(message, "error", place or (at,))
        message.stop_reason, message.error = "error", error
        add_extras(message, self.family, None, error=extra)

    def transcript(self) -> Transcript:
        """Returns the transcript of the events so far."""
        for part, pieces, places in self._texts:
            part.text = "".join(pieces)
            self.origin.pieces[places[0]] = places
        return Transcript(self.messages, origin=self.origin)


# ---------------------------------------------------------------- fit


def last_run(owner: str, is_inside: Callable[[Message], bool] = lambda _: False) -> Pass:
    """Keeps what a run stream can store: the assistant messages and their results since the last question, and only the
    events of such a stream.

    The last question is the last message of another role before the last assistant message; `is_inside` is true for one
    that is part of a run.
    """

    def keep_last_run(transcript: Transcript) -> Transcript:
        messages = branch(transcript)
        answers = [i for i, message in enumerate(messages) if message.role == "assistant"]
        end = answers[-1] if answers else len(messages)
        asked = (i for i in range(end) if messages[i].role not in RUN and not is_inside(messages[i]))
        first = max((i + 1 for i in asked), default=0)
        kept = [message for message in messages[first:] if is_inside(message) or _is_of_run(message, owner)]
        whole = transcript.head is None and len(kept) == len(transcript.messages)
        return transcript if whole else replace(transcript, messages=kept, head=None)

    return keep_last_run


RUN = ("assistant", "tool", "event")


def _is_of_run(message: Message, owner: str) -> bool:
    if message.role != "event":
        return message.role in RUN
    return any(isinstance(part, Opaque) and part.dialect == owner for part in message.parts)


def joined_turns(messages: list[Message]) -> list[Message]:
    """Merges consecutive assistant messages, and the consecutive texts in them.

    Drops messages with neither a part nor an error.
    """
    joined: list[Message] = []
    turn: Message | None = None
    for message in messages:
        if message.role != "assistant":
            turn = turn if message.role == "event" else None
            joined.append(message)
        elif turn is None or turn.stop_reason == "error":
            turn = replace(message, parts=[])
            add_parts(turn, message.parts)
            if turn.parts or turn.stop_reason == "error":
                joined.append(turn)
            else:
                turn = None
        else:
            add_parts(turn, message.parts)
            turn.extras = merge(turn.extras or {}, message.extras or {}) or None
            turn.stop_reason, turn.error = message.stop_reason, message.error
    return messages if joined == messages else joined


def add_parts(turn: Message, parts: Iterable[Part]) -> None:
    """Adds parts to a merged turn; a text continues the previous one, and an empty one is dropped."""
    for part in parts:
        last = turn.parts[-1] if turn.parts else None
        if isinstance(part, Text) and isinstance(last, Text):
            turn.parts[-1] = Text(last.text + part.text)
        elif not isinstance(part, Text) or part.text:
            turn.parts.append(Text(part.text) if isinstance(part, Text) else part)


def only_turn(messages: list[Message]) -> Message | None:
    """Returns the assistant message of a run with only one, which the counts of the run then belong to."""
    turns = [message for message in messages if message.role == "assistant"]
    return turns[0] if len(turns) == 1 else None
