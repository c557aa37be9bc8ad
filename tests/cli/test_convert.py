"""convcli convert, losses: what is written, what is told, and with which exit code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from convcli.validation import schemas
from tests.cli_cases import CLEAN, LOSSY, OTHER, OWN, WRONG, run, write
from tests.support import SAMPLES

TORN = json.dumps(LOSSY)[:-20]


def test_stdout_holds_the_result_and_stderr_the_losses(tmp_path: Path) -> None:
    done = run("convert", write(tmp_path / "a.json", LOSSY), "--to", OTHER)
    assert done.returncode == 0
    assert json.loads(done.stdout)["messages"][0]["content"] == "hi"
    assert b"convert: 1 transcript, intermediate \xe2\x86\x92 openai-chat" in done.stderr
    assert b"\n1 loss of content:\n  " in done.stderr
    assert b" of metadata (" in done.stderr


def test_stdin_is_an_input_like_any_other(tmp_path: Path) -> None:
    done = run("convert", "-", "--to", OTHER, input=json.dumps(LOSSY).encode())
    assert done.returncode == 0
    assert json.loads(done.stdout)["messages"]


def test_json_gives_indented_json_and_json_lines_give_json_lines(tmp_path: Path) -> None:
    one = run("convert", write(tmp_path / "a.json", LOSSY), "--to", OTHER).stdout
    assert one.startswith(b"{\n  ")
    many = run("convert", write(tmp_path / "a.jsonl", LOSSY, LOSSY), "--to", OTHER).stdout
    assert len([json.loads(line) for line in many.splitlines()]) == 2


def test_all_losses_are_written_as_a_json_array_that_passes_their_schema(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", {"convcli": 1, "messages": []}, LOSSY)
    run("convert", source, "--to", OTHER, "-o", tmp_path / "out", "--losses", tmp_path / "losses")
    found = json.loads((tmp_path / "losses").read_bytes())
    assert found
    assert all(schemas.accepts("loss", loss) for loss in found)
    assert {(loss["file"], loss["line"]) for loss in found} == {(str(source), 2)}


def test_a_conversion_without_loss_writes_an_empty_array(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", CLEAN)
    run("convert", source, "--from", OTHER, "--to", OTHER, "-o", tmp_path / "o", "--losses", tmp_path / "losses")
    assert json.loads((tmp_path / "losses").read_bytes()) == []


def test_fail_on_loss_writes_nothing_lists_the_losses_and_exits_1(tmp_path: Path) -> None:
    done = run("convert", "--fail-on-loss", write(tmp_path / "a.json", LOSSY), "--to", OTHER, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert b"a.json /messages/0/id: context: dropped message.id" in done.stderr
    assert not (tmp_path / "out").exists()


def test_fail_on_loss_looks_only_at_the_levels_that_it_names(tmp_path: Path) -> None:
    only_id = {"convcli": 1, "messages": [LOSSY["messages"][0]]}
    source = write(tmp_path / "a.json", only_id)
    assert run("convert", source, "--to", OTHER, "--fail-on-loss=content").returncode == 0
    assert run("convert", source, "--to", OTHER, "--fail-on-loss=context").returncode == 1


def test_a_torn_last_line_of_a_data_set_is_an_error_unless_told_to_keep_going(tmp_path: Path) -> None:
    source, out = write(tmp_path / "a.jsonl", LOSSY, LOSSY, TORN, end=""), tmp_path / "out"
    done = run("convert", source, "--to", OWN, "-o", out)
    assert (done.returncode, out.exists(), b"error[torn-record]" in done.stderr) == (1, False, True)
    done = run("convert", source, "--to", OWN, "-o", out, "--keep-going")
    assert (done.returncode, out.read_bytes().count(b"\n")) == (1, 2)


def test_a_torn_last_line_of_a_session_is_a_warning_and_a_loss(tmp_path: Path) -> None:
    source, losses = tmp_path / "a.jsonl", tmp_path / "losses"
    session = (SAMPLES / "claude-code" / "twin-weather.jsonl").read_bytes()
    source.write_bytes(session + session.splitlines()[-1][:-9])
    done = run("convert", source, "--to", "openai-chat", "-o", tmp_path / "out", "--losses", losses)
    assert (done.returncode, b"warning[torn-record]" in done.stderr) == (0, True)
    [loss] = [loss for loss in json.loads(losses.read_bytes()) if loss["field"] == "record"]
    assert (loss["line"], loss["level"]) == (session.count(b"\n") + 1, "content")


def test_a_bad_line_is_told_with_its_number_and_nothing_is_written(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", CLEAN, WRONG, "{", CLEAN)
    done = run("convert", source, "--from", OTHER, "--to", OTHER, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert b"a.jsonl:2:24 /messages/0/role" in done.stderr
    assert b"a.jsonl:3:" in done.stderr
    assert os.listdir(tmp_path) == ["a.jsonl"]


def test_keep_going_converts_the_others_and_still_exits_1(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", CLEAN, WRONG, "{", CLEAN)
    done = run("convert", source, "--from", OTHER, "--to", OTHER, "-o", tmp_path / "out", "--keep-going")
    assert done.returncode == 1
    assert [json.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()] == [CLEAN, CLEAN]


def test_what_was_skipped_is_listed_and_counted_once(tmp_path: Path) -> None:
    rows = write(tmp_path / "a.jsonl", CLEAN, WRONG, "{", CLEAN)
    other = write(tmp_path / "b.json", {"no": "transcript"})
    session = tmp_path / "c.jsonl"
    first, *rest = (SAMPLES / "openclaw" / "twin-weather.jsonl").read_bytes().splitlines(keepends=True)
    session.write_bytes(b"".join([first, b"{\n", *rest]))
    done = run("convert", rows, other, session, "--to", OTHER, "-o", tmp_path / "out.jsonl", "--keep-going")
    assert done.returncode == 1
    end = done.stderr.decode().partition("skipped, because")[2].replace(f"{tmp_path}/", "").splitlines()
    assert end[:5] == [
        " they could not be read: 3 records and 1 input",
        "  a.jsonl:2: unknown-value",
        "  a.jsonl:3: not-json",
        "  b.json: unknown-dialect",
        "  c.jsonl:2: not-json",
    ]
    assert end[5] == "convert: 3 transcripts (1 incomplete), openai-chat, openclaw → openai-chat, 2 refused"


@pytest.mark.parametrize(
    ("allowed", "code"),
    [("0", 1), ("1", 1), ("2", 0), ("49.9%", 1), ("50%", 0), ("100%", 0), ("101%", 2), ("x", 2), ("-1", 2)],
)
def test_a_number_or_a_share_of_bad_records_may_be_allowed(tmp_path: Path, allowed: str, code: int) -> None:
    source = write(tmp_path / "a.jsonl", CLEAN, WRONG, "{", CLEAN)
    done = run("convert", source, "--from", OTHER, "--to", OTHER, "--allow-bad", allowed)
    assert (done.returncode, done.stdout.count(b"\n")) == (code, 2 if code < 2 else 0)


def test_allowed_bad_records_do_not_allow_losses_or_missing_files(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", LOSSY, "{")
    words = ["convert", source, "--from", OWN, "--to", OTHER, "--allow-bad", "9"]
    assert run(*words).returncode == 0
    assert run(*words, "--fail-on-loss").returncode == 1
    assert run(*words, tmp_path / "none.json").returncode == 2


@pytest.mark.parametrize("at", [["--at", "/a", "--at", "/b"], []])
def test_one_line_of_json_lines_with_several_transcripts_becomes_lines(tmp_path: Path, at: list[str]) -> None:
    record = {"a": CLEAN, "b": CLEAN} if at else [CLEAN, CLEAN]
    for name, lines in (("a.jsonl", 2), ("b.ndjson", 2), ("c.json", 4)):
        done = run("convert", write(tmp_path / name, record), *at, "--to", OTHER)
        assert (done.returncode, done.stdout.count(b"\n")) == (0, lines)


def test_an_existing_output_needs_force(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", LOSSY)
    (tmp_path / "out").write_bytes(b"old")
    assert run("convert", source, "--to", OTHER, "-o", tmp_path / "out").returncode == 2
    assert (tmp_path / "out").read_bytes() == b"old"
    assert run("convert", source, "--to", OTHER, "-o", tmp_path / "out", "--force").returncode == 0
    assert json.loads((tmp_path / "out").read_bytes())


def test_the_output_of_a_private_file_is_private(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", LOSSY)
    source.chmod(0o600)
    run("convert", source, "--to", OTHER, "-o", tmp_path / "out", "--losses", tmp_path / "losses")
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("out", "losses")} == {0o600}


@pytest.mark.parametrize(("target", "name"), [("hf-chat", "a.jsonl"), ("sharegpt", "a.jsonl"), ("anthropic", "a.json")])
def test_in_a_folder_rows_of_a_data_set_stand_in_lines(tmp_path: Path, target: str, name: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(CLEAN, indent=2), "utf-8")
    assert run("convert", path, "--to", target, "--out-dir", tmp_path / "out").returncode == 0
    (output,) = (tmp_path / "out").iterdir()
    assert output.name == name
    assert (output.read_text("utf-8").count("\n") == 1) == name.endswith("jsonl")


def test_several_inputs_need_a_folder_that_mirrors_their_tree(tmp_path: Path) -> None:
    (tmp_path / "in" / "b").mkdir(parents=True)
    write(tmp_path / "in" / "a.json", LOSSY)
    write(tmp_path / "in" / "b" / "c.jsonl", LOSSY, LOSSY)
    assert run("convert", tmp_path / "in", "--to", OTHER, "-o", tmp_path / "out.txt").returncode == 2
    assert run("convert", tmp_path / "in", "--to", OTHER, "--out-dir", tmp_path / "out").returncode == 0
    written = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.json*"))
    assert written == ["a.json", "b/c.jsonl"]


def test_a_file_that_is_named_as_json_lines_holds_json_lines(tmp_path: Path) -> None:
    source = tmp_path / "a.json"
    source.write_text(json.dumps(LOSSY, indent=2))
    for name in ("out.jsonl", "out.NDJSON"):
        run("convert", source, "--to", OTHER, "-o", tmp_path / name)
        (line,) = (tmp_path / name).read_bytes().splitlines()
        assert json.loads(line)["messages"]


def test_several_inputs_become_one_file_in_the_order_given(tmp_path: Path) -> None:
    texts = ["b", "a", "c"]
    for text in texts:
        write(tmp_path / f"{text}.json", {"messages": [{"role": "user", "content": text}]})
    sources = [tmp_path / f"{text}.json" for text in texts]
    for name in ("out.jsonl", "out.json"):
        done = run("convert", *sources, "--from", OTHER, "--to", OTHER, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert b"convert: 3 transcripts" in done.stderr
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    assert [line["messages"][0]["content"] for line in lines] == texts
    assert json.loads((tmp_path / "out.json").read_bytes()) == lines


def test_of_several_inputs_for_one_file_a_bad_one_stands_in_its_way(tmp_path: Path) -> None:
    good, bad = write(tmp_path / "good.json", CLEAN), write(tmp_path / "bad.json", WRONG)
    words = ["convert", good, bad, tmp_path / "none.json", good, "--from", OTHER, "--to", OTHER]
    done = run(*words, "-o", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert b"nothing written" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()
    assert run(*words, "-o", tmp_path / "out.jsonl", "--keep-going").returncode == 2
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()] == [CLEAN]


def test_what_would_be_written_but_for_something_refused_is_said_to_be_there(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.jsonl", CLEAN, WRONG)
    alone = write(tmp_path / "alone.json", WRONG)
    session = tmp_path / "session.jsonl"
    first, *rest = (SAMPLES / "openclaw" / "twin-weather.jsonl").read_bytes().splitlines(keepends=True)
    session.write_bytes(b"".join([first, b"{\n", *rest]))
    for path, dialect, is_rest in ((rows, OTHER, True), (session, "openclaw", True), (alone, OTHER, False)):
        done = run("convert", path, "--from", dialect, "--to", OTHER)
        assert done.returncode == 1
        assert (b"(--keep-going converts the rest)" in done.stderr) is is_rest
        kept = run("convert", path, "--from", dialect, "--to", OTHER, "--keep-going")
        assert bool(kept.stdout) is is_rest


def test_several_inputs_are_json_lines_on_stdout_and_need_a_file_for_several(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a.json", CLEAN), write(tmp_path / "b.json", CLEAN)
    for where in ([], ["-o", "-"]):
        done = run("convert", one, two, "--to", OTHER, *where)
        assert (done.returncode, list(map(json.loads, done.stdout.splitlines()))) == (0, [CLEAN, CLEAN])
    done = run("convert", one, two, "--to", OTHER, "-o", tmp_path / "out.txt")
    assert done.returncode == 2
    assert b"use -o FILE.jsonl, FILE.json or --out-dir DIR" in done.stderr


def test_a_name_that_promises_another_format_is_noted(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", CLEAN)
    for name, noted in (("out.csv", True), ("out.json", False), ("out", False)):
        done = run("convert", source, "--to", OTHER, "-o", tmp_path / name)
        assert (done.returncode, b"is written as JSON" in done.stderr) == (0, noted)


def test_an_output_in_a_missing_folder_names_the_folder(tmp_path: Path) -> None:
    done = run("convert", write(tmp_path / "a.json", CLEAN), "--to", OTHER, "-o", tmp_path / "none" / "out.json")
    assert (done.returncode, f"there is no folder {tmp_path / 'none'}".encode() in done.stderr) == (3, True)


def test_a_value_of_set_can_be_in_a_file(tmp_path: Path) -> None:
    source, words = write(tmp_path / "a.json", CLEAN), ["--to", "anthropic", "--set", "max_tokens=9"]
    (tmp_path / "stop.json").write_text('["\\n"]')
    (tmp_path / "prompt.txt").write_text("Be brief.")
    files = ["--set", f"stop_sequences=@{tmp_path}/stop.json", "--set", f"system=@{tmp_path}/prompt.txt"]
    document = json.loads(run("convert", source, *words, *files).stdout)
    assert (document["stop_sequences"], document["system"]) == (["\n"], "Be brief.")
    done = run("convert", source, *words, "--set", "system=@none.txt")
    assert (done.returncode, b"is quoted as JSON" in done.stderr) == (2, True)
    assert json.loads(run("convert", source, *words, "--set", 'system="@ada"').stdout)["system"] == "@ada"


def test_an_array_stays_one_and_becomes_json_lines_by_its_name(tmp_path: Path) -> None:
    source = tmp_path / "a.json"
    source.write_text(json.dumps([CLEAN, CLEAN], indent=1))
    words = ["convert", source, "--from", OTHER, "--to", OTHER]
    assert json.loads(run(*words).stdout) == [CLEAN, CLEAN]
    run(*words, "-o", tmp_path / "out.jsonl")
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()] == [CLEAN, CLEAN]
    run("convert", tmp_path / "out.jsonl", "--from", OTHER, "--to", OTHER, "-o", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_bytes()) == [CLEAN, CLEAN]


def test_a_bad_member_of_an_array_does_not_stop_the_others(tmp_path: Path) -> None:
    source = tmp_path / "a.json"
    source.write_text(f"[{json.dumps(CLEAN)},\n{json.dumps(WRONG)},\n{{x}},\n{json.dumps(CLEAN)}]")
    words = ["convert", source, "--from", OTHER, "--to", OTHER]
    done = run(*words)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"a.json:2:24 /1/messages/0/role" in done.stderr
    assert b"a.json:3:2" in done.stderr
    done = run(*words, "--keep-going")
    assert (done.returncode, json.loads(done.stdout)) == (1, [CLEAN, CLEAN])


def test_each_transcript_of_one_input_gets_a_file(tmp_path: Path) -> None:
    named = [{**LOSSY, "id": name} for name in ("x/1", "x/1")]
    source = write(tmp_path / "a.jsonl", *named, LOSSY)
    done = run("convert", source, "--to", OTHER, "--out-dir", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path / "out")) == ["line-3.json", "x-1-2.json", "x-1.json"]
    assert json.loads((tmp_path / "out" / "line-3.json").read_bytes())["messages"]


def test_a_dialect_whose_files_hold_one_transcript_gets_a_file_for_each(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "many.jsonl", LOSSY, WRONG | {"convcli": 1}, LOSSY)
    write(tmp_path / "in" / "one.json", LOSSY)
    done = run("convert", tmp_path / "in", "--from", OWN, "--to", "openclaw", "--out-dir", tmp_path / "out")
    assert done.returncode == 1
    files = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.jsonl"))
    assert files == ["many/line-1.jsonl", "many/line-3.jsonl", "one.jsonl"]


def test_a_bad_transcript_gets_no_file_and_the_others_do(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", CLEAN, WRONG, LOSSY | {"messages": []}, CLEAN)
    words = ["convert", source, "--from", OTHER, "--to", OWN, "--out-dir", tmp_path / "out"]
    assert run(*words).returncode == 1
    assert sorted(os.listdir(tmp_path / "out")) == ["line-1.json", "line-3.json", "line-4.json"]


def test_of_several_inputs_all_are_processed_and_the_worst_exit_code_wins(tmp_path: Path) -> None:
    good, bad = write(tmp_path / "good.json", LOSSY), write(tmp_path / "bad.json", "{")
    done = run("convert", bad, tmp_path / "none.json", good, "--to", OTHER, "--out-dir", tmp_path / "out")
    assert done.returncode == 2
    assert b"error[no-such-file]" in done.stderr
    assert b"error[not-json]" in done.stderr
    assert os.listdir(tmp_path / "out") == ["good.json"]


@pytest.mark.parametrize("words", [(), ("--fail-on-loss",), ("--fail-on-loss", "-j", 2)])
def test_where_nothing_is_written_no_new_folder_stays_and_an_old_one_does(tmp_path: Path, words: Any) -> None:
    for name in ("x", "y"):
        (tmp_path / "in" / name).mkdir(parents=True)
        write(tmp_path / "in" / name / "a.json", LOSSY if words else WRONG)
    (tmp_path / "out" / "x").mkdir(parents=True)
    for out in ("out", "new/deep"):
        assert run("convert", tmp_path / "in", "--to", OTHER, "--out-dir", tmp_path / out, *words).returncode == 1
    assert sorted(os.listdir(tmp_path)) == ["in", "out"]
    assert os.listdir(tmp_path / "out") == ["x"]


def test_a_folder_for_outputs_that_is_a_file_is_told_as_that(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", LOSSY)
    for words in (["convert", source, "--to", OTHER], ["inspect", source, "--output-format", "html"]):
        done = run(*words, "--out-dir", source)
        assert (done.returncode, b"it is not a directory" in done.stderr) == (3, True)


def test_two_inputs_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "a.json", LOSSY)
    done = run("convert", tmp_path / "x/a.json", tmp_path / "y/a.json", "--to", OTHER, "--out-dir", tmp_path / "o")
    assert done.returncode == 2
    assert b"error[same-output]" in done.stderr


def test_equal_keys_are_refused_unless_the_last_is_asked_for(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", '{"messages":[{"role":"user","role":"assistant","content":"x"}]}')
    words = ["convert", source, "--from", OTHER, "--to", OTHER]
    assert run(*words).returncode == 1
    done = run(*words, "--duplicate-keys", "last")
    assert json.loads(done.stdout)["messages"][0]["role"] == "assistant"
    assert b"warning[duplicate-key]" in done.stderr


@pytest.mark.parametrize(
    ("name", "at"), [("lines.jsonl", ""), ("array.json", ""), ("lines.jsonl", "/messages"), ("array.json", "/*")]
)
def test_each_record_with_equal_keys_is_a_warning(name: str, at: str, tmp_path: Path) -> None:
    record = '{"messages":[{"role":"user","content":"a","content":"b"}]}'
    text = "\n".join([record, record]) if name == "lines.jsonl" else f"[{record},{record}]"
    picked = ["--at", at] if at else []
    source = write(tmp_path / name, text)
    done = run("validate", source, *picked, "--duplicate-keys", "last", "--output-format", "json")
    assert [one["code"] for one in json.loads(done.stdout)["findings"]] == ["duplicate-key"] * 2


def test_a_form_that_the_dialect_does_not_have_is_a_wrong_job(tmp_path: Path) -> None:
    done = run("convert", write(tmp_path / "a.json", LOSSY), "--to", OTHER, "--form", "requst")
    assert done.returncode == 2
    assert b'did you mean "request"?' in done.stderr


@pytest.mark.parametrize("content", ["", "{", "{}", "[]", "null", '{"x": NaN}'])
def test_content_that_is_no_transcript_exits_1_and_writes_nothing(tmp_path: Path, content: str) -> None:
    done = run("convert", write(tmp_path / "a.json", content), "--to", OTHER, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert b"a.json" in done.stderr
    assert b"Traceback" not in done.stderr
    assert os.listdir(tmp_path) == ["a.json"]


def test_losses_of_a_file_are_listed_and_nothing_is_written(tmp_path: Path) -> None:
    done = run("losses", write(tmp_path / "a.json", LOSSY), "--to", OTHER, "--output-format", "jsonl")
    assert done.returncode == 0
    assert {"message.id", "tool_result.kind"} <= {json.loads(line)["field"] for line in done.stdout.splitlines()}
    assert os.listdir(tmp_path) == ["a.json"]


def test_losses_of_a_pair_need_no_file() -> None:
    done = run("losses", "--from", OWN, "--to", OTHER)
    assert done.returncode == 0
    assert b"message.id" in done.stdout


@pytest.mark.parametrize("named", ["a.jsonl:2", "a.jsonl:2:5", "--line=2"])
def test_one_record_is_named_by_its_line(tmp_path: Path, named: str) -> None:
    write(tmp_path / "a.jsonl", CLEAN, LOSSY, WRONG)
    words = [named] if ":" in named else ["a.jsonl", named]
    done = run("convert", *words, "--from", OWN, "--to", OTHER, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith(b"{\n  ")
    assert b"a.jsonl:2 /messages/2/parts/0" in done.stderr
    losses = run("losses", *words, "--from", OWN, "--to", OTHER, "--output-format", "jsonl", cwd=tmp_path)
    assert {json.loads(line)["line"] for line in losses.stdout.splitlines()} == {2}
    assert b"1 transcript, clean" in run("validate", *words, "--from", OWN, cwd=tmp_path).stderr
    assert b"hi" in run("inspect", *words, "--from", OWN, "--message", "0", cwd=tmp_path).stdout


def test_the_output_of_one_record_does_not_replace_its_file(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", CLEAN, CLEAN)
    source.chmod(0o600)
    words = ["convert", f"{source}:2", "--from", OTHER, "--to", OTHER]
    done = run(*words, "-o", source, "--force")
    assert (done.returncode, b"output-is-input" in done.stderr) == (2, True)
    assert run(*words, "--out-dir", tmp_path / "out").returncode == 0
    assert (tmp_path / "out" / "a-2.json").stat().st_mode & 0o777 == 0o600


def test_columns_that_hold_json_in_a_text_are_read_written_and_restored(tmp_path: Path) -> None:
    row = {"messages": json.dumps(CLEAN["messages"]), "note": "x"}
    source = write(tmp_path / "a.jsonl", row, row, CLEAN)
    for words in (["--from", OTHER], []):
        done = run("convert", source, *words, "--to", OTHER)
        assert [json.loads(line) for line in done.stdout.splitlines()] == [row, row, CLEAN]
    out, kept = tmp_path / "out.jsonl", tmp_path / "kept"
    done = run("convert", source, "--to", "anthropic", "--text-columns", "-o", out, "--restore-file", kept)
    assert done.returncode == 0, done.stderr
    assert {type(json.loads(line)["messages"]) for line in out.read_bytes().splitlines()} == {str}
    back = run("restore", out, "--restore-file", kept)
    assert [json.loads(line) for line in back.stdout.splitlines()] == [row, row, CLEAN]


def test_findings_in_a_column_of_texts_are_where_the_text_stands(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", CLEAN, {"messages": json.dumps(WRONG["messages"])})
    done = run("validate", source, "--dialect", OTHER, "--output-format", "concise")
    assert done.stdout.startswith(f"{source}:2:14: ".encode())
    assert b"/messages/0/role" in done.stdout


def test_sessions_are_no_rows_with_columns(tmp_path: Path) -> None:
    done = run("convert", write(tmp_path / "a.json", LOSSY), "--to", "openclaw", "--text-columns")
    assert (done.returncode, b"--text-columns" in done.stderr) == (2, True)


def test_a_key_that_every_output_needs_is_set_and_told(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", *[CLEAN] * 40)
    words = ["convert", source, "--to", "anthropic", "--set", "model=claude-x", "--set", "metadata.user_id=7 a"]
    done = run(*words, "--losses", tmp_path / "losses", "--fail-on-loss")
    assert done.returncode == 0
    assert all(json.loads(line)["model"] == "claude-x" for line in done.stdout.splitlines())
    assert json.loads(done.stdout.splitlines()[0])["metadata"] == {"user_id": "7 a"}
    found = json.loads((tmp_path / "losses").read_bytes())
    assert {(loss["kind"], loss["field"]) for loss in found} >= {("changed", "model")}
    assert "invented" in done.stderr.decode()


@pytest.mark.parametrize(
    ("word", "reported"),
    [
        ("max_tokens", "--set needs a key and a value"),
        ("=1", "--set needs a key and a value"),
        ("max_tokenz=1", 'did you mean "max_tokens"?'),
        ("max_tokens=many", '"max_tokens" must be an integer or null; found a string of 4 characters'),
    ],
)
def test_a_key_that_cannot_be_set_is_an_error_of_the_job(word: str, reported: str, tmp_path: Path) -> None:
    done = run("convert", write(tmp_path / "a.json", CLEAN), "--to", "anthropic", "--set", word)
    assert (done.returncode, done.stdout) == (2, b"")
    assert reported in done.stderr.decode()


def test_what_is_missing_in_every_line_is_told_once_and_counted(tmp_path: Path) -> None:
    rows = [{"messages": CLEAN["messages"]}] * 30
    reported = run("convert", write(tmp_path / "a.jsonl", *rows), "--to", "anthropic").stderr.decode()
    assert reported.count("warning[incomplete-request]") == 1
    assert "and 29 more incomplete-request in " in reported
    assert "= help: add the values you know: --set model=… --set max_tokens=1024" in reported


def test_transcripts_inside_a_document_are_converted_each_by_itself(tmp_path: Path) -> None:
    trace = {"trace": {}, "observations": [{"input": json.dumps(CLEAN)}, {"input": {"x": 1}}, {"input": LOSSY}]}
    source = write(tmp_path / "a.json", trace)
    done = run("convert", source, "--at", "langfuse", "--to", OTHER)
    assert done.returncode == 0
    assert len(json.loads(done.stdout)) == 2
    assert json.loads(done.stdout)[0] == CLEAN
    assert b"note: 1 of 3 values under --at are no conversations (skipped)" in done.stderr
    assert f"{source} /observations/2/input/messages/".encode() in done.stderr
    assert b"convert: 2 transcripts, openai-chat, intermediate" in done.stderr
    many = run("convert", source, "--at", "/observations/*/input", "--to", "openclaw", "--out-dir", tmp_path / "out")
    assert many.returncode == 0
    assert sorted(os.listdir(tmp_path / "out")) == ["observations-0-input.jsonl", "observations-2-input.jsonl"]
    assert b"/observations/2/input" in run("losses", source, "--at", "langfuse", "--to", OTHER).stdout
    assert b"clean" in run("validate", source, "--at", "langfuse").stderr
    assert run("inspect", source, "--at", "langfuse").stdout.count(b"\n") == 3


def test_transcripts_are_chosen_before_they_are_converted(tmp_path: Path) -> None:
    rows = [{"model": name, "messages": [{"role": "user", "content": name}]} for name in ("a", "b", "a", "c")]
    source = write(tmp_path / "a.jsonl", *rows, "{")
    words = ["convert", source, "--from", OTHER, "--to", OTHER]

    def models(*more: object) -> list[str]:
        done = run(*words, *more)
        assert done.returncode == 0, done.stderr
        return [json.loads(line)["model"] for line in done.stdout.splitlines()]

    assert models("--limit", 2) == ["a", "b"]
    assert models("--where", "model=a", "--limit", 2) == ["a", "a"]
    done = run(*words, "--where", "model=a,c", "--keep-going")
    assert [json.loads(line)["model"] for line in done.stdout.splitlines()] == ["a", "a", "c"]
    write(source, *rows)
    assert len(models("--sample", 2)) == 2
    assert models("--sample", 2, "-j", "2") == models("--sample", 2)
    assert b"2 transcripts" in run("validate", source, "--where", "model=a").stderr
    assert run("losses", source, "--to", "anthropic", "--limit", 1).returncode == 0
    assert run("stats", source, "--where", "model=c").returncode == 0
    assert run("inspect", source, "--sample", 2).stdout.count(b"\n") == 3


def test_a_condition_that_holds_for_nothing_is_told_with_the_nearest_word(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", {"model": "gpt-5", "messages": CLEAN["messages"]}, CLEAN)
    done = run("convert", source, "--to", OTHER, "--where", "model=gpt-6", "-o", tmp_path / "out")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b'no row has model=gpt-6; did you mean "gpt-5"?' in done.stderr
    assert not (tmp_path / "out").exists()
    assert run("convert", source, "--to", OTHER, "--where", "modle=x").returncode == 2


def test_of_many_outputs_that_exist_a_few_are_named_and_the_way_out_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(9):
        write(tmp_path / "in" / f"{number}.json", CLEAN)
    words = ["convert", tmp_path / "in", "--from", OTHER, "--to", OTHER, "--out-dir", tmp_path / "out"]
    assert run(*words).returncode == 0
    again = run(*words)
    assert again.returncode == 2
    assert again.stderr.count(b"error[output-exists]") == 4
    assert b"and 6 more inputs with error[output-exists]\n" in again.stderr
    assert again.stderr.count(b"--force replaces it") == 1


# ---------------------------------------------------------------- tables

arrow = pytest.mark.arrow
CALLED = [{"city": "Tokyo"}, {"unit": "C", "days": [1, None]}, {}, {"deep": {"x": None, "y": 1.5}}]


def training_row(number: int) -> dict[str, Any]:
    """A row for trainers; each third has a call with its result, and what it offers differs from row to row."""
    row: dict[str, Any] = {"messages": [{"role": "user", "content": f"How is it? {number}"}]}
    if number % 3 == 0:
        function = {"name": "weather", "arguments": CALLED[number % len(CALLED)]}
        call = {"id": f"c{number}", "type": "function", "function": function}
        parameters = {"type": "object", "properties": {f"k{number % 5}": {"type": "string", "default": None}}}
        row["messages"] += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "22 °C"},
        ]
        row["tools"] = [{"type": "function", "function": {"name": "weather", "parameters": parameters}}]
    answer = {"role": "assistant", "content": "大阪は晴れ"}
    row["messages"].append(answer | {"reasoning_content": "It is."} if number % 4 == 0 else answer)
    return row


TRAINING = [training_row(number) for number in range(1000)]


@arrow
@pytest.mark.parametrize("name", ["out.parquet", "out.arrow"])
def test_a_thousand_mixed_rows_come_back_from_a_table(tmp_path: Path, name: str) -> None:
    pytest.importorskip("pyarrow")
    source, table = write(tmp_path / "a.jsonl", *TRAINING), tmp_path / name
    done = run("convert", source, "--to", "hf-chat", "-o", table)
    assert (done.returncode, b"note: columns of the table with JSON strings: tools" in done.stderr) == (0, True)
    back = run("convert", table, "--to", "hf-chat")
    assert (back.returncode, b"padded-object" in back.stderr) == (0, False)
    assert [json.loads(line) for line in back.stdout.splitlines()] == TRAINING


@arrow
def test_data_sets_load_a_table_with_the_messages_as_trainers_want_them(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    datasets = pytest.importorskip("datasets")
    run("convert", write(tmp_path / "a.jsonl", *TRAINING), "--to", "hf-chat", "-o", tmp_path / "a.parquet")
    rows = datasets.load_dataset(
        "parquet", data_files=str(tmp_path / "a.parquet"), split="train", cache_dir=str(tmp_path / "cache")
    )
    calls = rows[0]["messages"][1]["tool_calls"]
    assert (
        json.loads(calls[0]["function"]["arguments"])
        == TRAINING[0]["messages"][1]["tool_calls"][0]["function"]["arguments"]
    )
    assert json.loads(rows[0]["tools"]) == TRAINING[0]["tools"]
    assert rows[1]["messages"][0]["content"] == "How is it? 1"


@arrow
def test_columns_of_texts_in_a_table_are_plain_texts(tmp_path: Path) -> None:
    columns = pytest.importorskip("pyarrow.parquet")
    table = tmp_path / "a.parquet"
    run("convert", write(tmp_path / "a.jsonl", *TRAINING), "--to", "hf-chat", "--text-columns", "-o", table)
    schema = columns.read_schema(table)
    assert [(field.name, str(field.type), field.metadata) for field in schema] == [
        ("messages", "string", None),
        ("tools", "string", None),
    ]
    back = run("convert", table, "--from", "hf-chat", "--to", "openai-chat").stdout
    assert back == run("convert", tmp_path / "a.jsonl", "--to", "openai-chat").stdout


@arrow
def test_several_inputs_and_sessions_go_into_one_table(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    one, two = write(tmp_path / "a.jsonl", *TRAINING[:7]), write(tmp_path / "b.json", TRAINING[7])
    done = run("convert", one, two, "--to", "hf-chat", "--columns", "none", "-o", tmp_path / "out.parquet")
    assert done.returncode == 0
    back = run("convert", tmp_path / "out.parquet", "--to", "hf-chat").stdout
    assert [json.loads(line) for line in back.splitlines()] == TRAINING[:8]


@arrow
@pytest.mark.parametrize("inputs", [1, 2])
def test_what_the_columns_of_a_table_change_is_a_loss_of_its_field(tmp_path: Path, inputs: int) -> None:
    pytest.importorskip("pyarrow")
    rows = [{**TRAINING[1], "chat_template_kwargs": {"budget": number}, "score": number} for number in (0.5, 1, 2)]
    files = [write(tmp_path / "a.jsonl", *rows), *([write(tmp_path / "b.jsonl", *rows[1:])] if inputs == 2 else [])]
    words = ["convert", *files, "--from", "hf-chat", "--to", "hf-chat", "-o", tmp_path / "out.parquet"]
    done = run(*words, "--losses", tmp_path / "losses")
    assert (done.returncode, b"1 loss of metadata (score)" in done.stderr) == (0, True)
    (loss,) = json.loads((tmp_path / "losses").read_text())
    assert (loss["kind"], loss["field"], loss["row"], loss["where"]) == ("changed", "score", 1, "/score")
    assert f"{2 * inputs} values are read back as other values" in loss["why"]
    (tmp_path / "out.parquet").unlink()
    assert run(*words, "--fail-on-loss").returncode == 1
    assert not (tmp_path / "out.parquet").exists()


@arrow
def test_a_table_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    bad = write(tmp_path / "a.jsonl", TRAINING[0], '{"messages": [', TRAINING[1])
    out = tmp_path / "out.parquet"
    assert run("convert", bad, "--from", "hf-chat", "--to", "hf-chat", "-o", out).returncode == 1
    assert not out.exists()
    out.write_text("mine")
    assert run("convert", write(tmp_path / "b.json", CLEAN), "--to", "hf-chat", "-o", out).returncode == 2
    assert out.read_text() == "mine"
    kept = ["--keep-going", "--force"]
    assert run("convert", bad, "--from", "hf-chat", "--to", "hf-chat", "-o", out, *kept).returncode == 1
    assert len(run("convert", out, "--from", "hf-chat", "--to", "hf-chat").stdout.splitlines()) == 2


@arrow
@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["--to", "anthropic-stream", "--framing", "sse"], b"not table rows"),
        (["--to", "hf-chat", "--restore-file", "kept"], b"--restore-file"),
    ],
)
def test_what_no_table_can_hold_is_told_before_the_work(tmp_path: Path, words: list[str], reported: bytes) -> None:
    pytest.importorskip("pyarrow")
    done = run("convert", write(tmp_path / "a.json", CLEAN), "-o", tmp_path / "out.parquet", *words, cwd=tmp_path)
    assert (done.returncode, reported in done.stderr, (tmp_path / "out.parquet").exists()) == (2, True, False)


def test_skipped_files_of_a_folder_are_counted_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "a.json", CLEAN)
    for name in ("b.txt", "c.txt", "d.md"):
        (tmp_path / "in" / name).write_text("a note")
    done = run("convert", tmp_path / "in", "--from", OTHER, "--to", OWN, "-o", tmp_path / "out.jsonl")
    assert done.returncode == 0, done.stderr
    assert b"note: 3 other files in folders were skipped (2 .txt, 1 .md)\n" in done.stderr
