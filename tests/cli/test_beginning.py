"""The beginning of a long session, which is shown before the rest is read."""

from __future__ import annotations

from pathlib import Path

from convcli.cli._beginning import beginning, first_rows
from convcli.jobs.reading import ReadingOptions
from tests.cli.test_serve import LONG_SESSION
from tests.cli_cases import write


def test_a_line_that_is_no_json_does_not_keep_the_beginning_from_being_shown(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", *LONG_SESSION)
    head, _, rest = file.read_bytes().partition(b"\n")
    file.write_bytes(head + b'\n{"type":"message"} {}\n' + rest)
    assert [row["message"] for row in first_rows(str(file), ReadingOptions(), 30)[:3]] == [0, 1, 2]


def test_a_short_session_has_no_beginning_of_its_own(tmp_path: Path) -> None:
    assert beginning(str(write(tmp_path / "s.jsonl", *LONG_SESSION[:9])), ReadingOptions()) is None
