"""Every key of every event of a stream is in the transcript, and written or reported, whatever else the events state.

Events of one answer may state one key with several values, a key that only events of another kind have, or come in
another order, again, or after the end.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.errors import ConvcliError
from convcli.model.transcript import Path
from convcli.proof.levels import WRITTEN
from convcli.testing import is_repeated
from convcli.validation import schemas
from convcli.wire.pointers import steps
from tests import tiers
from tests.laws.test_group_names import objects_in
from tests.laws.test_planted import gardens, is_count, text_of, without_clean_messages
from tests.planting import at
from tests.support import Sample, about, facts, names, samples_of

STREAMS = [name for name in names() if dialects.get(name).is_stream and name != "llm"]  # a row of llm is a whole answer
every_stream = pytest.mark.parametrize("name", STREAMS)
KEY = "zzkey"
HUB = dialects.get("intermediate")
LARGE = 20_000
"""The length of a sample that is too large for this."""

Value = Callable[[int], tuple[Any, str | None]]
"""Returns the value with a number, and the word in it to search for."""


def word(number: int) -> str:
    return f"zq{number:05d}q"


VALUES: tuple[Value, ...] = (
    lambda n: (word(n), word(n)),
    lambda n: ({"inside": word(n)}, word(n)),
    lambda n: (70_000_000 + n, str(70_000_000 + n)),
    lambda n: ([word(n)], word(n)),
    lambda _: (None, None),
    lambda n: ({word(n): {"a": {"b": {"c": {"d": [{"e": word(n)}]}}}}}, word(n)),
    lambda _: ("", None),
    lambda n: ([{"inside": word(n)}, n], word(n)),
    lambda _: ({}, None),
)
"""Values of every type: an object gets the one after that of the object before."""
EMPTY: tuple[Any, ...] = ("", [], {})


def counts(path: Path) -> bool:
    """True for an object of counts, whose later numbers replace earlier ones."""
    return is_count(path) or "stats" in path


def streamed(name: str) -> list[Sample]:
    samples = [sample for sample in samples_of(name) if isinstance(sample.document, list)]
    return list(tiers.few([sample for sample in samples if len(text_of(sample.document)) < LARGE]))


def planted(sample: Sample, key: str, first: int) -> tuple[Any, dict[Path, str]]:
    """Returns the document with the key in every object, each with another value, and the words by path."""
    document, words = copy.deepcopy(sample.document), dict[Path, str]()
    numbers = count()
    for path, _ in list(objects_in(document)):
        number = next(numbers)
        value, planted_word = VALUES[(number + first) % len(VALUES)](number)
        node = at(document, path)
        if key in node or (isinstance(value, int) and counts(path)):
            continue
        node[key] = value
        if not schemas.accepts(sample.dialect, document):
            del node[key]
        elif planted_word is not None:
            words[path] = planted_word
    return document, words


@every_stream
@pytest.mark.parametrize("key", [KEY, "former"])
def test_every_value_of_an_unknown_key_is_kept_and_written_or_reported(name: str, key: str) -> None:
    dialect = dialects.get(name)
    targets = {target: dialects.get(target) for target in (name, HUB.name, *tiers.targets_of(name)[:2])}
    for sample in streamed(name):
        for first in tiers.few(range(len(VALUES))):
            document, words = planted(sample, key, first)
            with about(sample, f"from value {first}"):
                kept = text_of(facts(dialect.lift(document)))
                assert [path for path, each in words.items() if each not in kept] == []
                for target in targets.values() if key == KEY else ():
                    if target.is_written:
                        assert_told(document, words, dialect, target)


def assert_told(document: Any, words: dict[Path, str], source: Dialect, target: Dialect) -> None:
    """Each word is in the output that is written anew, or in a loss at its event or at an earlier one."""
    done = pipeline.convert_in_full(document, source, target, is_composed=True)
    written = text_of(done.document)
    losses = [(loss, text_of(without_clean_messages(loss.before))) for loss in done.losses]
    for path, each in words.items():
        if each not in written:
            found = [loss for loss, text in losses if each in text or each in loss.field]
            assert found, f"{path} is gone in {target.name}"
            is_merged = counts(path) or isinstance(at(document, path)[KEY], dict)
            is_there = any(loss.field.startswith("opaque") or begins_at(loss.where, path) for loss in found)
            assert is_there or is_merged, f"{path} is told at {[loss.where for loss in found]}"


def begins_at(where: str, path: Path) -> bool:
    place = steps(where)
    return not place or int(place[0]) <= int(path[0])


@every_stream
@pytest.mark.parametrize("value", EMPTY)
def test_an_empty_value_of_an_unknown_key_is_kept(name: str, value: Any) -> None:
    dialect, seen = dialects.get(name), set[tuple[str, ...]]()
    for sample in streamed(name):
        document = copy.deepcopy(sample.document)
        for path, kind in list(objects_in(document)):
            if kind not in seen:
                seen.add(kind)
                node = at(document, path)
                node[KEY] = value
                if schemas.accepts(name, document) and not counts(path):
                    with about(sample, path):
                        assert f'"{KEY}"' in text_of(facts(dialect.lift(document)))
                del node[KEY]


# ---------------------------------------------------------------- keys of other events

CASES = 150
"""The number of keys that are planted in a dialect in the usual tier."""


@every_stream
def test_a_key_that_only_other_objects_have_is_kept(name: str) -> None:
    dialect = dialects.get(name)
    cases = sorted(foreign(name), key=lambda case: zlib.crc32(repr(case[1:]).encode()))
    for sample, path, key in tiers.few(cases, CASES):
        node = at(sample.document, path)
        for value in (word(7), {"inside": word(7)}):
            node[key] = value
            try:
                if schemas.accepts(name, sample.document):
                    with about(sample, path, key):
                        assert word(7) in text_of(facts(dialect.lift(sample.document)))
            except ConvcliError:
                pass
            finally:
                del node[key]


def foreign(name: str) -> Iterator[tuple[Sample, Path, str]]:
    """The keys of a dialect that an object of its samples does not have, once for each kind of object."""
    dialect, seen = dialects.get(name), set[tuple[tuple[str, ...], str]]()
    keys = sorted(schemas.vocabulary(name) - ANNOUNCING)
    for sample in streamed(name):
        copied = sample._replace(document=copy.deepcopy(sample.document))
        for path, kind in list(objects_in(copied.document)):
            for key in keys:
                is_known = key in at(copied.document, path) or is_repeated(dialect, (*path, key))
                if not is_known and (kind, key) not in seen:
                    seen.add((kind, key))
                    yield copied, path, key


ANNOUNCING = frozenset(("willContinue", "will_continue"))
"""Keys that announce fragments, which are kept."""


# ---------------------------------------------------------------- other orders


@every_stream
def test_events_in_another_order_or_again_lose_nothing(name: str) -> None:
    dialect = dialects.get(name)
    for sample, garden in gardens(name):
        if not isinstance(garden.document, list):
            continue
        before = text_of(facts(dialect.lift(garden.document)))
        words = {path: each for path, each in garden.planted.items() if each in before}
        words = {path: each for path, each in words.items() if not is_count(path) and not is_repeated(dialect, path)}
        for what, events in tiers.few(list(reordered(list(garden.document), Random(name))), 40):
            with about(sample, what):
                assert_keeps(dialect, events, words)


def assert_keeps(dialect: Dialect, events: list[Any], words: dict[Path, str]) -> None:
    """All words are in the transcript of the events, if that is one answer."""
    document = Rows(copy.deepcopy(events))
    if schemas.accepts(dialect.name, document):
        try:
            pipeline.convert_in_full(document, dialect, HUB)
        except ConvcliError:
            return
        kept = text_of(facts(dialect.lift(document)))
        assert [path for path, each in words.items() if each not in kept] == []


def reordered(events: list[Any], random: Random) -> Iterator[tuple[str, list[Any]]]:
    """The events with one of them again or in another place, and in random orders."""
    for i in random.sample(range(len(events)), len(events)):
        one, others = events[i : i + 1], events[:i] + events[i + 1 :]
        yield f"{i} twice", events[:i] + one + events[i:]
        yield f"{i} at the end, too", events + one
        yield f"{i} last", others + one
        yield f"{i} first", one + others
        yield f"{i} later", events[:i] + events[i + 1 : i + 2] + one + events[i + 2 :]
    yield "reversed", events[::-1]
    for number in range(3):
        yield f"shuffled {number}", random.sample(events, len(events))


SAID = "planted by somebody"
UNKNOWN: tuple[Any, ...] = (
    {"type": "zz_kind", "text": SAID},
    {"event_type": "zz_kind", "text": SAID},
    {"sessionUpdate": "zz_kind", "content": {"type": "text", "text": SAID}},
    {"choices": [], "zz_kind": {"text": SAID}},
)


@every_stream
def test_an_event_of_an_unknown_kind_anywhere_is_kept(name: str) -> None:
    for sample in streamed(name):
        events = list(sample.document)
        for event in UNKNOWN:
            for i in range(len(events) + 1):
                with about(sample, i):
                    assert_keeps(dialects.get(name), [*events[:i], event, *events[i:]], {(i,): SAID})


@every_stream
def test_a_text_that_comes_again_with_other_words_is_kept(name: str) -> None:
    """At once, and after the end."""
    for sample in streamed(name):
        events = list(sample.document)
        for i, event in enumerate(events):
            other, words = said_otherwise(event)
            for edited in ([*events[: i + 1], other, *events[i + 1 :]], [*events, other]):
                with about(sample, i):
                    assert_keeps(dialects.get(name), edited, words)


def said_otherwise(event: Any) -> tuple[Any, dict[Path, str]]:
    """Returns the event with other texts, and the words in them."""
    other, words = copy.deepcopy(event), dict[Path, str]()
    numbers = count()
    for path, _ in list(objects_in(other)):
        node = at(other, path)
        for key in (*sorted(WRITTEN), "delta", "inputTextDelta"):
            if isinstance(node.get(key), str) and node[key]:
                words[*path, key] = word(next(numbers))
                node[key] += words[*path, key]
    return other, words
