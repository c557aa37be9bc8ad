"""Which messages of a transcript the pointers of differences and losses are in."""

from __future__ import annotations

from collections.abc import Iterable

from convcli.model.dialect import Dialect
from convcli.model.transcript import Transcript
from convcli.proof.places import Places
from convcli.wire import pointers


def messages_at(transcript: Transcript, dialect: Dialect, wheres: Iterable[str]) -> frozenset[int]:
    """Returns the indexes of the messages that contain one of these JSON Pointers into their document.

    In a stream, whose messages are spread over events, any message may.
    """
    if transcript.origin is not None and transcript.origin.pieces:
        return frozenset(range(len(transcript.messages)))
    places, owners = Places(transcript, dialect), dict[str, set[int]]()
    for index, message in enumerate(transcript.messages):
        parts = (places.part(index, part) for part in range(len(message.parts)))
        for path in (places.whole(index), places.message(index), *parts):
            owners.setdefault(pointers.pointer(places.existing(path)), set()).add(index)
    nearest = (next((owners[each] for each in pointers.enclosing(where) if each in owners), ()) for where in wheres)
    return frozenset[int]().union(*nearest)
