"""What a conversion could not read: records and whole inputs, each counted once, and listed at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from convcli.model.errors import ConvcliError, JobError
from convcli.wire.patterns import pattern

if TYPE_CHECKING:
    from convcli.model.findings import Finding

MOST_LISTED = 20
"""Records and inputs that the list at the end names."""
_ALLOWANCE = pattern(r"(\d{1,12})|(\d{1,3}(?:\.\d{1,6})?)%")


class Allowance(msgspec.Struct, frozen=True):
    """How much may be unreadable: a number, or a share of all."""

    most: int | None
    share: float

    def accepts(self, unread: int, total: int) -> bool:
        """True if so many of all are acceptable."""
        return unread <= (self.share * total if self.most is None else self.most)


def allowance(text: str | None) -> Allowance:
    """Returns what `--allow-bad` allows; nothing without it. Raises JobError."""
    match = _ALLOWANCE.fullmatch(text or "0")
    if match is None or (match[2] and float(match[2]) > 100):
        raise JobError("usage", "--allow-bad needs a number or a percentage", help="write 10 or 0.5%")
    return Allowance(int(match[1]), 0) if match[1] else Allowance(None, float(match[2]) / 100)


class Unread:
    """Collects the unreadable inputs of a job, and the places of its unreadable records."""

    def __init__(self) -> None:
        self.inputs, self._places = 0, dict[str, str]()
        self._codes, self._last = Counter[str](), ""

    def finding(self, finding: Finding) -> None:
        """Takes a finding. Only errors are about records that could not be read; one of each record counts."""
        from convcli.model.located import number_of
        from convcli.report.text import place

        if finding.severity != "error":
            return
        number = number_of(finding)
        name = place(finding.file, number, 0, "" if number is not None else finding.where)
        self._codes[finding.code] += name != self._last
        self._last = name
        if len(self._places) <= MOST_LISTED:
            self._places.setdefault(name, finding.code)

    def error(self, error: ConvcliError) -> None:
        """Takes the error of an input that could not be read."""
        self.inputs += 1
        self._codes[error.code] += 1
        if len(self._places) <= MOST_LISTED:
            self._places.setdefault(error.file, error.code)

    def sentences(self, records: int) -> list[str]:
        """Returns a sentence on what was skipped, with the reasons, if anything could not be read."""
        if not records + self.inputs:
            return []
        codes = ", ".join(f"{code} ×{count:,}" for code, count in self._codes.most_common() if count)
        return [f"{self._kinds(records)} that could not be read: {codes}"]

    def _kinds(self, records: int) -> str:
        from convcli.validation.wording import counted

        return " and ".join(counted(n, unit) for n, unit in ((records, "record"), (self.inputs, "input")) if n)

    def listed(self, records: int) -> Iterator[str]:
        """Yields a line for each record and input, if anything could not be read."""
        from convcli.report.text import safe_text

        total = records + self.inputs
        if not total:
            return
        yield f"skipped, because they could not be read: {self._kinds(records)}\n"
        for name, code in list(self._places.items())[:MOST_LISTED]:
            yield f"  {safe_text(name)}: {code}\n"
        if total > MOST_LISTED:
            yield f"  and {total - MOST_LISTED:,} more\n"
