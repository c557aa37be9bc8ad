"""Puts the answer of a call behind its request: both are values that were picked from one record.

The result is one document in the dialect of the request. Its values are at other places in the record: `routes` leads
from the document to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from convcli import dialects
from convcli.engine import answers, detection
from convcli.engine.containers import inside
from convcli.jobs.presets import Pattern, call_of
from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Opaque
from convcli.validation import schemas
from convcli.wire import pointers

Routes = tuple[tuple[str, str], ...]
"""Pointers in a document and the pointers in the record that they stand for; the first that fits counts."""
ECHO = ("instructions", "tools", "tool_choice")
"""Keys of a request that an answer repeats."""
OF_ANSWER = ("assistant", "tool")
"""Roles of messages in an answer: a value with others is a conversation of its own."""


class Composed(NamedTuple):
    """A request with its answer, as one document."""

    value: Any
    routes: Routes
    dialect: Dialect


class AnswerValue(NamedTuple):
    """A possible answer in a record: its pointer and its value."""

    at: str
    value: Any


class Calls:
    """Which of the values that were picked from a record, given by their pointers, belong to one call."""

    def __init__(self, picked: Sequence[str]) -> None:
        self._place: dict[str, tuple[int, int]] = {at: (i, 0) for i, at in enumerate(picked)}
        self._of_request: dict[str, list[str]] = {}
        calls: dict[Pattern, tuple[list[str], list[str]]] = {}
        for at in picked:
            found = call_of(pointers.steps(at))
            if found is not None:
                calls.setdefault(found[0], ([], []))[found[1]].append(at)
        for requests, possible in calls.values():
            self._of_request |= dict.fromkeys(requests, possible)
            last, _ = max((self._place[request] for request in requests), default=(-1, 0))
            for i, answer in enumerate(possible, 1):
                self._place[answer] = max(self._place[answer], (last, i))

    def order(self, at: str) -> tuple[int, int]:
        """The position of a value, as in the record; an answer comes after the requests of its call."""
        return self._place.get(at, (0, 0))

    def answers(self, request: str) -> list[str]:
        """The values that may be the answer to a request."""
        return self._of_request.get(request, [])


def compose(request: Any, at: str, dialect: Dialect, answer: AnswerValue, *, is_alone: bool = False) -> Composed | None:
    """Returns a request and its answer as one document; None if the value is no answer to it.

    `is_alone`: the request is a list of the one message at this pointer.
    """
    value, end = inside(answer.value), answer.at
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value, end = value[0], f"{end}/0"
    if not value or not isinstance(value, (dict, list, str)) or not schemas.accepts(dialect.name, request):
        return None
    base: Routes = (("/0", at),) if is_alone else (("", at),)
    if isinstance(request, dict):
        return _with_key(request, value, dialect, end, base)
    dialect = _of_answer(request, value, dialect)
    return _in_object(request, value, dialect, end, base) or _longer(request, value, dialect, end, base)


def _of_answer(request: list[Any], value: Any, dialect: Dialect) -> Dialect:
    """The dialect of the answer, where it reads the messages of the request alike: they show less of their dialect."""
    ranked = detection.candidates(value) if isinstance(value, dict) else []
    if not ranked or ranked[0][1].strength < answers.SURE:
        return dialect
    strongest = [name for name, evidence in ranked if evidence.strength == ranked[0][1].strength]
    other = dialects.get(strongest[0])
    is_alike = dialect.name not in strongest and schemas.accepts(other.name, request)
    return other if is_alike and other.lift(request).messages == dialect.lift(request).messages else dialect


def _in_object(request: list[Any], value: Any, dialect: Dialect, at: str, base: Routes) -> Composed | None:
    """A list of messages and its answer in a request object.

    A service repeats the instructions and tools of a request in its answer, and some logs have them only there.
    """
    for key in answers.CONVERSATIONS:
        held = {key: request}
        if schemas.accepts(dialect.name, held) and dialect.lift(held).messages == dialect.lift(request).messages:
            own = tuple((f"/{key}{inner}", outer) for inner, outer in base)
            echo = [name for name in ECHO if isinstance(value, dict) and value.get(name)]
            bare = {name: each for name, each in value.items() if name not in echo} if echo else value
            routes = (*((f"/{name}", f"{at}/{name}") for name in echo), *own)
            full = {**{name: value[name] for name in echo}, **held}
            whole = _with_key(full, bare, dialect, at, routes) if echo else None
            return whole or _with_key(held, value, dialect, at, own)
    return None


def _longer(request: list[Any], value: Any, dialect: Dialect, at: str, base: Routes) -> Composed | None:
    """A list of messages and an answer that is a message, or a list of such."""
    added = value if isinstance(value, list) else [value]
    whole = [*request, *added]
    if not all(isinstance(each, dict) for each in added) or not _is_answered(whole, request, dialect):
        return None
    ends = (f"{at}/{i}" if isinstance(value, list) else at for i in range(len(added)))
    return Composed(whole, (*((f"/{len(request) + i}", end) for i, end in enumerate(ends)), *base), dialect)


def _with_key(request: dict[str, Any], value: Any, dialect: Dialect, at: str, base: Routes) -> Composed | None:
    """The request with the answer under a key that it does not have."""
    for key in answers.KEYS:
        whole = {**request, key: value}
        if key not in request and _is_answered(whole, request, dialect):
            return Composed(whole, ((f"/{key}", at), *base), dialect)
    return None


def _is_answered(whole: Any, request: Any, dialect: Dialect) -> bool:
    """True if a document says what the request says, and then an answer."""
    if not schemas.accepts(dialect.name, whole):
        return False
    asked = len(dialect.lift(request).messages)
    added = answers.lift(whole, dialect).messages[asked:]
    is_read = all(message.role in OF_ANSWER and not _is_opaque(message) for message in added)
    return bool(added) and added[0].role == OF_ANSWER[0] and is_read


def _is_opaque(message: Message) -> bool:
    """True if nothing of a message is understood."""
    return bool(message.parts) and all(isinstance(part, Opaque) for part in message.parts)
