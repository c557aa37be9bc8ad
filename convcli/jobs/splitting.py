"""Splits a long conversation into parts: at its compactions, by user turns, or by tokens.

A part begins with the instructions of the conversation. A call and its result are never apart. A turn is a user message
with all that follows it; several user messages in a row are one turn. A turn that is longer than a part is split before
an answer, and each of its parts begins with the question.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import takewhile
from typing import TypeAlias

import msgspec

from convcli.jobs.tokens import token_count
from convcli.model.branches import INSTRUCTIONS, active
from convcli.model.errors import JobError
from convcli.model.transcript import Message, ToolCall, ToolResult, Transcript
from convcli.validation.wording import unknown

Places: TypeAlias = list[int]
"""Indexes of messages."""
Begins: TypeAlias = Callable[[Message, Message | None], bool]
"""True if a part may begin with a message; the second is the message before it."""
COMPACTION = "compaction"
OF_TOOLS = -1
"""The place of the tokens of tools."""


class Splitting(msgspec.Struct, frozen=True):
    """Where conversations are split. `tokenizer` names the one that counts tokens."""

    at_compaction: bool = False
    max_turns: int | None = None
    max_tokens: int | None = None
    tokenizer: str | None = None


def splitting(at: str | None, max_turns: int | None, max_tokens: int | None, tokenizer: str | None) -> Splitting | None:
    """Returns where conversations are split, None if nowhere and no tokens are counted. Raises JobError."""
    if at not in (None, COMPACTION):
        raise unknown("place", str(at), (COMPACTION,), f"conversations are split at {COMPACTION}")
    if any(number is not None and number < 1 for number in (max_turns, max_tokens)):
        raise JobError("usage", "a part has at least one turn and one token")
    if max_tokens is not None and tokenizer is None:
        help_text = "name the one of the model: --tokenizer o200k_base, or a tokenizer.json"
        raise JobError("usage", "--max-tokens needs --tokenizer", help=help_text)
    if tokenizer is not None:
        token_count(tokenizer)  # reports errors before the work
    chosen = Splitting(at == COMPACTION, max_turns, max_tokens, tokenizer)
    return None if chosen == Splitting() else chosen


def parts_of(
    transcript: Transcript, splitting: Splitting, left_out: frozenset[int] = frozenset()
) -> list[tuple[Places, int | None]]:
    """Returns the messages of each part, and their tokens if they are counted. One part has all messages.

    `left_out`: ids of message objects that are not written, and count nothing.
    """
    return _Parts(transcript, splitting, left_out).all()


class _Parts:
    """The parts of one transcript."""

    def __init__(self, transcript: Transcript, splitting: Splitting, left_out: frozenset[int]) -> None:
        self.transcript, self.splitting, self.left_out = transcript, splitting, left_out
        place = {id(message): i for i, message in enumerate(transcript.messages)}
        messages = active(transcript)
        leading = list(takewhile(lambda message: message.role in INSTRUCTIONS, messages))
        self.leading = [place[id(message)] for message in leading]
        self.rest = [place[id(message)] for message in messages[len(leading) :]]
        self.count = None if splitting.tokenizer is None else token_count(splitting.tokenizer)
        self.sizes: dict[int, int] = {}

    def all(self) -> list[tuple[Places, int | None]]:
        spoken = [part for section in self._sections() for part in self._of_section(section)]
        if len(spoken) < 2:
            return [(list(range(len(self.transcript.messages))), self._size(self.leading + self.rest))]
        return list(self._complete(spoken))

    def _complete(self, spoken: list[Places]) -> Iterator[tuple[Places, int | None]]:
        """Yields each part with its instructions, and with the events and other branches between its messages."""
        inside = set(self.leading + self.rest)
        begin = 0
        for number, part in enumerate(spoken):
            end = len(self.transcript.messages) if number + 1 == len(spoken) else self._begin(spoken[number + 1], part)
            others = [i for i in range(begin, end) if i not in inside]
            yield sorted({*self.leading, *part, *others}), self._size(self.leading + part)
            begin = end

    @staticmethod
    def _begin(part: Places, before: Places) -> int:
        """Returns the first message of a part that the part before does not have."""
        return next(i for i in part if i not in before)

    # ------------------------------------------------------------ sections, turns, steps

    def _sections(self) -> list[Places]:
        """Returns the messages between compactions; each section but the first begins with a summary."""
        if not self.splitting.at_compaction:
            return [self.rest]
        return _split(self.rest, self._apart(self.rest, lambda message, _: message.replaces is not None))

    def _of_section(self, section: Places) -> Iterator[Places]:
        """Yields the parts of a section."""
        part: Places = []
        turns = 0
        for turn in _split(section, self._apart(section, self._is_question)):
            is_turn = any(self._is_asked(i) for i in turn)
            limit = self.splitting.max_turns
            if part and ((limit is not None and is_turn and turns >= limit) or not self._fits(part + turn)):
                yield part
                part, turns = [], 0
            if part or self._fits(turn):
                part, turns = part + turn, turns + is_turn
                continue
            *done, part = self._of_turn(turn)
            yield from done
            turns = 1
        if part:
            yield part

    def _of_turn(self, turn: Places) -> list[Places]:
        """Returns the parts of a turn that is too long: each begins with its question."""
        question = list(takewhile(lambda i: self.transcript.messages[i].role == "user", turn))
        parts = [list(question)]
        for step in _split(turn[len(question) :], self._apart(turn[len(question) :], lambda *_: True)):
            if len(parts[-1]) > len(question) and not self._fits(parts[-1] + step):
                parts.append(list(question))
            parts[-1] += step
        return parts

    def _apart(self, places: Places, begins: Begins) -> set[int]:
        """Returns the messages before which a part may begin: no call before them has its result behind them."""
        answered = {part.tool_call_id for i in places for part in self._results(i)}
        open_calls: set[str] = set()
        found: set[int] = set()
        before: Message | None = None
        for i in places:
            message = self.transcript.messages[i]
            if not open_calls and message.role != "tool" and begins(message, before):
                found.add(i)
            open_calls |= {part.id for part in message.parts if isinstance(part, ToolCall) and part.id in answered}
            open_calls -= {part.tool_call_id for part in self._results(i)}
            before = message
        return found

    def _results(self, i: int) -> list[ToolResult]:
        return [part for part in self.transcript.messages[i].parts if isinstance(part, ToolResult)]

    @staticmethod
    def _is_question(message: Message, before: Message | None) -> bool:
        return message.role == "user" and (before is None or before.role != "user")

    def _is_asked(self, i: int) -> bool:
        """True for a user message that is written, and not the summary of a compaction."""
        message = self.transcript.messages[i]
        return message.role == "user" and message.replaces is None and id(message) not in self.left_out

    # ------------------------------------------------------------ tokens

    def _fits(self, places: Places) -> bool:
        limit = self.splitting.max_tokens
        size = None if limit is None else self._size(self.leading + places)
        return limit is None or size is None or size <= limit

    def _size(self, places: Places) -> int | None:
        """Returns the tokens of messages, and of the definitions of tools."""
        count = self.count
        if count is None:
            return None
        for i in places:
            if i not in self.sizes:
                message = self.transcript.messages[i]
                self.sizes[i] = 0 if id(message) in self.left_out else count.message(message)
        if OF_TOOLS not in self.sizes:
            self.sizes[OF_TOOLS] = count.tools(self.transcript)
        return sum(self.sizes[i] for i in (OF_TOOLS, *places))


def _split(places: Places, begins: Collection[int]) -> list[Places]:
    """Splits a list before each of these places."""
    found: list[Places] = []
    for i in places:
        if not found or i in begins:
            found.append([])
        found[-1].append(i)
    return found
