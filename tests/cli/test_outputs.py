"""Every file that an option names: compressed as its name says, never an input, and nothing half made is left."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from convcli.cli._click import group
from tests import cli_cases
from tests.cli_cases import CLEAN, LOSSY, OTHER, OWN, write

OUT = "OUT"
"""The name of the output in a command line."""
COMMANDS: dict[tuple[str, str], tuple[object, ...]] = {
    ("convert", "--output"): ("a.json", "--to", OTHER, "-o", OUT),
    ("convert", "--losses"): ("a.json", "--to", OTHER, "-o", "-", "--losses", OUT),
    ("convert", "--restore-file"): ("a.json", "--to", OTHER, "-o", "-", "--restore-file", OUT),
    ("convert", "--receipt"): ("a.json", "--to", OTHER, "-o", "/dev/null", "--receipt", OUT),
    ("diff", "--output"): ("a.json", "b.json", "-O", "text", "-o", OUT),
    ("inspect", "--output"): ("a.json", "-O", "table", "-o", OUT),
    ("redact", "--output"): ("a.json", "-o", OUT),
    ("redact", "--report"): ("a.json", "-o", "/dev/null", "--report", OUT),
    ("restore", "--output"): ("made.json", "--restore-file", "kept.jsonl", "-o", OUT),
    ("samples", "--output"): ("chat", "-o", OUT),
    ("share", "--output"): ("a.json", "--markdown", "-o", OUT),
    ("validate", "--output"): ("a.json", "-O", "full", "-o", OUT),
    ("validate", "--baseline"): ("a.json", "--write-baseline", "--baseline", OUT),
    ("redact", "--allow"): ("a.json", "--check", "--write-allow", "--allow", OUT),
}
"""A command line for each option that names a file to write."""
READ = {("convert", "--tokenizer"), ("stats", "--prices"), ("restore", "--restore-file"), ("dialects", "--check")}
"""Options that name a file to read; `--mask` and `--set` take one after `@`."""
VARIES = ("--receipt", "--allow")
"""Options whose file has times or random bytes."""
FOLDERS: list[tuple[object, ...]] = [
    ("convert", "bad.json", "--to", "hf-chat", "-o", "out/", "--card"),
    ("convert", "bad.json", "--to", "hf-chat", "--out-dir", "out/in"),
    ("convert", "bad.json", "--to", "hf-chat", "--out-dir", "out/in", "--split", "a=0.5,b=0.5"),
    ("convert", "a.json", "--to", "hf-chat", "--out-dir", "out", "--split", "a=0.5,b=0.5", "--losses", "b.json"),
    ("convert", "a.json", "--to", "hf-chat", "-o", "out/", "--card", "--losses", "b.json"),
    ("redact", "bad.json", "--out-dir", "out/in"),
    ("inspect", "bad.json", "-O", "html", "--out-dir", "out/in"),
]
"""Command lines that write nothing, each with a folder that does not exist."""


def run(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    if arguments[0] in ("redact", "share"):
        pytest.importorskip("phonenumbers")
    return cli_cases.run(*arguments)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.json", LOSSY)
    write(tmp_path / "b.json", CLEAN)
    write(tmp_path / "bad.json", {"x": 1})
    run("convert", "a.json", "--to", OTHER, "-o", "made.json", "--restore-file", "kept.jsonl")


def words(command: str, option: str, output: str, force: str = "") -> list[str]:
    """A command line that writes this output."""
    line = [command, *(output if word == OUT else str(word) for word in COMMANDS[command, option])]
    return [*line, force] if force else line


def of_files() -> Iterator[tuple[str, str]]:
    """The options of all commands that name a file."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option) and "FILE" in (parameter.metavar or "").split("|"):
                yield name, next(each for each in parameter.opts if each[:2] == "--")


def test_the_tables_have_every_option_that_names_a_file() -> None:
    assert COMMANDS.keys() <= {*of_files()}
    read_only = {("convert", "--allow"), ("inspect", "--allow"), ("resume", "--allow"), ("share", "--allow")}
    assert {*of_files()} - COMMANDS.keys() - READ == read_only


@pytest.mark.parametrize(("command", "option"), COMMANDS)
def test_a_file_whose_name_ends_so_is_compressed(command: str, option: str) -> None:
    plain, packed = (run(*words(command, option, name)) for name in ("out", "out.gz"))
    assert plain.returncode == packed.returncode in (0, 1), packed.stderr
    stored = Path("out.gz").read_bytes()
    assert stored[:2] == b"\x1f\x8b"
    if option not in VARIES:
        assert gzip.decompress(stored) == Path("out").read_bytes()


@pytest.mark.parametrize(
    ("command", "option"), [each for each in COMMANDS if each[0] not in ("samples", "restore") and each[1] != "--allow"]
)
def test_no_output_replaces_the_file_of_an_input_line(command: str, option: str) -> None:
    before = Path("a.json").read_bytes()
    line = ["a.json:1" if word == "a.json" else word for word in words(command, option, OUT, "--force")]
    done = run(*("a.json" if word == OUT else word for word in line))
    assert (done.returncode, Path("a.json").read_bytes()) == (2, before), done.stderr


