"""A baseline knows each finding as often as it was, wherever its line has moved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convcli.jobs.baseline import Baseline
from convcli.model.errors import JobError
from convcli.model.findings import Finding


def finding(folder: Path, name: str = "a.jsonl", code: str = "not-json", where: str = "/x", line: int = 1) -> Finding:
    return Finding(code, "error", "m", where, str(folder / name), line)


def test_known_findings_are_known_as_often_as_they_were_on_whatever_line(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_bytes(Baseline(str(path)).written([finding(tmp_path), finding(tmp_path, line=2)]))
    baseline = Baseline(str(path)).load()
    assert [baseline.knows(finding(tmp_path, line=line)) for line in (7, 8, 9)] == [True, True, False]
    for other in ({"name": "b.jsonl"}, {"code": "wrong-type"}, {"where": "/y"}):
        assert not Baseline(str(path)).load().knows(finding(tmp_path, **other))  # type: ignore[arg-type]


def test_what_has_gone_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_bytes(Baseline(str(path)).written([finding(tmp_path), finding(tmp_path), finding(tmp_path, "b.jsonl")]))
    baseline = Baseline(str(path)).load()
    assert baseline.knows(finding(tmp_path))
    assert baseline.gone == 2


def test_files_are_relative_to_the_baseline_and_rows_are_sorted(tmp_path: Path) -> None:
    (tmp_path / "ci").mkdir()
    text = Baseline(str(tmp_path / "ci" / "known.json")).written([finding(tmp_path, "b.json"), finding(tmp_path)])
    rows = json.loads(text)["findings"]
    assert [row["file"] for row in rows] == ["../a.jsonl", "../b.json"]


@pytest.mark.parametrize(
    ("content", "code"),
    [(None, "no-such-file"), ("[]", "not-a-baseline"), ("{", "not-a-baseline"),
     ('{"convcli-baseline": 2}', "not-a-baseline"),
     ('{"convcli-baseline": 1, "findings": [{"file": "a"}]}', "not-a-baseline")],
)  # fmt: skip
def test_what_is_no_baseline_is_an_error(tmp_path: Path, content: str | None, code: str) -> None:
    path = tmp_path / "known.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(JobError) as caught:
        Baseline(str(path)).load()
    assert (caught.value.code, caught.value.file) == (code, str(path))


def test_a_baseline_that_cannot_be_read_is_reported_as_that(tmp_path: Path) -> None:
    with pytest.raises(JobError) as caught:
        Baseline(str(tmp_path)).load()
    assert (caught.value.code, caught.value.file) == ("unreadable-input", str(tmp_path))
