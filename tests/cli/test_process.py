"""The program as a process: start-up, typos, streams, signals, colours."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import tiers
from tests.cli_cases import CLEAN, LOSSY, OTHER, OWN, ROOT, WRONG, command, environment, run, write

COMMANDS = [path.stem for path in sorted((ROOT / "convcli" / "cli").glob("[a-z]*.py"))]
VALIDATORS = {"jsonschema", "jsonschema_rs", "referencing"}
DEAR = {
    "ast", "click", "email", "gettext", "hashlib", "heapq", "importlib.metadata", "importlib.resources", "inspect",
    "multiprocessing", "pathlib", "platform", "rich", "signal", "tempfile", "textwrap", "threading", "tokenize",
    "tomllib", "urllib.parse",
}  # fmt: skip
"""What takes its time to import and what few calls of the program need."""
HELP = {"ast", "click", "gettext", "heapq", "inspect", "textwrap", "threading", "tokenize"}
"""What printing a help imports."""


def imported(*arguments: object, cwd: Path | None = None) -> set[str]:
    """The modules that a call of the program loads."""
    code = (
        "import sys; before = set(sys.modules); from convcli.__main__ import main; main(sys.argv[1:]);"
        "print(*(set(sys.modules) - before), file=sys.stderr)"
    )
    words = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, env=environment(), cwd=cwd, check=True)
    return set(done.stderr.decode().splitlines()[-1].split())


def test_the_version_needs_nothing_but_the_program() -> None:
    needed = {"convcli", "convcli.__main__", "convcli.model", "convcli.model.modules", "convcli.model.version"}
    assert {name for name in imported("--version") if name.startswith("convcli")} == needed
    assert not {"click", "msgspec", "orjson", "re", "typing"} & imported("--version")


def test_the_help_needs_no_json() -> None:
    assert not (DEAR - HELP | VALIDATORS | {"orjson"}) & imported("-h")


def test_a_small_conversion_loads_nothing_dear_and_of_the_named_dialects_only(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", LOSSY)
    for more in (["-o", tmp_path / "out.json"], []):
        modules = imported("convert", source, "--from", OWN, "--to", OTHER, *more, cwd=tmp_path)
        assert not (DEAR | VALIDATORS) & modules
        named = {name.split(".")[2] for name in modules if name.startswith("convcli.dialects.")}
        assert named == {OWN, OTHER.replace("-", "_")}
    assert not (DEAR | VALIDATORS) & imported("convert", source, "--to", OTHER, cwd=tmp_path)
    session = ROOT / "samples" / "claude-code" / "twin-weather.jsonl"
    assert not {"pathlib", "shutil", "sqlite3"} & imported("convert", session, "--to", "hf-chat", cwd=tmp_path)


def test_a_conversion_of_more_loads_the_fast_validator(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", *[CLEAN] * 500)
    assert imported("convert", source, "--to", OTHER, "-o", tmp_path / "out") & VALIDATORS == {"jsonschema_rs"}


def test_only_a_refused_document_needs_jsonschema_and_no_pipe_needs_rich(tmp_path: Path) -> None:
    good, bad = write(tmp_path / "good.json", LOSSY), write(tmp_path / "bad.json", WRONG)
    assert not (DEAR | VALIDATORS) & (
        imported("validate", good, cwd=tmp_path) | imported("inspect", good, cwd=tmp_path)
    )
    assert "rich" not in imported("inspect", good) | imported("validate", bad, "--dialect", OTHER)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["convrt"], "convert"),
        (["convert", "--too", "x"], "--to"),
        (["convert", "a", "--to", "intermediat"], OWN),
        (["convert", "a", "--to", OWN, "--fail-on-loss=contnt"], "content"),
        (["validate", "a", "--output-format", "jsn"], "json"),
        (["schema", "intermediat"], OWN),
        (["inspect", "a", "--color", "alwys"], "always"),
        (["explain", "mising-tool-result"], "missing-tool-result"),
        (["validate", "a", "--select", "mising-key"], "missing-key"),
        (["completion", "bsh"], "bash"),
        (["convert", "a", "--to", OWN, "--branch", "activ"], "active"),
        (["convert", "a", "--to", OWN, "--duplicate-keys", "lst"], "last"),
        (["convert", "a", "--to", OTHER, "--form", "requst"], "request"),
        (["convert", "a", "--to", "openai-chat-stream", "--framing", "ss"], "sse"),
        (["dialects", "openai-cht"], OTHER),
        (["losses", "--from", OTHER, "--to", "intermediat"], OWN),
        (["inspect", str(ROOT / "samples/openai-chat/twin-weather.json"), "--columns", "rol"], "role"),
        (["inspect", str(ROOT / "samples/openai-chat/twin-weather.json"), "--where", "rol=user"], "role"),
    ],
)
def test_a_typo_gets_its_nearest_match_and_exit_2(words: list[str], hint: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert f'did you mean "{hint}"?' in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["inspect", ""], "an empty string is not a file name"),
        (["convert", "", "--to", OTHER], "an empty string is not a file name"),
        (["convert", "a.json", "--to", OTHER, "-j", "x"], 'invalid value for "-j" / "--jobs": "x" is no integer'),
        (["convert", "a.json"], 'missing option "--to"'),
        (["diff", "a.json"], 'missing argument "SECOND"'),
        (["explain"], 'missing argument "CODE"'),
    ],
)
def test_a_wrong_word_is_a_wrong_job_and_told_in_plain_words(words: list[str], reported: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stderr.decode().splitlines()[0]) == (2, f"error[usage] {reported}")


def test_every_command_has_help_that_begins_with_examples() -> None:
    overview = run("-h").stdout.decode()
    assert run().stdout.decode() == overview
    for name in COMMANDS:
        assert re.search(rf"\b{name}\b", overview.partition("\nLook:\n")[2])
        examples, _, _ = run(name, "-h").stdout.decode().partition("Usage:")
        assert examples.startswith("Examples:\n  convcli ")
        assert f"  convcli {name}" in examples


def test_the_overview_groups_the_commands_by_job_in_order_of_use_and_cuts_no_sentence() -> None:
    text = run("-h", env=environment(COLUMNS="80")).stdout.decode()
    assert max(map(len, text.splitlines())) <= 80
    assert "..." not in text
    groups = re.findall(r"(?m)^(\w+):\n((?:  .*\n)+)", text.partition("\n\n")[2])
    named = {title: [line.split()[0] for line in lines.splitlines()] for title, lines in groups[1:]}
    assert list(named) == ["Look", "Convert", "Check", "More"]
    assert [names[0] for names in named.values()] == ["inspect", "convert", "validate", "detect"]
    assert sorted(name for names in named.values() for name in names) == COMMANDS


@pytest.mark.parametrize("name", tiers.few(COMMANDS, 5))
def test_help_fits_80_columns_but_for_examples(name: str) -> None:
    text = run(name, "-h", env=environment(COLUMNS="80")).stdout.decode()
    assert max(map(len, text.partition("Usage:")[2].splitlines())) <= 80


def closed_pipe() -> int:
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.parametrize("name", ["convert", "validate", "inspect", "-h"])
def test_a_reader_who_has_gone_is_no_error_worth_a_word(tmp_path: Path, name: str) -> None:
    source = write(tmp_path / "a.json", WRONG if name == "validate" else CLEAN)
    words = {"-h": [], "convert": [source, "--to", OTHER, "--from", OTHER]}.get(name, [source, "--from", OTHER])
    pipe = closed_pipe()
    done = run(name, *words, capture_output=False, stdout=pipe, stderr=subprocess.PIPE)
    os.close(pipe)
    assert done.returncode == 141
    assert b"Traceback" not in done.stderr
    assert b"error[" not in done.stderr


def test_a_full_stdout_is_exit_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path / "a.json", LOSSY)
    for words in (["convert", source, "--to", OTHER], ["inspect", source], ["--version"], ["--version"]):
        monkeypatch.setenv("PYTHONUNBUFFERED", "1" if "PYTHONUNBUFFERED" not in os.environ else "")
        with open("/dev/full", "wb") as full:
            done = run(*words, capture_output=False, stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 3
        assert done.stderr.count(b"No space left on device") == 1


def test_an_output_file_does_not_need_stdout_or_stderr(tmp_path: Path) -> None:
    source, out = write(tmp_path / "a.json", LOSSY), tmp_path / "out.json"
    shell = " ".join(command("convert", source, "--to", OTHER, "-o", out)) + " >&- 2>&-"
    assert subprocess.run(["sh", "-c", shell], env=environment(), check=False).returncode == 0
    assert json.loads(out.read_bytes())


@pytest.mark.parametrize("number", tiers.few([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], 1))
def test_a_signal_leaves_nothing_behind_and_is_what_the_process_dies_of(tmp_path: Path, number: signal.Signals) -> None:
    """The input is a pipe that does not end; the first records are under way when the signal comes."""
    words = command("convert", "-", "--from", OWN, "--to", OTHER, "-o", tmp_path / "out")
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment()}
    with subprocess.Popen(words, **pipes) as process:  # type: ignore[call-overload]
        for _ in range(2_000):
            process.stdin.write(json.dumps(LOSSY).encode() + b"\n")
        process.stdin.flush()
        time.sleep(1)
        process.send_signal(number)
        reported = process.stderr.read()
        assert process.wait(10) == -number
    assert reported == b"stopped; nothing was written\n"
    assert os.listdir(tmp_path) == []


def interrupted_at(module: str, words: list[str], tmp_path: Path) -> subprocess.CompletedProcess[bytes]:
    """Runs a process that receives SIGINT while it loads this module, which then goes on."""
    (tmp_path / "sitecustomize.py").write_text(f"""
