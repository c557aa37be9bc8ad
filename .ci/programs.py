"""Asks agent programs to resume what `convcli resume` writes: `programs.py FOLDER [PROGRAM…]`.

FOLDER holds the programs (`npm install --prefix FOLDER/PROGRAM PACKAGE`; `--packages` prints them). Each program gets a
home directory of its own and no model but a service on loopback, which answers every request with "done". A session is
written for the program, the program resumes it with one more message, and every text, tool call and tool result of the
conversation must be in what the service receives. (The three sessions lose no text, call or result on their way.)
Exit 1 when something else is missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
SESSIONS = ("openclaw/twin-weather.jsonl", "claude-code/twin-weather.jsonl", "openai-responses/twin-weather.json")
"""The sessions that each program resumes, below `samples`."""
PROBE = "Say done. 7c1f"
"""The message with which a session goes on."""
SECONDS = 300
"""How long a program may take for one session."""


class Program(NamedTuple):
    """A program: its package, where it is in it, how it goes on with a session, and what tells it of the service.

    In the words and values, `{id}` is the session, `{file}` its file, `{home}` the home and `{url}` the service.
    """

    package: str
    binary: str
    go_on: tuple[str, ...]
    before: tuple[str, ...] = ()
    variables: Mapping[str, str] = {}
    files: Mapping[str, str] = {}


CODEX = """
model = "gpt-5.5"
model_provider = "loopback"
approval_policy = "never"
sandbox_mode = "read-only"
[model_providers.loopback]
name = "loopback"
base_url = "{url}/v1"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
"""
OPENCODE = {
    "provider": {
        "loopback": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "loopback",
            "options": {"baseURL": "{url}/v1", "apiKey": "none"},
            "models": {"m": {"name": "m", "tool_call": True, "reasoning": True}},
        }
    },
    "model": "loopback/m",
    "small_model": "loopback/m",
    "autoupdate": False,
    "share": "disabled",
}
PROGRAMS = {
    "codex": Program(
        "@openai/codex@0.169.0",
        "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        ("exec", "--skip-git-repo-check", "resume", "{id}", PROBE),
        variables={"CODEX_HOME": "{home}/.codex"},
        files={".codex/config.toml": CODEX},
    ),
    "opencode": Program(
        "opencode-ai@1.18.33",
        "opencode-linux-x64/bin/opencode",
        ("run", "-s", "{id}", "-m", "loopback/m", PROBE),
        before=("import", "{file}"),
        variables={"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_CONFIG": "{home}/opencode.json"},
        files={"opencode.json": json.dumps(OPENCODE)},
    ),
    "gemini-cli": Program(
        "@google/gemini-cli@0.61.0",
        ".bin/gemini",
        ("--resume", "{id}", "-m", "gemini-2.5-flash", "-p", PROBE),
        variables={
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": "{url}",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        },
        files={
            ".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}, '
            '"privacy": {"usageStatisticsEnabled": false}}'
        },
    ),
    "claude-code": Program(
        "@anthropic-ai/claude-code@2.1.197",
        "@anthropic-ai/claude-code-linux-x64/claude",
        ("-p", PROBE, "--resume", "{id}", "--output-format", "json", "--max-turns", "1"),
        variables={
            "CLAUDE_CONFIG_DIR": "{home}/.claude",
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        },
    ),
}

# ---------------------------------------------------------------- the service


class Service(ThreadingHTTPServer):
    """Keeps what it receives, and answers "done" as the service of each vendor does."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received: list[Any] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    server: Service

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.answer({"data": [], "models": []})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.headers.get("content-encoding") == "zstd":
            import zstandard

            body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
        try:
            request = json.loads(body)
        except ValueError:
            request = {}
        self.server.received.append(request)
        path = self.path.partition("?")[0]
        if path.endswith("/responses"):
            self.stream(RESPONSES, is_named=True)
        elif path.endswith("/chat/completions"):
            self.stream([*CHAT, "[DONE]"])
        elif path.endswith("/messages") and request.get("stream"):
            self.stream(MESSAGES, is_named=True)
        elif path.endswith("/messages"):
            self.answer({**MESSAGE, "content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn"})
        elif path.endswith(":streamGenerateContent"):
            self.stream([GENERATED])
        elif path.endswith(":generateContent"):
            self.answer(GENERATED)
        else:
            self.answer({"totalTokens": 1, "input_tokens": 1})

    def answer(self, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events: list[Any], is_named: bool = False) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if is_named else ""
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{name}data: {data}\n\n".encode())


