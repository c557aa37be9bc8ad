"""The work on one piece counts what it reads, and reports a file that cannot be read without ending the others."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from convcli import dialects
from convcli.files.outputs import Output
from convcli.jobs import inputs
from convcli.jobs.converting import InputConversion, Job, Sinks
from convcli.jobs.inputs import Input
from convcli.jobs.judging import JudgingOptions
from convcli.jobs.pieces import InputPiece
from convcli.jobs.running import PieceResult, convert_piece, judge_piece
from convcli.model.errors import ContentError, JobError
from convcli.model.findings import Finding
from tests.cli_cases import CLEAN, OTHER, WRONG, write

LINES = [json.dumps(CLEAN), "", json.dumps(WRONG), "{", json.dumps(CLEAN), " "]


class Memory:
    """An output that is kept here."""

    name = ""

    def __init__(self) -> None:
        self.written, self.is_complete = b"", False

    def write(self, data: bytes) -> None:
        """Keep it."""
        self.written += data

    def commit(self) -> None:
        """It has appeared."""
        self.is_complete = True

    def discard(self) -> None:
        """Nothing is left."""


def opened(piece: InputPiece) -> AbstractContextManager[Input]:
    """The file of a piece."""
    return inputs.opened(piece.file, OTHER)


def into(output: Output, findings: list[Finding]) -> Callable[[Input], InputConversion]:
    """Conversions into an output."""
    job = Job(dialects.get("anthropic"), keep_going=True, layout="jsonl", is_joined=True)
    return lambda source: InputConversion(source, job, lambda _: output, Sinks(None, findings.append))


def test_a_whole_file_is_written_to_its_end_and_its_lines_are_counted(tmp_path: Path) -> None:
    output, findings = Memory(), list[Finding]()
    whole = InputPiece(str(write(tmp_path / "in.jsonl", *LINES)), "", 0)
    result = convert_piece(whole, opened, into(output, findings))
    assert (result.lines, result.blank, result.grew, result.error) == (6, 2, False, None)
    assert result.summary is not None
    assert (result.summary.transcripts, result.summary.refused, output.is_complete) == (2, 2, True)
    assert [finding.line for finding in findings if finding.severity == "error"] == [3, 4]


def test_a_range_ends_no_output_and_counts_its_own_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", *LINES)
    begin, written = path.read_bytes().index(b"{\n"), b""
    for start, stop, lines, numbers in ((0, begin, (3, 1), [3]), (begin, path.stat().st_size, (3, 1), [1])):
        output, findings = Memory(), list[Finding]()
        piece = InputPiece(str(path), "", 0, start, stop, -1 if start else 0)
        result = convert_piece(piece, opened, into(output, findings))
        assert ((result.lines, result.blank), output.is_complete) == (lines, False)
        assert [finding.line for finding in findings if finding.severity == "error"] == numbers
        written += output.written
    assert written.count(b"\n") == 2


@pytest.fixture
def broken(tmp_path: Path) -> InputPiece:
    """A file that breaks off."""
    path = tmp_path / "in.jsonl.gz"
    rows = (json.dumps({"messages": [{"role": "user", "content": f"{row**9}"}]}) for row in range(9000))
    path.write_bytes(gzip.compress("\n".join(rows).encode())[:-9999])
    return InputPiece(str(path), "", 0)


def test_what_was_read_of_a_file_that_breaks_off_is_counted_and_the_rest_is_a_line(broken: InputPiece) -> None:
    result = convert_piece(broken, opened, into(Memory(), []))
    assert result.error is not None
    assert result.error.code == "broken-compression"
    assert result.summary is not None
    assert result.lines == result.summary.transcripts + 1 > 1


@pytest.mark.parametrize("ignored", [False, True])
def test_a_file_that_breaks_off_is_a_verdict_more_where_it_is_wanted(broken: InputPiece, ignored: bool) -> None:
    result = PieceResult(broken)
    ignore = frozenset(["broken-compression"] if ignored else [])
    verdicts = list(judge_piece(result, opened, JudgingOptions(ignore=ignore)))
    codes = [finding.code for verdict in verdicts for finding in verdict.findings]
    assert (codes.count("broken-compression"), result.error) == (not ignored, None)
    assert len(verdicts) + ignored == result.lines


def test_a_range_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(write(tmp_path / "in.jsonl", *[json.dumps(CLEAN)] * 9))

    def fail(*_: object) -> None:
        raise ContentError("line-too-long", "too long")

    monkeypatch.setattr("convcli.files.framing.Source.records", fail)
    assert convert_piece(InputPiece(path, "", 0), opened, into(Memory(), [])).error is not None
    with pytest.raises(ContentError):
        convert_piece(InputPiece(path, "", 0, 0, 99, 0), opened, into(Memory(), []))


def test_a_file_that_is_not_there_is_no_content(tmp_path: Path) -> None:
    with pytest.raises(JobError):
        convert_piece(InputPiece(str(tmp_path / "no"), "", 0), opened, into(Memory(), []))
