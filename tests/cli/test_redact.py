"""convcli redact, and --redact on other commands: nothing that they write or print has a private value."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import cli_cases
from tests.support import SAMPLES

pytest.importorskip("phonenumbers")


class Done(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def run(*words: str) -> Done:
    done = cli_cases.run(*words)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


SECRETS = ("annlee", "ann@acme.dev")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    folder = tmp_path / "annlee"
    folder.mkdir()
    text = (SAMPLES / "claude-code" / "example.jsonl").read_text()
    changed = text.replace("Please fix it.", "Mail ann@acme.dev, says annlee.").replace(
        '"cwd":"', '"cwd":"/home/annlee'
    )
    assert changed.count("annlee") > 2
    path = folder / "session.jsonl"
    path.write_text(changed)
    return path


def clean(*texts: str) -> bool:
    return not any(secret in text for text in texts for secret in SECRETS)


def test_the_output_has_the_dialect_of_the_input_and_no_private_value(session: Path, tmp_path: Path) -> None:
    out, report = tmp_path / "clean.jsonl", tmp_path / "report.json"
    done = run("redact", str(session), "-o", str(out), "--report", str(report))
    assert done.code == 0
    assert clean(out.read_text(), done.err, report.read_text().replace(str(tmp_path), ""))
    rows = json.loads(report.read_text())
    assert {"rule", "file", "line", "pointer", "length"} == rows[0].keys()
    assert "email ×1" in done.err
    assert "claude-code" in run("detect", str(out)).out


def test_what_was_not_searched_is_not_called_free_of_private_values(tmp_path: Path) -> None:
    unread = tmp_path / "unread.jsonl"
    unread.write_text("no transcript\n")
    for words in (["-o", str(tmp_path / "out.jsonl")], ["--check"]):
        done = run("redact", str(unread), *words)
        assert done.code
        assert "nothing found" not in done.err


def test_masking_twice_changes_nothing(session: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    assert run("redact", str(session), "-o", str(first)).code == 0
    done = run("redact", str(first), "-o", str(second))
    assert first.read_bytes() == second.read_bytes()
    assert "nothing found" in done.err


def test_check_lists_what_is_found_and_writes_nothing(session: Path) -> None:
    before = sorted(session.parent.iterdir())
    done = run("redact", str(session), "--check", "-O", "json")
    assert done.code == 1
    assert sorted(session.parent.iterdir()) == before
    assert clean(done.out.replace(str(session), ""))
    assert any(row["rule"] == "email" and row["length"] == len("ann@acme.dev") for row in json.loads(done.out))


def test_accepted_values_are_stored_as_hashes_and_pass(session: Path, tmp_path: Path) -> None:
    allow = tmp_path / "allow.json"
    assert run("redact", str(session), "--check", "--allow", str(allow), "--write-allow").code == 0
    assert clean(allow.read_text())
    assert run("redact", str(session), "--check", "--allow", str(allow)).code == 0
    session.write_text(session.read_text().replace("ann@acme.dev", "bob@acme.dev"))
    assert run("redact", str(session), "--check", "--allow", str(allow)).code == 1


def test_a_conversion_leaks_nothing_in_any_of_its_files(session: Path, tmp_path: Path) -> None:
    out, kept, losses = (tmp_path / name for name in ("out.json", "kept.jsonl", "losses.json"))
    words = ("--to", "anthropic", "-o", str(out), "--restore-file", str(kept), "--losses", str(losses))
    done = run("convert", str(session), *words, "--redact")
    assert done.code == 0
    texts = [path.read_text() for path in (out, kept, losses)]
    assert clean(*texts, done.err)
    assert "redact: " in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["annlee", "kept.jsonl", "losses.json", "out.json"]


def test_a_page_and_a_resumed_session_leak_nothing(session: Path, tmp_path: Path) -> None:
    page, home = tmp_path / "page.html", tmp_path / "home"
    assert run("inspect", str(session), "-o", str(page), "--redact").code == 0
    assert clean(page.read_text())
    assert run("resume", str(session), "--in", "codex", "--home", str(home), "--redact").code == 0
    assert clean(*(path.read_text() for path in home.rglob("*.jsonl")))


def test_words_are_listed_on_the_command_line_or_in_a_file(session: Path, tmp_path: Path) -> None:
    words, out = tmp_path / "words.txt", tmp_path / "clean.jsonl"
    words.write_text("empty cart\n\n")
    assert run("redact", str(session), "-o", str(out), "--mask", f"@{words}", "--mask", "pytest").code == 0
    assert "empty cart" not in out.read_text()
    assert "<WORD-1>" in out.read_text()


@pytest.mark.parametrize(
    "words", [("--check", "-o", "x"), ("--write-allow",), ("-o", "x", "--out-dir", "y"), ("--allow", "missing.json")]
)
def test_options_that_do_not_fit_are_errors_of_usage(session: Path, words: tuple[str, ...]) -> None:
    assert run("redact", str(session), *words).code == 2


def test_a_folder_becomes_a_folder(session: Path, tmp_path: Path) -> None:
    (session.parent / "two.jsonl").write_bytes(session.read_bytes())
    done = run("redact", str(session.parent), "--out-dir", str(tmp_path / "out"))
    assert done.code == 0
    written = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in written] == ["session.jsonl", "two.jsonl"]
    assert clean(*(path.read_text() for path in written))


def test_what_surrounds_the_transcripts_is_masked_and_written(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hi."}]
    log = {
        "version": 2,
        "eval": {"task": "t", "by": "ann@acme.dev"},
        "samples": [{"id": 1, "epoch": 1, "messages": messages}],
    }
    (tmp_path / "log.json").write_text(json.dumps(log), "utf-8")
    done = run("redact", str(tmp_path / "log.json"), "-o", str(tmp_path / "out.json"))
    assert (done.code, "1 masked" in done.err) == (0, True)
    assert json.loads((tmp_path / "out.json").read_text("utf-8")) == {**log, "eval": {"task": "t", "by": "<EMAIL-1>"}}


def test_pages_estimate_the_cost_that_a_session_does_not_record(session: Path, tmp_path: Path) -> None:
    outs = [tmp_path / name for name in ("page.html", "share.html", "share.md")]
    words = [("inspect",), ("share",), ("share", "--markdown")]
    for (command, *more), out in zip(words, outs, strict=True):
        assert run(command, str(session), *more, "-o", str(out)).code == 0
    assert run("inspect", str(session), "-O", "html", "--out-dir", str(tmp_path / "out")).code == 0
    outs += [path for path in (tmp_path / "out").iterdir() if path.name != "index.html"]
    assert [len(re.findall(r"~\$[0-9]", out.read_text())) for out in outs] == [1, 1, 1, 1]


DIRECTORY = "/home/annlee/shop"


def test_names_hold_in_their_file_with_stable_placeholders_and_in_no_other(tmp_path: Path) -> None:
    def lines(*texts: str) -> str:
        rows = [{"messages": [{"role": "user", "content": text}]} for text in texts]
        return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)

    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "a.jsonl").write_text(lines("annlee asks bobby", DIRECTORY, "bobby asks annlee"))
    (folder / "b.jsonl").write_text(lines("annlee asks bobby", "/home/bobby/shop", DIRECTORY))
    (folder / "c.jsonl").write_text(lines("annlee asks bobby"))
    assert run("redact", str(folder), "--out-dir", str(out)).code == 0
    assert (out / "a.jsonl").read_text() == lines("<USER-1> asks bobby", "<HOME-1>/shop", "bobby asks <USER-1>")
    assert (out / "b.jsonl").read_text() == lines("<USER-1> asks <USER-2>", "<HOME-2>/shop", "<HOME-1>/shop")
    assert (out / "c.jsonl").read_text() == lines("annlee asks bobby")
    assert "nothing found" in run("redact", str(out), "--check").err
    texts = [run("redact", str(folder / "a.jsonl"), "-o", "-").out, run("redact", str(out / "a.jsonl"), "-o", "-").out]
    assert texts == [(out / "a.jsonl").read_text()] * 2
