"""convcli diff: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli_cases import CLEAN, OTHER, ROOT, run, write

SAMPLES = ROOT / "samples"
OTHER_TEXT = {**CLEAN, "messages": [CLEAN["messages"][0], {"role": "assistant", "content": "good day"}]}


def test_one_conversation_in_two_dialects_is_equal_with_exit_0() -> None:
    done = run("diff", SAMPLES / "openai-chat" / "twin-weather.json", SAMPLES / "anthropic" / "twin-weather.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"the same conversation\n", b"")


def test_what_only_one_dialect_has_a_place_for_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turns = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "assistant", "content": "It is 1."},
    ]
    chat = write(tmp_path / "chat.json", {"model": "m", "messages": turns})
    row = tmp_path / "row.json"
    assert run("convert", chat, "--to", "sharegpt", "-o", row).returncode == 0
    done = run("diff", chat, row)
    reported = (
        "the same conversation, except 1 difference of content that one dialect cannot store: "
        "--exact lists all differences"
    )
    assert (done.returncode, done.stdout.decode()) == (0, f"{reported}\n")
    assert run("diff", chat, row, "--output-format", "jsonl").stdout == b""
    assert b"1 of content" in run("diff", chat, row, "--exact").stdout


def test_a_difference_has_both_places_and_values_and_exit_1(tmp_path: Path) -> None:
    second = write(tmp_path / "b.jsonl", CLEAN, OTHER_TEXT)
    first = write(tmp_path / "a.jsonl", CLEAN, CLEAN)
    done = run("diff", first, second, "--from", OTHER, "--to", OTHER)
    assert done.returncode == 1
    assert done.stdout.decode().splitlines() == [
        f"- {first}",
        f"+ {second}",
        "text.text changed, content: line 2 /messages/1/content",
        '  - "hello"',
        '  + "good day"',
        "1 difference of content",
    ]


def test_a_row_for_each_difference_is_json(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.json", CLEAN), write(tmp_path / "b.json", OTHER_TEXT)
    done = run("diff", first, second, "--output-format", "jsonl")
    row = json.loads(done.stdout)
    assert (row["kind"], row["field"], row["first"], row["before"], row["after"]) == (
        "changed",
        "text.text",
        "/messages/1/content",
        "hello",
        "good day",
    )


def test_a_transcript_that_only_one_file_has_is_a_difference(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.jsonl", CLEAN, CLEAN), write(tmp_path / "b.jsonl", CLEAN)
    done = run("diff", first, second, "--from", OTHER, "--to", OTHER)
    assert (done.returncode, done.stdout.splitlines()[2]) == (1, b"transcript only in the first, content: line 2")


def test_a_level_leaves_out_what_matters_less(tmp_path: Path) -> None:
    named = {**CLEAN, "messages": [{**CLEAN["messages"][0], "name": "ann"}, CLEAN["messages"][1]]}
    words = "diff", write(tmp_path / "a.json", CLEAN), write(tmp_path / "b.json", named)
    assert run(*words).returncode == 1
    assert run(*words, "--level", "content").returncode == 0


@pytest.mark.parametrize("missing", [0, 1])
def test_a_missing_file_is_exit_2(tmp_path: Path, missing: int) -> None:
    files = [write(tmp_path / "a.json", CLEAN)] * 2
    files[missing] = tmp_path / "none.json"
    done = run("diff", *files)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"none.json" in done.stderr


def session(path: Path, identity: str, **more: str) -> Path:
    """Writes a session of Claude Code with an event, whose ids and times depend on `identity`."""
    common = {"sessionId": f"{identity * 8}-0000-4000-8000-000000000000", "timestamp": f"2026-01-0{identity}T00:00:00Z"}
    row_id = f"00000000-0000-4000-8000-{identity * 12}"
    message = {"role": "user", "content": "Go to 2026-01-01T00:00:00Z."} | more
    rows = [
        {"type": "user", "uuid": row_id, "parentUuid": None, "isSidechain": False, "message": message, **common},
        {"type": "file-history-snapshot", "messageId": row_id, "snapshot": {"messageId": row_id, "n": 1}},
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_ids_and_times_do_not_count_unless_they_are_asked_for(tmp_path: Path) -> None:
    words = "diff", session(tmp_path / "a.jsonl", "1"), session(tmp_path / "b.jsonl", "2")
    done = run(*words)
    assert done.returncode == 0
    assert done.stdout.startswith(b"the same conversation\n")
    assert b"of ids and times not shown: --ids shows them" in done.stdout
    for option in ("--ids", "--exact"):
        done = run(*words, option)
        assert (done.returncode, b"createdAt" in done.stdout) == (1, True)


def test_a_time_in_a_text_counts(tmp_path: Path) -> None:
    later = session(tmp_path / "b.jsonl", "2", content="Go to 2027-01-01T00:00:00Z.")
    done = run("diff", session(tmp_path / "a.jsonl", "1"), later)
    assert (done.returncode, b"text.text changed, content" in done.stdout) == (1, True)


def test_words_that_differ_are_coloured(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.json", CLEAN), write(tmp_path / "b.json", OTHER_TEXT)
    done = run("--color", "always", "diff", first, second)
    assert b'"\x1b[31mhello\x1b[0m"' in done.stdout
    assert b'"\x1b[32mgood day\x1b[0m"' in done.stdout


def test_a_page_shades_only_messages_with_differences_that_count(tmp_path: Path) -> None:
    session = SAMPLES / "claude-code" / "example.jsonl"
    converted, edited = tmp_path / "converted.json", tmp_path / "edited.json"
    assert run("convert", session, "--to", "openai-chat", "-o", converted).returncode == 0
    same = run("diff", session, converted, "-O", "html").stdout.decode()
    assert "<h1>the same conversation, except" in same
    assert '<section class="row' not in same
    edited.write_text(converted.read_text().replace("Fixed: `total`", "Another `total`"))
    text = run("diff", session, edited, "-O", "html").stdout.decode()
    assert text.count('<section class="row changed">') == 1
    assert "<ins>Another </ins>" in text


def test_a_page_shows_both_side_by_side_and_escapes_text(tmp_path: Path) -> None:
    evil = {**CLEAN, "messages": [CLEAN["messages"][0], {"role": "assistant", "content": "<script>x</script>\x1b"}]}
    first, second, page = write(tmp_path / "a.json", CLEAN), write(tmp_path / "b.json", evil), tmp_path / "d.html"
    done = run("diff", first, second, "-o", page)
    assert (done.returncode, done.stdout) == (1, b"")
    text = page.read_text()
    assert "<script" not in text
    assert "<del>hello</del>" in text
    assert "\\x1b</ins>" in text
    assert "default-src 'none'; style-src 'sha256-" in text
    assert run("diff", first, second, "-o", page).returncode == 2  # it exists
    assert run("diff", first, second, "-o", page, "--force").returncode == 1
