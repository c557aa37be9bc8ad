"""Findings on content that a dialect does not know: under a key of extras, or in a row of an unknown type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any

from msgspec.structs import replace

from convcli.model.dialect import Dialect
from convcli.model.findings import Finding
from convcli.model.transcript import Extras, Opaque, Path, Transcript
from convcli.proof.levels import EXTRAS, TYPES, Knowledge, is_judged, may_be_content, row_type
from convcli.proof.places import Places
from convcli.proof.reasons import Loss
from convcli.validation import schemas
from convcli.validation.wording import SAFE_WORD, shown_key
from convcli.wire.decimals import builtins
from convcli.wire.pointers import pointer, steps

CODE = "unknown-content"


def knowledge(dialect: Dialect, others: Callable[[str], Knowledge | None] = lambda _: None) -> Knowledge:
    """What the dialect knows; `others` gives the same of another one, by the owner of extras."""
    return Knowledge(dialect, partial(schemas.keys_in, dialect.name), schemas.vocabulary(dialect.name), others)


@cache
def known_of(dialect: Dialect) -> Knowledge:
    """What the dialect alone knows."""
    return knowledge(dialect)


def of_transcript(transcript: Transcript, dialect: Dialect) -> list[Finding]:
    """A warning for each key and each type of row that the dialect does not know and that holds content."""
    return _once(_Search(transcript, dialect).findings())


def of_losses(losses: Iterable[Loss], known: Knowledge) -> list[Finding]:
    """The same of what an output does not carry, which is known already."""
    found = (_of_loss(loss, known) for loss in losses if loss.level == "content")
    return _once(finding for finding in found if finding is not None)


def _of_loss(loss: Loss, known: Knowledge) -> Finding | None:
    path: Path = steps(loss.where)
    if loss.field == "opaque":
        block = known.part(path, loss.before["value"]) if isinstance(loss.before, dict) else None
        return None if block is None or block[-1] == path[-1] else _key_finding(known.dialect, str(block[-1]), block)
    if not is_judged(loss.field):
        return None
    if not loss.field.startswith(EXTRAS):
        row = _row_of(loss.before)
        return row_finding(known.dialect, path, row) if is_new(known, path, row) else None
    if known.lists_events(loss.field.rpartition(".")[2]):
        events = known.events_with_content(path, loss.before)
        return row_finding(known.dialect, path, loss.before[events[0]]) if events else None
    found = known.unknown_content(loss.field, path, loss.before) or path
    return _key_finding(known.dialect, str(found[-1]) if found else loss.field.rpartition(".")[2], path)


def _row_of(event: Any) -> Any:
    return next((part["value"] for part in event["parts"] if part["type"] == "opaque"), None)


class _Search:
    """The search for unknown content in one transcript."""

    def __init__(self, transcript: Transcript, dialect: Dialect) -> None:
        self.transcript, self.dialect, self.known = transcript, dialect, known_of(dialect)
        self.places = Places(transcript, dialect)
        self.rolled_back = transcript.origin.rolled_back if transcript.origin is not None else set()

    def findings(self) -> Iterator[Finding]:
        """In the order of the transcript."""
        places = self.places
        yield from self._extras(self.transcript.extras, ())
        for i, tool in enumerate(self.transcript.tools or ()):
            if tool.extras is not None:
                yield from self._extras(tool.extras, places.tool(i))
        for i, message in enumerate(self.transcript.messages):
            if message.extras is not None:
                yield from self._extras(message.extras, places.message(i))
            if message.role == "event":
                yield from self._event(i, message.parts)
                continue
            for k, part in enumerate(message.parts):
                if part.extras is not None:
                    yield from self._extras(part.extras, places.part(i, k))
                if isinstance(part, Opaque) and self.dialect.owns(part.dialect):
                    yield from self._part(part, places.part(i, k))

    def _part(self, part: Opaque, place: Path) -> Iterator[Finding]:
        path = self.places.routed(place)
        found = self.known.part(path, builtins(part.value))
        if found is not None and self.places.existing(found) == found:  # else the block was put together
            yield _key_finding(self.dialect, str(found[-1]), found)

    def _event(self, index: int, parts: Iterable[Any]) -> Iterator[Finding]:
        for part in parts:
            if isinstance(part, Opaque) and self.dialect.owns(part.dialect):
                path = self.known.row(self.places.whole(index), builtins(part.value))
                if path is not None and is_new(self.known, path, part.value, was_turn=index in self.rolled_back):
                    yield row_finding(self.dialect, self.places.existing(path), part.value)

    def _extras(self, extras: Extras | None, place: Path) -> Iterator[Finding]:
        for owner, extra in (extras or {}).items():
            for key, value in extra.items() if self.dialect.owns(owner) or not self.dialect.keeps_form else ():
                if self.known.lists_events(key):
                    yield from self._other_events(owner, key, value, place)
                elif may_be_content(value) and not self.known.is_clean(key, len(place)):
                    yield from self._key(owner, key, value, place)

    def _other_events(self, owner: str, key: str, events: list[Any], place: Path) -> Iterator[Finding]:
        """The events of unknown types in a stream, each at its own path."""
        first = self.places.routed(self.places.extras(owner, key, place, present=True))
        pieces = self.transcript.origin.pieces if self.transcript.origin is not None else {}
        paths = pieces.get(first, [first] * len(events))
        for i in self.known.events_with_content(first, events):
            yield row_finding(self.dialect, paths[i], events[i])

    def _key(self, owner: str, key: str, value: Any, place: Path) -> Iterator[Finding]:
        group, path = place, self.places.extras(owner, key, place, present=True)
        path = path if path[-1:] == (key,) else (*path, key)
        members = {key: value}
        if isinstance(value, dict):
            stated = self.places.group(owner, key, place, value)
            if stated is not None or len(self.places.existing(path)) < len(self.places.routed(path)):  # a group
                group, members = place if stated is None else stated, value
        for name, member in members.items():
            found = self.known.key(self.places.routed(path if name == key else (*group, name)), member)
            if found is not None:
                yield _key_finding(self.dialect, str(found[-1]), self.places.existing(found))


def is_new(known: Knowledge, path: Path, row: Any, *, was_turn: bool = False) -> bool:
    """True if the dialect does not know rows of this type, or a key in the row that holds content.

    Rows of a known type may be events too: those that their program skips, and messages that were rolled back.
    """
    last = row_type(row).rpartition("/")[2]
    if not was_turn and (not isinstance(row, dict) or (last and last not in schemas.types(known.dialect.name, TYPES))):
        return True
    return known.inside(path, row) is not None


def row_finding(dialect: Dialect, path: Path, row: Any) -> Finding:
    """A row of an unknown type holds content."""
    kind = row_type(row)
    is_clean = all(SAFE_WORD.match(each) for each in kind.split("/"))
    shown = f'"{kind}"' if is_clean else shown_key(kind)
    rows = f"rows of the type {shown}" if kind else "rows like this"
    return _finding(dialect, path, f"{dialect.name} does not know {rows}; this one holds text")


def _key_finding(dialect: Dialect, key: str, path: Path) -> Finding:
    return _finding(dialect, path, f"{dialect.name} does not know the key {shown_key(key)} here; it holds text")


def _finding(dialect: Dialect, path: Path, message: str) -> Finding:
    help_text = f"a newer program may have written it; convcli knows: {dialect.specification}"
    return Finding(CODE, "warning", message, pointer(path), help=help_text)


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each message, the first, with a note on how many more there are."""
    alike: dict[str, list[Finding]] = {}
    for finding in findings:
        alike.setdefault(finding.message, []).append(finding)
    return [_counted(first, len(more)) for first, *more in alike.values()]


def _counted(finding: Finding, more: int) -> Finding:
    return replace(finding, notes=(f"{more:,} more in this document",)) if more else finding
