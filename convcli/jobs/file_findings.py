"""Findings that are reported once per file while processes report them for parts of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from convcli.model.findings import OF_FILE, Finding

TYPE = "column-type"
"""The code of a finding on a column type, the same in each part."""


class ReportedOnce:
    """Holds back such findings."""

    def __init__(self) -> None:
        self._pending = dict[tuple[str, str, str], Finding]()

    def only(self, report: Callable[[Finding], None]) -> Callable[[Finding], None]:
        """Wraps a receiver so that it gets only what is not held back."""
        return lambda finding: report(finding) if self.is_other(finding) else None

    def is_other(self, finding: Finding) -> bool:
        """True if such findings may repeat within a file; otherwise it is held back."""
        if finding.code not in OF_FILE:
            return True
        key = finding.code, finding.file, finding.message
        before = self._pending.setdefault(key, finding)
        if before is not finding and finding.code != TYPE:
            graver = finding if before.severity == "info" != finding.severity else before
            self._pending[key] = replace(graver, count=before.count + finding.count)
        return False

    def rest(self) -> Iterator[Finding]:
        """Yields what was held back, as one process would have reported it for the whole file."""
        pending, self._pending = self._pending, {}
        yield from sorted(pending.values(), key=lambda finding: finding.code != TYPE)
