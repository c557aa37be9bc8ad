"""Documents for the tests of files, reports and the command line, and the program as the shell sees it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests import forking, tiers

ROOT = Path(__file__).parent.parent
OWN = "intermediate"
OTHER = "openai-chat"
"""One dialect that carries everything and one that does not; the tests of the dialects go over all of them."""

LOSSY: dict[str, Any] = {
    "convcli": 1,
    "model": "m",
    "messages": [
        {"role": "user", "id": "m1", "parts": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "f", "arguments": {"n": 1}}]},
        {
            "role": "tool",
            "parts": [{"type": "tool_result", "toolCallId": "c1", "name": "f", "kind": "data", "value": 3}],
        },
    ],
}
CLEAN: dict[str, Any] = {
    "model": "m",
    "max_completion_tokens": 64,
    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}],
}
WRONG: dict[str, Any] = {"messages": [{"role": "usr", "content": "hi"}, {"role": "assistant", "content": "hello"}]}


def write(path: Path, *documents: Any, end: str = "\n") -> Path:
    """One document to a line; strings as they are."""
    lines = [document if isinstance(document, str) else json.dumps(document) for document in documents]
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    return path


def run(*arguments: object, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """Call the program: all tests as the shell does, the usual tier in forks (`tests/forking.py`)."""
    if not tiers.is_exhaustive() and more.keys() <= {"env", "cwd"}:
        words, env = list(map(str, arguments)), more.get("env") or environment()
        done = forking.run(words, env, more.get("cwd"))
        if done is not None:
            return subprocess.CompletedProcess(command(*arguments), *done)
    return subprocess.run(command(*arguments), **{"capture_output": True, "env": environment(), **more}, check=False)


def command(*arguments: object) -> list[str]:
    """The words that call the program."""
    return [sys.executable, "-m", "convcli", *map(str, arguments)]


def command_in_processes(*arguments: object) -> list[str]:
    """The words that call the program, which starts processes for the smallest input."""
    begin = "from convcli.jobs import inputs; from convcli._start import program; inputs.WORTH = 1; program()"
    return [sys.executable, "-c", begin, *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    """Without what would change colours, and without a pager, which would wait for somebody."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    return {**kept, "PYTHONPATH": str(ROOT), "PAGER": "", **more}


def all_of(terminal: int) -> bytes:
    """What comes out of a terminal until its other side is closed."""
    said = b""
    with suppress(OSError):  # so it ends
        while piece := os.read(terminal, 1 << 16):
            said += piece
    os.close(terminal)
    return said


def on_terminal(words: list[str], columns: int, surroundings: dict[str, str]) -> tuple[int, str]:
    """Run a command whose streams are a terminal of this width: its exit code and what it wrote there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=surroundings) as process:
        os.close(theirs)
        said = all_of(ours)
    return process.returncode, said.decode()
