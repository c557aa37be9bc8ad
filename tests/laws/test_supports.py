"""Law: what a form supports comes back from some transcript, and it supports what comes back from all.

A field that a dialect does not store is lost for another reason than one that it stores for other values only.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

import msgspec
import pytest
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import untrusted
from convcli.model.dialect import Dialect, Options
from convcli.model.errors import ConvcliError
from convcli.model.fields import FIELDS, TEXTS, is_supported
from convcli.model.transcript import (
    MEDIA_KINDS,
    MEDIA_SOURCES,
    Media,
    MediaKind,
    Message,
    Opaque,
    Part,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
    camel,
)
from convcli.wire import exact_json
from tests.support import acceptable_of, samples, samples_of
from tests.tiers import written

FOUND = 3
"""Transcripts of samples that are tried for a field."""
TYPES = {
    "image": ("image/png", None),
    "audio": ("audio/wav", "audio/mp3", None),
    "video": ("video/mp4", None),
    "document": ("application/pdf", "text/plain", None),
}
FILE_OF = {"image": "a.png", "audio": "a.wav", "video": "a.mp4", "document": "a.pdf"}
SOURCES = {
    "data": ("iVBORw0KGgo=",),
    "url": ("https://example.com/{}", "s3://bucket/{}", "gs://bucket/{}"),
    "file_id": ("file-abc123",),
    "path": ("/tmp/{}",),
    "text": ("A page.",),
}
NAMES = {"name": "a.png", "detail": "high"}
NEW = {"type": "zz_new", "role": "zz_new", "id": "call_1"}
"""A block, call or row of an unknown type."""
METADATA = dict.fromkeys(("thoughtSignature", "signature", "itemId", "encryptedContent", "redactedData"), "c2ln")
SETTINGS: list[Any] = [True, "auto", "24h", 1, 0.5, ["text"], {"type": "content", "content": "a"}, {"type": "omni"}]
ASKED = [Message("user", [Text("Look.")])]
LABELS: tuple[Literal["chosen", "rejected"], ...] = ("chosen", "rejected")
SELDOM = frozenset(("head", "message.error"))
"""Fields that the transcripts tried here have in the only way that some forms store: a head of several answers, and an
error without other text. No claim is demanded."""
MOST = 12
"""Transcripts that are tried before a field counts as one that comes back."""

Value = tuple[str, bytes]
"""A field by its name in losses, and its value."""


FORMS = [(name, form) for name in written() if not dialects.get(name).carries_all for form in dialects.get(name).forms]


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_what_a_form_supports_comes_back_from_some_transcript(name: str, form: str) -> None:
    assert unproven(dialects.get(name), form) == []


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_what_comes_back_from_all_transcripts_is_supported(name: str, form: str) -> None:
    assert unstated(dialects.get(name), form) == []


def unstated(dialect: Dialect, form: str) -> list[str]:
    """The fields that a form does not claim to store, though they come back from all transcripts."""
    claims = dialect.supports_in(form)
    others = [field for field in FIELDS if field not in TEXTS | SELDOM and not is_supported(field, claims)]
    tries = {field: [*itertools.islice(tried(field, dialect), MOST)] for field in others}
    return [
        field
        for field, transcripts in tries.items()
        if transcripts and all(field in back(dialect, form, one) for one in transcripts)
    ]


def unproven(dialect: Dialect, form: str) -> list[str]:
    """The fields that a form claims to store, and that come back from no transcript."""
    own = [dialect.lift(sample.document) for sample in samples_of(dialect.name)]
    proved = {field for transcript in own for field in back(dialect, form, transcript)}
    stated = sorted(claim for claim in dialect.supports_in(form) - TEXTS if not claim.startswith("extras."))
    return [claim for claim in stated if not is_proven(claim, dialect, form, proved)]


def is_proven(claim: str, dialect: Dialect, form: str, proved: set[str]) -> bool:
    """Tries transcripts until one proves the claim, and adds to what is proved."""
    tries = itertools.chain(tried(claim, dialect), with_findings(dialect))
    while not any(is_within(field, claim) for field in proved):
        transcript = next(tries, None)
        if transcript is None:
            return False
        proved |= back(dialect, form, transcript) | back(dialect, form, as_pair(transcript))
    return True


def with_findings(dialect: Dialect) -> Iterator[Transcript]:
    """Transcripts of its samples, those with findings too."""
    yield from (dialect.lift(sample.document) for sample in acceptable_of(dialect.name))


def is_within(field: str, claim: str) -> bool:
    return field == claim or field.startswith(f"{claim}.")


def tried(claim: str, dialect: Dialect) -> Iterator[Transcript]:
    """Transcripts with a field."""
    node, _, field = claim.partition(".")
    if node in MEDIA_KINDS:
        yield from with_media(node, field)
    elif node == "settings":
        yield from (with_settings({field: value}) for value in SETTINGS)
    elif node == "opaque":
        blocks = [Opaque(owner, NEW) for owner in dialect.owners]
        yield from (Transcript([*ASKED, Message("event", [block])]) for block in blocks)
        yield from (transcript for block in blocks for transcript in with_part(block))
    elif claim == "tool_result.isError":
        yield with_result(ToolResult("call_1", "look", "multimodal", [Text("a"), Text("b")], is_error=True))
        yield with_result(ToolResult("call_1", "look", "data", {"a": 1}, is_error=True))
    yield from (each for name, found in of_samples().items() if is_within(name, claim) for each in found)


@cache
def with_media(kind: MediaKind, field: str) -> list[Transcript]:
    """Transcripts with media that have this field."""
    sources = [source for source in MEDIA_SOURCES if camel(source) == field] or [*MEDIA_SOURCES]
    stated: dict[str, Any] = {field: NAMES[field]} if field in NAMES else {}
    stated |= {"metadata": METADATA} if field == "metadata" else {}
    places = [(source, value.format(FILE_OF[kind])) for source in sources for value in SOURCES[source]]
    media = [
        replace(Media(kind, media_type=one), **{source: value}, **stated)
        for source, value in places
        for one in TYPES[kind]
    ]
    return [transcript for part in media for transcript in with_part(part)]


def with_part(part: Part) -> Iterator[Transcript]:
    """Transcripts with a part in a question, in an answer, and in a result."""
    yield Transcript([Message("user", [part])])
    yield Transcript([Message("user", [Text("Look."), part])])
    yield Transcript([*ASKED, Message("assistant", [part])])
    yield with_result(ToolResult("call_1", "look", "multimodal", [Text("Seen."), part]))


def with_result(result: ToolResult) -> Transcript:
    return Transcript([*ASKED, Message("assistant", [ToolCall("call_1", "look", {})]), Message("tool", [result])])


def with_settings(settings: dict[str, Any]) -> Transcript:
    return Transcript([*ASKED], settings=settings)


def as_pair(transcript: Transcript) -> Transcript:
    """The same messages with two answers, one of them chosen."""
    if transcript.head is not None:
        return transcript
    asked = [*transcript.messages, Message("user", [Text("Which?")])]
    chain = [replace(each, id=f"m{i}", parent_id=f"m{i - 1}" if i else None) for i, each in enumerate(asked)]
    chosen, rejected = (
        Message("assistant", [Text(label)], id=label, parent_id=chain[-1].id, label=label) for label in LABELS
    )
    return replace(transcript, messages=[*chain, chosen, rejected], head=chosen.id)


@cache
def of_samples() -> dict[str, list[Transcript]]:
    """The smallest transcripts of all samples with each field."""
    found: dict[str, list[Transcript]] = {}
    lifted = (dialects.get(sample.dialect).lift(sample.document) for sample in samples())
    for transcript in sorted(lifted, key=lambda one: len(one.messages)):
        for field in {field for field, _ in values(transcript)}:
            known = found.setdefault(field, [])
            if len(known) < FOUND:
                known.append(transcript)
    return found


def back(dialect: Dialect, form: str, transcript: Transcript) -> set[str]:
    """The fields of a transcript that come back from its document, with their values."""
    try:
        after = dialect.lift(dialect.lower(transcript, Options(form=form)))
    except (*untrusted.SHAPE, ConvcliError):  # a form that cannot store such extras
        return set()
    return {field for field, _ in values(transcript) & values(after)}


def values(transcript: Transcript) -> set[Value]:
    """The values of all fields but extras."""
    return set(_values("", msgspec.to_builtins(transcript)))


def _values(node: str, record: Any) -> Iterator[Value]:
    for key, value in record.items():
        name = f"{node}.{key}".removeprefix(".")
        if key in ("messages", "parts", "tools") or (name == "tool_result.value" and record["kind"] == "multimodal"):
            for each in value:
                yield from _values({"messages": "message", "tools": "tool"}.get(key) or each["type"], each)
            yield name, b""
        elif key in ("settings", "usage", "metadata") and name != "settings.metadata" and isinstance(value, dict):
            yield from ((f"{name}.{inner}", exact_json.key(one)) for inner, one in value.items())
        elif key not in ("extras", "type", "origin"):
            yield name, exact_json.key(value)
