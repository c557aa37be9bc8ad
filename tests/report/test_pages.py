"""The pages of `convcli help`: every example in them runs, every topic is listed, every dialect is described."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from convcli import dialects
from convcli.files import project
from convcli.jobs import config, envelopes
from convcli.kit.codec import table
from convcli.report import pages
from convcli.report.text import Paint
from convcli.validation import schemas
from tests import tiers
from tests.cli_cases import environment, run
from tests.plugin_cases import TALK, install

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TOPICS = pages.topics()
CHAT: dict[str, Any] = {
    "model": "gpt-5.1",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "ada", "content": "Weather in Osaka?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "Osaka"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "22 °C"},
        {"role": "assistant", "content": "22 °C."},
        {"role": "user", "content": "Thanks. And tomorrow?"},
    ],
    "temperature": 0.5,
    "tools": [
        {
            "type": "function",
            "function": {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
        }
    ],
}
ANTHROPIC = {
    "model": "claude-x",
    "max_tokens": 9,
    "system": "Be brief.",
    "messages": [{"role": "user", "content": "Hi."}],
}


class Example(NamedTuple):
    """A code block of a page."""

    topic: str
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.topic}-{self.language}"


def examples(*languages: str) -> list[Example]:
    return [
        Example(topic, language, code)
        for topic in TOPICS
        for language, code in BLOCK.findall(pages.page(topic))
        if language in languages
    ]


def write_table(path: Path) -> None:
    """Ten rows, with a column that holds whole documents; nothing where tables are not installed."""
    if find_spec("pyarrow") is not None:
        import pyarrow
        from pyarrow import parquet

        row = {"messages": CHAT["messages"], "text": json.dumps(CHAT)}
        parquet.write_table(pyarrow.Table.from_pylist([row] * 10), path)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the pages speak of, and a plugin that is installed."""
    here = tmp_path / "here"
    for place in (here, here / "transcripts", here / "chats", here / "sessions"):
        place.mkdir(parents=True)
        (place / "chat.json").write_text(json.dumps(CHAT), encoding="utf-8")
        (place / "chats.jsonl").write_text(f"{json.dumps(CHAT)}\n" * 3, encoding="utf-8")
    shutil.copy(here / "chats.jsonl", here / "big.jsonl")
    (here / "anthropic.json").write_text(json.dumps(ANTHROPIC), encoding="utf-8")
    (here / "talk.json").write_text(TALK, encoding="utf-8")
    log, table = (BLOCK.findall(pages.page("own-logs"))[at][1] for at in (0, 2))
    (here / "support.json").write_text(log, encoding="utf-8")
    (here / "support.toml").write_text(f'{table}conversation = {{ id = "chat" }}\n', encoding="utf-8")
    trace = {"id": "t", "observations": [{"input": CHAT, "output": None}]}
    (here / "traces.json").write_text(json.dumps(trace), encoding="utf-8")
    calls = {"request": CHAT, "response": {"role": "assistant", "content": "It is mild."}}
    (here / "calls.jsonl").write_text(json.dumps(calls) + "\n", encoding="utf-8")
    shutil.copy(ROOT / "samples" / "openclaw" / "twin-weather.jsonl", here / "session.jsonl")
    write_table(here / "rows.parquet")
    write_session(here / ".claude" / "projects" / "-home-mira-shop")
    site = install(tmp_path / "site")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), str(site))))
    monkeypatch.setenv("CONVCLI_SITE", str(site))
    return here


