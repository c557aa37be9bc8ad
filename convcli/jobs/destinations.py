"""Destinations of conversions: a tree like that of the inputs, one joined output, or a file per transcript."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from convcli.engine.conversion import Conversion
from convcli.files.framing import Framing
from convcli.files.layouts import DocumentWriter, row_layouts
from convcli.files.names import has_suffix, is_lines, is_table, split_line, split_name, without_packing
from convcli.files.outputs import NewFolders, Output, open_output
from convcli.jobs.documents import Document
from convcli.jobs.paths import InputFile
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError
from convcli.model.row_columns import COLUMNS
from convcli.validation import schemas
from convcli.wire import exact_json
from convcli.wire.decimals import builtins
from convcli.wire.patterns import pattern

_UNSAFE = pattern(r"[^A-Za-z0-9._-]+")
MOST_NAMED = 100
"""Characters of an id used in a name."""


class Folder:
    """A tree of outputs like that of the inputs. No input is replaced; outputs appear in batches, at `flush`.

    `is_of_one`: there is one input, and each of its transcripts gets a file. Otherwise, if files can have only one
    transcript, those of an input with several are in a folder with the input's name · `others`: the files that the job
    writes too, None for one that is not wanted.
    """

    def __init__(
        self,
        path: str,
        inputs: Iterable[InputFile],
        *,
        force: bool = False,
        is_of_one: bool = False,
        others: Iterable[str | None] = (),
    ) -> None:
        from convcli.files.batches import OutputBatch

        self.path, self.force, self.is_of_one = path, force, is_of_one
        self.batch = OutputBatch()
        inputs = list(inputs)
        named = (*(split_line(file.path)[0] for file in inputs), *filter(None, others))
        self._named = frozenset(map(os.path.realpath, named))
        self._outputs = set[str]()
        self._folders = NewFolders(os.path.join(path, stem(file)) for file in inputs)

    def output(self, file: InputFile, suffix: str) -> Output:
        """Opens the output for an input. Raises JobError if it is another input or output."""
        old = split_name(file.relative)[1]
        kept = old if has_suffix(old, suffix) else suffix
        return self._opened(file, os.path.join(self.path, stem(file) + kept))

    def member(self, file: InputFile, name: str, suffix: str) -> Output:
        """Opens the output for one transcript of an input. Raises JobError as `output` does."""
        return self._opened(file, os.path.join(self.path, "" if self.is_of_one else stem(file), name + suffix))

    def _opened(self, file: InputFile, path: str) -> Output:
        real = os.path.realpath(path)
        if path in self._outputs or (real in self._named and real != os.path.realpath(file.path)):
            raise JobError("same-output", f"{path} is another input or output", help="convert it separately")
        self._outputs.add(path)
        self._folders.make(os.path.dirname(path))
        return self.batch.output(path, force=self.force, inputs=[file.path])

    def discard(self) -> None:
        """Discards outputs that have not appeared, and new folders that are still empty."""
        self.batch.discard()
        self._folders.discard()


def stem(file: InputFile) -> str:
    """Returns the output path for an input, without a suffix."""
    return split_name(file.relative)[0]


def output_at(
    path: str, target: Dialect, framing: Framing | None, *, force: bool = False, inputs: Iterable[str] = ()
) -> Output:
    """Opens the output at a path. If the name ends in .parquet or .arrow, lines are written and become a table.

    Raises as `open_output` does, and JobError `arrow-missing` or `usage` if it cannot be a table."""
    if is_table(without_packing(path)) and not is_table(path):
        raise JobError("usage", "a table is compressed inside", help=f"write to {without_packing(path)}")
    output = open_output(path, force=force, inputs=inputs)
    if not is_table(path):
        return output
    ways = set(row_layouts(target.framings))
    if ways == {"sse"} or framing == "sse":
        message = f"{target.title} is written as a stream, whose events are not table rows"
        raise JobError("usage", message, help="write to another file")
    from convcli.files.columns import ALL
    from convcli.files.shapes import PathFacts
    from convcli.files.table_outputs import TableOutput

    prefix = (ALL,) if ways else ()
    return TableOutput(
        output,
        PathFacts(
            lambda path: schemas.keys_in(target.name, (*prefix, *path)) is not None,
            lambda path: schemas.allows_text(target.name, (*prefix, *path)),
        ),
        COLUMNS if target.columns != "none" else None,
    )


class Joined:
    """One output for several inputs, whose documents are appended in order."""

    def __init__(self, output: Output, layout: Framing, many: str = "") -> None:
        self.file = DocumentWriter(output, layout, many)

    @property
    def files(self) -> list[DocumentWriter]:
        """The files that are written."""
        return [self.file]

    def complete(self) -> None:
        """Does nothing: all rows are written as they come."""

    def part(self, suffix: str) -> Output:
        """Returns the output for one input; its documents are lines of JSON."""
        return _Part(self.file)

    def commit(self) -> None:
        """Commits the output. Raises as `Output.commit` does."""
        self.file.commit()

    def discard(self) -> None:
        """Discards the output."""
        self.file.output.discard()


class _Part:
    """A part of an output, which is not committed by itself."""

    def __init__(self, file: DocumentWriter) -> None:
        self.name, self.write = file.output.name, file.add_line

    def commit(self) -> None:
        """Does nothing: the part is committed with the whole."""

    def discard(self) -> None:
        """Does nothing: the part is discarded with the whole."""


class Names:
    """Unique file names for transcripts: the id, made safe for every file system, otherwise the position."""

    def __init__(self) -> None:
        self._taken = set[str]()

    def name(self, document: Document, conversion: Conversion) -> str:
        """Returns the name for a transcript, without a suffix."""
        base = _UNSAFE.sub("-", conversion.transcript.id or "")[:MOST_NAMED].strip(".-") or _place(document)
        name, number = base, 1
        while name.lower() in self._taken:  # some file systems ignore case
            number += 1
            name = f"{base}-{number}"
        self._taken.add(name.lower())
        return name


def _place(document: Document) -> str:
    word = "line" if document.groups is None else "row"
    begin = document.first_line if document.is_part else document.line
    line = f"{word}-{document.number_of(begin)}" if begin else ""
    return "-".join(filter(None, (line, _UNSAFE.sub("-", document.at).strip("-")))) or "transcript"


class ValueFile:
    """JSON values, written one by one: an array, or lines if the file's name says so."""

    def __init__(self, output: Output) -> None:
        self._writer = DocumentWriter(output, "jsonl" if is_lines(output.name) else "array")

    def add(self, value: Any) -> None:
        """Writes one value or record."""
        self._writer.add_line(exact_json.write_line(builtins(value)))

    def commit(self) -> None:
        """Ends and commits the file."""
        self._writer.commit()

    def discard(self) -> None:
        """Discards the file."""
        self._writer.output.discard()
