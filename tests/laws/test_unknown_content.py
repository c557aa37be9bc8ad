"""Law L12: text that stands where a dialect knows nothing is content: its loss is one of content, and it is a finding.

A sentence is planted under an unknown key of the root, a message, a row and a part, in a row like a message but of an
unknown type, in an event of an unknown type that has nothing else, and in a part of an unknown type.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from convcli import dialects
from convcli.engine import pipeline, reading
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.errors import ConvcliError
from convcli.model.transcript import Opaque, Path
from convcli.proof.levels import TYPES, WRAPPED, normalized
from convcli.proof.reasons import Loss
from convcli.testing.planting import UNKNOWN_KEY
from convcli.validation import schemas
from convcli.validation.wording import SAFE_WORD
from convcli.wire.pointers import has, resolve
from tests.support import names, samples_of, untouched

SENTENCE = "The harbor master keeps a grey parrot in the old boathouse."
UNKNOWN_TYPE = "zz_unknown"
CODES = {"unknown-content", "unknown-type"}
"""A part of an unknown type, which is content too, has a finding of its own."""
WRITTEN = [name for name in names() if dialects.get(name).is_written and not dialects.get(name).carries_all]


def root(document: Any, dialect: Dialect) -> Iterator[Path]:
    if isinstance(document, dict):
        yield ()


def message(document: Any, dialect: Dialect) -> Iterator[Path]:
    yield from (path for path, _ in places(document, dialect) if path)


def row(document: Any, dialect: Dialect) -> Iterator[Path]:
    if isinstance(document, Rows):
        yield from dict.fromkeys(path[:1] for path, _ in places(document, dialect) if path and isinstance(path[0], int))


def part(document: Any, dialect: Dialect) -> Iterator[Path]:
    for path, part_paths in places(document, dialect):
        yield from ((*path, *node_path) for node_path in part_paths if node_path and ".." not in node_path)


def places(document: Any, dialect: Dialect) -> list[tuple[Path, list[Path]]]:
    """The paths of all messages, each with those of its parts relative to it."""
    transcript = dialect.lift(document)
    assert transcript.origin is not None
    return [
        (
            path,
            list(part_paths)
            if part_paths is not None
            else [(*transcript.origin.node_path, k) for k in range(len(each.parts))],
        )
        for each, (path, part_paths) in zip(transcript.messages, transcript.origin.places, strict=True)
        if each.role != "event"
    ]


PLACES = {"root": root, "message": message, "row": row, "part": part}


def planted(document: Any, path: Path) -> Any:
    """A copy with the sentence under an unknown key of the object at a path; None where there is none."""
    edited = copy.deepcopy(document)
    node = edited
    try:
        for step in path:
            node = node[step]
    except (LookupError, TypeError):
        return None
    if not isinstance(node, dict):
        return None
    node[UNKNOWN_KEY] = SENTENCE
    return edited


def with_unknown_row(document: Any, dialect: Dialect) -> Any:
    """A session that goes on with a row like one of its messages, but of an unknown type; None for what is none."""
    for path in row(document, dialect):
        added = copy.deepcopy(document[path[0]])
        inner = added
        while isinstance(inner, dict) and (key := next((k for k in WRAPPED if isinstance(inner.get(k), dict)), "")):
            inner = inner[key]
        kind = next((key for key in TYPES if isinstance(inner, dict) and isinstance(inner.get(key), str)), None)
        if kind is not None:
            inner |= {kind: UNKNOWN_TYPE, "text": SENTENCE}
            return Rows([*document, added], [*document.lines, document.lines[-1] + 1])
    return None


def with_unknown_event(document: Any, dialect: Dialect) -> Iterator[Any]:
    """A log or a stream in which a row of an unknown type, with nothing else, stands before the last one, and after
    it; none where rows have no type of their own."""
    rows = document if isinstance(document, Rows) else ()
    keys = (*TYPES, *schemas.discriminators(dialect.name, ("*",)))
    kinds = ((key, each[key]) for each in rows if isinstance(each, dict) for key in keys if key in each)
    key, kind = next((pair for pair in kinds if isinstance(pair[1], str)), ("", ""))
    stem = kind[: kind.rfind(".") + 1]  # `response.created`: the service of an event
    for at in (len(rows) - 1, len(rows)) if key else ():
        yield Rows([*rows[:at], {key: stem + UNKNOWN_TYPE, "text": SENTENCE}, *rows[at:]], [*range(1, len(rows) + 2)])


def with_unknown_part(document: Any, dialect: Dialect) -> Iterator[Any]:
    """Documents in which one part is of an unknown type: its type is a word whose change makes the part opaque. The
    sentence stands under another key that parts of this type have."""
    tried = set[tuple[Path, str, str]]()
    count = len(opaque_parts(document, dialect))
    for path in part(document, dialect):
        node = resolve(document, path) if has(document, path) else None
        words = {key: value for key, value in node.items() if isinstance(value, str)} if isinstance(node, dict) else {}
        for key in (key for key in words if SAFE_WORD.match(words[key])):
            retyped = copy.deepcopy(document)
            resolve(retyped, path)[key] = UNKNOWN_TYPE
            place = (normalized(path), key, words[key])
            if place not in tried and len(opaque_parts(retyped, dialect)) > count:
                longest = max(words.keys() - {key}, default="text", key=lambda other: len(words[other]))
                resolve(retyped, path)[longest] = SENTENCE
                yield retyped
            tried.add(place)


def opaque_parts(document: Any, dialect: Dialect) -> list[Opaque]:
    messages = dialect.lift(document).messages if schemas.accepts(dialect.name, document) else []
    return [part for each in messages if each.role != "event" for part in each.parts if isinstance(part, Opaque)]


def edits(name: str, place: str) -> Iterator[Any]:
    """Documents of a dialect with the sentence at such a place, one for each of its samples that has one."""
    dialect = dialects.get(name)
    for sample in samples_of(name):
        document = untouched(sample.document)
        if place == "unknown row":
            candidates = iter([with_unknown_row(document, dialect) if isinstance(document, Rows) else None])
        elif place == "unknown event":
            candidates = with_unknown_event(document, dialect)
        elif place == "unknown part":
            candidates = with_unknown_part(document, dialect)
        else:
            candidates = (planted(document, path) for path in PLACES[place](document, dialect))
        yield from (each for each in candidates if each is not None and is_read(each, dialect))


def is_known(document: Any, dialect: Dialect) -> bool:
    """True if the dialect reads the sentence, as a result that is any JSON value."""
    read = msgspec.to_builtins(dialect.lift(document).messages)
    return holds(without(read, "extras", "opaque"))


def without(value: Any, key: str, type_: str) -> Any:
    """The same without all members of this key and all objects of this type."""
    if isinstance(value, list):
        return [without(each, key, type_) for each in value]
    if not isinstance(value, dict) or value.get("type") == type_:
        return None if isinstance(value, dict) else value
    return {name: without(each, key, type_) for name, each in value.items() if name != key}


def is_read(document: Any, dialect: Dialect) -> bool:
    if not schemas.accepts(dialect.name, document):
        return False
    is_empty = reading.not_understood(document, dialect.lift(document), dialect) is not None
    return not is_empty and not is_known(document, dialect)


def targets_of(name: str) -> list[Dialect]:
    """Three dialects, others for each source."""
    start = names().index(name) * 7
    others = [other for other in WRITTEN if other != name]
    return [dialects.get(others[(start + step) % len(others)]) for step in (0, 5, 11)]


def holds(value: Any) -> bool:
    return SENTENCE in json.dumps(None if value is msgspec.UNSET else msgspec.to_builtins(value), default=str)


@pytest.mark.parametrize("place", [*PLACES, "unknown row", "unknown event", "unknown part"])
@pytest.mark.parametrize("name", names())
def test_no_sentence_is_lost_below_content_or_without_a_finding(name: str, place: str) -> None:
    dialect = dialects.get(name)
    for document in first(edits(name, place), MOST):
        found = {finding.code for finding in pipeline.validate(document, dialect)}
        assert found & CODES, f"{name}: no finding on the sentence in a {place}"
        for target in targets_of(name):
            assert_told(document, dialect, target, place)


MOST = 2
"""Documents of a dialect that are tried for a place."""


def first(documents: Iterator[Any], count: int) -> Iterator[Any]:
    yield from (document for document, _ in zip(documents, range(count), strict=False))


def assert_told(document: Any, dialect: Dialect, target: Dialect, place: str) -> None:
    try:
        converted = pipeline.convert(document, dialect, target)
    except ConvcliError:  # the target does not take it at all
        return
    if holds(converted.document):
        return
    where = f"{dialect.name} to {target.name}: the sentence in a {place}"
    lost: list[Loss] = [loss for loss in converted.losses if holds(loss.before)]
    assert lost, f"{where} is gone, and no loss reports it"
    levels = {loss.level for loss in lost}
    assert "content" in levels, f"{where} is lost as {levels}: {[loss.field for loss in lost]}"
    judged = [loss for loss in lost if loss.field in ("event", "opaque") or loss.field.startswith("extras.")]
    if judged:
        codes = {finding.code for finding in converted.findings}
        assert codes & CODES, f"{where} is lost without a finding"


ON: Callable[..., Any] = pytest.mark.parametrize


@ON("value", ["0.2.17", "/home/ada/a file.txt", "2026-01-02T03:04:05Z", "aGVsbG8gd29ybGQ=", "in_progress", "gpt-5.5"])
def test_metadata_under_an_unknown_key_stays_context(value: str) -> None:
    document = {"messages": [{"role": "user", "content": "Hi."}], UNKNOWN_KEY: value}
    source, target = dialects.get("openai-chat"), dialects.get("anthropic")
    converted = pipeline.convert(document, source, target)
    assert [loss.level for loss in converted.losses if holds_key(loss)] == ["context"]
    assert pipeline.validate(document, source) == []


def holds_key(loss: Loss) -> bool:
    return loss.field.endswith(f".{UNKNOWN_KEY}")