DONE = {"type": "message", "id": "m1", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
RESPONSES = [
    {"type": "response.created", "response": {"id": "r1"}},
    {"type": "response.output_item.done", "output_index": 0, "item": DONE},
    {
        "type": "response.completed",
        "response": {"id": "r1", "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}},
    },
]
CHUNK = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
CHAT = [
    {**CHUNK, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "done"}}]},
    {
        **CHUNK,
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    },
]
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
MESSAGES = [
    {"type": "message_start", "message": MESSAGE},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "done"}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 1},
    },
    {"type": "message_stop"},
]
GENERATED = {
    "candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "done"}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
}

# ---------------------------------------------------------------- what a conversation says


def convcli(*words: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(["convcli", *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"convcli {' '.join(map(str, words))}: {done.stderr}")
    return done


def said(session: Path) -> Iterator[str]:
    """Yields the texts, tool names, arguments and results of a conversation, without instructions."""
    document = json.loads(convcli("convert", session, "--to", "intermediate", "-o", "-").stdout)
    for message in document["messages"]:
        for part in message["parts"] if message["role"] in ("user", "assistant", "tool") else ():
            if part["type"] == "text":
                yield part["text"]
            elif part["type"] == "tool_call":
                yield part["name"]
                yield from texts(part["arguments"])
            elif part["type"] == "tool_result":
                yield from texts(part["value"])


def texts(value: Any) -> Iterator[str]:
    """Yields every string inside a JSON value, those of JSON in strings too."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    elif isinstance(value, str):
        yield value
        if value.startswith(("{", "[")):
            try:
                yield from texts(json.loads(value))
            except ValueError:
                return


# ---------------------------------------------------------------- a program resumes a session


def ran(words: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Runs a program without a terminal; returns what it prints."""
    try:
        return subprocess.run(
            words,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired:
        return f"it did not end within {SECONDS} seconds"


def missing(name: str, binary: Path, session: Path, folder: Path) -> list[str]:
    """Resumes a session in a program; returns what its service never received, or why there was no request."""
    program, service = PROGRAMS[name], Service()
    home, work = folder / "home", folder / "work"
    work.mkdir()
    url = f"http://127.0.0.1:{service.server_address[1]}"
    resumed = convcli("resume", session, "--in", name, "--home", home, "--cwd", work)
    file = resumed.stderr.partition("wrote ")[2].splitlines()[0]
    id_ = resumed.stdout.split()[-1]

    def filled(text: str) -> str:
        for key, value in {"id": id_, "file": file, "home": str(home), "url": url}.items():
            text = text.replace(f"{{{key}}}", value)
        return text

    for path, content in program.files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(filled(content), encoding="utf-8")
    closed = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        **closed,
        **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
        **{key: filled(value) for key, value in program.variables.items()},
    }
    output = ""
    for words in (program.before, program.go_on):
        if words:
            output += ran([str(binary), *map(filled, words)], work, environment)
    service.shutdown()
    received = [set(texts(request)) for request in service.received]
    asked = [found for found in received if any(PROBE in text for text in found)]
    if not asked:
        return [f"no request: {' '.join(output.split())[-600:]}"]
    return [text for text in said(session) if not any(text in whole for found in asked for whole in found)]


def failures(folder: Path, name: str) -> int:
    """Lets a program resume every session; prints what became of each and returns how many failed."""
    wrong = 0
    binary = folder / name / "node_modules" / PROGRAMS[name].binary
    for session in SESSIONS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            lost = missing(name, binary, ROOT / "samples" / session, Path(place))
        sys.stdout.write(f"{name}: {session}: {f'missing {lost}' if lost else 'resumed'}\n")
        sys.stdout.flush()
        wrong += bool(lost)
    return wrong


def main() -> int:
    if sys.argv[1:] == ["--packages"]:
        sys.stdout.writelines(f"{name} {program.package}\n" for name, program in PROGRAMS.items())
        return 0
    folder, *names = sys.argv[1:]
    with ThreadPoolExecutor(2) as pool:
        wrong = sum(pool.map(partial(failures, Path(folder)), names or PROGRAMS))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
