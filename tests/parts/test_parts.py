"""Jobs in parts: the same bytes, losses, findings and lines as of one process, each part once, whatever is killed."""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from convcli import parts
from convcli.__main__ import main
from convcli.jobs import workers
from convcli.model.errors import JobError, OutputError
from convcli.parts import Part, Task, begin, finish, finished, plan, run_part, unfinished
from convcli.parts import finishing as finishing_module
from convcli.parts import work as work_module
from tests import tiers
from tests.cli_cases import CLEAN, OTHER, WRONG

TARGET = "anthropic"
NAMED = {"messages": [{"role": "user", "name": "half \ud800", "content": "東京\u2028"}], "seed": 7}
LINES = [
    json.dumps(CLEAN),
    json.dumps(NAMED, ensure_ascii=False).encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
    '{"messages": [',
    "   ",
    json.dumps(WRONG),
    '{"messages": [], "messages": []}',
    json.dumps(NAMED) + "\r",
    "",
    json.dumps({"messages": [{"role": "user", "content": "long " * 200}], "user": "u"}),
]
CONVERT = Task("convert", OTHER, TARGET, keep_going=True, losses="all")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with inputs of each kind; in a file of lines most are bad in some way."""
    monkeypatch.chdir(tmp_path)
    text = "\n".join(LINES * 6).encode()
    Path("a.jsonl").write_bytes(text + b'\n{"messages": [{"ro')
    Path("b.jsonl.gz").write_bytes(gzip.compress(text))
    Path("c.json").write_text(json.dumps(NAMED))
    for number in range(5):
        Path(f"d{number}.json").write_text(json.dumps(WRONG if number == 3 else NAMED))
    Path("e.json").write_text("{")
    return tmp_path


INPUTS = ["a.jsonl", "b.jsonl.gz", "c.json", "d*.json", "e.json"]


def done(task: Task = CONVERT, size: int = 700, out: str = "out", inputs: list[str] = INPUTS) -> Any:
    """A job that is done part by part, here."""
    each = plan(inputs, out, task, size=size)
    begin(each)
    for part in unfinished(each):
        run_part(part)
    return finish(each)


def joined(kind: str = "", out: str = "out") -> bytes:
    """What the parts have written, one after the other."""
    return b"".join(path.read_bytes() for path in sorted(Path(out, kind).glob("part-*.jsonl")))


def alone(*words: str, capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """What one process does: its exit code, and what it prints."""
    capfd.readouterr()
    return main([str(word) for word in words]), *capfd.readouterr()


@pytest.mark.parametrize("size", tiers.few([37, 700, 1 << 20], 1))
def test_parts_of_any_size_are_converted_as_by_one_process(
    folder: Path, size: int, capfd: pytest.CaptureFixture[str]
) -> None:
    report = done(size=size)
    words = ["convert", *INPUTS, "--from", OTHER, "--to", TARGET, "--keep-going", "-o", "one.jsonl"]
    assert alone(*words, "--losses", "losses.json", capfd=capfd)[0] == 1
    assert joined() == Path("one.jsonl").read_bytes()
    losses = json.loads(Path("losses.json").read_bytes())
    assert [json.loads(line) for line in joined("_losses").splitlines()] == losses
    assert sum(group.count for group in report.totals.summary.groups.values()) == len(losses) > 40
    assert (report.missing, Path("out/_SUCCESS").exists()) == ([], True)


@pytest.mark.parametrize("size", tiers.few([700, 37, 1 << 20], 1))
def test_parts_of_any_size_are_validated_as_by_one_process(
    folder: Path, size: int, capfd: pytest.CaptureFixture[str]
) -> None:
    report = done(Task("validate", OTHER), size)
    words = ["validate", "--from", OTHER, "--output-format", "jsonl", *INPUTS]
    code, printed, reported = alone(*words, capfd=capfd)
    assert (code, joined().decode()) == (1, printed)
    assert report.severe("error") == sum(json.loads(line)["severity"] == "error" for line in printed.splitlines()) > 30
    totals, transcripts = report.totals, report.totals.summary.transcripts
    assert f" in {transcripts - totals.clean} of {transcripts} transcripts" in reported


@pytest.mark.parametrize("size", tiers.few([700, 37, 1 << 20], 1))
def test_parts_of_any_size_are_counted_as_by_one_process(
    folder: Path, size: int, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["stats", "--from", OTHER, *INPUTS]
    there = ["--engine", "local", "--out-dir", "out", "--part-size", str(size)]
    assert alone(*words, *there, capfd=capfd)[:2] == alone(*words, capfd=capfd)[:2]


def test_every_line_is_written_refused_torn_or_blank_in_each_part_and_in_all(folder: Path) -> None:
    report = done(size=200)
    marks = list(finished(plan(INPUTS, "out", CONVERT, size=200)))
    assert len(marks) > 30
    for each in (*marks, report):
        totals, summary = each.totals, each.totals.summary
        assert totals.lines == totals.written + totals.refused + summary.torn + totals.blank
    text = Path("a.jsonl").read_bytes()
    of_file = [mark for mark in marks if mark.part.pieces[0].file == "a.jsonl"]
    assert sum(mark.totals.lines for mark in of_file) == text.count(b"\n") + 1
    assert (report.totals.summary.torn, len(joined("_refused").splitlines())) == (0, 6 * 3 * 2 + 1 + 1)


def test_a_file_that_breaks_off_is_counted_up_to_there(folder: Path) -> None:
    text = "\n".join(json.dumps({"messages": [{"role": "user", "content": f"{row**9}"}]}) for row in range(9000))
    Path("f.jsonl.gz").write_bytes(gzip.compress(text.encode())[:-9999])
    report = done(inputs=["f.jsonl.gz"])
    assert report.totals.lines == report.totals.written + report.totals.refused > 2
    assert report.totals.refused == 1


def test_a_job_goes_on_where_it_was_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done(out="whole", size=300)
    each, calls = plan(INPUTS, "out", CONVERT, size=300), list[int]()
    begin(each)
    for part in each[::2]:
        run_part(part)
    assert finish(each).missing
    assert not Path("out/_SUCCESS").exists()
    monkeypatch.setattr(parts, "run_part", lambda part: calls.append(part.number) or run_part(part))
    for part in unfinished(each):
        parts.run_part(part)
    assert calls == [part.number for part in each[1::2]]
    assert finish(each).missing == []
    for kind in ("", "_losses", "_findings", "_refused"):
        assert joined(kind) == joined(kind, "whole")


CHANGES: dict[str, Callable[[], object]] = {
    "an output is gone": lambda: Path("out/part-00001.jsonl").unlink(),
    "an output was cut off": lambda: Path("out/part-00001.jsonl").write_bytes(b"{"),
    "the mark is gone": lambda: Path("out/_done/00001.json").unlink(),
    "the mark is of another version": lambda: edit(Path("out/_done/00001.json"), '"version":"0', '"version":"9'),
    "the mark is of another task": lambda: edit(Path("out/_done/00001.json"), '"chunk":0', '"chunk":5'),
    "the mark is no mark": lambda: Path("out/_done/00001.json").write_bytes(b"[]"),
}


def edit(path: Path, old: str, new: str) -> None:
    """Replace what stands in a file."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize("change", CHANGES)
