"""Notes on how a table stores its rows, once per file: values that its column types have filled in or changed.

A null under a key that the dialect names, or next to such keys, is absent: columns store it so. In open JSON, such as
call arguments, it may be intended, unless the called tool has no such parameter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from convcli.engine import texts
from convcli.files.columns import ALL, Changed, Padding, Path
from convcli.files.tables import TableSource
from convcli.jobs.documents import Document, Item
from convcli.jobs.envelopes import Pattern
from convcli.jobs.file_findings import TYPE
from convcli.model.dialect import Dialect
from convcli.model.errors import RefusedError
from convcli.model.findings import Finding
from convcli.model.transcript import Transcript
from convcli.validation import schemas
from convcli.wire.pointers import pointer

CERTAIN = "filled in by the column type: no tool called without it has such a parameter"
DOUBTFUL = "--nulls keep keeps all of them: intended nulls and padding look the same"


class ColumnPaths:
    """Which columns of a table the dialect's schema describes: those of a row, of all rows as one document, or of
    the values that `at` picks. Can be pickled."""

    def __init__(self, dialect: Dialect, at: Sequence[Pattern], *, is_whole: bool) -> None:
        self._dialect, self._at, self._prefix = dialect, at, (ALL,) if is_whole else ()

    def inside(self, path: Path) -> Path | None:
        """Returns the path in the document; None if it is outside."""
        if not self._at:
            return *self._prefix, *path
        for pattern in self._at:
            pairs = zip(pattern, path, strict=False)
            if len(pattern) <= len(path) and all(ALL in pair or pair[0] == pair[1] for pair in pairs):
                return path[len(pattern) :]
        return None

    def is_open(self, path: Path) -> bool:
        """True for the path of an object for which the dialect names no keys."""
        below = self.inside(path)
        return below is not None and schemas.keys_in(self._dialect.name, below) is None


class TableNotes:
    """Collects notes on how a table stores the documents that are read."""

    def __init__(self, table: TableSource, dialect: Dialect, at: Sequence[Pattern], *, is_whole: bool) -> None:
        self._table, self._paths = table, ColumnPaths(dialect, at, is_whole=is_whole)
        self._has_calls = not at and not is_whole
        self._steps = texts.argument_steps(dialect)
        self._meant: dict[Path, tuple[int, str]] = {}

    def watched(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yields the items with their rows; calls are compared with the tools if arguments have nulls."""
        groups = self._table.row_groups
        for item in items:
            if isinstance(item, Document):
                item.groups = groups
                if self._has_calls:
                    self._watch(item)
            elif item.error.line:
                item.error.row, item.error.group = groups.place(item.error.line)
                item.error.line = 0
            yield item

    def findings(self) -> list[Finding]:
        """Returns a finding for each column with filled in or changed values."""
        columns, file = self._table.columns, self._table.name
        changes = [_changed(changed, file) for changed in columns.changed.values()]
        inside = (each for each in columns.padding.values() if self._paths.inside(each.path) is not None)
        return changes + list(map(self._padded, inside))

    def _padded(self, padding: Padding) -> Finding:
        above, path = padding.path[:-1], ".".join(padding.path)
        record, where = self._meant.get(padding.path, (padding.row, padding.where))
        row, group = self._table.row_groups.place(record)
        finding = partial(Finding, where=where, file=self._table.name, count=padding.times, row=row, group=group)
        if not self._paths.is_open(above):
            return finding("padded-key", "info", f"null in {path} is padding of the column type and read as absent")
        message = f"null in {path} is read as absent"
        if padding.path not in self._meant and self._may_be_certain(above):
            return finding("padded-object", "info", message, notes=(CERTAIN,))
        return finding("padded-object", "warning", message, help=DOUBTFUL)

    def _may_be_certain(self, path: Path) -> bool:
        """True if the path is that of a call's arguments."""
        return self._has_calls and path[-len(self._steps) :] == self._steps and self._paths.is_open(path)

    def _watch(self, document: Document) -> None:
        """Records the nulls of a document that may be intended."""
        padding = self._table.columns.padding
        # one null that may be intended suffices for a path
        waiting = {path for path in padding if path not in self._meant and self._may_be_certain(path[:-1])}
        if not waiting:
            return
        try:
            transcript = document.lift()
        except RefusedError:
            self._meant |= dict.fromkeys(waiting, (document.line, ""))
            return
        for path, where in _doubted(transcript, document, self._table.columns.keys):
            if path in waiting:
                self._meant.setdefault(path, (document.line, where))


def _doubted(
    transcript: Transcript, document: Document, keys: dict[Path, frozenset[str]]
) -> Iterator[tuple[Path, str]]:
    """Yields columns and pointers of parameters that a tool has but a call to it lacks."""
    tools = {tool.name: tool.parameters for tool in transcript.tools or ()}
    for path, call in texts.argument_places(transcript, document.value, document.dialect):
        column = tuple(ALL if isinstance(step, int) else step for step in path)
        named = (tools.get(call.name) or {}).get("properties")
        for key in sorted(keys.get(column, frozenset()).difference(call.arguments)):
            if not isinstance(named, dict) or key in named:
                yield (*column, key), pointer((*path, key))


def _changed(changed: Changed, file: str) -> Finding:
    name = ".".join(changed.path)
    message = f"the column {name} has {changed.held}: they become {changed.becomes}"
    return Finding(TYPE, "info", message, file=file)
