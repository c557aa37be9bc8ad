"""Finds documents of one file with the same id, if a service requires unique ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from convcli.jobs.documents import Document, Item
from convcli.model.findings import Finding
from convcli.wire.pointers import pointer


def with_repeats(items: Iterable[Item], key: str) -> Iterator[Item]:
    """Adds a note to each document whose value under this key was used by an earlier one."""
    first: dict[str, str] = {}
    for item in items:
        value = item.value.get(key) if isinstance(item, Document) and isinstance(item.value, dict) else None
        if isinstance(item, Document) and isinstance(value, str):
            word = "line" if item.groups is None else "row"
            place = f"{word} {item.number:,}" if item.number is not None else item.at
            before = first.setdefault(value, place)
            if before is not place:
                message = f"the document at {before} has the same {key}: a service matches answers by it"
                finding = Finding("repeated-document-id", "error", message, pointer((key,)))
                item.notes = (*item.notes, *item.located([finding]))
        yield item
