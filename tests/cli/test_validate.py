"""convcli validate as a check of many files: what is told, in which order, and how much of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from convcli.files.names import PACKED
from convcli.jobs import inputs, paths
from convcli.jobs.judging import JudgingOptions, Verdict, judge
from tests.cli_cases import CLEAN, ROOT, WRONG, run, write

SESSION: list[dict[str, Any]] = [
    {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/x"},
    {"type": "message", "id": "a1", "parentId": None, "timestamp": "2026-01-01T00:00:01Z"},
    {"type": "message", "id": "a2", "parentId": "a1", "timestamp": "2026-01-01T00:00:02Z"},
    {"type": "message", "id": "a3", "parentId": "a2", "timestamp": "2026-01-01T00:00:03Z"},
    {"type": "message", "id": "a4", "parentId": "a3", "timestamp": "2026-01-01T00:00:04Z"},
]
SAID = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": [{"type": "toolCall", "id": "c1", "name": "f", "arguments": {}}]},
    {"role": "toolResult", "toolCallId": "c1", "toolName": "f", "content": [{"type": "text", "text": "ok"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
]


def rows() -> list[str]:
    """A session in which every row leans on the one before it."""
    messages = [{**row, "message": said} for row, said in zip(SESSION[1:], SAID, strict=True)]
    return [json.dumps(row) for row in (SESSION[0], *messages)]


def verdicts(path: Path, terms: JudgingOptions = JudgingOptions()) -> list[Verdict]:  # noqa: B008  (frozen)
    with inputs.opened(str(path)) as source:
        return list(judge(source, terms))


def reported(path: Path, terms: JudgingOptions = JudgingOptions()) -> list[tuple[str, int]]:  # noqa: B008  (frozen)
    return [(finding.code, finding.line) for verdict in verdicts(path, terms) for finding in verdict.findings]


# ---------------------------------------------------------------- sessions: one transcript of many rows


def test_a_session_whose_every_row_is_read_is_one_clean_transcript(tmp_path: Path) -> None:
    assert [verdict.findings for verdict in verdicts(write(tmp_path / "a.jsonl", *rows()))] == [[]]


def test_a_torn_session_is_one_transcript(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *rows(), '{"type": "mess', end="")
    (verdict,) = verdicts(path)
    assert [(finding.code, finding.line) for finding in verdict.findings] == [("torn-record", 6)]
    assert b"1 error in 1 of 1 transcript, 0 clean" in run("validate", path).stderr


def test_what_only_follows_from_a_line_that_cannot_be_read_is_counted_and_not_shown(tmp_path: Path) -> None:
    lines = rows()
    lines[2] = lines[2][:-1]
    (finding,) = verdicts(write(tmp_path / "a.jsonl", *lines))[0].findings
    assert (finding.code, finding.line) == ("not-json", 3)
    assert finding.notes == ("2 more that may be consequences, not shown: missing-parent, orphan-tool-result",)


def test_what_stands_before_the_line_that_cannot_be_read_does_not_follow_from_it(tmp_path: Path) -> None:
    lines = rows()
    lines[4] = lines[4][:-1] + "]"
    lines[2] = lines[2].replace('"parentId": "a1"', '"parentId": "zz"')
    assert reported(write(tmp_path / "a.jsonl", *lines, lines[1])) == [
        ("missing-parent", 3),
        ("not-json", 5),
        ("duplicate-message-id", 6),
    ]


def test_a_result_that_may_stand_in_a_line_behind_that_cannot_be_read_is_not_missing(tmp_path: Path) -> None:
    lines = rows()
    del lines[3]
    whole = [line.replace('"parentId": "a3"', '"parentId": "a2"') for line in lines]
    whole.append(whole[1].replace('"a1"', '"a5"').replace("null", '"a4"'))
    assert reported(write(tmp_path / "a.jsonl", *whole)) == [("missing-tool-result", 3)]
    broken = [*whole, "{]", *whole[-1:]]
    assert ("missing-tool-result", 3) not in reported(write(tmp_path / "b.jsonl", *broken))


def test_what_a_stream_lacks_because_an_event_cannot_be_read_is_not_told_apart(tmp_path: Path) -> None:
    stream = [
        {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "x"}},
        "{]",
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi."}},
        {"type": "message_stop"},
    ]
    stream[0]["message"]["content"] = []  # type: ignore[index]
    (finding,) = verdicts(write(tmp_path / "a.jsonl", *stream))[0].findings
    assert (finding.code, finding.line) == ("not-json", 2)
    assert finding.notes == ("1 more that may be consequences, not shown: stream-out-of-order",)


def test_who_leaves_the_cause_out_gets_what_follows_from_it(tmp_path: Path) -> None:
    lines = rows()
    lines[2] = lines[2][:-1]
    found = reported(write(tmp_path / "a.jsonl", *lines), JudgingOptions(ignore=frozenset(["not-json"])))
    assert found == [("missing-parent", 4), ("orphan-tool-result", 4)]


def test_of_a_session_that_is_refused_for_a_line_convert_tells_that_line_only(tmp_path: Path) -> None:
    lines = rows()
    lines[2] = lines[2][:-1]
    path = write(tmp_path / "a.jsonl", *lines)
    done = run("convert", path, "--to", "openai-chat", "-o", tmp_path / "o.json", "--losses", tmp_path / "l.json")
    assert done.returncode == 1
    assert b"not-json" in done.stderr
    assert b"orphan" not in done.stderr
    assert b"lost" not in done.stderr
    assert not (tmp_path / "o.json").exists()


# ---------------------------------------------------------------- which dialect


def test_the_first_finding_of_a_file_says_what_it_was_read_as_where_that_is_not_sure(tmp_path: Path) -> None:
    document = {"messages": [{"role": "user", "content": [{"type": "text", "txt": "Hi."}]}]}
    path = write(tmp_path / "a.jsonl", document, document)
    first, second = [verdict.findings[0] for verdict in verdicts(path)]
    assert (first.code, second.code) == ("missing-key", "missing-key")
    assert first.notes == (
        "read as openai-chat: messages with Chat Completions roles and plain content; --from names another",
    )
    assert second.notes == ()
    with inputs.opened(str(path), "openai-chat") as source:
        assert [verdict.findings[0].notes for verdict in judge(source)] == [(), ()]


# ---------------------------------------------------------------- order


def test_findings_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    lines = rows()
    lines[3] = lines[3].replace('"c1"', '"\\ud800"')
    lines.insert(2, "{]")
    lines.append(lines[1])
    found = reported(write(tmp_path / "a.jsonl", *lines))
    assert found == sorted(found, key=lambda pair: pair[1])
    assert {code for code, _ in found} == {"not-json", "lone-surrogate", "duplicate-message-id"}


def test_findings_of_a_record_come_in_the_order_of_its_keys(tmp_path: Path) -> None:
    record = {
        "tools": [{"type": "function", "function": {"name": "a b"}}],
        "messages": [
            {"role": "user", "content": "\ud800"},
            {"role": "tool", "tool_call_id": "x", "content": "\ud800"},
            *[{"role": "user", "content": "hi"}] * 8,
            {"role": "tool", "tool_call_id": "y", "content": "22"},
        ],
    }
    (verdict,) = verdicts(write(tmp_path / "a.jsonl", record))
    assert [finding.where for finding in verdict.findings] == [
        "/tools/0/function/name",
        "/messages/0/content",
        "/messages/1/tool_call_id",
        "/messages/1/content",
        "/messages/10/tool_call_id",
    ]


# ---------------------------------------------------------------- in CI


UNSEEN = {".parquet", ".arrow", ".db"}
"""Tables need a library that the environment of a hook does not have, and nobody commits the database of a program."""


def test_the_hook_of_pre_commit_sees_every_file_that_is_read() -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    (pattern,) = re.findall(r"^\s*files: '(.*)'$", hook, re.MULTILINE)
    for suffix in set(paths.SUFFIXES) - UNSEEN:
        for packing in ("", *PACKED):
            assert re.search(pattern, f"a/b{suffix}{packing}"), suffix + packing
    assert not re.search(pattern, "notes.md")
    assert re.findall(r"^\s*entry: (.*)$", hook, re.MULTILINE) == ["convcli validate --transcripts-only"]


def test_files_as_pre_commit_names_them_fail_with_the_findings_of_all(tmp_path: Path) -> None:
    good, bad = write(tmp_path / "good.json", CLEAN), write(tmp_path / "bad.jsonl", CLEAN, WRONG)
    done = run("validate", good, bad, "--isolated")
    assert done.returncode == 1
    assert b"error[unknown-value]" in done.stdout
    assert b"bad.jsonl:2:24 /messages/0/role" in done.stdout
    assert done.stderr == b"1 error in 1 of 3 transcripts, 2 clean\n"


# ---------------------------------------------------------------- a project: files of others, reports, known findings

SETTINGS = '{"name": "x", "version": "1.0.0", "scripts": {"test": "true"}}'


def test_a_folder_s_files_that_are_no_transcripts_are_skipped_and_counted_but_a_torn_one_fails(tmp_path: Path) -> None:
    write(tmp_path / "package.json", SETTINGS)
    write(tmp_path / "tsconfig.json", "// settings\n{}")
    write(tmp_path / "a.json", CLEAN)
    done = run("validate", tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"2 files skipped: no transcripts\n1 transcript, clean\n"
    for jobs in (1, 2):  # a dialect to check them in makes them no transcripts
        done = run("validate", tmp_path, "--as", "anthropic", "-j", jobs)
        assert done.stderr.startswith(b"2 files skipped: no transcripts\n")
        assert b"package.json" not in done.stdout
    write(tmp_path / "torn.json", json.dumps(CLEAN)[:-20])
    for jobs in (1, 2):
        done = run("validate", tmp_path, "-j", jobs)
        assert (done.returncode, b"torn.json" in done.stdout) == (1, True)


def test_a_file_that_is_named_is_not_skipped_unless_asked_for_and_nothing_left_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "package.json", SETTINGS)
    assert run("validate", path).returncode == 1
    done = run("validate", path, "--transcripts-only")
    assert (done.returncode, done.stderr) == (0, b"1 file skipped: no transcripts\n")
    assert run("validate", tmp_path).returncode == 2
    assert run("validate", path, "--transcripts-only", "--exclude", "package.json").returncode == 0
    assert run("validate", path, "--transcripts-only", "--from", "openai-chat").returncode == 1


def test_the_hook_skips_files_that_are_no_transcripts() -> None:
    assert "entry: convcli validate --transcripts-only\n" in (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")


def test_a_report_goes_into_a_file_that_is_whole_or_not_there(tmp_path: Path) -> None:
    source, report = write(tmp_path / "a.json", WRONG), tmp_path / "report.json"
    done = run("validate", source, "--from", "openai-chat", "--output-format", "json", "-o", report)
    assert (done.returncode, done.stdout) == (1, b"")
    assert [finding["code"] for finding in json.loads(report.read_bytes())["findings"]] == ["unknown-value"]
    assert run("validate", source, "-o", report).returncode == 2
    done = run("validate", source, "--from", "openai-chat", "--statistics", "--force", "-o", report)
    assert (done.returncode, b"unknown-value" in report.read_bytes()) == (1, True)


def test_known_findings_are_counted_and_new_ones_fail(tmp_path: Path) -> None:
    source, known = tmp_path / "a.jsonl", tmp_path / "known.json"
    words = ("validate", source, "--from", "openai-chat", "--baseline", known)
    write(source, WRONG, CLEAN)
    assert run(*words).returncode == 2
    done = run(*words, "--write-baseline")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == f"1 finding written to {known}\n".encode()
    write(source, CLEAN, CLEAN, WRONG)
    done = run(*words)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"3 transcripts, no new findings\n1 known finding not shown\n"
    write(source, WRONG, WRONG)
    done = run(*words)
    assert (done.returncode, done.stdout.count(b"error[unknown-value]")) == (1, 1)
    write(source, CLEAN)
    assert b"1 of the baseline gone: --write-baseline takes them out" in run(*words).stderr
    (tmp_path / "convcli.toml").write_text('baseline = "known.json"\n', encoding="utf-8")
    write(source, WRONG)
    assert run("validate", "a.jsonl", "--from", "openai-chat", cwd=tmp_path).returncode == 0


def test_a_place_of_a_file_named_with_its_line_is_ignored_by_the_configuration(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", WRONG, WRONG)
    text = '[[ignore-at]]\nfile = "a.jsonl"\nline = 1\n[dialects]\n"*.jsonl" = "openai-chat"\n'
    (tmp_path / "convcli.toml").write_text(text, encoding="utf-8")
    codes = [run("validate", f"a.jsonl:{line}", cwd=tmp_path).returncode for line in (1, 2)]
    assert codes == [0, 1]


def test_transcripts_that_were_judged_as_converted_are_counted_by_their_dialect(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", CLEAN)
    note = b"checked after conversion to anthropic: 1 transcript in openai-chat; --from anthropic checks files as they"
    assert note in run("validate", path, "--as", "anthropic").stderr
    for options in (("--as", "openai-chat"), ("--from", "openai-chat", "--as", "openai-chat"), ()):
        assert b"checked after conversion" not in run("validate", path, *options).stderr


def test_the_last_line_counts_what_is_printed_of_every_severity(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "Hi."},
        {"role": "user", "content": "Hi?"},
        {"role": "assistant", "content": "Yes."},
    ]
    file = write(tmp_path / "rows.jsonl", {"messages": turns}, {"messages": turns[1:]})
    done = run("validate", file, "--from", "hf-chat")
    assert (done.returncode, done.stdout.count(b"info[repeated-role]")) == (0, 1)
    assert done.stderr == b"1 info in 1 of 2 transcripts, 1 clean\n"
