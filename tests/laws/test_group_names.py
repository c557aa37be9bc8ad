"""An unknown key of the vendor with the name under which a dialect keeps something else in extras is kept, and written
back, as any unknown key is.

A dialect keeps what has no field in extras, among them the extras of objects that are no node of the transcript, under
a key of its own such as `row`. The vendor may have a key of that name at the same place.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import untrusted
from convcli.kit.objects import APART
from convcli.model.dialect import Dialect, Options
from convcli.model.errors import ConvcliError
from convcli.model.transcript import Path
from convcli.validation import schemas
from tests import tiers
from tests.planting import at
from tests.support import about, facts, names, samples_of

WORD = "planted in an unknown key"
VALUES: list[Any] = [WORD, {"inside": WORD}]
NEUTRAL = "zzkey"
CASES = 300 if tiers.is_exhaustive() else 20
"""The number of keys that are planted in a dialect."""
TAKEN = {
    "agent-framework": "exception",  # .NET has no such key in a result, and Python means a failure by it
    "codex": "content",  # a prompt that is an item
    "gemini-cli": "directories kind projectHash thoughts timestamp",  # rows that set keys of the session
    "haystack": "meta",  # `_meta` of older messages
    "langchain": "error",  # calls in OpenAI's shape: elsewhere it is the text of an invalid call
    "librechat": "tokenCount",  # a tree is written as a list, whose counts are numbers
    "ms-swift": "message",  # calls as JSON in text
    "otel-genai": "gen_ai.output.messages",  # an event that has another list of the answer
    "sharegpt": "label",  # on a row without an answer to rate
    "vercel-ai": "approval dynamic output providerExecuted providerMetadata",  # calls of version 4
    "vscode-chat": "former kind",  # a log of changes, and Markdown in an object of its own
}
"""Keys that mean something else where the dialect writes an object that it read in an older or shorter shape."""

Case = tuple[Any, Path, str]
"""A document, the path of an object in it, and a name in extras."""


@pytest.mark.parametrize("source", names())
def test_an_unknown_key_with_a_name_in_extras_is_kept_and_written_back(source: str) -> None:
    dialect = dialects.get(source)
    gone = [
        (path, key, fate) for document, path, key in cases_of(dialect) if (fate := fault(dialect, document, path, key))
    ]
    assert gone == []


def cases_of(dialect: Dialect) -> list[Case]:
    """Cases of a dialect, the same every time."""
    return sorted(all_cases(dialect), key=lambda case: zlib.crc32(repr(case[1:]).encode()))[:CASES]


def all_cases(dialect: Dialect) -> Iterator[Case]:
    """Every name in extras in every kind of object that does not have this key."""
    documents = [sample.document for sample in tiers.few(samples_of(dialect.name), 3)]
    taken = {name for document in documents for name in names_in_extras(dialect, facts(dialect.lift(document)))}
    for document in documents:
        seen = set()
        for path, kind in objects_in(document):
            for key in sorted(taken - {*TAKEN.get(dialect.name, "").split()}):
                if key not in at(document, path) and (kind, key) not in seen:
                    seen.add((kind, key))
                    yield document, path, key


def names_in_extras(dialect: Dialect, value: Any, *, is_extras: bool = False) -> Iterator[str]:
    """The keys of extras. Of a stream, only those with an object: the keys of its events become keys of the answer, so
    a key that the answer has means something in an event, too."""
    if isinstance(value, list):
        for child in value:
            yield from names_in_extras(dialect, child)
    elif isinstance(value, dict):
        for key, child in value.items():
            if is_extras and isinstance(child, dict):
                yield from (name for name in child if isinstance(child[name], dict) or not is_stream(dialect))
            else:
                yield from names_in_extras(dialect, child, is_extras=key == "extras")


def is_stream(dialect: Dialect) -> bool:
    return "sse" in dialect.framings


def objects_in(value: Any, path: Path = (), kind: tuple[str, ...] = ()) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The objects in a document, with their paths and what they are: the keys on the way, and types and roles."""
    if isinstance(value, dict):
        kind = (*kind, *(str(value[key]) for key in ("type", "role") if isinstance(value.get(key), str)))
        yield path, kind
        for key, child in value.items():
            yield from objects_in(child, (*path, key), (*kind, key))
    elif isinstance(value, list):
        for i, child in enumerate(value):
            yield from objects_in(child, (*path, i), kind)


def fault(dialect: Dialect, document: Any, path: Path, key: str) -> str:
    """What becomes of the key, if that is less than what becomes of another unknown key; empty for a key that the
    schema knows, or if another one does not come back either."""
    with about(path, key):
        if not all(is_accepted(dialect, document, path, key, value) for value in VALUES):
            return ""
        for value in VALUES:
            usual, ours = (fate(dialect, document, path, name, value) for name in (NEUTRAL, key))
            if FATES.index(ours) < FATES.index(usual):
                return f"{ours}, not {usual}"
    return ""


FATES = ("lost", "read", "written")


def is_accepted(dialect: Dialect, document: Any, path: Path, key: str, value: Any) -> bool:
    node = at(document, path)
    node[key] = value
    try:
        return schemas.accepts(dialect.name, document)
    finally:
        del node[key]


def fate(dialect: Dialect, document: Any, path: Path, key: str, value: Any) -> str:
    """Is the text under this key in the transcript, and in the document that is written of it in the same form?"""
    node = at(document, path)
    node[key] = value
    try:
        transcript = dialect.lift(document)
        if WORD not in json.dumps(facts(transcript)):
            return "lost"
        if not dialect.is_written or is_stream(dialect):
            return "read"
        form = "" if transcript.origin is None else transcript.origin.form
        options = Options(form=form if form in dialect.forms else None)
        written = json.dumps(untrusted.write(transcript, dialect, dialect, options))
        return "written" if WORD in written and json.dumps(APART) not in written else "read"
    except ConvcliError:
        return "lost"
    finally:
        del node[key]
