"""How a job reads its files: the command line wins over the configuration, which wins over what is usual."""

from __future__ import annotations

from pathlib import Path

import pytest

from convcli.jobs.config import Configuration
from convcli.jobs.reading import ReadingOptions
from convcli.model.errors import JobError
from convcli.model.findings import Finding
from tests.cli_cases import CLEAN, OTHER, OWN, write

TWICE = '{"messages": [], "messages": [{"role": "user", "content": "hi"}]}'


def test_the_command_line_wins_over_the_configuration_for_dialects_and_keys(tmp_path: Path) -> None:
    configuration = Configuration({"dialects": {"*.json": OWN}, "duplicate-keys": "last"}, str(tmp_path))
    usual, project = ReadingOptions(), ReadingOptions(configuration)
    both = ReadingOptions(configuration, OTHER, "error")
    path = str(tmp_path / "a.json")
    assert [reading.dialect_of(path) for reading in (usual, project, both)] == [None, OWN, OTHER]
    assert [reading.keys for reading in (usual, project, both)] == ["error", "last", "error"]
    assert project.dialect_of("-") is None


def test_a_file_is_read_as_the_job_says(tmp_path: Path) -> None:
    path = str(write(tmp_path / "a.json", TWICE))
    reading = ReadingOptions(Configuration({"dialects": {"*": OTHER}, "duplicate-keys": "last"}, str(tmp_path)))
    with reading.opened(path) as source:
        assert (source.dialect.name, source.detection) == (OTHER, None)
    (document,) = reading.documents(path)
    assert document.value == {"messages": [{"role": "user", "content": "hi"}]}


def test_excluded_files_are_not_found_even_if_named_and_nothing_left_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").mkdir()
    for name in ("a.json", "old/b.json", "c.json"):
        write(tmp_path / name, CLEAN)
    reading = ReadingOptions(Configuration({"exclude": ["old"]}, str(tmp_path)), exclude=("c.json",))
    assert [file.path for file in reading.find([".", "c.json"])] == ["./a.json"]
    with pytest.raises(JobError, match="all 2 files are excluded"):
        reading.find(["old/b.json", "c.json"])
    assert not reading.excludes("-")


def test_warnings_are_hidden_that_the_project_ignores_and_errors_never() -> None:
    reading = ReadingOptions(Configuration({"ignore": ["null-filled"]}))
    hidden = [reading.hides(Finding("null-filled", severity, "")) for severity in ("warning", "error")]  # type: ignore[arg-type]
    assert hidden == [True, False]
    assert not ReadingOptions().hides(Finding("null-filled", "warning", ""))
