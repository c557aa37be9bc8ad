"""What a document carries for a dialect is used only where it fits: anybody may have edited it on its way.

The intermediate format keeps a vendor's own keys, and relatives keep those of each other. No schema but that of their
dialect knows them, and a writer puts them into the document. So they are tried, and left out where they cannot be
applied or lead to a document that is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from msgspec.structs import replace

from convcli.model.dialect import Dialect, Options
from convcli.model.errors import RefusedError
from convcli.model.transcript import Message, Opaque, Part, ToolDefinition, ToolResult, Transcript
from convcli.validation import schemas
from convcli.wire import exact_json

Record = TypeVar("Record", Transcript, Message, ToolDefinition, Part)


def lowered(transcript: Transcript, source: Dialect | None, target: Dialect, options: Options) -> Any:
    """The document in `target`, which must be written: with all that is carried for it, else without the vendor's keys.

    Raises RefusedError when even then it does not pass the schema.
    """
    if not _carries(transcript, source, target):
        return target.lower(transcript, options)
    document = _attempt(transcript, target, options)
    if document is not None:
        return document
    document = target.lower(_without_extras(transcript, target), options)
    if not schemas.accepts(target.name, document):
        raise RefusedError(schemas.findings(target.name, document))
    return document


def _attempt(transcript: Transcript, target: Dialect, options: Options) -> Any:
    """The document, or None where the carried values, which may be anything, cannot be applied."""
    try:
        document = target.lower(transcript, options)
        exact_json.write(document)  # no schema sees a key that is no string
    except Exception:
        return None
    return document if schemas.accepts(target.name, document) else None


def _carries(transcript: Transcript, source: Dialect | None, target: Dialect) -> bool:
    """Does anything in it come from a document of the target or of a relative?"""
    owners = owners_of(target)
    if source is not None and not source.carries_all and not any(map(source.owns, owners)):
        return False
    return any(
        (record.extras and not owners.isdisjoint(record.extras))
        or (record.__class__ is Opaque and record.dialect in owners)
        for record in records(transcript)
    )


def owners_of(dialect: Dialect) -> frozenset[str]:
    """The names under which a dialect carries: its own, and those of its bodies."""
    return frozenset((dialect.family or dialect.name,)).union(*map(owners_of, dialect.inner.values()))


def records(transcript: Transcript) -> Iterator[Any]:
    """Every record that can have extras, the parts inside results too."""
    yield transcript
    yield from transcript.tools or ()
    for message in transcript.messages:
        yield message
        yield from _parts(message.parts)


def _parts(parts: list[Part]) -> Iterator[Part]:
    for part in parts:
        yield part
        if isinstance(part, ToolResult) and part.kind == "multimodal":
            yield from _parts(part.value)


def _without_extras(transcript: Transcript, target: Dialect) -> Transcript:
    """The same without the keys of the vendor."""
    tools = None if transcript.tools is None else [_bare(tool, target) for tool in transcript.tools]
    messages = [_bare_message(message, target) for message in transcript.messages]
    return replace(_bare(transcript, target), tools=tools, messages=messages)


def _bare_message(message: Message, target: Dialect) -> Message:
    return replace(_bare(message, target), parts=_bare_parts(message.parts, target))


def _bare_parts(parts: list[Part], target: Dialect) -> list[Part]:
    """Without the blocks that only the vendor knows."""
    known = (part for part in parts if not isinstance(part, Opaque) or not target.owns(part.dialect))
    return [_bare_part(part, target) for part in known]


def _bare_part(part: Part, target: Dialect) -> Part:
    if isinstance(part, ToolResult) and part.kind == "multimodal":
        part = replace(part, value=_bare_parts(part.value, target))
    return _bare(part, target)


def _bare(record: Record, target: Dialect) -> Record:
    if not record.extras:
        return record
    rest = {name: value for name, value in record.extras.items() if not target.owns(name)}
    return replace(record, extras=rest or None)
