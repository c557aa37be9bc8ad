"""Which files a job reads and how: what the command line says, and what the configuration says where that is silent."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from convcli.jobs import inputs
from convcli.jobs.config import Configuration, is_below
from convcli.jobs.inputs import Document, Input, InputFile, Nulls
from convcli.model.errors import JobError
from convcli.model.findings import Finding
from convcli.wire.strict_json import DuplicateKeys

if TYPE_CHECKING:
    from convcli.jobs.envelopes import Pattern
    from convcli.jobs.selection import Selection


class ReadingOptions(msgspec.Struct, frozen=True):
    """`dialect` and `duplicate_keys` as the command line says them, None where it does not; `exclude` are patterns for
    files that are not read, relative to the working directory; `line` names one transcript of the one file, `at`
    picks transcripts out of documents, `selection` chooses of all; `restores` keeps what stands around those; `nulls`
    in open objects of tables are dropped or kept."""

    configuration: Configuration = Configuration()
    dialect: str | None = None
    duplicate_keys: DuplicateKeys | None = None
    exclude: tuple[str, ...] = ()
    line: int | None = None
    at: tuple[Pattern, ...] = ()
    selection: Selection | None = None
    restores: bool = False
    nulls: Nulls = "drop"

    def find(self, paths: Iterable[str], *, may_be_none: bool = False) -> list[InputFile]:
        """The files that these paths mean, without those that are excluded, also where they are named: hooks name
        every file. Raises JobError `no-input` when all of them are, unless there `may_be_none`."""
        paths = list(paths)
        every = inputs.find(paths, self.line)
        files = [file for file in every if not self.excludes(file.path)]
        if not files and every and not may_be_none:
            raise JobError("no-input", f"all of {len(every):,} files are excluded", help="convcli config shows by what")
        if self.selection is not None:
            self.selection.scan([file.path for file in files], replace(self, selection=None).opened)
        return files

    def excludes(self, path: str) -> bool:
        """Does the command line or the configuration exclude this file? Never stdin."""
        if path == "-":
            return False
        path, _ = inputs.split_line(path)
        here = os.path.relpath(path).replace(os.sep, "/")
        return is_below(here, self.exclude) or self.configuration.excludes(path)

    def dialect_of(self, path: str) -> str | None:
        """The dialect of a file as far as somebody has named it."""
        return self.dialect or (self.configuration.dialect(inputs.split_line(path)[0]) if path != "-" else None)

    @property
    def keys(self) -> DuplicateKeys:
        """What is done with equal keys in one object."""
        of_project: DuplicateKeys = self.configuration.settings.get("duplicate-keys", "error")
        return self.duplicate_keys or of_project

    def opened(self, path: str) -> AbstractContextManager[Input]:
        """`inputs.opened`, as this job reads the file."""
        return inputs.opened(
            path,
            self.dialect_of(path),
            duplicate_keys=self.keys,
            at=self.at,
            selection=self.selection,
            restores=self.restores,
            nulls=self.nulls,
        )

    def documents(self, path: str) -> Iterator[Document]:
        """`inputs.documents`, as this job reads the file."""
        return inputs.documents(path, self.dialect_of(path), duplicate_keys=self.keys)

    def hides(self, finding: Finding) -> bool:
        """Is this a warning that the project ignores? What stops a job is always shown."""
        return finding.severity != "error" and self.configuration.ignores(finding)
