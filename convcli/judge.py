"""The verdict on the documents of an input: what its schema and rules say, and what cannot be read at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from convcli import pipeline, wire
from convcli.dialect import Dialect
from convcli.errors import ConvcliError, RefusedError
from convcli.files import Document, Input, Skipped
from convcli.findings import Finding
from convcli.sources import Rows

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class Verdict(NamedTuple):
    """What is wrong with one document or one unreadable stretch of an input; nothing, if `findings` is empty."""

    file: str
    line: int
    dialect: str
    findings: list[Finding]


def judge(source: Input, *, strict: bool = False, target: Dialect | None = None) -> Iterator[Verdict]:
    """The verdict on each document of an input, or with a target on what the target would get of it."""
    for item in source:
        if isinstance(item, Skipped):
            finding = skipped(item)
            yield Verdict(source.name, finding.line, source.dialect.name, [finding])
        elif target is None or target.name == item.dialect.name:
            found = pipeline.validate(item.value, item.dialect, strict=strict) + lone_surrogates(item)
            yield Verdict(source.name, item.line, source.dialect.name, item.located(found))
        else:
            yield Verdict(source.name, item.line, source.dialect.name, _as_target(item, target, strict))


def _as_target(item: Document, target: Dialect, strict: bool) -> list[Finding]:
    try:
        written = pipeline.lower(item.lift(), target, source=item.dialect).document
    except RefusedError as error:
        return error.findings
    note = f"the place is one of the document as {target.title} would get it"
    return [
        replace(finding, file=item.file, line=item.line, notes=(*finding.notes, note))
        for finding in pipeline.validate(written, target, strict=strict)
    ]


def finding_of(error: ConvcliError) -> Finding:
    """An error as a finding at the same place."""
    return Finding(
        error.code, "error", error.message, error.where, error.file, error.line, error.column, error.byte, error.help
    )


def skipped(item: Skipped) -> Finding:
    """Why a stretch of an input is no document."""
    finding = finding_of(item.error)
    return replace(finding, code="torn-record", message=torn(item), help="") if item.torn else finding


def torn(item: Skipped) -> str:
    """What there is to say about a record whose end is missing."""
    return f"incomplete record, bytes {item.start}–{item.end} not used (is the file still being written?)"


def lone_surrogates(document: Document) -> list[Finding]:
    """A warning for each string with half of a surrogate pair, which JSON can say and UTF-8 cannot."""
    if not isinstance(document.value, Rows) and not _SURROGATE.search(document.raw):
        return []
    message = "half of a surrogate pair: it is kept as it is, and other programs may refuse it"
    found = (wire.pointer(path) for path, text in _strings(document.value) if not _is_utf8(text))
    return [Finding("lone-surrogate", "warning", message, where) for where in dict.fromkeys(found)]


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _strings(value: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every string of a document and every key, with the path of its value."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, list):
            stack += [((*path, i), value[i]) for i in range(len(value) - 1, -1, -1)]
        elif isinstance(value, dict):
            yield from (((*path, key), key) for key in value)
            stack += [((*path, key), child) for key, child in reversed(value.items())]
