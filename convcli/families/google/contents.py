"""Contents and messages: who spoke, and how answers are grouped into turns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from convcli.families.google.keys import Reader, Shape, Writer, extras_of_family, listed, unlisted
from convcli.families.google.parts import Piece, lift_part, lower_part, take_part
from convcli.families.google.results import asked, lift_result, lower_result
from convcli.kit.fitting import results_first
from convcli.kit.objects import Native, Spelling
from convcli.model.branches import active
from convcli.model.transcript import Message, Path, Text, ToolCall, ToolResult, Transcript

CONTENT = Shape("content", "role parts")
ROLE_OF = {"assistant": "model"}
"""The role of a content by that of its first message; in a conversation every other one is the user's."""
SPEAKERS = (None, "", "user", "model", "function", "system")
"""Roles that say nothing new of a content whose place says who speaks; any other is carried."""


# ---------------------------------------------------------------- lift


def lift_contents(value: Any, path: Path, reader: Reader) -> list[Message]:
    """The messages of all contents."""
    natives, spelling = listed(value)
    if spelling:
        reader.origin.document["contents"] = spelling
    messages: list[Message] = []
    for i, native in enumerate(natives):
        place = path if spelling else (*path, i)
        messages += lift_content(native, place, reader, messages[-1] if messages else None)
    return messages


def adopt(messages: list[Message], reader: Reader) -> None:
    """Give calls without an id the one that their result has."""
    adopted = reader.pairing.adopted
    for message in messages if adopted else ():
        for part in message.parts:
            if isinstance(part, ToolCall) and part.id in adopted:
                part.id = adopted[part.id]
                reader.origin.spell(part, {**reader.origin.spellings.get(id(part), {}), "id": False})


def lift_content(native: Native, path: Path, reader: Reader, before: Message | None) -> list[Message]:
    """One turn: a message for each answer in it, and one for all that stands between two answers."""
    native, carried, spelling = reader.take(CONTENT, native, whole=("parts",))
    natives, single = listed(native.get("parts"))
    spelling |= single
    pieces = [take_part(part, reader) for part in natives]
    role = "assistant" if native.get("role") == "model" else "user"
    messages = _split(pieces, role, path, ("parts",) if single else None, reader)
    first = messages[0]
    if native.get("role") != ROLE_OF.get(first.role, "user"):
        spelling["role"] = native.get("role")
    first.extras = extras_of_family({"content": carried} if carried else {})
    for message, grouping in zip(messages, _groupings(messages, before), strict=True):
        reader.origin.spell(message, {**(spelling if message is first else {}), **grouping})
    return messages


def _split(pieces: list[Piece], role: str, path: Path, single: Path | None, reader: Reader) -> list[Message]:
    given = [asked(piece) for piece in pieces if piece.kind == "functionResponse"]
    answers = iter(reader.pairing.results(given) if given else ())
    messages: list[Message] = []
    spots: list[list[Path]] = []
    for j, piece in enumerate(pieces):
        if piece.kind == "functionResponse":
            messages.append(Message("tool", [lift_result(piece, *next(answers), reader)]))
            spots.append([])
        else:
            if not messages or messages[-1].role == "tool":
                messages.append(Message(role, []))
                spots.append([])
            messages[-1].parts.append(lift_part(piece, reader))
        spots[-1].append(single or ("parts", j))
    if not messages:
        messages.append(Message(role, []))
        spots.append([])
    reader.origin.places += [(path, spot) for spot in spots]
    return messages


def _groupings(messages: list[Message], before: Message | None) -> Iterator[Spelling]:
    """Where turns begin, as far as it is not the default: answers join answers, everything else begins one."""
    for i, message in enumerate(messages):
        previous = messages[i - 1] if i else before
        joins = _joins(message, previous)
        yield {} if joins == (i > 0) else {"split": True} if joins else {"join": True}


def _joins(message: Message, before: Message | None) -> bool:
    return message.role == "tool" and before is not None and before.role == "tool"


# ---------------------------------------------------------------- lower


def lower_contents(transcript: Transcript, writer: Writer) -> Any:
    """All turns but those of the system; as they were, or as the service accepts them."""
    if writer.own:
        turns = _own_turns([message for message in active(transcript) if message.role != "system"], writer)
        contents = [_lower_turn(turn, writer) for turn in turns]
        return unlisted(contents, transcript.document_spelling(writer.flavor.name).get("contents", {}))
    contents = [_lower_turn(turn, writer) for turn in _turns(results_first(active(transcript)))]
    return [content for content in contents if content["parts"]]


def _own_turns(messages: list[Message], writer: Writer) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for i, message in enumerate(messages):
        spelling = writer.spelling(message)
        joins = _joins(message, messages[i - 1] if i else None)
        if turns and (spelling.get("join") or (joins and not spelling.get("split"))):
            turns[-1].append(message)
        else:
            turns.append([message])
    return turns


