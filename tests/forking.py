"""The program of the command line in forks of a process that has loaded it already.

A start takes a hundredth of a second in place of a sixth. The usual tier runs the program so; all tests
(`pytest -m ""`) start it as a shell does. What depends on how Python itself starts is never forked.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import selectors
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from threading import Lock

OF_PYTHON = ("PYTHON", "LC_", "LANG")
"""How variables begin that Python reads when it starts."""
LENGTH = 8
"""Bytes that hold the length of an order."""
_lock = Lock()


def run(arguments: Sequence[str], env: Mapping[str, str], cwd: Path | str | None) -> tuple[int, bytes, bytes] | None:
    """Runs the program; returns its exit code and what it wrote to stdout and stderr.

    Returns None where Python has to start anew: in surroundings that Python reads when it starts.
    """
    if _of_python(env) != _of_python(os.environ) | {"PYTHONPATH": str(Path(__file__).parent.parent)}:
        return None
    order = json.dumps([list(arguments), dict(env), str(cwd or os.getcwd())]).encode()
    with _lock:
        server = _server()
        (out, out_of_child), (err, err_of_child) = os.pipe(), os.pipe()
        socket.send_fds(server, [len(order).to_bytes(LENGTH, "big")], [0, out_of_child, err_of_child])
        server.sendall(order)
        os.close(out_of_child)
        os.close(err_of_child)
        said = _read(out, err)
        return int(server.recv(LENGTH)), *said


def _of_python(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(OF_PYTHON)}


def _read(*pipes: int) -> list[bytes]:
    """Returns what comes out of pipes until all are closed."""
    said = dict.fromkeys(pipes, b"")
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                piece = os.read(key.fd, 1 << 16)
                said[key.fd] += piece
                if not piece:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return list(said.values())


@cache
def _server() -> socket.socket:
    """Starts the process that forks; it ends when the tests end, for then its socket is closed."""
    ours, theirs = socket.socketpair()
    with closing(theirs):
        words = [sys.executable, "-m", "tests.forking", str(theirs.fileno())]
        root = str(Path(__file__).parent.parent)
        subprocess.Popen(words, cwd=root, env={**os.environ, "PYTHONPATH": root}, pass_fds=[theirs.fileno()])
    return ours


# ---------------------------------------------------------------- the process that forks


def serve(orders: socket.socket) -> None:
    import convcli
    from convcli import dialects

    for module in pkgutil.walk_packages(convcli.__path__, "convcli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    dialects.builtin()
    gc.collect()
    gc.freeze()
    while True:
        head, files, _, _ = socket.recv_fds(orders, LENGTH, 3)
        if not head:
            return
        order, length = b"", int.from_bytes(head, "big")
        while len(order) < length:
            order += orders.recv(length - len(order))
        child = os.fork()
        if child == 0:
            _become(*json.loads(order), files)
        for file in files:
            os.close(file)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        orders.sendall(str(code).rjust(LENGTH).encode())


def _become(arguments: list[str], env: dict[str, str], cwd: str, files: list[int]) -> None:
    """Turns this process into the program, as if Python had just started."""
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.closerange(3, 256)
        os.environ.clear()
        os.environ.update(env)
        time.tzset()
        os.chdir(cwd)
        sys.stdin = open(0, encoding=sys.stdin.encoding, errors=sys.stdin.errors, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors, closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", 1, sys.stderr.encoding, "backslashreplace", closefd=False)  # noqa: SIM115
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
        program = importlib.import_module("convcli.__main__")
        sys.modules["__main__"] = program
        sys.argv = [str(program.__file__), *arguments]
        program.program()
    except BaseException:
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
