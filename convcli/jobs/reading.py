"""Which files a job reads and how: by the command line first, then by the configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from convcli.files.framing import MAX_LINE
from convcli.files.names import split_line
from convcli.files.packed import may_wait
from convcli.jobs import inputs
from convcli.jobs.config import Configuration, is_below
from convcli.jobs.documents import Calls, Document, Nulls
from convcli.jobs.inputs import Input
from convcli.jobs.paths import InputFile, find
from convcli.model.errors import ConvcliError, JobError
from convcli.model.findings import Finding
from convcli.wire.strict_json import DuplicateKeys

if TYPE_CHECKING:
    from convcli.jobs.envelopes import Pattern
    from convcli.jobs.redacting import Redaction
    from convcli.jobs.selection import Selection
    from convcli.model.dialect import Dialect

    Opened = Callable[[str], AbstractContextManager[Input]]


class ReadingOptions(msgspec.Struct, frozen=True):
    """How a job reads its files.

    `dialect`, `duplicate_keys`: from the command line, None if not given · `exclude`: patterns of files not to read,
    relative to the working directory · `line`: one transcript of the one file · `at`: picks transcripts in documents ·
    `selection`: chooses among all · `restores`: keeps their surroundings · `nulls`: in open objects of tables ·
    `otherwise`: the dialect of files that match none or more than one · `calls`: whether those of one conversation are
    joined · `out_dir`: where outputs go · `redaction`: masks what it reads · `max_line`: bytes that a line may have.
    """

    configuration: Configuration = Configuration()
    dialect: str | None = None
    duplicate_keys: DuplicateKeys | None = None
    exclude: tuple[str, ...] = ()
    line: int | None = None
    at: tuple[Pattern, ...] = ()
    selection: Selection | None = None
    restores: bool = False
    nulls: Nulls = "drop"
    otherwise: Dialect | None = None
    redaction: Redaction | None = None
    calls: Calls = "apart"
    out_dir: str | None = None
    max_line: int = MAX_LINE

    def find(self, paths: Iterable[str], *, may_be_none: bool = False, reads_ahead: bool = True) -> list[InputFile]:
        """Returns the files that these paths mean, without excluded ones.

        Named files are excluded too, because hooks name every file. A selection that depends on all inputs reads them,
        unless not `reads_ahead`: then call `read_ahead`. Raises JobError `no-input` if all are excluded, unless
        `may_be_none`.
        """
        paths = list(paths)
        every = find(paths, self.line)
        outputs = self._outputs_below(paths)
        files = [file for file in every if not self.excludes(file.path) and not outputs(file.path)]
        if not files and every and not may_be_none:
            raise JobError("no-input", f"all {len(every):,} files are excluded", help="convcli config shows why")
        if reads_ahead:
            self.read_ahead(files)
        return files

    def read_ahead(self, files: Iterable[InputFile], watched: Callable[[Opened], Opened] = lambda each: each) -> None:
        """Reads the files if the selection depends on all of them. `watched` wraps the function that opens a file."""
        if self.selection is not None:
            opened = replace(self, selection=None, redaction=None).opened
            self.selection.scan([file.path for file in files], watched(opened))

    def _outputs_below(self, paths: list[str]) -> Callable[[str], bool]:
        """Returns a test for files in a folder of outputs that is below a folder of inputs: they are not inputs."""
        out = os.path.join(os.path.realpath(self.out_dir), "") if self.out_dir is not None else ""
        folders = [os.path.join(os.path.realpath(path), "") for path in paths if os.path.isdir(path)]
        if not any(out != folder and out.startswith(folder) for folder in folders):
            return lambda _: False
        return lambda path: path not in paths and os.path.realpath(path).startswith(out)

    def excludes(self, path: str) -> bool:
        """True if the command line or the configuration excludes this file. Stdin is never excluded."""
        if path == "-":
            return False
        path, _ = split_line(path)
        here = os.path.relpath(path).replace(os.sep, "/")
        return is_below(here, self.exclude) or self.configuration.excludes(path)

    def dialect_of(self, path: str) -> str | None:
        """Returns the dialect that the user or the configuration names for a file, if any."""
        return self.dialect or (self.configuration.dialect(split_line(path)[0]) if path != "-" else None)

    @property
    def keys(self) -> DuplicateKeys:
        """How duplicate keys in one object are treated."""
        of_project: DuplicateKeys = self.configuration.settings.get("duplicate-keys", "error")
        return self.duplicate_keys or of_project

    @contextmanager
    def opened(self, path: str) -> Iterator[Input]:
        """Opens a file as `inputs.opened` does, with the options of this job.

        If it has several documents to mask, all are read once before, for the names in them; a pipe is not.
        """
        with self._opened(path) as source:
            if self.redaction is not None and source.may_be_several and path != "-" and not may_wait(path):
                self._learn_names(path, self.redaction)
            yield source

    def _learn_names(self, path: str, redaction: Redaction) -> None:
        """Shows all documents of a file to a redaction. Errors are reported later, when they are processed."""
        unmasked = replace(self, redaction=None, selection=None, calls="apart")
        with suppress(ConvcliError), unmasked.opened(path) as items:
            for item in items:
                if isinstance(item, Document):
                    redaction.learn(item)

    def _opened(self, path: str) -> AbstractContextManager[Input]:
        return inputs.opened(
            path,
            self.dialect_of(path),
            duplicate_keys=self.keys,
            at=self.at,
            selection=self.selection,
            restores=self.restores,
            nulls=self.nulls,
            otherwise=self.otherwise,
            masked=None if self.redaction is None else self.redaction.document,
            calls=self.calls,
            max_line=self.max_line,
        )

    def documents(self, path: str) -> Iterator[Document]:
        """Yields documents as `inputs.documents` does, with the options of this job."""
        return inputs.documents(path, self.dialect_of(path), duplicate_keys=self.keys)

    def hides(self, finding: Finding) -> bool:
        """True if this is a warning that the project ignores. Errors are always shown."""
        return finding.severity != "error" and self.configuration.ignores(finding)
