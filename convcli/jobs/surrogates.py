"""Findings on strings with half of a surrogate pair, which JSON can encode and UTF-8 cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.jobs.documents import Document
from convcli.model.document import Rows
from convcli.model.findings import Finding
from convcli.wire import pointers
from convcli.wire.patterns import pattern

_SURROGATE = pattern(rb"\\u[dD][89a-fA-F]")


def lone_surrogates(document: Document) -> list[Finding]:
    """Returns a warning for each string with half of a surrogate pair, which JSON can encode and UTF-8 cannot."""
    is_written = not isinstance(document.value, Rows) and (document.raw or not document.texts)
    if is_written and not _SURROGATE.search(document.raw):
        return []
    message = "half of a surrogate pair: it is kept, but other programs may refuse it"
    pointers_found = (pointers.pointer(path) for path, text in _strings(document.value) if not _is_utf8(text))
    return [Finding("lone-surrogate", "warning", message, where) for where in dict.fromkeys(pointers_found)]


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _strings(value: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yields every string and key of a document, with the path of its value."""
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
