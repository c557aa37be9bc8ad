"""`python -m tests.benchmarks.parts KIND…`: jobs in parts against one process, byte for byte, for inputs of any size.

Kinds of inputs are jsonl (one file, cut in ranges), gz and zst (shards), parquet (row groups) and files (many small
ones); some records of each are bad. With `--at store` inputs and outputs are in a store on loopback. `--kills N` kills
the program, and with `--worker` one of its workers, at N random moments, each followed by the same command again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import cycle, zip_longest
from pathlib import Path
from typing import Any

from convcli.files.stores import OutputFolder, folder_at
from convcli.jobs import converting, inputs
from convcli.jobs.converting import InputConversion, Job, Sinks
from convcli.jobs.documents import finding_of
from convcli.jobs.paths import find
from convcli.model.errors import ContentError
from tests.benchmarks import data, killing

BAD = (
    b'{"messages": [{"role": "user"',
    b'{"messages": [], "messages": []}',
    b'{"messages": [{"role": "user", "content": "\xff"}]}',
    b'{"messages": [{"role": "nobody", "content": 7}]}',
)
EVERY = 97
"""Each of so many records is a bad one, or in a file of lines a blank one."""
SHARDS, GROUP = 16, 100
JOB = ["--from", "openai-chat", "--keep-going"]


def records(scale: float = data.LONG * 4) -> Iterator[bytes]:
    """Requests without end, each with an id of its own."""
    some = data.lines(100, scale, named=True) + data.lines(200, scale)
    for number, line in enumerate(cycle(some)):
        if number % EVERY == EVERY - 1:
            line = BAD[number // EVERY % len(BAD)]
        else:
            line = line.replace(b'"id":"req_', b'"id":"%d_' % number, 1)
        yield line


def of_size(lines: Iterable[bytes], size: int) -> Iterator[bytes]:
    """So many bytes of them."""
    for line in lines:
        yield line
        size -= len(line) + 1
        if size <= 0:
            return


# --- inputs ----------------------------------------------------------------------------------------------------------


def jsonl(folder: Path, size: int) -> None:
    """One file of lines, with blank lines and a torn one at the end."""
    with (folder / "in.jsonl").open("wb") as file:
        for number, line in enumerate(of_size(records(), size)):
            file.write(line + (b"\r\n \n" if number % EVERY == 5 else b"\n"))
        file.write(b'{"messages": [{"ro')


def _shards(folder: Path, size: int, suffix: str, opened: Callable[[Path], Any]) -> None:
    each = records()
    for number in range(SHARDS):
        with opened(folder / f"{number:02}.jsonl{suffix}") as file:
            for line in of_size(each, size // SHARDS):  # zstandard has no `writelines`
                file.write(line + b"\n")


def gz(folder: Path, size: int) -> None:
    """Shards in gzip."""
    _shards(folder, size, ".gz", partial(gzip.open, mode="wb", compresslevel=1))


def zst(folder: Path, size: int) -> None:
    """Shards in Zstandard."""
    import zstandard

    _shards(folder, size, ".zst", lambda path: zstandard.open(path, "wb"))


def files(folder: Path, size: int, count: int = 10_000) -> None:
    """Many files of one document each."""
    each = records(data.LONG * size / (count * 60_000))
    for number in range(count):
        path = folder / f"{number // 1000}" / f"{number:05}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(next(each))


def parquet(folder: Path, size: int) -> None:
    """A table in row groups, with messages as JSON in a text and a column of structs."""
    import pyarrow
    from pyarrow import parquet as arrow

    where = pyarrow.struct([("name", pyarrow.string()), ("run", pyarrow.int64())])
    kinds = {"messages": pyarrow.string(), "model": pyarrow.string(), "metadata": where}
    schema = pyarrow.schema(kinds.items())
    with arrow.ParquetWriter(folder / "in.parquet", schema, compression="zstd") as writer:
        group: list[dict[str, Any]] = []
        for number, line in enumerate(of_size(records(), size)):
            row: dict[str, Any] = {"messages": "[{", "model": None, "metadata": {"name": "n", "run": number}}
            if line not in BAD:
                row["messages"] = json.dumps(json.loads(line)["messages"], ensure_ascii=False)
            group.append(row)
            if len(group) == GROUP:
                writer.write_table(pyarrow.Table.from_pylist(group, schema))
                group = []
        writer.write_table(pyarrow.Table.from_pylist(group, schema))


KINDS: dict[str, Callable[[Path, int], None]] = {
    "jsonl": jsonl, "gz": gz, "zst": zst, "parquet": parquet, "files": files,
}  # fmt: skip


# --- runs ------------------------------------------------------------------------------------------------------------


def program(*words: object) -> list[str]:
    """The words of a command."""
    return [sys.executable, "-m", "convcli", *map(str, words)]


def run(*words: object) -> tuple[int, str]:
    """The exit code of a command, and what it tells; what it took is printed."""
    begin, before = time.perf_counter(), os.times()
    process = subprocess.Popen(program(*words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    reported = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    wall, peak = time.perf_counter() - begin, usage.ru_maxrss / 1024
    show(f"  {cpu:7.1f} s CPU, {wall:6.1f} s, {peak:5.0f} MB: convcli {' '.join(map(str, words))[:90]}")
    return process.returncode, reported


def show(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def findings_of_one(paths: Iterable[str]) -> Iterator[bytes]:
    """The findings of a conversion by the library, one file after the other, as lines."""
    from convcli import dialects
    from convcli.parts.work import keep_own_line

    held = list[bytes]()
    job = Job(dialects.get("anthropic"), keep_going=True, layout="jsonl", is_joined=True)
    sinks = Sinks(None, lambda finding: held.append(keep_own_line(finding)))
    for path in paths:
        try:
            with inputs.opened(path, "openai-chat") as source:
                converting.completed(InputConversion(source, job, lambda _: _Nowhere(), sinks))
        except ContentError as error:
            held.append(keep_own_line(finding_of(error)))
        yield from held
        held.clear()


class _Nowhere:
    name = ""

    def write(self, data: bytes) -> None:
        """Nobody reads it."""

    commit = discard = lambda self: None


def lines_of(folder: OutputFolder, kind: str, names: Iterable[str]) -> Iterator[bytes]:
    """What the parts have written, line by line."""
    chosen = sorted((name for name in names if name.startswith(f"{kind}part-")), key=lambda name: (len(name), name))
    for held in folder.read(chosen):
        yield from held.splitlines(keepends=True)


def same(what: str, one: Iterable[bytes], parts: Iterable[bytes]) -> int:
    """Compare line by line; gives how many lines there are. Raises AssertionError at the first that differs."""
    number = 0
    for number, (expected, given) in enumerate(zip_longest(one, parts), 1):
        assert expected == given, f"{what}: line {number} differs: {(expected or b'')[:80]!r} {(given or b'')[:80]!r}"
    show(f"  {what}: {number:,} lines are equal")
    return number


def losses_of_one(path: Path) -> Iterator[bytes]:
    """The losses of a file of losses, one on a line."""
    with path.open("rb") as file:
        for line in file:
            if line not in (b"[\n", b"]\n"):
                yield line.rstrip(b",\n") + b"\n"


class Comparison:
    """One kind of inputs: what one process makes of it, and jobs in parts against that."""

    def __init__(self, kind: str, size: int, work: Path) -> None:
        self.kind, self.work, self.folder = kind, work, work / kind
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        KINDS[kind](self.folder, size)
        self.paths = [file.path for file in find([str(self.folder)])]
        stored = sum(os.path.getsize(path) for path in self.paths)
        show(f"{kind}: {len(self.paths):,} files, {stored / 1e6:,.0f} MB as stored")
        self.one, self.losses, self.found = work / "one.jsonl", work / "losses.json", work / "findings.jsonl"

    def alone(self) -> None:
        """What one process does."""
        words = ["convert", self.folder, *JOB, "--to", "anthropic", "-o", self.one, "--losses", self.losses, "--force"]
        self.code, reported = run(*words)
        self.summary = reported.splitlines()[-1]
        with self.found.open("wb") as file:
            file.writelines(findings_of_one(self.paths))

    def in_parts(self, where: str, out: str, *more: str) -> None:
        """A job in parts on the inputs at a place, with all lines compared."""
        code, reported = run("convert", where, *JOB, "--to", "anthropic", "--out-dir", out, "--losses", "all", *more)
        assert code == self.code, reported
        self.compare(where, out, reported)

    def compare(self, where: str, out: str, reported: str) -> None:
        """Compare what is in a folder and what was told with what one process has made and told."""
        assert reported.splitlines()[-1].replace(where, str(self.folder)) == self.summary, reported[-2000:]
        folder = folder_at(out)
        names = folder.sizes()
        report = json.loads(next(folder.read(["_report.json"])))
        assert "_SUCCESS" in names

        def here(lines: Iterable[bytes]) -> Iterator[bytes]:
            return (line.replace(where.encode(), str(self.folder).encode()) for line in lines)

        with self.one.open("rb") as one, self.found.open("rb") as found:
            same("documents", one, lines_of(folder, "", names))
            same("losses", losses_of_one(self.losses), here(lines_of(folder, "_losses/", names)))
            same("findings", found, here(lines_of(folder, "_findings/", names)))
        counted = report["written"] + report["refused"] + report["torn"] + report["blank"]
        assert report["lines"] == counted, report
        show(f"  {report['lines']:,} lines = {report['written']:,} written + {counted - report['written']:,} others")
        expected = {f"part-{number:05}.jsonl" for number in range(report["parts"])}
        other_keys = {f"{kind}/{name}" for kind in ("_losses", "_findings", "_refused") for name in expected}
        marks = {f"_done/{number:05}.json" for number in range(report["parts"])}
        others = {*names} - expected - other_keys - marks - {"_done/job.json", "_report.json", "_SUCCESS"}
        assert not others, others
        assert marks <= {*names}


@contextmanager
def stored(folder: Path, bucket: str) -> Iterator[str]:
    """The same files in a store on loopback; its URL."""
    import s3fs

    system = s3fs.S3FileSystem(config_kwargs={"read_timeout": 900})  # the server joins pieces of a GB slowly
    system.mkdir(bucket)
    system.put(str(folder), f"{bucket}/in", recursive=True)
    try:
        yield f"s3://{bucket}/in"
    finally:
        system.rm(bucket, recursive=True)


@contextmanager
def store() -> Iterator[None]:
    """A server on loopback that speaks as S3 does."""
    port = random.randrange(20_000, 50_000)
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.environ |= {f"AWS_{name}": "x" for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")}
    os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{port}"
    time.sleep(6)
    try:
        yield
    finally:
        server.kill()  # it holds nothing that anybody needs
        server.wait()


def compared(comparison: Comparison, options: argparse.Namespace, where: str, out: str) -> None:
    """One job in parts, or many that are killed."""
    more = ["--engine", options.engine, "--part-size", options.part_size, "-j", str(options.jobs)]
    if not options.kills:
        comparison.in_parts(where, out, *more)
        return
    words = program("convert", where, *JOB, "--to", "anthropic", "--out-dir", out, "--losses", "all", *more)
    folder = folder_at(out)

    def again() -> None:
        for name in folder.sizes():
            folder.remove(name)

    for reported in killing.rounds(words, options.kills, is_worker=options.worker, again=again):
        comparison.compare(where, out, reported)


def main() -> None:
    """All kinds that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.parts", description=__doc__)
    parser.add_argument("kinds", nargs="*", default=list(KINDS), help="which kinds of inputs")
    parser.add_argument("--size", type=int, default=20, help="megabytes of each kind, before compression")
    parser.add_argument("--engine", default="local")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part-size", default="64M")
    parser.add_argument("--at", choices=["here", "store", "both"], default="here", help="a store is one on loopback")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--worker", action="store_true", help="kill a worker in place of the program")
    parser.add_argument("--work", type=Path, default=Path("parts-benchmark"), help="a folder for the data")
    options = parser.parse_args()
    for kind in options.kinds:
        try:
            comparison = Comparison(kind, options.size << 20, options.work)
            comparison.alone()
            if options.at != "store":
                compared(comparison, options, str(comparison.folder), str(options.work / "out"))
                shutil.rmtree(options.work / "out")
            if options.at == "here":
                continue
            with store(), stored(comparison.folder, f"b{random.randrange(1 << 30)}") as where:
                compared(comparison, options, where, f"{where.removesuffix('in')}out")
        finally:
            shutil.rmtree(options.work, ignore_errors=True)


if __name__ == "__main__":
    main()