import os, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {int(signal.SIGINT)})
            os.write(2, b"loading goes on\\n")

sys.meta_path.insert(0, Finder())
""")
    surroundings = environment(PYTHONPATH=f"{tmp_path}:{environment()['PYTHONPATH']}")
    return subprocess.run(words, capture_output=True, env=surroundings, check=False)


PROGRAM = [sys.executable, "-c", "from convcli._start import program; program()"]


@pytest.mark.parametrize(("words", "module"), [(PROGRAM, "convcli.__main__"), (PROGRAM, "gc"), (command("-h"), "gc")])
def test_ctrl_c_is_silent_before_the_program_handles_signals(tmp_path: Path, words: list[str], module: str) -> None:
    done = interrupted_at(module, words, tmp_path)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def test_the_program_loads_next_to_nothing_before_it_handles_ctrl_c() -> None:
    code = "import sys; before = set(sys.modules); import convcli._start; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment(), check=True)
    loaded = {"__future__", "convcli", "convcli._start", "convcli.model", "convcli.model.version"}
    assert set(done.stdout.decode().split()) <= loaded


def test_a_signal_waits_until_a_module_is_loaded(tmp_path: Path) -> None:
    """An exception within the initialization of orjson ends the process by signal 11."""
    source = write(tmp_path / "a.jsonl", *[CLEAN] * 5000)  # takes longer than the signal waits
    done = interrupted_at("orjson", command("convert", source, "--to", OTHER), tmp_path)
    assert done.returncode == -signal.SIGINT
    assert done.stderr in (b"loading goes on\nstopped\n", b"loading goes on\nstopped; nothing was written\n")


def test_a_signal_is_not_lost_where_python_ignores_exceptions(tmp_path: Path) -> None:
    code = f"""