def write_session(project: Path) -> None:
    """Writes a session of Claude Code that began today in the project "shop"."""
    rows = [
        {**row, "timestamp": f"{datetime.now(UTC):%Y-%m-%d}T00:00:00.000Z", "cwd": "/home/mira/shop"}
        for row in map(json.loads, (ROOT / "samples" / "claude-code" / "example.jsonl").read_text("utf-8").splitlines())
    ]
    project.mkdir(parents=True)
    (project / "session.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def ran(line: str, folder: Path) -> int:
    """The exit status of a line of a shell, in which `convcli` is this program."""
    program = folder.parent / "bin" / "convcli"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m convcli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    shown = {**environment(HOME=str(folder)), "PYTHONPATH": os.environ["PYTHONPATH"], "PATH": path}
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=shown, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode


def commands(code: str) -> Iterator[tuple[str, int]]:
    """Each line, with the exit status that its comment names, else 0."""
    for line in code.replace("\\\n", "").splitlines():
        named = re.search(r"# exit (\d)$", line)
        yield line, int(named[1]) if named else 0


@pytest.mark.parametrize("example", tiers.few([*examples("sh")], 6), ids=str)
def test_the_commands_of_the_pages_work(example: Example, folder: Path) -> None:
    if ".parquet" in example.code:
        pytest.importorskip("pyarrow")
    if "redact" in example.code:
        pytest.importorskip("phonenumbers")
    for line, status in commands(example.code):
        if "s3://" in line:  # nothing is fetched: `parts/test_engines` has a store on loopback
            continue
        assert ran(line, folder) == status, line


def test_a_page_has_commands_in_no_other_kind_of_block() -> None:
    assert {language for topic in TOPICS for language, _ in BLOCK.findall(pages.page(topic))} <= {
        "sh", "python", "json", "toml", "yaml",
    }  # fmt: skip


@pytest.mark.parametrize("example", examples("json"), ids=str)
def test_the_documents_of_the_pages_are_what_they_are_called(example: Example) -> None:
    document = json.loads(example.code)
    if example.topic == "intermediate-format":
        assert schemas.findings("intermediate", document) == []


@pytest.mark.parametrize("example", examples("toml"), ids=str)
def test_the_configurations_of_the_pages_are_taken(example: Example, tmp_path: Path) -> None:
    loaded = tomllib.loads(example.code)
    if example.topic == "configuration":
        name = project.SHARED if "tool" in loaded else project.OWN
        (tmp_path / name).write_text(example.code, encoding="utf-8")
        assert config.load(str(tmp_path)).settings
    if example.topic == "own-logs":
        stated = loaded.get("dialects", {"support": loaded})["support"]
        assert table.parse(stated, "support.toml").order


def test_the_draft_on_the_page_is_what_convcli_writes(folder: Path) -> None:
    shown = BLOCK.findall(pages.page("own-logs"))[2][1]
    assert run("dialects", "--draft", "support.json", cwd=folder).stdout.decode() == shown


@pytest.mark.parametrize("example", examples("yaml"), ids=str)
def test_the_snippets_for_ci_call_what_exists(example: Example, folder: Path) -> None:
    called = re.findall(r"run: (convcli .*)", example.code)
    for line in called:
        assert ran(line, folder) in (0, 1), line
    hooks = re.findall(r"- id: (\S+)", example.code)
    assert called or hooks
    for hook in hooks:
        assert f"- id: {hook}\n" in (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")


def modules(code: str) -> set[str]:
    """The packages that a piece of Python imports."""
    nodes = list(ast.walk(ast.parse(code)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {f"{node.module}.{node.names[0].name}" for node in nodes if isinstance(node, ast.ImportFrom)}


def is_there(name: str) -> bool:
    top = name.partition(".")[0]
    try:
        found = find_spec(".".join(name.split(".")[:2]) if top == "google" else top)
    except ImportError:
        return False
    return found is not None


PYTHON = [
    example
    for example in examples("python")
    if "convcli_captions" not in example.code and example.topic not in ("plugins", "scale")
]
"""The plugin is tested with `model/plugins`, the recipes for engines with `parts/test_recipes`."""


@pytest.mark.parametrize("example", PYTHON, ids=lambda one: f"{one.topic}-{'-'.join(sorted(modules(one.code)))}")
def test_the_python_of_the_pages_runs(example: Example, folder: Path, service: dict[str, str]) -> None:
    missing = sorted(name for name in modules(example.code) if not is_there(name))
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")
    for target in ("openai", "anthropic", "gemini"):
        source = "anthropic.json" if target == "openai" else "chat.json"
        dialect = "openai-chat" if target == "openai" else target
        if f"for-{target}.json" in example.code:
            assert ran(f"convcli convert {source} --to {dialect} -o for-{target}.json", folder) == 0
    done = subprocess.run(
        [sys.executable, "-c", example.code],
        cwd=folder,
        env={**environment(), **service},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------- services that answer, on this machine

ANSWERS: dict[str, Any] = {
    "/chat/completions": {
        "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-5.1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello."}}],
    },
    "/v1/messages": {
        "id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "Hello."}], "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "generateContent": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello."}]}, "index": 0}]},
}  # fmt: skip
NEEDED = {"/chat/completions": {"model"}, "/v1/messages": {"model", "max_tokens"}, "generateContent": {"contents"}}


class _Service(BaseHTTPRequestHandler):
    """Answers as a vendor does, if the request has what that vendor requires."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = next(path for path in ANSWERS if path in self.path)
        is_fine = body.keys() >= NEEDED[path]
        answer = json.dumps(ANSWERS[path] if is_fine else {"error": {"message": "a key is missing"}}).encode()
        self.send_response(200 if is_fine else 400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def service() -> Iterator[dict[str, str]]:
    """Variables that lead the SDKs to a service on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    yield {
        "OPENAI_API_KEY": "x", "OPENAI_BASE_URL": address,
        "ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": address,
        "GEMINI_API_KEY": "x", "GOOGLE_API_KEY": "", "GOOGLE_GEMINI_BASE_URL": address,
        "NO_PROXY": "127.0.0.1", "HF_HUB_OFFLINE": "1",
    }  # fmt: skip
    server.shutdown()


# ---------------------------------------------------------------- what is described


def test_every_link_between_pages_leads_somewhere() -> None:
    for topic in TOPICS:
        for target in re.findall(r"\]\(([^)#]+)\)", pages.page(topic)):
            assert Path(pages.folder(), target).exists(), target


def test_every_preset_for_envelopes_is_named() -> None:
    for preset in envelopes.PRESETS:
        assert f"`{preset}`" in pages.page("files")


def test_every_dialect_has_a_page_of_its_own_words_and_measures() -> None:
    for dialect in tiers.few(dialects.builtin(), 12):
        text = pages.of_dialect(dialect)
        assert text.startswith(f"# {dialect.name}: {dialect.title}\n")
        assert dialects.documentation(dialect.name).strip().partition("\n")[0] in text
        assert "Kept: " in text or not dialect.is_written
        for outcome in ("Lost", "Changed"):
            assert f"{outcome}:\n\n\n" not in text


def test_what_the_page_of_a_dialect_says_is_what_the_matrix_measures() -> None:
    text = pages.of_dialect(dialects.get("cohere"))
    kept = re.search(r"(?m)^Kept: (.*)\.$", text)
    assert kept is not None
    rows = json.loads(run("dialects", "cohere", "--matrix", "--output-format", "json").stdout)
    assert set(kept[1].split(", ")) >= {
        row["feature"] for row in rows if row["cohere"] == "kept" and "," not in row["feature"]
    }
    for row in rows:
        assert row["cohere"] == "kept" or f"- {row['feature']}: " in text


# ---------------------------------------------------------------- the command


def test_help_lists_every_topic_with_its_title() -> None:
    shown = run("help").stdout.decode()
    for topic in TOPICS:
        assert re.search(rf"(?m)^  {topic} +{re.escape(pages.title(topic))}$", shown)


@pytest.mark.parametrize("topic", TOPICS)
def test_in_a_pipe_a_page_is_the_markdown_of_the_file(topic: str) -> None:
    assert run("help", topic).stdout.decode() == (ROOT / "convcli" / "pages" / f"{topic}.md").read_text("utf-8")


def test_help_of_a_dialect_and_of_a_command() -> None:
    assert run("help", "cohere").stdout.decode() == pages.of_dialect(dialects.get("cohere"))
    assert run("help", "convert").stdout == run("convert", "-h").stdout


@pytest.mark.parametrize(
    ("word", "meant"),
    [("confguration", "configuration"), ("config-file", ""), ("python", "library"), ("plugin", "plugins"),
     ("opnai-chat", "openai-chat"), ("sdk", "sending"), ("convrt", "convert")],
)  # fmt: skip
def test_a_wrong_word_gets_the_right_one(word: str, meant: str) -> None:
    reported = run("help", word)
    assert (reported.returncode, reported.stdout) == (2, b"")
    assert "error[unknown-topic]" in reported.stderr.decode()
    assert (f'did you mean "{meant}"?' if meant else "help:") in reported.stderr.decode()


@pytest.mark.parametrize("topic", TOPICS)
def test_on_a_terminal_a_page_is_laid_out_and_fits(topic: str) -> None:
    shown = pages.shown(pages.page(topic), 80, Paint())
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.splitlines()[0] == pages.title(topic)
    assert "\x1b" not in shown
    assert "\n## " not in shown
    assert shown.count("…") == pages.page(topic).count("…"), "a table cuts a word"
    assert "\x1b[1m" in pages.shown(pages.page(topic), 80, Paint(colour=True))