def _turns(messages: list[Message]) -> list[list[Message]]:
    """All answers to one turn are one turn, in the order of the calls; a turn that calls joins one of the model."""
    said: list[Message] = []
    starts: list[tuple[int, bool]] = []  # of the turns, and whether each calls
    calls: list[str] = []
    for message in messages:
        if message.role not in ("system", "developer"):
            made = [part.id for part in message.parts if isinstance(part, ToolCall)]
            calls += made
            starts.append((len(said), bool(made)))
            said.append(message)
            while len(starts) > 1 and _are_one(said, *starts[-1]):
                _, has_calls = starts.pop()
                starts[-1] = (starts[-1][0], starts[-1][1] or has_calls)
    order = {id_: i for i, id_ in enumerate(calls)}
    turns = [said[start:end] for start, end in pairwise([*(start for start, _ in starts), len(said)])]
    return [sorted(turn, key=lambda message: _rank(message, order)) for turn in turns]


def _are_one(said: list[Message], start: int, has_calls: bool) -> bool:
    """Does the last turn, which begins at `start`, belong to the turn before it?"""
    before, after = said[start - 1], said[start]
    return _joins(after, before) or (has_calls and before.role == after.role == "assistant")


def _rank(message: Message, order: dict[str, int]) -> int:
    """The place of the call that the message answers; answers to no call come last."""
    results = [part for part in message.parts if isinstance(part, ToolResult)] if message.role == "tool" else []
    return order.get(results[0].tool_call_id, len(order)) if results else 0


def _lower_turn(turn: list[Message], writer: Writer) -> Native:
    parts = [native for message in turn for native in lower_parts(message, writer)]
    return _content(turn[0], ROLE_OF.get(turn[0].role, "user"), parts, writer)


def lower_parts(message: Message, writer: Writer) -> list[Native]:
    """The parts of one message; answers stand only in messages of their own."""
    if message.role == "tool":
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        if results:
            return [lower_result(result, writer) for result in results]
    lowered = (lower_part(part, message.role, writer) for part in message.parts)
    return [native for native in lowered if native is not None]


# ---------------------------------------------------------------- system


def lift_system(value: Any, path: Path, reader: Reader) -> Message:
    """The instruction: a content, or what programs also write: a string, a list of parts, or one part."""
    if isinstance(value, str):
        message = Message("system", [Text(value)])
        reader.origin.places.append((path, [()]))
        reader.origin.spell(message, {"form": "string"})
        return message
    form = "parts" if isinstance(value, list) else "content" if _is_content(value) else "part"
    if form == "content":
        return lift_whole(value, "system", path, reader)
    message = lift_whole({"parts": value}, "system", path, reader)
    place, spots = reader.origin.places.pop()
    reader.origin.places.append((place, [spot[1:] for spot in spots or ()]))
    reader.origin.spell(message, {**reader.origin.spellings.get(id(message), {}), "form": form})
    return message


def lift_whole(native: Native, role: str, path: Path, reader: Reader) -> Message:
    """A content that is one message, whatever stands in it."""
    native, carried, spelling = reader.take(CONTENT, native, whole=("parts",))
    natives, single = listed(native.get("parts"))
    parts = [lift_part(take_part(part, reader), reader) for part in natives]
    if native.get("role") != ROLE_OF.get(role):
        spelling["role"] = native.get("role")
        if native.get("role") not in SPEAKERS:
            carried["role"] = native["role"]
    message = Message(role, parts, extras=extras_of_family({"content": carried} if carried else {}))
    reader.origin.places.append((path, [("parts",) if single else ("parts", j) for j in range(len(parts))]))
    reader.origin.spell(message, {**spelling, **single})
    return message


def _is_content(value: Native) -> bool:
    return "parts" in value or "role" in value or not value


def lower_system(transcript: Transcript, writer: Writer) -> Any:
    """The instruction; of a foreign transcript the text of all messages of the system, wherever they stand."""
    messages = [message for message in active(transcript) if message.role in ("system", "developer")]
    if not messages:
        return None
    spelling = writer.spelling(messages[0])
    parts = [native for message in messages for native in lower_parts(message, writer)]
    form = spelling.get("form")
    if form == "string":
        return parts[0]["text"]
    if form in ("parts", "part"):
        return unlisted(parts, spelling)
    if not parts and not writer.own:
        return None
    return _content(messages[0], None, parts, writer)


def lower_whole(message: Message, writer: Writer) -> Native:
    """One message as a content."""
    return _content(message, ROLE_OF.get(message.role), lower_parts(message, writer), writer)


def _content(first: Message, role: str | None, parts: list[Native], writer: Writer) -> Native:
    """A content whose first message, or only one, is `first`."""
    spelling = writer.spelling(first)
    role = spelling.get("role", role)
    native: Native = {} if role is None else {"role": role}
    native["parts"] = unlisted(parts, spelling)
    return CONTENT.put(native, writer.carried(first.extras, CONTENT, "content"), spelling)
