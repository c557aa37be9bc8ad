"""A folder of pages: one for each transcript, and an index with links to them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from convcli.files.outputs import make_folder, open_output
from convcli.jobs.documents import Document
from convcli.model.dialect import Dialect
from convcli.model.transcript import Transcript
from convcli.report import page
from convcli.validation.wording import counted
from convcli.views import facts
from convcli.views.columns import row_of

COLUMNS = ["title", "dialect", "begin", "messages", "calls", "errors", "input", "output", "model", "file"]
TOTALS = ("messages", "calls", "errors", "input", "output")


class SessionIndex:
    """The index: a row for each session, and totals. Values that are not known yet are None in a row."""

    def __init__(self) -> None:
        self._totals, self._unknown = Counter[str](), 0
        self._rows: list[dict[str, str]] = []

    def add(self, row: dict[str, Any], title: str, address: str) -> None:
        """Adds a session with a page. `row` is that of `views.rows.by_transcript`."""
        cells = {column: _shown(row[column]) for column in COLUMNS if column not in ("title", "file")}
        cells.update({column: "…" for column in TOTALS if row[column] is None})
        self._rows.append({"title": title, "page": address, "file": os.path.basename(row["file"]), **cells})
        self._totals.update({column: row[column] or 0 for column in TOTALS})
        self._unknown += row["messages"] is None

    def page(self, *more: str, live: bool = False) -> Iterator[str]:
        """Returns the index, newest session first; `more` are notes. A live index asks its server for newer ones."""
        words = [counted(len(self._rows), "session")]
        words += [f"{self._unknown:,} still being counted"] if self._unknown else []
        words += [f"{self._totals[name]:,} {name if name in TOTALS[:3] else f'tokens {name}'}" for name in TOTALS]
        rows = sorted(self._rows, key=lambda row: row["begin"], reverse=True)
        return page.index("Sessions", [*words, *filter(None, more)], COLUMNS, rows, live=live)


def title_of(transcript: Transcript, file: str) -> str:
    """Returns the title of a page: that of the session, or its first prompt; never its path."""
    return facts.title_of(transcript) or os.path.basename(file)


def marks(document: Document, transcript: Transcript, target: Dialect | None, *, findings: bool) -> page.Annotations:
    """Returns the marks of a page: losses in the target and findings, as far as they are asked for."""
    from convcli.engine import pipeline
    from convcli.report.page.marks import marks_of

    losses = [] if target is None else pipeline.convert(document.value, document.dialect, target).losses
    found = pipeline.validate(document.value, document.dialect) if findings else []
    return marks_of(transcript, losses, found)


class PageFolder:
    """Writes pages as they come, and the index last. Raises JobError for an existing page, without `force`."""

    def __init__(self, path: str, *, force: bool) -> None:
        self.path, self.force = path, force
        self._names, self._index = Counter[str](), SessionIndex()
        self._files = dict[str, None]()

    def add(self, document: Document, transcript: Transcript, marks: page.Annotations) -> None:
        """Writes the page of a transcript."""
        row = row_of(document, transcript)
        about = facts.facts_of(document, transcript, row)
        title, name = title_of(transcript, row["file"]), self._name(os.path.basename(row["file"]), row["line"])
        self._files[row["file"]] = None
        self._write(name, page.conversation(transcript, title, about, marks, up="index.html"), [row["file"]])
        self._index.add(row, title, name)

    def finish(self) -> str:
        """Writes the index if there are pages. Returns a line about what was written."""
        if not self._names:
            return "nothing written\n"
        self._write("index.html", self._index.page(), self._files)
        return f"{counted(self._names.total(), 'page')} and index.html written to {self.path}\n"

    def _name(self, base: str, line: int | None) -> str:
        """Returns a unique name that is safe in an address and in any file system."""
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", base).strip(".-") or "session"
        stem = f"{stem}-{line}" if line else stem
        self._names[stem] += 1
        return f"{stem}-{self._names[stem]}.html" if self._names[stem] > 1 else f"{stem}.html"

    def _write(self, name: str, pieces: Iterable[str], inputs: Iterable[str]) -> None:
        make_folder(self.path)
        output = open_output(os.path.join(self.path, name), force=self.force, inputs=inputs)
        try:
            for piece in pieces:
                output.write(piece.encode("utf-8", "backslashreplace"))
            output.commit()
        finally:
            output.discard()


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value or "")[:19].replace("T", " ")
