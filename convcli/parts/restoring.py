"""Restores the inputs of a job in parts from its documents and restore records: the same JSON as in each file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import count, islice, takewhile
from typing import Any

import msgspec

from convcli.engine.restore import in_shells, restore
from convcli.files.framing import Framing
from convcli.files.layouts import SUFFIXES, DocumentWriter, layout
from convcli.files.names import has_suffix, is_lines, without_packing
from convcli.files.outputs import NewFolders, open_output
from convcli.files.stores import OutputFolder, folder_at, is_url, join
from convcli.jobs import inputs
from convcli.jobs.pieces import InputPiece
from convcli.model.errors import ContentError, JobError
from convcli.parts.finishing import SUCCESS
from convcli.parts.marks import PartMark, read_mark
from convcli.parts.planning import RESTORE
from convcli.parts.verifying import expected_parts, mark_names
from convcli.validation.wording import counted
from convcli.wire import exact_json

_NO_NAMES = frozenset(("", ".", ".."))
"""Steps of a path that name nothing below the folder of the restored files."""


class Restored(msgspec.Struct):
    """What was restored, and the lines and files that were refused and are not in it."""

    files: int = 0
    documents: int = 0
    refused: int = 0


def restore_inputs(path: str, out: str, *, force: bool = False) -> Restored:
    """Writes each input of the job in the folder at `path` into the folder `out`, with names below their common folder.

    Ranges of one file become one file again. Raises JobError `unfinished-job` if not all parts are complete,
    `not-a-restore-file` without restore records, or `usage` if `out` is no other local folder, and ContentError if a
    file of the job was changed."""
    _refuse_folder(out, path)
    folder, done = folder_at(path), Restored()
    names = _complete(folder, path)
    files = _Files(out, _common(_marks(folder, names)), force)
    try:
        for mark in _marks(folder, names):
            done.refused += mark.refused
            for piece, originals, records in _restored(mark, path, folder):
                done.documents += len(originals)
                files.add(piece, originals, records, join(path, mark.part.name))
        files.end()
    finally:
        files.discard()
    if not files.count:
        raise JobError("not-a-restore-file", "the parts have no documents", file=path)
    done.files = files.count
    return done


def _refuse_folder(out: str, path: str) -> None:
    if is_url(out):
        raise JobError("usage", "convcli parts restore writes into a local folder, not a store")
    parts, files = (os.path.join(os.path.realpath(each), "") for each in (path, out))
    if not is_url(path) and files.startswith(parts):
        raise JobError("usage", "--out-dir is in the folder of the parts", help="restore into another folder")


def _complete(folder: OutputFolder, path: str) -> dict[int, str]:
    """Returns the names of the marks of all parts. Raises JobError `unfinished-job` if one is missing."""
    sizes, problem = folder.sizes(), f"the folder has no {SUCCESS} of a job in parts"
    if SUCCESS in sizes:
        names, expected = mark_names(sizes), expected_parts(folder, sizes, path)
        if len(names) == expected and expected - 1 in names:
            return names
        problem = f"the job has {counted(expected, 'part')}, and the folder has {counted(len(names), 'mark')}"
    help_text = "the same command that made the parts completes them"
    raise JobError("unfinished-job", problem, file=path, help=help_text)


def _marks(folder: OutputFolder, names: Mapping[int, str]) -> Iterator[PartMark]:
    for (number, name), raw in zip(names.items(), folder.read(names.values()), strict=True):
        mark = read_mark(raw)
        if mark is None:
            raise ContentError("not-a-restore-file", "this version of convcli cannot read the mark", file=name)
        if mark.part.number != number:
            raise ContentError("not-a-restore-file", "this is the mark of another part", file=name)
        if not mark.part.task.restores:
            help_text = "convert with --restore-file all writes them"
            raise JobError("not-a-restore-file", "the parts have no restore records", file=name, help=help_text)
        yield mark


def _restored(mark: PartMark, path: str, folder: OutputFolder) -> Iterator[tuple[InputPiece, list[Any], list[Any]]]:
    """Yields each piece of a part with its original documents and their records."""
    name = mark.part.name
    if name not in mark.outputs and not mark.totals.written:
        return
    converted = inputs.documents(join(path, name), mark.part.task.target)
    records = _records(mark, folder)
    for piece, length in zip(mark.pieces, mark.records, strict=True):
        some = list(islice(records, length))
        originals = [_original(document.value, record, name) for record, document in zip(some, converted, strict=False)]
        if len(originals) != length:
            raise ContentError("patch-does-not-fit", "the part has fewer documents than restore records", file=name)
        yield piece, originals, some
    if next(converted, None) is not None:
        raise ContentError("patch-does-not-fit", "the part has more documents than restore records", file=name)


def _records(mark: PartMark, folder: OutputFolder) -> Iterator[Any]:
    """Returns the restore records of a part. Raises ContentError if they are not those that its mark counts."""
    name = RESTORE + mark.part.name
    raw = next(folder.read([name]))
    lines = raw.splitlines()
    is_whole = len(mark.pieces) == len(mark.records) and sum(mark.records) == len(lines)
    if not is_whole or sha256(raw).hexdigest() != mark.sums.get(name):
        raise ContentError("patch-does-not-fit", "the restore records are not as the job wrote them", file=name)
    return map(exact_json.parse, lines)


def _original(document: Any, record: Any, name: str) -> Any:
    """Returns the original of a document. Raises ContentError if it is not the one that was read."""
    try:
        original = restore(document, record)
    except ContentError as error:
        error.file = name
        raise
    if exact_json.digest(original) != record["sha256"]["original"]:
        raise ContentError("patch-does-not-fit", "the restored document is not the one that was read", file=name)
    return original


def _common(marks: Iterable[PartMark]) -> int:
    """Returns the number of folders that the paths of all inputs have in common."""
    common: list[str] | None = None
    for mark in marks:
        for piece in mark.part.pieces:
            steps = _steps(piece.file)[:-1]
            pairs = zip(steps if common is None else common, steps, strict=False)
            common = [step for step, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
    return len(common or [])


def _steps(path: str) -> list[str]:
    return [step for step in path.replace(os.sep, "/").split("/") if step not in _NO_NAMES]


class _Files:
    """The restored files; a file that was cut is open until its last range."""

    def __init__(self, out: str, common: int, force: bool) -> None:
        self.count, self._out, self._common, self._force = 0, out, common, force
        self._name, self._names = "", set[str]()
        self._file: DocumentWriter | None = None
        self._folders = NewFolders()

    def add(self, piece: InputPiece, originals: list[Any], records: list[Any], part: str) -> None:
        """Adds the documents of a piece."""
        if piece.is_whole or piece.file != self._name:
            self.end()
        if not originals:
            return
        documents = in_shells(originals, records) if piece.is_whole else originals
        if self._file is None:
            self._file = self._opened(piece, _layout(piece, documents, records), part)
            self._name = piece.file
        for document in documents:
            self._file.add(document)

    def end(self) -> None:
        """Commits the open file."""
        if self._file is not None:
            self._file.commit()
            self.count += 1
        self._file, self._name = None, ""

    def discard(self) -> None:
        """Discards the open file, and new folders that are still empty."""
        if self._file is not None:
            self._file.output.discard()
        self._folders.discard()

    def _opened(self, piece: InputPiece, chosen: Framing, part: str) -> DocumentWriter:
        path = next(path for path in self._paths(piece, chosen) if path not in self._names)
        self._names.add(path)
        self._folders.make(os.path.dirname(path))
        return DocumentWriter(open_output(path, force=self._force, inputs=[part]), chosen)

    def _paths(self, piece: InputPiece, chosen: Framing) -> Iterator[str]:
        """Yields the names that the file may have: without compression, and with a number if others have that name."""
        steps = _steps(without_packing(piece.file))[self._common :] or ["input"]
        name = os.path.join(self._out, *steps)
        stem, suffix = os.path.splitext(name) if has_suffix(name, SUFFIXES[chosen]) else (name, SUFFIXES[chosen])
        yield stem + suffix
        yield from (f"{stem}-{number}{suffix}" for number in count(2))


def _layout(piece: InputPiece, documents: list[Any], records: list[Any]) -> Framing:
    """Returns the layout of a restored file: that of its input, or lines if it was no JSON."""
    if not piece.is_whole or is_lines(piece.file):
        return "jsonl"
    if "many" in records[0]:
        return layout(documents)
    named: Framing | None = next((record["layout"] for record in records if "layout" in record), None)
    return named or layout(documents)
