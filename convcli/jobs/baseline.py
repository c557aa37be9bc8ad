"""Findings that a project accepts for now: they are counted, and only other findings are new.

A baseline is a JSON file with a row for each file, code and pointer, and the number of such findings. It has no line
numbers, so it still matches when records are added or moved.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeAlias

from convcli.files.side_files import read_side_file
from convcli.model.errors import JobError
from convcli.model.findings import Finding
from convcli.wire import exact_json

VERSION = 1
KEYS = ("file", "code", "where")

Known: TypeAlias = tuple[str, str, str]
"""File relative to the folder of the baseline, code and pointer."""


class Baseline:
    """The known findings with their counts. Each finding that is looked up uses one of them up."""

    def __init__(self, path: str) -> None:
        self.path, self.folder = path, os.path.dirname(os.path.abspath(path))
        self._left: Counter[Known] = Counter()

    def load(self) -> Baseline:
        """Loads the file and returns itself. Raises JobError if it is missing, unreadable, or not a baseline."""
        help_text = "convcli validate FILE… --baseline FILE --write-baseline writes it"
        content = read_side_file(self.path, "baseline", help_text)
        try:
            self._left = Counter(dict(_rows(json.loads(content))))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise JobError("not-a-baseline", "this is not a convcli baseline", file=self.path) from None
        return self

    def refuse_other(self) -> None:
        """Raises JobError if another file is at this path, which must not be replaced."""
        if os.path.isfile(self.path) and os.path.getsize(self.path):
            try:
                Baseline(self.path).load()
            except JobError as error:
                error.help = "--force replaces it"
                raise

    def knows(self, finding: Finding) -> bool:
        """True if the finding is known and not used up; counts it as used."""
        known = self._key(finding)
        if not self._left[known]:
            return False
        self._left[known] -= 1
        return True

    @property
    def gone(self) -> int:
        """The number of known findings that did not occur."""
        return self._left.total()

    def written(self, findings: Iterable[Finding]) -> bytes:
        """Returns a baseline file for these findings, ordered by file, code and pointer."""
        counts = sorted(Counter(map(self._key, findings)).items())
        rows = [{**dict(zip(KEYS, known, strict=True)), "count": count} for known, count in counts]
        return exact_json.write({"convcli-baseline": VERSION, "findings": rows}, indent=True) + b"\n"

    def _key(self, finding: Finding) -> Known:
        file = os.path.relpath(os.path.abspath(finding.file), self.folder).replace(os.sep, "/")
        return file, finding.code, finding.where


def _rows(value: Any) -> Iterable[tuple[Known, int]]:
    if value["convcli-baseline"] != VERSION:
        raise ValueError("another version")
    for row in value["findings"]:
        file, code, where = (str(row[key]) for key in KEYS)
        yield (file, code, where), int(row["count"])
