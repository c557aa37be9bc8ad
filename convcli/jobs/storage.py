"""What there is to say, once for a file, of how a table stores its rows: what its column types have filled or changed.

A null of a key that the dialect names, or beside such keys, is absent: that is how columns are stored, and not worth a
word. Inside of open JSON, as arguments of a call are, it could have been meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from convcli.files.columns import ALL, Changed, Padding, Path
from convcli.files.tables import TableSource
from convcli.jobs.documents import Document, Item
from convcli.jobs.envelopes import Pattern
from convcli.model.dialect import Dialect
from convcli.model.findings import Finding
from convcli.validation import schemas

ONCE = frozenset(("padded-object", "column-type"))
"""Codes of which one finding for each column is enough."""


def with_notes(
    items: Iterable[Item], table: TableSource, dialect: Dialect, at: Sequence[Pattern], *, is_whole: bool
) -> Iterator[Item]:
    """The items of a table. The first document behind a place where there is something to say of the storage has it in
    its `notes`. The schema of the dialect describes a row, or all of them where they are one document, or what `at`
    picks."""
    prefix = (ALL,) if is_whole else ()
    told = 0
    notes = [_changed(each, table.name) for each in table.changed]
    for item in items:
        padding = table.padding
        if len(padding) > told:
            notes += (_padded(each, table.name) for each in padding[told:] if _is_open(each.path, dialect, prefix, at))
            told = len(padding)
        if notes and isinstance(item, Document):
            item.notes, notes = tuple(notes), []
        yield item


class ToldOnce:
    """Drops what was said before of the same file, by another process that has read another part of it."""

    def __init__(self) -> None:
        self._told = set[tuple[str, str, str]]()

    def only(self, tell: Callable[[Finding], None]) -> Callable[[Finding], None]:
        """Tells what is new."""
        return lambda finding: tell(finding) if self.is_new(finding) else None

    def is_new(self, finding: Finding) -> bool:
        """Was it not said before?"""
        if finding.code not in ONCE:
            return True
        key = finding.code, finding.file, finding.message
        is_new = key not in self._told
        self._told.add(key)
        return is_new


def _is_open(path: Path, dialect: Dialect, prefix: Path, at: Sequence[Pattern]) -> bool:
    """Does a field stand in an object of which the dialect names no key?"""
    for pattern in at:
        if len(pattern) < len(path) and all(ALL in pair or pair[0] == pair[1] for pair in zip(pattern, path)):  # noqa: B905
            path = path[len(pattern) :]
            break
    else:
        if at:
            return False
    return schemas.keys_in(dialect.name, (*prefix, *path[:-1])) is None


def _padded(padding: Padding, file: str) -> Finding:
    message = (
        f"the type of the column has {'.'.join(padding.path)} in every row: null is taken as absent there, "
        "and one that was meant cannot be told from it"
    )
    return Finding("padded-object", "warning", message, padding.where, file, padding.row)


def _changed(changed: Changed, file: str) -> Finding:
    name = ".".join(changed.path)
    message = f"the column {name} holds {changed.held}, which JSON does not have: they become {changed.becomes}"
    return Finding("column-type", "info", message, file=file)