def test_a_part_is_done_again_when_its_mark_does_not_count(folder: Path, change: str) -> None:
    done(size=2000)
    before = joined()
    CHANGES[change]()
    each = plan(INPUTS, "out", CONVERT, size=2000)
    assert [part.number for part in unfinished(each)] == [1]
    done(size=2000)
    assert joined() == before


def test_a_changed_input_and_only_its_parts_are_done_again(folder: Path) -> None:
    done(size=2000)
    with Path("b.jsonl.gz").open("ab") as file:
        file.write(gzip.compress(b"\n" + LINES[0].encode()))
    each = plan(INPUTS, "out", CONVERT, size=2000)
    assert {piece.file for part in unfinished(each) for piece in part.pieces} >= {"b.jsonl.gz"}
    assert len(unfinished(each)) == 1


def test_an_input_that_changes_meanwhile_stops_its_part(folder: Path) -> None:
    each = plan(INPUTS, "out", CONVERT, size=2000)
    Path("a.jsonl").write_bytes(b"{}")
    with pytest.raises(JobError) as caught:
        run_part(each[0])
    assert caught.value.code == "input-changed"
    assert not Path("out").exists() or not list(Path("out").rglob("*.json*"))


class Killed(BaseException):
    """What nothing in the program catches, as a signal that cannot be caught."""


