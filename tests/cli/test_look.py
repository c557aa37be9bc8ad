"""convcli validate, inspect, detect, dialects, schema: what they say about files."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli_cases import CLEAN, LOSSY, OTHER, OWN, WRONG, run, write

GO_ON = {"role": "user", "parts": [{"type": "text", "text": "Go on."}]}
TORN = json.dumps(CLEAN)[:-20]


def test_a_clean_file_validates_with_exit_0_and_says_so(tmp_path: Path) -> None:
    done = run("validate", write(tmp_path / "a.jsonl", LOSSY, LOSSY))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"2 transcripts, all clean\n")


def test_validate_tells_each_place_and_counts_the_transcripts(tmp_path: Path) -> None:
    done = run("validate", write(tmp_path / "a.jsonl", CLEAN, WRONG, CLEAN), "--dialect", OTHER)
    assert done.returncode == 1
    assert b"a.jsonl:2:24 /messages/0/role" in done.stdout
    assert done.stderr == b"1 error in 1 of 3 transcripts, 2 clean\n"


def test_a_torn_last_line_is_an_error_for_validate(tmp_path: Path) -> None:
    done = run("validate", write(tmp_path / "a.jsonl", CLEAN, TORN, end=""), "--dialect", OTHER)
    assert done.returncode == 1
    assert b"error[torn-record]" in done.stdout


def test_half_a_surrogate_pair_is_a_warning_at_its_place(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", '{"messages":[{"role":"user","content":"x\\ud83d"}]}')
    done = run("validate", source, "--dialect", OTHER, "--output-format", "jsonl")
    finding = json.loads(done.stdout)
    assert (done.returncode, finding["severity"], finding["where"]) == (0, "warning", "/messages/0/content")


def test_strict_makes_unknown_keys_findings_and_exits_1(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", {**CLEAN, "modle": "x"})
    assert run("validate", source, "--dialect", OTHER).returncode == 0
    done = run("validate", source, "--dialect", OTHER, "--strict")
    assert done.returncode == 1
    assert b"warning[unknown-key]" in done.stdout


def test_exit_zero_forgives_findings_but_no_missing_file(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", WRONG)
    assert run("validate", source, "--dialect", OTHER, "--exit-zero").returncode == 0
    assert run("validate", source, tmp_path / "none", "--dialect", OTHER, "--exit-zero").returncode == 2


def test_validate_as_judges_what_another_dialect_would_get(tmp_path: Path) -> None:
    done = run("validate", write(tmp_path / "a.json", LOSSY), "--as", OTHER)
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stderr


def test_many_transcripts_are_shown_by_their_counts(tmp_path: Path) -> None:
    done = run("inspect", write(tmp_path / "a.jsonl", LOSSY, LOSSY), "--output-format", "jsonl")
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["line"], second["line"]) == (1, 2)
    assert [first[name] for name in ("messages", "calls", "results", "errors", "unpaired")] == [3, 1, 1, 0, 0]


def test_summary_counts_even_one_transcript_and_limit_cuts(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", LOSSY)
    assert b"unpaired" in run("inspect", source, "--summary").stdout
    assert run("inspect", source, "--limit", 1).stdout.count(b"\n") == 2


def test_detect_names_the_dialect_and_the_reason(tmp_path: Path) -> None:
    known, unknown = write(tmp_path / "a.json", LOSSY), write(tmp_path / "b.json", {"x": 1})
    done = run("detect", known, unknown, "--output-format", "json")
    (row,) = json.loads(done.stdout)
    assert (row["file"], row["dialect"]) == (str(known), OWN)
    assert row["why"]
    assert done.returncode == 1
    assert b"error[unknown-dialect]" in done.stderr


def test_each_help_is_told_once_however_many_errors_have_the_same_code(tmp_path: Path) -> None:
    trace, pairs = {"trace": {}, "observations": []}, {"question": "a", "chosen": "b", "rejected": "c"}
    files = [write(tmp_path / f"{number}.json", document) for number, document in enumerate([trace, pairs, trace])]
    reported = run("detect", *files).stderr.decode()
    assert (reported.count("error[unknown-dialect]"), reported.count("help:")) == (3, 2)
    assert reported.count("--at langfuse") == reported.count("rename the key question") == 1


def test_detect_names_the_other_readings_of_messages_alone(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Sky?"}, {"role": "assistant", "content": "Blue."}]
    alone, marked = write(tmp_path / "a.jsonl", {"messages": said}), write(tmp_path / "b.json", LOSSY)
    first, second = json.loads(run("detect", alone, marked, "--output-format", "json").stdout)
    assert {"hf-chat", "ms-swift", "openai-ft"} <= set(first["alike"])
    assert first["why"].endswith(f"; read the same with --from {', '.join(first['alike'])}")
    assert second["alike"] == []


def test_detect_compares_the_readings_of_a_long_document_by_its_beginning(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Sky?"}, {"role": "assistant", "content": "Blue."}] * 300
    (row,) = json.loads(run("detect", write(tmp_path / "a.json", {"messages": said}), "-O", "json").stdout)
    assert {"hf-chat", "ms-swift", "openai-ft"} <= set(row["alike"])
    assert row["why"].endswith(f"; its beginning is read the same with --from {', '.join(row['alike'])}")


def test_dialects_lists_what_the_folder_holds_and_describes_one() -> None:
    rows = json.loads(run("dialects", "--output-format", "json").stdout)
    assert {OWN, OTHER} <= {row["dialect"] for row in rows}
    assert b"Chat Completions" in run("dialects", OTHER).stdout
    assert [row["dialect"] for row in rows if row["about"].lower().count("read-only") > 1] == []
    assert [row["dialect"] for row in rows if row["writes"] == "no" and "read-only" not in row["about"].lower()] == []


def test_a_code_of_all_schemas_is_explained_as_one_of_all_dialects() -> None:
    assert run("explain", "unknown-value").stdout.partition(b"rule of\n")[2].startswith(b"    the schema of every")
    assert b"sharegpt" in run("explain", "unanswered-row").stdout.partition(b"rule of\n")[2]


def test_schema_prints_json_schema_and_lists_the_names() -> None:
    assert json.loads(run("schema", OTHER).stdout)["$schema"]
    assert OTHER.encode() in run("schema", "--list").stdout.splitlines()


def test_findings_and_losses_of_one_kind_are_told_a_few_times_and_then_counted(tmp_path: Path) -> None:
    calls = [{"type": "tool_call", "id": f"c{number}", "name": "f", "arguments": {}} for number in range(9)]
    source = write(tmp_path / "a.json", {"convcli": 1, "messages": [{"role": "assistant", "parts": calls}, GO_ON]})
    reported = run("convert", source, "--to", OTHER).stderr.decode()
    assert reported.count("warning[missing-tool-result]") == 5
    assert f"and 4 more missing-tool-result in {source}\n" in reported


def test_what_is_told_of_many_files_is_counted_in_one_line(tmp_path: Path) -> None:
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {}}
    for number in range(60):
        write(tmp_path / f"{number}.json", {"convcli": 1, "messages": [{"role": "assistant", "parts": [call]}, GO_ON]})
    reported = run("losses", tmp_path, "--to", OTHER).stderr.decode()
    assert reported.count("warning[missing-tool-result]") == 50
    assert reported.endswith("and 10 more missing-tool-result in 10 files\n")


def test_an_error_of_many_inputs_is_told_for_some_and_then_counted(tmp_path: Path) -> None:
    for number in range(25):
        write(tmp_path / f"{number}.json", {"x": number})
    for name in ("detect", "inspect", "stats"):
        done = run(name, tmp_path)
        assert done.returncode == 1
        assert done.stderr.count(b"error[unknown-dialect]\n") == 1
        assert done.stderr.count(b"-->") == 20
        assert b"and 5 more inputs with error[unknown-dialect]\n" in done.stderr
    assert run("convert", tmp_path, "--to", OTHER, "--out-dir", tmp_path / "out").stderr.count(b"-->") == 20
