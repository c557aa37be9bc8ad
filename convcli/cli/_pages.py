"""A folder of pages: one for each transcript, and an index with links to them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable

from convcli.files.outputs import NewFolders, open_output
from convcli.jobs.documents import Document
from convcli.model.dialect import Dialect
from convcli.model.transcript import Transcript
from convcli.report import page
from convcli.validation.wording import counted
from convcli.views import facts, titles
from convcli.views.columns import row_of
from convcli.views.costs import Prices
from convcli.views.session_rows import SessionRow, session_row


def title_of(transcript: Transcript, file: str) -> str:
    """Returns the title of a page: that of the session, or its first prompt; never its path."""
    return titles.title_of(transcript) or os.path.basename(file)


def marks(document: Document, transcript: Transcript, target: Dialect | None, *, findings: bool) -> page.Annotations:
    """Returns the marks of a page: losses in the target and findings, as far as they are asked for."""
    from convcli.engine import pipeline
    from convcli.report.page.marks import marks_of

    losses = [] if target is None else pipeline.convert(document.value, document.dialect, target).losses
    found = pipeline.validate(document.value, document.dialect) if findings else []
    return marks_of(transcript, losses, found)


class PageFolder:
    """Writes pages as they come, and the index last. Raises JobError for an existing page, without `force`."""

    def __init__(self, path: str, prices: Prices, *, force: bool) -> None:
        self.path, self.force, self._prices = path, force, prices
        self._names, self._sessions = Counter[str](), dict[str, SessionRow]()
        self._files, self._folders = dict[str, None](), NewFolders()

    def add(self, document: Document, transcript: Transcript, marks: page.Annotations, whole: Transcript) -> None:
        """Writes the page of a transcript. `whole` has the runs of other files too."""
        row = row_of(document, transcript)
        about = facts.facts_of(document, transcript, row, self._prices)
        title, name = title_of(transcript, row["file"]), self._name(os.path.basename(row["file"]), row["line"])
        self._files[row["file"]] = None
        self._write(name, page.conversation(whole, title, about, marks, up="index.html"), [row["file"]])
        self._sessions[name] = session_row(document, transcript, title, self._prices)

    def finish(self) -> str:
        """Writes the index if there are pages. Returns a line about what was written."""
        if not self._names:
            return "nothing written\n"
        self._write("index.html", page.index("Sessions", page.SessionList(self._sessions)), self._files)
        return f"{counted(self._names.total(), 'page')} and index.html written to {self.path}\n"

    def discard(self) -> None:
        """Deletes the folder if it is new and empty."""
        self._folders.discard()

    def _name(self, base: str, line: int | None) -> str:
        """Returns a unique name that is safe in an address and in any file system."""
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", base).strip(".-") or "session"
        stem = f"{stem}-{line}" if line else stem
        self._names[stem] += 1
        return f"{stem}-{self._names[stem]}.html" if self._names[stem] > 1 else f"{stem}.html"

    def _write(self, name: str, pieces: Iterable[str], inputs: Iterable[str]) -> None:
        self._folders.make(self.path)
        output = open_output(os.path.join(self.path, name), force=self.force, inputs=inputs)
        try:
            for piece in pieces:
                output.write(piece.encode("utf-8", "backslashreplace"))
            output.commit()
        finally:
            output.discard()