@pytest.mark.parametrize("line", FOLDERS, ids=lambda line: " ".join(map(str, line[:1] + line[2:])))
def test_a_command_that_writes_nothing_leaves_no_folder(line: tuple[object, ...], tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    assert run(*line).returncode in (1, 2)
    assert sorted(tmp_path.iterdir()) == before


def test_what_reads_an_output_reads_the_compressed_one_too() -> None:
    made = ("convert", "a.json", "--to", OTHER, "-o", "m.json.gz", "--restore-file", "k.gz", "--receipt", "r.json.xz")
    assert run(*made).returncode == 0
    assert run("restore", "m.json.gz", "--restore-file", "k.gz", "-o", "again.jsonl.bz2").returncode == 0
    assert run("diff", "--exact", "a.json", "again.jsonl.bz2").returncode == 0
    assert run("verify", "r.json.xz", "--rerun").returncode == 0
    for line in (words("validate", "--baseline", "b.gz"), words("redact", "--allow", "l.gz")):
        assert run(*line).returncode == 0
    assert run("validate", "a.json", "--baseline", "b.gz").returncode == 0
    assert run("redact", "a.json", "--check", "--allow", "l.gz").returncode == 0


def test_the_suffix_of_a_report_is_its_format_also_if_it_is_compressed() -> None:
    for name, begin in (("r.csv.gz", b"message,role"), ("r.html.gz", b"<!doctype"), ("R.JSON.gz", b"[")):
        assert run("inspect", "a.json", "-o", name).returncode == 0
        assert gzip.decompress(Path(name).read_bytes()).startswith(begin)
    run("validate", "bad.json", "--from", OTHER, "-o", "v.sarif")
    assert json.loads(Path("v.sarif").read_bytes())["version"] == "2.1.0"
    run("validate", "bad.json", "--from", OTHER, "-o", "v.xml.gz")
    assert b"<testsuites" in gzip.decompress(Path("v.xml.gz").read_bytes())
    assert run("diff", "a.json", "b.json", "-o", "d.json").returncode == 1
    assert isinstance(json.loads(Path("d.json").read_bytes()), list)
    assert run("share", "a.json", "-o", "s.md").returncode == 0
    assert Path("s.md").read_text().startswith("# ")


def test_losses_and_hits_are_lines_of_json_if_their_file_is() -> None:
    run("convert", "a.json", "--to", OTHER, "-o", "m.json", "--losses", "l.jsonl", "--force")
    run("convert", "a.json", "--to", OTHER, "-o", "m.json", "--losses", "l.json", "--force")
    assert [*map(json.loads, Path("l.jsonl").read_text().splitlines())] == json.loads(Path("l.json").read_text()) != []
    for name in ("h.jsonl", "h.json"):
        run("redact", "b.json", "--mask", "hello", "-o", "m.json", "--report", name, "--force")
    assert [*map(json.loads, Path("h.jsonl").read_text().splitlines())] == json.loads(Path("h.json").read_text()) != []


@pytest.mark.parametrize(
    ("line", "note"),
    [
        (("convert", "a.json", "--to", OWN, "-o", "x.csv"), "JSON"),
        (("convert", "a.json", "--to", OWN, "-o", "-", "--losses", "x.csv.gz"), "JSON"),
        (("redact", "a.json", "-o", "/dev/null", "--report", "x.yaml"), "JSON"),
        (("redact", "a.json", "-o", "x.csv"), "JSON"),
        (("validate", "a.json", "--statistics", "-o", "x.sarif"), "text"),
        (("validate", "a.json", "--statistics", "-o", "x.json"), ""),
        (("inspect", "a.json", "-o", "x.parquet"), "text"),
        (("validate", "a.json", "-o", "x.yml"), "text"),
        (("share", "a.json", "-o", "x.txt"), "HTML"),
        (("inspect", "a.json", "-o", "x.txt"), ""),
        (("validate", "a.json", "-o", "x"), ""),
    ],
)
def test_a_name_that_promises_another_format_is_noted(line: tuple[str, ...], note: str) -> None:
    done = run(*line)
    assert done.returncode == 0, done.stderr
    assert done.stderr.decode().count(" is written as ") == bool(note)
    assert f"is written as {note}\n" in done.stderr.decode() or not note


@pytest.mark.parametrize("output", ["new/", "."])
def test_the_name_of_a_folder_is_no_file(output: str) -> None:
    done = run("convert", "a.json", "--to", OWN, "-o", output)
    assert (done.returncode, b"it is a directory" in done.stderr, Path("new").exists()) == (3, True, False)


def test_a_split_without_rows_is_noted() -> None:
    line = ("convert", "b.json", "--to", "hf-chat", "--out-dir", "out", "--split")
    assert b"no split without rows" in run(*line, "train=0.5,val=0.5").stderr
    assert b"no split without rows" not in run(*line, "train=1", "--force").stderr


def test_a_report_of_hits_is_no_other_file() -> None:
    for report, code in (("a.json", "output-is-input"), ("x", "usage")):
        done = run("redact", "a.json", "-o", "x", "--report", report, "--force")
        assert (done.returncode, f"[{code}]" in done.stderr.decode(), Path("x").exists()) == (2, True, False)
    assert run("redact", "b.json", "--out-dir", "masked", "--report", "masked/hits.json").returncode == 0
    assert sorted(path.name for path in Path("masked").iterdir()) == ["b.json", "hits.json"]


@pytest.mark.parametrize(
    "line",
    [("redact", "b.json", "--report"), ("convert", "b.json", "--to", OTHER, "--losses"),
     ("convert", "b.json", "--to", OTHER, "--restore-file"), ("convert", "b.json", "--to", OTHER, "--receipt")],
)  # fmt: skip
def test_an_output_in_a_folder_is_no_file_of_another_option(line: tuple[str, ...]) -> None:
    Path("out").mkdir()
    done = run(*line, "out/b.json", "--out-dir", "out", "--force")
    assert (done.returncode, b"[same-output]" in done.stderr) == (2, True)