import os, signal, sys, time
from convcli.__main__ import main
from convcli.engine import pipeline

class Freed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(9))

def lift(*_):
    Freed()
    time.sleep(60)

pipeline.lift = lift
main(["convert", sys.argv[1], "--to", {OTHER!r}])
"""
    words = [sys.executable, "-c", code, str(write(tmp_path / "a.json", LOSSY))]
    done = subprocess.run(words, capture_output=True, env=environment(), check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"stopped; nothing was written\n")


def test_a_bug_is_one_line_exit_70_and_a_traceback_only_with_debug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from convcli.__main__ import main
    from convcli.engine import pipeline

    def broken(*_: object) -> None:
        raise KeyError("secret")

    monkeypatch.setattr(pipeline, "lift", broken)
    source = str(write(tmp_path / "a.json", LOSSY))
    assert main(["convert", source, "--to", OTHER]) == 70
    reported = capfd.readouterr().err
    assert reported.startswith("error[bug] ")
    assert reported.count("\n") == 1
    assert "secret" not in reported
    assert main(["convert", source, "--to", OTHER, "--debug"]) == 70
    assert "Traceback" in capfd.readouterr().err


def test_colour_is_for_terminals_and_for_those_who_ask(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", WRONG)
    words = ["validate", source, "--from", OTHER]
    assert b"\x1b[" not in run(*words).stdout
    assert b"\x1b[1;31merror" in run(*words, "--color", "always").stdout
    assert b"\x1b[1;31merror" in run(*words, env=environment(FORCE_COLOR="1")).stdout
    assert b"\x1b[" not in run(*words, env=environment(FORCE_COLOR="1", NO_COLOR="1")).stdout


def test_what_a_transcript_says_cannot_reach_the_terminal(tmp_path: Path) -> None:
    text = "\x1b]0;title\x07\u202e[bold]"
    source = write(tmp_path / "\x1b[2Ja.json", {"messages": [{"role": "user", "content": text}]})
    done = run("inspect", source, "--from", OTHER)
    shown = (done.stdout + done.stderr).decode()
    assert "\\x1b]0;title\\x07\\u202e[bold]" in shown
    assert "\x1b" not in shown


def test_a_project_that_says_nothing_to_convcli_is_not_even_parsed(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", CLEAN)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n', encoding="utf-8")
    assert "tomllib" not in imported("inspect", source, cwd=tmp_path)
