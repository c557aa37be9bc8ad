"""Compares two transcripts, in any dialects: are they the same conversation?

They are compared in the intermediate format. What one dialect cannot store is not counted as missing: every difference
is checked against what a conversion between the two dialects would cause.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from convcli.engine.conversion import lower
from convcli.model.dialect import Dialect, LossKind
from convcli.model.errors import ContentError
from convcli.model.transcript import Message, Origin, Part, ToolCall, ToolResult, Transcript
from convcli.proof.difference import difference
from convcli.proof.equality import as_json
from convcli.proof.pieces import differing
from convcli.proof.places import Places
from convcli.proof.reasons import MISSING, Level, Loss
from convcli.wire import exact_json, pointers
from convcli.wire.decimals import builtins
from convcli.wire.patterns import pattern

MIRRORED: dict[LossKind, LossKind] = {"dropped": "invented", "invented": "dropped"}
"""The kind of a difference as seen from the other side; other kinds are the same."""

_Key: TypeAlias = tuple[Any, ...]


class Difference(msgspec.Struct):
    """A difference between two transcripts.

    `kind`: dropped (only the first has it) · invented (only the second) · changed · encoded · moved. `first` and
    `second` are JSON Pointers into the two documents, the second empty if it has no counterpart; `before` and `after`
    are the values in the intermediate format, MISSING if there is none.
    """

    level: Level
    kind: LossKind
    field: str
    first: str
    second: str
    before: Any = MISSING
    after: Any = MISSING


def differences(
    first: Transcript, second: Transcript, of_first: Dialect, of_second: Dialect, *, exact: bool = False
) -> list[Difference]:
    """Returns the differences, in the order of the first; none if both are the same conversation.

    Ids may differ if they only link records, and so may the grouping of consecutive messages of one role. With `exact`
    both count, and also what the other dialect cannot store.
    """
    if not exact:
        first, second = _numbered(first), _numbered(second)
    result = _compared(first, second, of_first, of_second, exact=exact)
    if not result or exact:
        return result
    failed = _with_failures(first, of_first), _with_failures(second, of_second)
    return min(result, _compared(*failed, of_first, of_second), key=len)


def _compared(
    first: Transcript, second: Transcript, of_first: Dialect, of_second: Dialect, *, exact: bool = False
) -> list[Difference]:
    forth = difference(first, second, of_first, of_second).records
    is_converted = not exact and of_first is not of_second  # both documents can store the same
    if is_converted and forth and _agree(first, second, of_first, of_second):
        return []
    back = difference(second, first, of_second, of_first).records
    if is_converted:
        forth, back = _unexplained(forth, back, first, second, of_first, of_second)
    has_more = any((loss.kind, loss.field) == ("invented", "message") for loss in forth)
    places = _places_in_second(forth, back, _messages(second, of_second) if has_more else {})
    return [_located(*pair, first.origin, second.origin) for pair in zip(forth, places, strict=True)]


def _agree(first: Transcript, second: Transcript, of_first: Dialect, of_second: Dialect) -> bool:
    """True if both are equal in one of the dialects after both have gone through the other."""
    if not (of_first.is_written and of_second.is_written):
        return False
    forth, back = _through(first, of_first, of_second), _through(second, of_second, of_first)
    return _is_same(_through(forth, of_second, of_first), back) or _is_same(forth, _through(back, of_first, of_second))


def _is_same(first: Transcript, second: Transcript) -> bool:
    return not difference(_joined(first), _joined(second))


def _through(transcript: Transcript, source: Dialect, target: Dialect) -> Transcript:
    """Converts a transcript, with ids and failures normalized."""
    converted = target.lift(lower(transcript, target, source=source).document)
    return _numbered(_with_failures(converted, target))


def _joined(transcript: Transcript) -> Transcript:
    """Joins consecutive messages of one role."""
    messages: list[Message] = []
    for message in transcript.messages:
        last = messages[-1] if messages else message
        if messages and last.role == message.role != "event" and last.parent_id is message.parent_id is None:
            usage = message.usage if last.usage is None else last.usage
            messages[-1] = replace(last, parts=[*last.parts, *message.parts], usage=usage)
        else:
            messages.append(message)
    return replace(transcript, messages=messages)


def _places_in_second(forth: list[Loss], back: list[Loss], messages: dict[bytes | None, list[str]]) -> list[str]:
    """Returns, for each difference, its pointer in the second, empty if there is none.

    `messages` maps the content of the second's messages to their pointers.
    """
    exact: dict[_Key, list[Loss]] = {}
    for loss in back:
        exact.setdefault(_mirrored(loss), []).append(loss)
    places = [exact[_fact(loss)].pop(0).where if exact.get(_fact(loss)) else "" for loss in forth]
    rest = [loss for losses in exact.values() for loss in losses if loss.kind == "dropped"]
    wholes: dict[str, list[str]] = {}
    for loss in rest:  # one side reports a whole value, the other its members
        whole = _role(loss.before) if loss.field in MESSAGES else loss.field.rpartition(".")[0]
        wholes.setdefault(whole, []).append(loss.where)
    gone = {loss.where for loss in rest}
    for i, loss in enumerate(forth):
        if loss.kind == "invented" and not places[i]:
            is_message = loss.field == "message"
            known = messages.get(_text(loss.after), []) if is_message else wholes.get(loss.field, [])
            known = known or (wholes.get(_role(loss.after), []) if is_message else [])
            places[i] = next((where for where in known if where in gone), known[0] if known else "")
            gone.discard(places[i])
    return places


MESSAGES = ("message", "event", "branch", "history")
"""Fields of messages that only one side has."""


def _role(message: Any) -> str:
    return f"message of {message.get('role')}" if isinstance(message, dict) else "message"


def _messages(transcript: Transcript, dialect: Dialect) -> dict[bytes | None, list[str]]:
    """Maps the content of all messages to their pointers."""
    places, by_content = Places(transcript, dialect), dict[bytes | None, list[str]]()
    for i, message in enumerate(transcript.messages):
        where = pointers.pointer(places.existing(places.whole(i)))
        by_content.setdefault(_text(builtins(message)), []).append(where)
    return by_content


def _located(loss: Loss, place_in_second: str, ours: Origin | None, theirs: Origin | None) -> Difference:
    """Returns the difference; if a stream has several events, at the first event that differs."""
    place, other = loss.where, place_in_second
    if other and ours is not None and theirs is not None and (ours.pieces or theirs.pieces):
        place, other = differing(loss.kind, ours, theirs, place, other)
    return Difference(loss.level, loss.kind, loss.field, place, other, loss.before, loss.after)


def _unexplained(
    forth: list[Loss], back: list[Loss], first: Transcript, second: Transcript, of_first: Dialect, of_second: Dialect
) -> tuple[list[Loss], list[Loss]]:
    """Removes differences that a conversion would cause, from either side."""
    own_forth = _without(forth, _conversion(first, of_first, of_second), _place_and_fact)
    own_back = _without(back, _conversion(second, of_second, of_first), _place_and_fact)
    hidden = Counter(map(_mirrored, back)) - Counter(map(_mirrored, own_back))
    return [loss for loss in own_forth if not _take(hidden, _fact(loss))], own_back


def _conversion(transcript: Transcript, source: Dialect, target: Dialect) -> list[Loss]:
    """Returns what a conversion would lose; nothing for a read-only dialect."""
    return lower(transcript, target, source=source).losses if target.is_written else []


def _without(losses: list[Loss], others: list[Loss], key: Callable[[Loss], _Key]) -> list[Loss]:
    expected = Counter(map(key, others))
    return [loss for loss in losses if not _take(expected, key(loss))]


def _place_and_fact(loss: Loss) -> _Key:
    return loss.where, *_fact(loss)


def _take(counts: Counter[_Key], key: _Key) -> bool:
    counts[key] -= 1
    return counts[key] >= 0


def _fact(loss: Loss) -> _Key:
    return loss.kind, loss.field, _text(loss.before), _text(loss.after)


def _mirrored(loss: Loss) -> _Key:
    """Returns the same difference as seen from the other side."""
    return MIRRORED.get(loss.kind, loss.kind), loss.field, _text(loss.after), _text(loss.before)


def _text(value: Any) -> bytes | None:
    return None if value is MISSING else exact_json.write(as_json(value))


# ---------------------------------------------------------------- before the comparison


def _numbered(transcript: Transcript) -> Transcript:
    """Numbers the call ids, in a form that every dialect accepts; results refer to the preceding call.

    Message ids are kept only in a tree.
    """
    numbers: dict[str, str] = {}
    count = 0

    def renamed(part: Part) -> Part:
        nonlocal count
        if isinstance(part, ToolCall):
            count += 1
            numbers[part.id] = f"call{count:05}"
            return replace(part, id=numbers[part.id])
        if isinstance(part, ToolResult):
            return replace(part, tool_call_id=numbers.get(part.tool_call_id, part.tool_call_id))
        return part

    def message(one: Message) -> Message:
        ids = (one.id, one.parent_id) if transcript.head is not None else (None, None)
        parts, parent = list(map(renamed, one.parts)), one.parent_call_id
        parent = numbers.get(parent, parent) if parent is not None else None
        return replace(one, parts=parts, id=ids[0], parent_id=ids[1], parent_call_id=parent)

    return replace(transcript, id=None, messages=list(map(message, transcript.messages)))


FAILURE = pattern(r"\W{0,2}error\W{1,3}", re.IGNORECASE)
"""Prefix of text that reports a tool failure."""


def _with_failures(transcript: Transcript, dialect: Dialect) -> Transcript:
    """Turns results that are written as the dialect writes failures into failures."""

    def fact(part: Part) -> Part:
        return _failure(part, dialect) if isinstance(part, ToolResult) and part.kind in ("text", "data") else part

    return replace(transcript, messages=[replace(one, parts=list(map(fact, one.parts))) for one in transcript.messages])


def _failure(result: ToolResult, dialect: Dialect) -> ToolResult:
    for text in _failure_texts(result.value):
        failure = replace(result, kind="error", value=text, is_error=None)
        if any(one.express(failure) == (result.kind, result.value) for one in dialect.conventions):
            return failure
    return result


def _failure_texts(value: Any) -> Iterator[str]:
    """Yields possible failure texts of a result: the text after a prefix, or the value of `error`."""
    if isinstance(value, str):
        mark = FAILURE.match(value)
        if mark:
            yield value[mark.end() :]
        with suppress(ContentError):
            value = exact_json.parse_text(value)[0] if value.startswith("{") else None
    if isinstance(value, dict) and isinstance(value.get("error"), str):
        yield value["error"]
