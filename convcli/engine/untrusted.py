"""Applies extras for a dialect only if they fit: anyone may have edited the document on its way.

The intermediate format keeps a vendor's own keys, and related dialects keep those of each other. Only the schema of
their dialect knows them, and a writer puts them into the document. So they are tried, and left out if they cannot be
applied or make the document invalid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from msgspec.structs import replace

from convcli.kit.objects import omit
from convcli.model.dialect import Dialect, Options
from convcli.model.errors import ConvcliError, JobError, RefusedError
from convcli.model.inventory import Inventory
from convcli.model.transcript import Extras, Message, Opaque, Part, ToolDefinition, ToolResult, Transcript
from convcli.proof.levels import ASSEMBLED
from convcli.validation import schemas
from convcli.wire import exact_json

SHAPE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What Python raises for a value of another shape than expected."""
Record = TypeVar("Record", Transcript, Message, ToolDefinition, Part)


def write(
    transcript: Transcript,
    source: Dialect | None,
    target: Dialect,
    options: Options,
    inventory: Inventory | None = None,
) -> Any:
    """Writes the document in `target`: with all its extras, otherwise without them. `inventory` is used as by
    `Dialect.lower`.

    Raises JobError if the target is read-only, and RefusedError if the document does not pass the schema even without
    extras.
    """
    if not target.is_written:
        raise JobError("read-only-dialect", f"{target.title} is read-only")
    if not _has_extras(transcript, source, target):
        return target.lower(transcript, options, inventory)
    if source is None or source.carries_all or source.is_stream:
        transcript = _without_assembled(transcript)
    document = _attempt(transcript, target, options)
    if document is not None:
        return document
    document = target.lower(_without_extras(transcript, target), options)
    if not schemas.accepts(target.name, document):
        raise RefusedError(schemas.findings(target.name, document))
    return document


def _attempt(transcript: Transcript, target: Dialect, options: Options) -> Any:
    """Returns the document, None if the extras, which may be anything, cannot be applied.

    Only errors of their shape count: any other error is one of the writer.
    """
    try:
        document = target.lower(transcript, options)
        exact_json.write(document)  # schemas do not see a key that is not a string
    except (*SHAPE, ConvcliError):
        return None
    return document if schemas.accepts(target.name, document) else None


def _has_extras(transcript: Transcript, source: Dialect | None, target: Dialect) -> bool:
    """True if the transcript has extras of the target or a related dialect."""
    owners = target.owners
    if source is not None and not source.carries_all and not any(map(source.owns, owners)):
        return False
    return any(
        (record.extras and not owners.isdisjoint(record.extras))
        or (record.__class__ is Opaque and record.dialect in owners)
        for record in records(transcript)
    )


def records(transcript: Transcript) -> Iterator[Any]:
    """Yields every record that can have extras, including parts inside results."""
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


def _without_assembled(transcript: Transcript) -> Transcript:
    """Returns the transcript without the keys that the assembly of a stream added: its dialect does not define them."""
    if not any(map(_is_assembled, records(transcript))):
        return transcript
    messages = [
        replace(_as_defined(message), parts=[_as_defined(part) for part in message.parts])
        for message in transcript.messages
    ]
    return replace(_as_defined(transcript), messages=messages)


def _is_assembled(record: Any) -> bool:
    is_block = record.__class__ is Opaque and isinstance(record.value, dict)
    has_extras = bool(record.extras) and _has_assembled(record.extras)
    return has_extras or (is_block and not ASSEMBLED.isdisjoint(record.value))


def _has_assembled(extras: Extras) -> bool:
    groups = (value for extra in extras.values() for value in (extra, *extra.values()) if isinstance(value, dict))
    return any(not ASSEMBLED.isdisjoint(group) for group in groups)


def _as_defined(record: Record) -> Record:
    if not _is_assembled(record):
        return record
    if isinstance(record, Opaque):
        record = replace(record, value=_defined(record.value))
    owners = {
        owner: _defined({key: _defined(value) for key, value in extra.items()})
        for owner, extra in (record.extras or {}).items()
    }
    return replace(record, extras={owner: extra for owner, extra in owners.items() if extra} or None)


def _defined(value: Any) -> Any:
    return omit(value, *ASSEMBLED) if isinstance(value, dict) else value


def _without_extras(transcript: Transcript, target: Dialect) -> Transcript:
    """Returns the transcript without the vendor's keys."""
    tools = None if transcript.tools is None else [_bare(tool, target) for tool in transcript.tools]
    messages = [_bare_message(message, target) for message in transcript.messages]
    return replace(_bare(transcript, target), tools=tools, messages=messages)


def _bare_message(message: Message, target: Dialect) -> Message:
    return replace(_bare(message, target), parts=_bare_parts(message.parts, target))


def _bare_parts(parts: list[Part], target: Dialect) -> list[Part]:
    """Removes blocks that only the vendor knows."""
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
