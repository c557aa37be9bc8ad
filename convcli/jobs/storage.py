"""What there is to say, once for a file, of how a table stores its rows: what its column types have filled or changed.

A null of a key that the dialect names, or beside such keys, is absent: that is how columns are stored. Inside of open
JSON, as arguments of a call are, it could have been meant, unless the tool that is called has no such parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from convcli.engine import texts
from convcli.files.columns import ALL, Changed, Padding, Path
from convcli.files.tables import TableSource
from convcli.jobs.documents import Document, Item
from convcli.jobs.envelopes import Pattern
from convcli.model.dialect import Dialect
from convcli.model.errors import RefusedError
from convcli.model.findings import OF_FILE, Finding
from convcli.model.transcript import Transcript
from convcli.validation import schemas
from convcli.wire.pointers import pointer

TYPE = "column-type"
CERTAIN = "the type of the column has filled it in: no tool that is called without it has such a parameter"
DOUBTFUL = "--nulls keep keeps all of them, for one that was meant cannot be told from one that was filled in"


class ColumnPaths:
    """Which columns of a table the schema of the dialect describes: those of a row, or of all rows where they are one
    document, or of what `at` picks. Pickles."""

    def __init__(self, dialect: Dialect, at: Sequence[Pattern], *, is_whole: bool) -> None:
        self._dialect, self._at, self._prefix = dialect, at, (ALL,) if is_whole else ()

    def inside(self, path: Path) -> Path | None:
        """The path in the document; None for what stands around it."""
        if not self._at:
            return *self._prefix, *path
        for pattern in self._at:
            pairs = zip(pattern, path, strict=False)
            if len(pattern) <= len(path) and all(ALL in pair or pair[0] == pair[1] for pair in pairs):
                return path[len(pattern) :]
        return None

    def is_open(self, path: Path) -> bool:
        """Is an object one of which the dialect names no key?"""
        below = self.inside(path)
        return below is not None and schemas.keys_in(self._dialect.name, below) is None


class TableNotes:
    """What there is to say of the storage of the documents that were read of a table."""

    def __init__(self, table: TableSource, dialect: Dialect, at: Sequence[Pattern], *, is_whole: bool) -> None:
        self._table, self._paths = table, ColumnPaths(dialect, at, is_whole=is_whole)
        self._has_calls = not at and not is_whole
        self._steps = texts.argument_steps(dialect)
        self._meant: dict[Path, tuple[int, str]] = {}

    def watched(self, items: Iterable[Item]) -> Iterator[Item]:
        """The same items with their rows; calls are compared with the tools where arguments have nulls."""
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
        """One for each column of which there is something to say."""
        columns, file = self._table.columns, self._table.name
        told = [_changed(changed, file) for changed in columns.changed.values()]
        inside = (each for each in columns.padding.values() if self._paths.inside(each.path) is not None)
        return told + list(map(self._padded, inside))

    def _padded(self, padding: Padding) -> Finding:
        above, path = padding.path[:-1], ".".join(padding.path)
        record, where = self._meant.get(padding.path, (padding.row, padding.where))
        row, group = self._table.row_groups.place(record)
        told = partial(Finding, where=where, file=self._table.name, count=padding.times, row=row, group=group)
        if not self._paths.is_open(above):
            return told("padded-key", "info", f"null in {path} is padding of the column type: it is taken as absent")
        message = f"null in {path} is taken as absent"
        if padding.path not in self._meant and self._may_be_certain(above):
            return told("padded-object", "info", message, notes=(CERTAIN,))
        return told("padded-object", "warning", message, help=DOUBTFUL)

    def _may_be_certain(self, path: Path) -> bool:
        """Is an object the arguments of a call?"""
        return self._has_calls and path[-len(self._steps) :] == self._steps and self._paths.is_open(path)

    def _watch(self, document: Document) -> None:
        """Remember the nulls of a document that can have been meant."""
        padding = self._table.columns.padding
        waiting = {
            path for path in padding if path not in self._meant and self._may_be_certain(path[:-1])
        }  # of a path of which one null can have been meant there is no more to know
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
    """The columns, and the places, of parameters that the tool of a call has, and the call has not."""
    tools = {tool.name: tool.parameters for tool in transcript.tools or ()}
    for path, call in texts.argument_places(transcript, document.value, document.dialect):
        column = tuple(ALL if isinstance(step, int) else step for step in path)
        named = (tools.get(call.name) or {}).get("properties")
        for key in sorted(keys.get(column, frozenset()).difference(call.arguments)):
            if not isinstance(named, dict) or key in named:
                yield (*column, key), pointer((*path, key))


class ToldOnce:
    """Holds back what is told once of a file, while processes tell it of the parts of the file that they have read."""

    def __init__(self) -> None:
        self._held = dict[tuple[str, str, str], Finding]()

    def only(self, tell: Callable[[Finding], None]) -> Callable[[Finding], None]:
        """Tells what is not held back."""
        return lambda finding: tell(finding) if self.is_other(finding) else None

    def is_other(self, finding: Finding) -> bool:
        """Is there more than one such finding of a file? Else it is held back."""
        if finding.code not in OF_FILE:
            return True
        key = finding.code, finding.file, finding.message
        before = self._held.setdefault(key, finding)
        if before is not finding and finding.code != TYPE:
            graver = finding if before.severity == "info" != finding.severity else before
            self._held[key] = replace(graver, count=before.count + finding.count)
        return False

    def rest(self) -> Iterator[Finding]:
        """What was held back, as one process would have told it of all of the file."""
        held, self._held = self._held, {}
        yield from sorted(held.values(), key=lambda finding: finding.code != TYPE)


def _changed(changed: Changed, file: str) -> Finding:
    name = ".".join(changed.path)
    message = f"the column {name} holds {changed.held}: they become {changed.becomes}"
    return Finding(TYPE, "info", message, file=file)
