"""The program in each of its modes, and what must be true when it is killed, its disk is full or a folder is closed.

Nothing may appear under the name of an output but the whole output, no temporary file and no process may stay, and the
same command again gives the same bytes as a job that nothing disturbed.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.cli_cases import ROOT, environment, write

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
import convcli.cli._parts as parts
import convcli.jobs.inputs as inputs
from convcli._start import program
parts.LEAST = inputs.WORTH = 1
program()
"""
"""The installed program, with small parts, and processes for small inputs.

Ctrl-C is ignored before: Python would print a traceback."""
RECORDS, FILES = 400, 12
LASTING = 20.0
"""Seconds in which the processes of a killed one must end."""
TOGETHER = 10
"""Interrupted jobs in one folder, until the job is completed."""
KEPT = "kept"
"""The folder of what a job has left on a disk of its own."""
PAGE = 4096
"""The smallest space that a file takes."""


class Mode(NamedTuple):
    """The words of a command, and the option with which it replaces its outputs."""

    words: tuple[str, ...]
    again: tuple[str, ...] = ("--force",)


LINES = ("convert", "in.jsonl", "--to", "gemini", "-o", "out/out.jsonl")
PARTS = ("convert", "in.jsonl", "--to", "anthropic", "--part-size", "30000", "--out-dir", "out")
MODES = {
    "plain": Mode((*LINES, "--restore-file", "out/restore", "--losses", "out/losses")),
    "processes": Mode((*LINES, "-j", "2")),
    "folder": Mode(("convert", "in", "--to", "gemini", "--out-dir", "out")),
    "engine": Mode((*PARTS, "--engine", "local"), ()),
    "part": Mode((*PARTS, "--part", "1/1"), ()),
    "arranged": Mode((*LINES, "--shuffle", "7", "--dedupe")),
    "pages": Mode(("inspect", "in", "--output-format", "html", "--out-dir", "out")),
    "resume": Mode(("resume", "session.jsonl", "--in", "codex", "--home", "out"), ()),
    "redact": Mode(("redact", "in.jsonl", "-o", "out/out.jsonl")),
    "share": Mode(("share", "session.jsonl", "-o", "out/page.html")),
}


class Done(NamedTuple):
    """The exit code of a process, its standard error, and whether it left a process."""

    code: int
    reported: str
    leaves: bool = False


def write_inputs(folder: Path) -> None:
    """Writes the inputs of all modes, which are the same every time, and the folder of outputs."""
    luck = Random(7)
    documents = [_document(luck, number) for number in range(RECORDS)]
    write(folder / "in.jsonl", *documents)
    (folder / "in").mkdir()
    for number in range(FILES):
        write(folder / "in" / f"{number}.json", documents[number])
    shutil.copy(ROOT / "samples" / "claude-code" / "twin-weather.jsonl", folder / "session.jsonl")
    (folder / "out").mkdir()
    (folder / "tmp").mkdir()


def _document(luck: Random, number: int) -> dict[str, Any]:
    texts = [luck.randbytes(150).hex() for _ in range(3)]
    call = {"id": f"c{number}", "type": "function", "function": {"name": "f", "arguments": f'{{"n": {number}}}'}}
    return {
        "model": "m",
        "messages": [
            {"role": "user", "name": "ada", "content": texts[0]},
            {"role": "assistant", "content": texts[1], "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": texts[2]},
        ],
    }


def started(folder: Path, words: Sequence[str], before: Callable[[], object] = int) -> subprocess.Popen[bytes]:
    """Starts a command in a session of its own, which calls `before` first."""

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        before()

    surroundings = environment(TMPDIR=str(folder / "tmp"), HOME=str(folder))
    return subprocess.Popen(
        words,
        cwd=folder,
        env=surroundings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=prepare,
    )


def command(mode: str, *more: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, *MODES[mode].words, *more]


def finish(process: subprocess.Popen[bytes]) -> Done:
    """Waits for a process and for those that it has started."""
    reported = process.communicate()[1].decode(errors="replace")
    return Done(process.returncode, reported, leaves=_is_alive(process.pid))


def _is_alive(group: int) -> bool:
    """True if a process of this group is alive after a while."""
    end = time.monotonic() + LASTING
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    os.killpg(group, signal.SIGKILL)
    return True


def outputs(folder: Path) -> dict[str, bytes]:
    """Returns the results below the folder of outputs: not what a job in parts notes about itself.

    A session states the folder in which the program continues it; here, that is the same for all.
    """
    out, here = folder / "out", os.fsencode(folder.parent if folder.name == KEPT else folder)
    paths = {str(path.relative_to(out)): path for path in sorted(out.rglob("*")) if path.is_file()}
    return {name: path.read_bytes().replace(here, b"/") for name, path in paths.items() if not name.startswith("_")}


def temporary(folder: Path) -> list[str]:
    """Returns the files that a job leaves in the folder of temporary files, and hidden ones among its outputs."""
    hidden = [path for path in (folder / "out").rglob(".*") if path.is_file()]
    return [path.name for path in (*hidden, *(folder / "tmp").rglob("*"))]


class Usual(NamedTuple):
    """What a mode does if nothing disturbs it."""

    code: int
    seconds: float
    outputs: dict[str, bytes]


