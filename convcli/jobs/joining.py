"""Joins the calls of one conversation: a trace or log repeats the growing conversation at every model call.

A call continues another one if its request repeats the messages of that one, its answer included. Then only the later
call is written. Messages are the same if their role, texts, media, calls and results are: later requests leave out ids,
times, token counts and often the reasoning. What the earlier call has and the later one has not is a loss. Calls that
begin alike and then differ are branches, and each is a conversation.

Within one record, such as a trace, calls may stand in any order, and a conversation that is part of another one is a
repetition: programs record their state too. Between the records of a file, only beginnings are compared. Messages are
compared by digests. At most `MOST_OPEN` bytes of records are kept; a conversation that is pushed out is complete.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import groupby
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.engine import answers
from convcli.engine.containers import inside
from convcli.jobs.documents import Document, Item, Skipped
from convcli.model.dialect import Dialect
from convcli.model.errors import RefusedError
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.proof.difference import difference
from convcli.proof.equality import as_json
from convcli.validation import unknown
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

MOST_OPEN = 32 << 20
"""Bytes of the records of conversations that a later call may still continue."""
WITHOUT_TEXT = 200
"""Bytes that a message counts where a record has no text, as in a table."""
ASSISTANT = "assistant"
CLOSING = "</think>"
THOUGHT = pattern(rf"<think>.*?{CLOSING}", re.DOTALL)
"""Reasoning within a text: requests leave it out. One that never ends would be searched for long."""
ANSWER_KEYS = ("response", "output", "completion")
"""Keys next to a request that hold the whole answer of a service, in a log."""
REQUEST = "request"
REPORTED = ("dropped", "changed")
WHY = "an earlier call of this conversation has it, and the last call, which is written, has not"
REPEATED = "the same conversation is written from another place of the file, which does not have it"


class JoinedCalls(msgspec.Struct):
    """How many calls of a file became how many conversations."""

    calls: int = 0
    conversations: int = 0


class Call(msgspec.Struct, eq=False):
    """One call: its transcript, the digests of its messages and of all beginnings of the conversation.

    `asked` is the number of messages of its request; `number` its position in the file.
    """

    document: Document
    transcript: Transcript
    keys: list[bytes]
    beginnings: list[bytes]
    asked: int
    number: int
    size: int

    def absorb(self, other: Call, at: int, why: str) -> None:
        """Adds what the other call has and this one has not, whose messages from `at` on repeat it."""
        is_exact = _is_part(other, self, at)
        mine = self.transcript.messages[at : at + len(other.keys) if is_exact else self.asked]
        source = other.document.dialect
        same = replace(self.transcript, messages=mine)
        differences = difference(other.transcript, same, source, None, known=unknown.known_of(source))
        losses = [replace(loss, why=why) for loss in differences if loss.kind in REPORTED]
        other.document.locate(losses)
        self.document.merged = (*other.document.merged, *losses, *self.document.merged)


def repeats(values: Sequence[Any], dialect: Dialect) -> bool:
    """True if the first records of a file are the calls of a log: requests with the answer of the service, or requests
    that repeat the messages of another one. The rows of data sets are not."""
    objects = [value for value in values if isinstance(value, dict)]
    keys = [key for key in ANSWER_KEYS if any(key in value for value in objects)]
    keys = [key for key in keys if answers.is_unknown(key, dialect)]
    asked = [value for value in objects if any(key in value for key in answers.CONVERSATIONS)]
    if any(isinstance(inside(value.get(key)), dict) for value in asked for key in keys):
        return True
    if REQUEST not in dialect.forms:
        return False
    lists = [value[key] for value in objects for key in answers.CONVERSATIONS if isinstance(value.get(key), list)]
    return any(_begins(a, b) for a in lists for b in lists)


def _begins(shorter: list[Any], longer: list[Any]) -> bool:
    """True if a request begins with the messages of another one, and goes on."""
    return 0 < len(shorter) < len(longer) and longer[0] == shorter[0] and longer[: len(shorter)] == shorter


def joined(items: Iterable[Item], result: JoinedCalls) -> Iterator[Item]:
    """Yields one document per conversation, in the order of their last calls, and counts them.

    Stretches that are no documents, and documents that cannot be read, pass at once.
    """
    open_calls = OpenCalls()
    for _, group in groupby(items, key=_record):
        calls = list[Call]()
        for item in group:
            call = None if isinstance(item, Skipped) else _call(item, result.calls)
            if call is None:
                yield item
                continue
            result.calls += 1
            calls.append(call)
        for call in sorted(without_repetitions(calls), key=lambda call: len(call.keys)):
            open_calls.add(call)
        for call in open_calls.overflow():
            result.conversations += 1
            yield call.document
    for call in open_calls.rest():
        result.conversations += 1
        yield call.document


def _record(item: Item) -> Any:
    """What is the same for the values that were picked from one record."""
    if isinstance(item, Skipped):
        return id(item)
    return id(item.outer) if item.outer is not None else (item.line, item.at)


def _call(document: Document, number: int) -> Call | None:
    """The call in a document; None if it cannot be read, or has branches of its own."""
    try:
        transcript = document.lift()
    except RefusedError:
        return None
    messages = transcript.messages
    if not messages or transcript.head is not None:
        return None
    keys = [message_key(message) for message in messages]
    asked = len(messages)
    while asked and messages[asked - 1].role == ASSISTANT:
        asked -= 1
    size = len(document.raw) or WITHOUT_TEXT * len(messages)
    return Call(document, transcript, keys, _beginnings(keys), asked, number, size)


def _beginnings(keys: Sequence[bytes]) -> list[bytes]:
    """The digests of the first message, of the first two, and so on."""
    digest, found = hashlib.blake2b(digest_size=16), list[bytes]()
    for key in keys:
        digest.update(key)
        found.append(digest.digest())
    return found


def message_key(message: Message) -> bytes:
    """Returns a digest of what a message says to a model, whatever its ids, metadata and reasoning."""
    texts = [part.text for part in message.parts if isinstance(part, (Text, Refusal))]
    others = [_stated(part) for part in message.parts if not isinstance(part, (Text, Refusal, Reasoning))]
    role = "system" if message.role == "developer" else message.role
    value = [role, " ".join("".join(texts).split()), others]
    return hashlib.blake2b(exact_json.key(_ordered(value)), digest_size=16).digest()


def _stated(part: Part) -> Any:
    """What a part other than a text says."""
    if isinstance(part, ToolCall):
        return [part.name, part.arguments, part.raw_arguments]
    if isinstance(part, ToolResult):
        texts = [each.text for each in part.value if isinstance(each, Text)] if part.kind == "multimodal" else []
        value = "".join(texts) if texts and len(texts) == len(part.value) else inside(as_json(part.value))
        return " ".join(value.split()) if isinstance(value, str) else value
    if isinstance(part, Media):
        return [part.type, part.data, part.url, part.file_id, part.path, part.text]
    return as_json(part)


def _ordered(value: Any) -> Any:
    """The value with sorted keys: databases of logs do not keep their order."""
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return list(map(_ordered, value)) if isinstance(value, list) else value


# --- in one record ---------------------------------------------------------------------------------------------------


def without_repetitions(calls: Sequence[Call]) -> list[Call]:
    """Returns the calls of a record without those whose messages stand in another one, one after the other."""
    kept = list[Call]()
    places: dict[bytes, list[tuple[Call, int]]] = {}
    for call in sorted(calls, key=_rank):
        home = next((place for place in places.get(call.keys[0], ()) if _is_part(call, *place)), None)
        if home is not None:
            larger, at = home
            larger.absorb(call, at, REPEATED if at or len(larger.keys) == len(call.keys) else WHY)
            continue
        kept.append(call)
        for at, key in enumerate(call.keys):
            places.setdefault(key, []).append((call, at))
    return kept


def _rank(call: Call) -> tuple[int, bool, bool, int]:
    """Longer conversations come first, then those with tools and settings."""
    return -len(call.keys), not call.transcript.tools, not call.transcript.settings, call.number


def _is_part(call: Call, larger: Call, at: int) -> bool:
    return larger.keys[at : at + len(call.keys)] == call.keys


# --- between records -------------------------------------------------------------------------------------------------


class OpenCalls:
    """Conversations that a later call of the file may continue, oldest first."""

    def __init__(self) -> None:
        self._calls: dict[int, Call] = {}
        self._oldest: list[int] = []
        """A heap of the numbers of calls, of some that are removed too."""
        self._of_beginning: dict[bytes, int] = {}
        self._of_request: dict[bytes, set[int]] = {}
        self._of_whole: dict[bytes, set[int]] = {}
        """The numbers of calls by the digest of their request, and of their request and answer."""
        self._size = 0

    def add(self, call: Call) -> None:
        """Adds a call: it continues conversations, repeats the beginning of one, or begins one."""
        longer = self._calls.get(self._of_beginning.get(call.beginnings[-1], -1))
        if longer is not None:
            longer.absorb(call, 0, WHY)
            return
        for earlier in self._continued(call):
            call.absorb(earlier, 0, WHY)
            self._remove(earlier)
        self._calls[call.number] = call
        heappush(self._oldest, call.number)
        self._size += call.size
        self._of_beginning.update(dict.fromkeys(call.beginnings, call.number))
        for numbers, key in self._indexes(call):
            numbers.setdefault(key, set()).add(call.number)

    def _indexes(self, call: Call) -> Iterator[tuple[dict[bytes, set[int]], bytes]]:
        """Yields where a call is found by its messages: not at all, if they begin with an answer."""
        if call.asked:
            yield self._of_request, call.beginnings[call.asked - 1]
            yield self._of_whole, call.beginnings[-1]

    def _continued(self, call: Call) -> list[Call]:
        """The conversations that this call continues, word for word or with an answer that is spelled differently.

        Behind its whole request there is nothing that repeats an answer: a log can have the same request many times.
        """
        exact = {number for beginning in call.beginnings[:-1] for number in self._of_whole.get(beginning, ())}
        echoed = (
            number
            for end, beginning in enumerate(call.beginnings[: max(call.asked - 1, 0)], 1)
            for number in self._of_request.get(beginning, set()) - exact
            if is_echoed(self._calls[number], call.transcript.messages[end : call.asked])
        )
        continued = (self._calls[number] for number in exact.union(echoed))
        return sorted(continued, key=lambda earlier: (earlier.asked, earlier.number))

    def _remove(self, call: Call) -> None:
        del self._calls[call.number]
        self._size -= call.size
        for beginning in call.beginnings:
            if self._of_beginning.get(beginning) == call.number:
                del self._of_beginning[beginning]
        for numbers, key in self._indexes(call):
            numbers[key].discard(call.number)
            if not numbers[key]:
                del numbers[key]

    def overflow(self) -> Iterator[Call]:
        """Removes and yields the oldest conversations, until the others are small enough."""
        while self._size > MOST_OPEN and len(self._calls) > 1:
            oldest = self._calls.get(heappop(self._oldest))
            if oldest is not None:
                self._remove(oldest)
                yield oldest

    def rest(self) -> Iterator[Call]:
        """Yields all conversations that are left, in the order of the file."""
        yield from (self._calls[number] for number in sorted(self._calls))


def is_echoed(earlier: Call, messages: Sequence[Message]) -> bool:
    """True if the answer of an earlier call comes again in these messages, which follow its request, spelled
    differently: all of its calls by their ids, its text with something before or after it, or in other roles."""
    answer = earlier.transcript.messages[earlier.asked :]
    if not messages or not answer:
        return False
    if ids := _ids(answer):
        generated = earlier.transcript.origin.generated_ids if earlier.transcript.origin is not None else set()
        written = exact_json.write_text([as_json(message) for message in messages])
        return not generated.intersection(ids) and all(exact_json.write_text(id_) in written for id_ in ids)
    shorter, longer = sorted((_text(answer), _text(messages[:1])), key=len)
    if messages[0].role == ASSISTANT and 2 * len(shorter) >= len(longer) and bool(shorter) and shorter in longer:
        return True
    repeated = {_text([message]) for message in messages}
    return all(_text([message]) in repeated for message in answer)


def _ids(messages: Sequence[Message]) -> list[str]:
    """The ids of calls, and of blocks that no dialect knows."""
    parts = [part for message in messages for part in message.parts]
    ids = [part.id for part in parts if isinstance(part, ToolCall)]
    values = [part.value for part in parts if isinstance(part, Opaque) and isinstance(part.value, dict)]
    return ids + [value["id"] for value in values if isinstance(value.get("id"), str)]


def _text(messages: Sequence[Message]) -> str:
    """The texts of messages and results, without reasoning inside of them."""
    parts = [part for message in messages for part in message.parts]
    texts = [part.text for part in parts if isinstance(part, (Text, Refusal))]
    texts += [part.value for part in parts if isinstance(part, ToolResult) and isinstance(part.value, str)]
    before, closing, after = "".join(texts).rpartition(CLOSING)
    return " ".join(f"{THOUGHT.sub('', before + closing)}{after}".split())
