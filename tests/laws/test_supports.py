"""Law: what a dialect says that it supports comes back from some transcript, and what comes back from all is said.

A field that a dialect does not store is lost for another reason than one that it stores for other values only.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
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
from tests import tiers
from tests.support import samples, samples_of
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
METADATA = dict.fromkeys(("thoughtSignature", "signature", "itemId", "encryptedContent", "redactedData"), "c2ln")
SETTINGS: list[Any] = [True, "auto", "24h", 1, 0.5, ["text"], {"type": "content", "content": "a"}, {"type": "omni"}]
ASKED = [Message("user", [Text("Look.")])]
LABELS: tuple[Literal["chosen", "rejected"], ...] = ("chosen", "rejected")
UNPROVEN = {
    "ag-ui": "audio.detail audio.metadata audio.name audio.path audio.text document.detail document.metadata "
    "document.name document.path document.text image.detail image.metadata image.name image.path image.text "
    "message.model message.parentId reasoning.metadata reasoning.summary refusal.metadata refusal.text text.metadata "
    "tool.annotations tool.outputSchema tool.strict tool_call.metadata tool_result.metadata tool_result.status "
    "video.detail video.metadata video.name video.path video.text",
    "anthropic-stream": "document.data document.fileId document.mediaType document.name document.text document.url "
    "image.data image.fileId image.mediaType image.url message.id message.model tool_result.isError tool_result.kind "
    "tool_result.toolCallId tool_result.value",
    "autogen": "tool_result.isError",
    "codex": "document.data document.detail document.fileId document.mediaType document.name document.url "
    "image.fileId model refusal.metadata refusal.text tool_result.isError",
    "cohere": "refusal.text",
    "gemini-cli-stream": "audio.data audio.detail audio.fileId audio.mediaType audio.name audio.path audio.text "
    "audio.url document.data document.detail document.fileId document.mediaType document.name document.path "
    "document.text document.url head image.data image.detail image.fileId image.mediaType image.name image.path "
    "image.text image.url reasoning.metadata reasoning.summary reasoning.text tool_result.isError video.data "
    "video.detail video.fileId video.mediaType video.name video.path video.text video.url",
    "gemini-interactions": "settings.toolChoice tool_call.rawArguments",
    "gemini-stream": "tool_result.isError tool_result.kind tool_result.name tool_result.toolCallId tool_result.value",
    "gptme": "opaque.dialect opaque.value",
    "haystack": "tool_call.rawArguments",
    "hf-chat": "audio.fileId audio.path audio.text audio.url document.url image.fileId",
    "hf-trace": "tool_result.isError",
    "langchain": "audio.metadata document.metadata image.metadata refusal.metadata text.metadata tool.annotations "
    "tool.outputSchema tool_call.metadata tool_result.metadata video.metadata",
    "llamafactory-v1": "opaque.dialect opaque.value",
    "mistral": "refusal.text",
    "multi-llm-chat-stream": "audio.data audio.detail audio.fileId audio.mediaType audio.name audio.path audio.text "
    "audio.url document.data document.detail document.fileId document.mediaType document.name document.path "
    "document.text document.url image.data image.detail image.fileId image.mediaType image.name image.path image.text "
    "image.url reasoning.text tool_result.isError video.data video.detail video.fileId video.mediaType video.name "
    "video.path video.text video.url",
    "openai-batch": "audio.path audio.text audio.url opaque.dialect settings.streamObfuscation",
    "openai-chat": "audio.path audio.text audio.url document.url image.fileId",
    "openai-chat-stream": "document.data document.detail document.fileId document.mediaType document.name "
    "document.path document.text document.url image.data image.detail image.fileId image.mediaType image.name "
    "image.path image.text image.url opaque.dialect opaque.value tool_result.isError tool_result.kind "
    "tool_result.name tool_result.status tool_result.toolCallId tool_result.value video.data video.detail "
    "video.fileId video.mediaType video.name video.path video.text video.url",
    "openai-ft": "audio.path audio.text audio.url document.url image.fileId",
    "pydantic-ai": "audio.fileId document.fileId video.fileId",
    "semantic-kernel": "video.url",
    "vercel-ai-stream": "tool_result.isError",
    "vertexai": "settings.serviceTier",
    "vibe": "opaque.dialect opaque.value tool_result.isError",
}
"""Claims that no transcript here proves: most are false. One that is withdrawn, or proven by a sample, leaves this
list."""

UNSTATED = {
    "anthropic": "message.id message.model",
    "chat-text": "tool_call.id",
    "gemini-stream": "head",
    "mistral": "head",
    "multi-llm-chat-stream": "message.error",
    "openai-batch": "head",
    "openai-chat": "head",
    "openai-chat-stream": "head",
}
"""Fields that come back though the dialect does not claim to store them, as ids that reading generates."""
MOST = 12
"""Transcripts that are tried before a field counts as one that comes back."""

Value = tuple[str, bytes]
"""A field by its name in losses, and its value."""


@pytest.mark.parametrize("name", written())
def test_what_a_dialect_supports_comes_back_from_some_transcript(name: str) -> None:
    dialect = dialects.get(name)
    known = UNPROVEN.get(name, "").split()
    assert dialect.carries_all or unproven(dialect, known) == (known if tiers.is_exhaustive() else [])


@pytest.mark.parametrize("name", written())
def test_what_comes_back_from_all_transcripts_is_supported(name: str) -> None:
    dialect = dialects.get(name)
    assert dialect.carries_all or unstated(dialect) == UNSTATED.get(name, "").split()


def unstated(dialect: Dialect) -> list[str]:
    """The fields that no form claims to store, though they come back from all transcripts in one."""
    claims = frozenset[str]().union(*map(dialect.supports_in, dialect.forms))
    others = [field for field in FIELDS if field not in TEXTS and not is_supported(field, claims)]
    tries = {field: [*itertools.islice(tried(field, dialect.family or dialect.name), MOST)] for field in others}
    return [
        field
        for field, transcripts in tries.items()
        if transcripts and any(all(field in back(dialect, form, one) for one in transcripts) for form in dialect.forms)
    ]


def unproven(dialect: Dialect, known: Collection[str] = ()) -> list[str]:
    """The fields that a dialect claims to store in a form, and that come back from no transcript in any. Those that
    are known are tried in the exhaustive tier."""
    own = [dialect.lift(sample.document) for sample in samples_of(dialect.name)]
    proved = {field for form in dialect.forms for transcript in own for field in back(dialect, form, transcript)}
    claims = frozenset[str]().union(*map(dialect.supports_in, dialect.forms)) - TEXTS
    claims -= frozenset[str]() if tiers.is_exhaustive() else frozenset(known)
    stated = sorted(claim for claim in claims if not claim.startswith("extras."))
    return [claim for claim in stated if not is_proven(claim, dialect, proved)]


def is_proven(claim: str, dialect: Dialect, proved: set[str]) -> bool:
    """Tries transcripts until one proves the claim, and adds to what is proved."""
    tries = (
        (form, transcript) for transcript in tried(claim, dialect.family or dialect.name) for form in dialect.forms
    )
    while not any(is_within(field, claim) for field in proved):
        form, transcript = next(tries, ("", None))
        if transcript is None:
            return False
        proved |= back(dialect, form, transcript) | back(dialect, form, as_pair(transcript))
    return True


def is_within(field: str, claim: str) -> bool:
    return field == claim or field.startswith(f"{claim}.")


def tried(claim: str, owner: str) -> Iterator[Transcript]:
    """Transcripts with a field."""
    node, _, field = claim.partition(".")
    if node in MEDIA_KINDS:
        yield from with_media(node, field)
    elif node == "settings":
        yield from (with_settings({field: value}) for value in SETTINGS)
    elif node == "opaque":
        yield from with_part(Opaque(owner, {"type": "zz_new"}))
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