def killing(function: Any, at: int) -> tuple[Any, Iterator[int]]:
    """The function, which dies at one of its calls."""
    calls = iter(range(10**6))

    def dying(*args: Any, **named: Any) -> Any:
        if next(calls) == at:
            raise Killed
        return function(*args, **named)

    return dying, calls


@pytest.mark.parametrize("at", tiers.few(range(0, 20, 3)))
def test_whatever_is_killed_at_an_output_the_same_again_gives_the_same(
    folder: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(out="whole", size=1500)
    with monkeypatch.context() as patched:
        from convcli.files.outputs import Replacement

        patched.setattr(Replacement, "publish", killing(Replacement.publish, at)[0])
        with pytest.raises(Killed):
            done(size=1500)
    assert not Path("out/_SUCCESS").exists()
    assert done(size=1500).missing == []
    names = {str(path.relative_to("out")) for path in Path("out").rglob("*") if path.is_file()}
    assert names == {str(path.relative_to("whole")) for path in Path("whole").rglob("*") if path.is_file()}
    for kind in ("", "_losses", "_findings", "_refused"):
        assert joined(kind) == joined(kind, "whole")


@pytest.mark.parametrize("at", tiers.few(range(8)))
def test_what_is_killed_while_lines_are_counted_through_is_not_counted_twice(
    folder: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(out="whole", size=700)
    with monkeypatch.context() as patched:
        patched.setattr(finishing_module, "put", killing(finishing_module.put, 1 + at)[0])
        with pytest.raises(Killed):
            done(size=700)
    done(size=700)
    assert joined("_losses") == joined("_losses", "whole")


def test_a_part_without_keep_going_has_no_documents_and_the_job_no_success(folder: Path) -> None:
    task = Task("convert", OTHER, TARGET)
    report = done(task, 2000)
    assert report.totals.refused > 0
    assert not Path("out/part-00000.jsonl").exists()
    assert not Path("out/_SUCCESS").exists()
    assert next(finished(plan(INPUTS, "out", task, size=2000))).totals.written == 0


def test_losses_that_are_not_wanted_are_counted_all_the_same(folder: Path) -> None:
    one, other = done(), done(Task("convert", OTHER, TARGET, keep_going=True, losses="none"), out="few")
    assert [(group.label, group.count) for group in one.totals.summary.groups.values()] == [
        (group.label, group.count) for group in other.totals.summary.groups.values()
    ]
    assert not Path("few/_losses").exists()


def test_outputs_of_parts_that_are_no_more_are_taken_away(folder: Path) -> None:
    done(size=200)
    done(size=1 << 20)
    assert [path.name for path in Path("out").glob("part-*")] == ["part-00000.jsonl"]
    assert len(list(Path("out/_done").iterdir())) == 2


def test_a_folder_that_holds_something_else_is_left_alone(folder: Path) -> None:
    Path("out").mkdir()
    Path("out/part-00000.jsonl").write_text("mine")
    with pytest.raises(JobError) as caught:
        done()
    assert caught.value.code == "output-exists"
    assert Path("out/part-00000.jsonl").read_text() == "mine"
    begin(plan(INPUTS, "out", CONVERT), force=True)


def test_another_job_does_not_write_into_the_folder_of_one(folder: Path) -> None:
    done()
    with pytest.raises(JobError):
        done(Task("validate", OTHER))


def test_a_part_survives_pickling_and_has_plain_values_only(folder: Path) -> None:
    each = plan(INPUTS, "out", CONVERT, size=700)
    assert list(pickle.loads(pickle.dumps(each))) == list(each)
    assert len({part.number for part in each}) == len(each) > 5
    assert all(isinstance(part, Part) for part in each)


def test_a_target_whose_file_is_one_transcript_is_refused(folder: Path) -> None:
    with pytest.raises(JobError) as caught:
        plan(INPUTS, "out", Task("convert", OTHER, "openclaw"))
    assert caught.value.code == "one-transcript-only"


def test_an_output_that_cannot_be_written_leaves_no_mark(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (part, *_) = plan(INPUTS, "out", CONVERT)

    def refuse(*_: object) -> None:
        raise OutputError("cannot-write", "full")

    monkeypatch.setattr(work_module.exact_json, "write_line", refuse)
    with pytest.raises(OutputError):
        run_part(part)
    assert not list(Path("out").rglob("*.json*"))


# --- the command line ------------------------------------------------------------------------------------------------

WORDS = ["convert", *INPUTS, "--to", TARGET, "--keep-going", "--engine", "local", "--part-size", "1K"]


@pytest.mark.skipif(not workers.can_start(), reason="processes cannot be started here")
def test_two_processes_do_what_one_does(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--out-dir", "one", "--losses", "all"]) == 1
    first = capfd.readouterr().err
    assert main([*WORDS, "--out-dir", "two", "--losses", "all", "-j", "2"]) == 1
    assert capfd.readouterr().err == first
    for kind in ("", "_losses", "_findings", "_refused"):
        assert joined(kind, "one") == joined(kind, "two")


def test_the_same_command_again_says_that_its_parts_are_finished(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "--out-dir", "out"]) == 1
    capfd.readouterr()
    assert main([*WORDS, "--out-dir", "out"]) == 1
    assert "parts were finished before" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "help_text"),
    [
        (["convert", "a.jsonl", "--to", TARGET, "--engine", "local"], "needs --out-dir"),
        (["convert", "a.jsonl", "--to", TARGET, "--part-size", "1M"], "--part-size is for a job with --engine"),
        ([*WORDS, "--out-dir", "out", "--part-size", "x"], "--part-size needs a number"),
        ([*WORDS, "--out-dir", "out", "--losses", "file.json"], "is all, first or none"),
        ([*WORDS, "--out-dir", "out", "-o", "x.jsonl"], "excludes -o"),
        ([*WORDS, "--out-dir", "out", "--limit", "3"], "excludes --line, --at and"),
        (
            ["validate", "a.jsonl", "--engine", "local", "--out-dir", "out", "--statistics"],
            "not for a job with --engine",
        ),
        (["stats", "-", "--from", OTHER, "--engine", "local", "--out-dir", "out"], "not stdin"),
    ],
)
def test_what_does_not_go_together_is_reported(
    folder: Path, words: list[str], help_text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert help_text in capfd.readouterr().err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("words", "package", "help_text"),
    [
        ([*WORDS, "--out-dir", "out", "--engine", "ray"], "ray", "pip install 'convcli[ray]'"),
        (["stats", "s3://bucket/in.jsonl"], "fsspec", "pip install 'convcli[remote]'"),
    ],
)
def test_a_package_that_is_missing_is_one_line_with_what_installs_it(
    folder: Path,
    words: list[str],
    package: str,
    help_text: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    assert main(words) == 2
    assert help_text in capfd.readouterr().err


def test_a_part_has_a_least_size(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("convcli.cli._parts.LEAST", 64 << 10)
    assert main([*WORDS, "--out-dir", "out"]) == 2
    assert "--part-size is at least 64K" in capfd.readouterr().err
    assert not Path("out").exists()


CONFIGURATION = """
ignore = ["duplicate-key"]
[per-file-ignores]
"b*" = ["wrong-type", "unknown-value"]
[[ignore-at]]
file = "a.jsonl"
line = 21
[[ignore-at]]
file = "e.json"
codes = ["not-json"]
"""


@pytest.mark.parametrize("size", tiers.few(["700", "37", "1M"], 1))
def test_what_the_project_ignores_is_ignored_in_parts_too(
    folder: Path, size: str, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["validate", "--from", OTHER, "--output-format", "jsonl", *INPUTS]
    _, everything, _ = alone(*words, capfd=capfd)
    Path("convcli.toml").write_text(CONFIGURATION)
    _, printed, reported = alone(*words, capfd=capfd)
    assert len(printed.splitlines()) < len(everything.splitlines()) - 10
    in_parts = ["validate", "--from", OTHER, *INPUTS, "--engine", "local", "--out-dir", "out", "--part-size", size]
    assert alone(*in_parts, capfd=capfd)[2].splitlines()[-1] == reported.splitlines()[-1]
    assert joined().decode() == printed


def test_findings_of_a_conversion_that_the_project_ignores_are_not_reported(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "--out-dir", "out"]) == 1
    assert "with the code incomplete-request" in capfd.readouterr().err
    Path("convcli.toml").write_text('ignore = ["incomplete-request"]')
    assert main([*WORDS, "--out-dir", "out"]) == 1
    assert "incomplete-request" not in capfd.readouterr().err
