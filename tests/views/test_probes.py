"""What dialects can say is measured: probes, the matrix, the losses of a pair, and completion of the command line."""

from __future__ import annotations

import json
import subprocess
from shutil import which

import pytest
from click.shell_completion import get_completion_class

from convcli import dialects
from convcli.report import matrix
from convcli.report.text import Paint
from convcli.views import probes
from tests.cli_cases import OTHER, OWN, command, environment, run

SHELLS = ["bash", "fish", "powershell", "zsh"]


@pytest.mark.parametrize("name", probes.shown())
def test_every_feature_has_an_outcome_in_every_dialect(name: str) -> None:
    found = {feature: probes.written(feature, name).outcome for feature in probes.PROBES}
    assert set(found.values()) <= set(matrix.SIGNS)
    assert found["text"] == "kept"


def test_the_intermediate_format_keeps_every_feature() -> None:
    assert {probes.written(feature, OWN).outcome for feature in probes.PROBES} == {"kept"}


@pytest.mark.parametrize("name", probes.shown())
def test_a_dialect_keeps_in_itself_what_it_can_say(name: str) -> None:
    dialect = dialects.get(name)
    assert [(feature, report) for feature, report in probes.converted(dialect, dialect) if report.losses] == []


def test_what_every_transcript_of_a_dialect_loses_is_no_loss_of_a_text() -> None:
    reports = dict(probes.converted(dialects.get("openclaw"), dialects.get(OTHER)))
    assert "message.parentId" in {loss.field for loss in reports[probes.EVERY].losses}
    assert reports["text"] == ("kept", [])
    fields = [loss.field for feature, report in reports.items() if feature != probes.EVERY for loss in report.losses]
    assert "message.parentId" not in fields


def test_the_worst_loss_of_a_feature_decides_and_names_the_field() -> None:
    report = probes.written("result: error", OTHER)
    assert (report.outcome, {loss.field for loss in report.losses}) == ("encoded", {"tool_result.kind"})
    assert probes.written("top k", OTHER).outcome == "lost"


def test_the_matrix_fits_into_80_cells_and_has_a_name_above_each_column() -> None:
    names = probes.shown()
    rows = {name: [probes.written(name, each).outcome for each in names] for name in probes.PROBES}
    lines = "".join(matrix.drawn(names, rows, 80, Paint())).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines.pop() == matrix.LEGEND.rstrip()
    found: dict[str, list[str]] = {}
    for piece in "\n".join(lines).split("\n\n"):
        *cells, _ = (line.ljust(80) for line in (*piece.splitlines(), ""))
        height = len(cells) - len(rows)
        assert [line.split("  ")[0] for line in cells[height:]] == list(rows)
        for column in zip(*cells, strict=True):
            if "".join(column[:height]).strip():
                found["".join(column[:height]).strip()] = list(column[height:])
    assert found == {name: [matrix.SIGNS[row[at]] for row in rows.values()] for at, name in enumerate(names)}


def test_the_matrix_is_written_for_programs_too() -> None:
    rows = json.loads(run("dialects", "--matrix", "--output-format", "json").stdout)
    assert [row["feature"] for row in rows] == list(probes.PROBES)
    assert {row[OWN] for row in rows} == {"kept"}


def test_losses_of_two_dialects_need_no_file_and_name_what_is_kept_too() -> None:
    done = run("losses", "--from", OWN, "--to", OTHER, "--output-format", "json")
    outcomes = [row["outcome"] for row in json.loads(done.stdout)]
    assert done.returncode == 0
    assert list(dict.fromkeys(outcomes)) == ["lost", "changed", "encoded", "kept"]


@pytest.mark.parametrize("shell", SHELLS)
def test_there_is_a_completion_script_for(shell: str) -> None:
    done = run("completion", shell)
    if get_completion_class(shell) is None:  # click before 8.5 has none for PowerShell
        assert done.returncode == 2
        assert b"this version of click has no completion" in done.stderr
        return
    script = done.stdout
    assert b"_CONVCLI_COMPLETE" in script
    if shell != "powershell" and which(shell):
        assert subprocess.run([shell, "-n"], input=script, check=False).returncode == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [("convcli conv", "convert"), (f"convcli convert --to {OTHER[:8]}", OTHER), ("convcli completion z", "zsh")],
)
def test_commands_options_and_dialects_are_completed(words: str, expected: str) -> None:
    asked = {"_CONVCLI_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(command(), env=environment(**asked), capture_output=True, check=False)
    assert f"plain,{expected}" in done.stdout.decode().splitlines()
