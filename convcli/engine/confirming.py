"""Confirms by reading that a document is in the dialect that its marks suggest.

Marks only propose a dialect. The claim fails if most of what people and models wrote in the messages does not reach
parts, because it is under keys, or in rows of types, that the dialect does not know. A document whose text is only
under keys that the schema names is not read for this.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from convcli.engine.emptied import TEXT_KEYS, has_content
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Path, Transcript
from convcli.proof.language import CALLED, is_language
from convcli.proof.levels import TYPES, row_type
from convcli.proof.places import Places
from convcli.validation import schemas, unknown
from convcli.wire.decimals import builtins
from convcli.wire.pointers import resolve

LOOK_AT = 32
"""Items of each list of a document that are read, as many as records of a file."""
SCHEMAS = frozenset(("properties", "$defs"))
"""Keys of objects in JSON Schemas whose keys are names of parameters."""
WRITTEN = ("text", "summary", "arguments", "raw_arguments", "value")
"""Fields of parts with what people, models and tools wrote."""


def is_read(document: Any, dialect: Dialect) -> bool:
    """True if most of the language of a conversation reaches parts, or the schema rejects the document anyway."""
    beginning = _beginning(document)
    if not _holds_unknown(beginning, dialect) or not schemas.accepts(dialect.name, beginning):
        return True
    transcript = dialect.lift(beginning)
    if transcript.origin is not None:
        transcript.origin.document = beginning
    read = sum(map(_size_read, transcript.messages))
    unread = sum(_unread(beginning, transcript, dialect))
    return unread <= read and (read > 0 or not any(_unread_rows(beginning, transcript, dialect)))


def _beginning(document: Any) -> Any:
    """Returns the document with only the first items of its lists of messages."""
    if isinstance(document, Rows):
        return document if len(document) <= LOOK_AT else Rows(document[:LOOK_AT])
    if isinstance(document, list):
        return document[:LOOK_AT]
    if not isinstance(document, dict):
        return document
    return {key: value[:LOOK_AT] if isinstance(value, list) else value for key, value in document.items()}


def _holds_unknown(document: Any, dialect: Dialect) -> bool:
    """True if text is under a key, or in a row of a type, that the schema does not name."""
    rows = document if isinstance(document, list) else []
    return (
        any(_is_unknown_row(row, dialect) for row in rows) or next(_texts(document, _known(dialect)), None) is not None
    )


@cache
def _known(dialect: Dialect) -> frozenset[str]:
    """Returns the keys that the dialect names anywhere."""
    return schemas.vocabulary(dialect.name) | dialect.metadata | dialect.envelope


def _is_unknown_row(row: Any, dialect: Dialect) -> bool:
    """True if the row states a type that the dialect does not know."""
    type_ = row_type(row)
    is_named = not type_ or type_.rpartition("/")[2] in schemas.types(dialect.name, TYPES)
    return not is_named and not unknown.known_of(dialect).is_known_type(type_)


def _texts(value: Any, known: frozenset[str], key: str = "", *, is_known: bool = True) -> Iterator[str]:
    """Yields the texts under unknown keys; if `is_known` is false, those under known keys too.

    Schemas and arguments of calls have keys that no dialect defines.
    """
    if isinstance(value, dict):
        for name, child in value.items():
            if child.__class__ is str and is_known and name in known:
                continue  # most values of a document
            if name not in SCHEMAS and (name not in CALLED or not isinstance(child, dict)):
                yield from _texts(child, known, name, is_known=is_known and name in known)
    elif isinstance(value, list):
        for child in value:
            yield from _texts(child, known, key, is_known=is_known)
    elif not is_known and isinstance(value, str) and (is_language(value) or (key in TEXT_KEYS and value.strip())):
        yield value


def _size_read(message: Message) -> int:
    """Returns the number of characters that people, models and tools wrote in the parts of a message."""
    if message.role == "event":
        return 0
    parts = [part for part in message.parts if not isinstance(part, Opaque)]
    texts = [builtins(getattr(part, field, None)) for part in parts for field in WRITTEN]
    return sum(map(_size, [*texts, message.error]))


def _size(value: Any) -> int:
    if isinstance(value, (dict, list)):
        return sum(map(_size, value.values() if isinstance(value, dict) else value))
    return len(value) if isinstance(value, str) else 0


def _unread(document: Any, transcript: Transcript, dialect: Dialect) -> Iterator[int]:
    """Yields the size of the unknown text in each message that comes out empty, and in each part that is kept as it
    is."""
    places = Places(transcript, dialect)
    for index, message in enumerate(transcript.messages):
        if message.role == "event":
            continue
        unread = [k for k, part in enumerate(message.parts) if isinstance(part, Opaque) or not has_content(part)]
        is_empty = len(unread) == len(message.parts) and message.error is None
        paths = [places.whole(index)] if is_empty else [places.part(index, k) for k in unread]
        yield from (_size_unknown(_at(document, places, path), dialect) for path in paths)


def _unread_rows(document: Any, transcript: Transcript, dialect: Dialect) -> Iterator[int]:
    """Yields the size of the unknown text in each event; of all text in one of an unknown type."""
    places = Places(transcript, dialect)
    events = (index for index, message in enumerate(transcript.messages) if message.role == "event")
    for native in (_at(document, places, places.whole(index)) for index in events):
        yield _size_of_all(native) if _is_unknown_row(native, dialect) else _size_unknown(native, dialect)


def _at(document: Any, places: Places, path: Path) -> Any:
    return resolve(document, places.existing(path))


def _size_unknown(native: Any, dialect: Dialect) -> int:
    """Returns the size of the text of an object under unknown keys, if more of it is there than under known ones."""
    size = sum(map(len, _texts(native, _known(dialect))))
    return size if size * 2 > _size_of_all(native) else 0


def _size_of_all(native: Any) -> int:
    return sum(map(len, _texts(native, frozenset(), is_known=False)))
