"""What `validate` reports about all files, in one process and in parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from convcli.model.errors import JobError
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.jobs.row_forms import RowForms
    from convcli.model.dialect import Dialect


def announce_skipped(screen: Screen, skipped: int, transcripts: int, *, may_be_none: bool = False) -> None:
    """Reports files that are no transcripts. Raises JobError `no-input` if there are no others."""
    from convcli.validation.wording import counted

    if skipped:
        screen.announce(f"{counted(skipped, 'file')} skipped: no transcripts\n")
        if not transcripts and not may_be_none:
            raise JobError("no-input", "no file holds a transcript", help="name a file to see what is wrong with it")


def announce_forms(screen: Screen, forms: RowForms) -> None:
    """Prints a note on the training rows of each dialect that a trainer cannot read as one data set."""
    for dialect, of_dialect in forms.items():
        from convcli import dialects
        from convcli.jobs.row_forms import note_on_forms

        note = note_on_forms(of_dialect, dialects.get(dialect))
        screen.announce(f"note: {note}\n" if note else "")


def announce_converted(screen: Screen, target: Dialect | None, converted: Mapping[str, int]) -> None:
    """Reports what was checked after its conversion: what the target cannot store is not sent to it."""
    from convcli.validation.wording import counted

    if target is not None and any(converted.values()):
        each = " and ".join(f"{counted(n, 'transcript')} in {name}" for name, n in sorted(converted.items()) if n)
        note = f"checked after conversion to {target.name}: {each}; --from {target.name} checks files as they are"
        screen.announce(f"{note}\n")