@cache
def usual(mode: str) -> Usual:
    """Runs the job undisturbed, in a folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        begin = time.monotonic()
        done = finish(started(folder, command(mode)))
        seconds, results = time.monotonic() - begin, outputs(folder)
    assert done.code in (0, 1), (mode, done)
    assert results, (mode, done)
    return Usual(done.code, seconds, results)


def clear(folder: Path) -> None:
    shutil.rmtree(folder / "out")
    (folder / "out").mkdir()


class Tried(NamedTuple):
    """How many jobs were ended by which signal, or had ended before, and what was wrong."""

    ends: Counter[str]
    defects: list[str]


def killed(mode: str, folder: Path, count: int, seed: str) -> Tried:
    """Kills the job at random moments, again and again in the same folder, and completes it at the end."""
    luck, expected, tried = Random(f"{mode} {seed}"), usual(mode), Tried(Counter(), [])
    for number in range(count):
        process = started(folder, command(mode, *_again(mode, folder)))
        number_of_signal, seconds = luck.choice(SIGNALS), luck.uniform(0.3, 1.05) * expected.seconds
        time.sleep(seconds)
        process.send_signal(number_of_signal)
        done = finish(process)
        tried.ends["ended" if done.code >= 0 else signal.Signals(-done.code).name] += 1
        codes = (-number_of_signal, expected.code)
        wrong = [*_wrong(done, codes, folder, expected), *_missing(done, expected, folder)]
        if (number + 1) % TOGETHER == 0 or number + 1 == count:
            wrong += _completed(mode, folder, expected)
            clear(folder)
        tried.defects.extend(f"{mode}, kill {number} of seed {seed}: {line}" for line in wrong)
    return tried


def _again(mode: str, folder: Path) -> tuple[str, ...]:
    """Returns the option of a job that is repeated. `resume` replaces no session: one that is there is removed."""
    if mode == "resume":
        clear(folder)
    return MODES[mode].again


def _wrong(done: Done, codes: Sequence[int], folder: Path, expected: Usual) -> Iterator[str]:
    """Yields what must not be, whatever disturbs a job."""
    if done.code not in codes:
        yield f"exit code {done.code}, not in {codes}: {done.reported}"
    if "Traceback" in done.reported or "[bug]" in done.reported:
        yield done.reported
    if done.leaves:
        yield "a process stays"
    for name, data in outputs(folder).items():
        if expected.outputs.get(name) != data:
            yield f"{name} has {len(data)} bytes, not {len(expected.outputs.get(name, b''))}"
    if left := temporary(folder):
        yield f"temporary files: {left}"


def _missing(done: Done, expected: Usual, folder: Path) -> Iterator[str]:
    if done.code == expected.code and outputs(folder).keys() != expected.outputs.keys():
        yield f"exit code {done.code} with the outputs {sorted(outputs(folder))}"


def _completed(mode: str, folder: Path, expected: Usual) -> Iterator[str]:
    done = finish(started(folder, command(mode, *_again(mode, folder))))
    if done.code != expected.code or outputs(folder) != expected.outputs:
        yield f"the job again: exit code {done.code}, {sorted(outputs(folder))}: {done.reported}"


# --- disks and permissions -------------------------------------------------------------------------------------------


def limited(mode: str, folder: Path, count: int, seed: str) -> Tried:
    """Runs the job where no file may be larger than a random size."""
    luck, expected, tried = Random(f"{mode} {seed}"), usual(mode), Tried(Counter(), [])
    largest = max(map(len, expected.outputs.values()))
    for number in range(count):
        size = luck.randrange(largest)

        def limit(size: int = size) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        done = finish(started(folder, command(mode), limit))
        tried.ends[str(done.code)] += 1
        wrong = list(_wrong(done, (3,), folder, expected))
        clear(folder)
        tried.defects.extend(f"{mode}, {size} bytes, {number} of seed {seed}: {line}" for line in wrong)
    return tried


@cache
def may_mount() -> bool:
    """True if this process may mount a file system that only it and its children see."""
    unshare = shutil.which("unshare")
    words = [unshare or "", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]
    return unshare is not None and subprocess.run(words, capture_output=True, check=False).returncode == 0


ON_SMALL_DISK = f"""
mount -t tmpfs -o size=$1 none disk && mkdir disk/out disk/tmp || exit 99
mount --bind disk/out out && mount --bind disk/tmp tmp || exit 99
shift
"$@"
code=$?
rm -rf {KEPT} && mkdir {KEPT} && cp -r out tmp {KEPT} && exit $code
"""
"""Mounts a disk of this size for outputs and temporary files, runs the job, and copies what it leaves."""


def on_full_disk(mode: str, folder: Path, count: int, seed: str) -> Tried:
    """Runs the job on a disk that becomes full."""
    luck, expected, tried = Random(f"{mode} {seed}"), usual(mode), Tried(Counter(), [])
    pages = sum(-(-len(data) // PAGE) for data in expected.outputs.values())
    (folder / "disk").mkdir(exist_ok=True)
    for number in range(count):
        size = luck.randint(1, pages) * PAGE
        words = ["unshare", "-m", "sh", "-c", ON_SMALL_DISK, "sh", str(size), *command(mode)]
        done = finish(started(folder, words))
        tried.ends[str(done.code)] += 1
        kept = folder / KEPT
        wrong = [*_wrong(done, (3, expected.code), kept, expected), *_missing(done, expected, kept)]
        tried.defects.extend(f"{mode}, {size} bytes, {number} of seed {seed}: {line}" for line in wrong)
    return tried


def unprivileged(words: list[str]) -> list[str] | None:
    """Returns the command that obeys permissions, although the superuser runs it; None if there is none."""
    if os.geteuid():
        return words
    setpriv = shutil.which("setpriv")
    return setpriv and [setpriv, "--bounding-set=-all", *words]


def modes_of_files(folder: Path) -> dict[str, int]:
    """Returns the permissions of all files below the folder of outputs."""
    found = (folder / "out").rglob("*")
    return {str(path.relative_to(folder)): path.stat().st_mode & 0o777 for path in found if path.is_file()}
