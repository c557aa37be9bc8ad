"""`python -m tests.benchmarks`: convcli against the floor that no converter can beat, and against peers if installed.

The floor is `orjson.dumps(orjson.loads(line))` of the same lines. Candidates run in turn within each round; the figure
is the median of the ratios to the floor of the same round, in CPU time of one core. Each round has documents of its
own: convcli and some peers remember what they have seen, so the documents of `--warm` go first, as the beginning of a
large file does. Peers stand in each pair that they convert, with how many times as fast convcli is, and with the share
of longer texts that the outputs hold.

`--startup` and `--scale` measure the program as a process instead.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any, NamedTuple

import orjson

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.proof.difference import difference
from convcli.validation import schemas, verdict
from convcli.wire import exact_json
from tests.benchmarks import data, peers, processes

Work = Callable[[bytes], object]


SEEDS = 10_000
"""For the documents of a column; each has its own, or who remembers what it has seen is faster in later ones."""


class Case(NamedTuple):
    """One kind of documents: `make` gives those of some seeds, of a scale; a session is the lines of a file."""

    name: str
    source: str
    target: str
    make: Callable[[range, float], Iterable[Any]]
    is_session: bool = False


def _pair(source: str, target: str, note: str = "", *, named: bool = False) -> Case:
    def make(seeds: range, scale: float) -> Iterable[Any]:
        return data.documents(source, seeds, scale, named=named)

    return Case(f"{source} → {target}{note}", source, target, make)


def _rows(name: str, target: str, make: Callable[[int], Any]) -> Case:
    def rows(seeds: range, _: float) -> Iterable[Any]:
        return (make(seed * 4 + number) for seed in seeds for number in range(4))

    return Case(name, "openai-chat", target, rows)


def _session(source: str, target: str) -> Case:
    def make(seeds: range, scale: float) -> Iterable[Any]:
        return data.documents(source, seeds[::6], scale, is_session=True)

    return Case(f"sessions: {source} → {target}", source, target, make, is_session=True)


CASES = (
    _pair("openai-chat", "anthropic"),
    _pair("openai-chat", "anthropic", ", every user's message loses a field", named=True),
    _pair("anthropic", "openai-chat"),
    _pair("anthropic", "gemini"),
    _pair("gemini", "openai-responses"),
    _pair("openai-responses", "openai-chat"),
    _pair("openai-chat", "mistral", ", every call loses its id"),
    _rows("rows of 3 KB → anthropic", "anthropic", data.row),
    _rows("rows with JSON results → anthropic", "anthropic", data.agent_row),
    _rows("rows with JSON results → sharegpt", "sharegpt", data.agent_row),
    _rows("rows with tools of their own → anthropic", "anthropic", data.tool_row),
    _session("openclaw", "gemini-cli"),
    _session("gemini-cli", "anthropic"),
    _session("codex", "openai-chat"),
    _session("claude-code", "openai-chat"),
)


def seconds(work: Work, lines: list[bytes]) -> float:
    """CPU seconds for all lines."""
    start = time.process_time()
    for line in lines:
        work(line)
    return time.process_time() - start


def ratios(
    candidates: dict[str, Work], lines: list[bytes], rounds: int, floor: Work, warm: Iterable[bytes] = ()
) -> dict[str, float]:
    """For each candidate the median of floor ÷ candidate: 1 is as fast as the floor."""
    found: dict[str, list[float]] = {name: [] for name in candidates}
    for line in (lines[0], *warm):
        for work in (floor, *candidates.values()):
            work(line)
    gc.freeze()  # the modules of the peers and what is prepared must not be visited again and again
    in_turn = [*candidates.items()]
    for some in (lines[number::rounds] for number in range(rounds)):
        base = seconds(floor, some)
        for name, work in in_turn:
            found[name].append(base / seconds(work, some))
        in_turn = [*in_turn[1:], in_turn[0]]  # nobody is always the first one or the last
    return {name: median(values) for name, values in found.items()}


def floor_of_line(line: bytes) -> object:
    return orjson.dumps(orjson.loads(line))


def floor_of_rows(text: bytes) -> object:
    return b"\n".join([orjson.dumps(orjson.loads(line)) for line in text.split(b"\n")])


def read_rows(text: bytes) -> Rows:
    return Rows([exact_json.parse(line) for line in text.split(b"\n")])


def encoded(document: Any) -> bytes:
    return b"\n".join(map(data.compact, document)) if isinstance(document, Rows) else data.compact(document)


def write(document: Any) -> bytes:
    return b"\n".join(map(exact_json.write, document)) if isinstance(document, Rows) else exact_json.write(document)


def converting(case: Case) -> Work:
    """The whole pipeline: exact reading, validation, lift, lower, derived losses, writing."""
    read, one, two = _reader(case), dialects.get(case.source), dialects.get(case.target)
    return lambda line: write(pipeline.convert(read(line), one, two).document)


def validating(case: Case) -> Work:
    """Exact reading, schema and rules."""
    read, dialect = _reader(case), dialects.get(case.source)
    return lambda line: pipeline.validate(read(line), dialect)


def _reader(case: Case) -> Callable[[bytes], Any]:
    return read_rows if case.is_session else exact_json.parse


def steps(case: Case, lines: list[bytes], rounds: int, floor: Work) -> dict[str, float]:
    """What each step costs the long way, in floors."""
    one, two, read = dialects.get(case.source), dialects.get(case.target), _reader(case)
    documents = {line: read(line) for line in lines}
    before = {line: one.lift(documents[line]) for line in lines}
    written = {line: two.lower(before[line], Options()) for line in lines}
    after = {line: two.lift(written[line]) for line in lines}
    works: dict[str, Work] = {
        "read": read,
        "schema": lambda line: schemas.accepts(one.name, documents[line]),
        "lift": lambda line: one.lift(documents[line]),
        "lower": lambda line: two.lower(before[line], Options()),
        "lift back": lambda line: two.lift(written[line]),
        "compare": lambda line: difference(before[line], after[line], one, two),
        "rules": lambda line: verdict.of_output(written[line], after[line], two, before[line], one),
        "write": lambda line: write(written[line]),
    }
    return {name: 1 / ratio for name, ratio in ratios(works, lines, rounds, floor).items()}


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows as a Markdown table; the first is its head."""
    head, *body = rows
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, tuple("---" for _ in head), *body])


class Figure(NamedTuple):
    """What was measured of one candidate."""

    ratio: float
    """To the floor."""
    faster: float | None = None
    """Of a peer: how many times as fast as it convcli is."""
    texts: float | None = None
    """The share of the longer texts that its outputs hold."""


def column(case: Case, options: argparse.Namespace, scale: float, count: int) -> dict[str, Figure]:
    """The figures of a case for documents of this scale."""
    others = {} if case.is_session else peers.installed(case.source, case.target)
    first = SEEDS * (2 * CASES.index(case) + (scale == data.SHORT))
    documents = map(encoded, case.make(range(first, first + count * (options.rounds + options.warm)), scale))
    lines = [line for line in documents if not others or peers.takes(line)]
    cut = len(lines) * options.rounds // (options.rounds + options.warm)
    floor = floor_of_rows if case.is_session else floor_of_line
    candidates = {case.name: converting(case)}
    if not case.is_session:
        candidates[f"validate {case.source}"] = validating(case)
    found = ratios(candidates | others, lines[:cut], options.rounds, floor, lines[cut:])
    rows = {name: Figure(found[name]) for name in candidates}
    rows |= compared(case.name, {case.name: candidates[case.name], **others}, found, lines[: options.lines])
    if options.steps:
        costs = steps(case, lines[:cut], options.rounds, floor)
        rows |= {f"{case.name}: cost of {step}": Figure(cost) for step, cost in costs.items()}
    return rows


def compared(own: str, works: dict[str, Work], found: dict[str, float], lines: list[bytes]) -> dict[str, Figure]:
    """The figures of convcli and of the peers, if there are any."""
    if len(works) == 1:
        return {}
    rows = {own: Figure(found[own], texts=peers.kept(works.pop(own), lines))}
    for name, work in works.items():
        rows[f"{own}: {name}"] = Figure(found[name], found[own] / found[name], peers.kept(work, lines))
    return rows


def cells(long: Figure, short: Figure) -> tuple[str, ...]:
    faster = f"{long.faster:.2f} / {short.faster:.2f}" if long.faster and short.faster else ""
    texts = "" if long.texts is None or short.texts is None else f"{long.texts:.1%} / {short.texts:.1%}"
    return f"{long.ratio:.3f}", f"{short.ratio:.3f}", faster, texts


def figures(options: argparse.Namespace) -> list[tuple[str, ...]]:
    """All cases that can be measured here, as the rows of a table."""
    known: dict[str, tuple[str, ...]] = {}
    for case in CASES:
        if options.case not in case.name or not {case.source, case.target} <= {*dialects.names()}:
            continue
        long = column(case, options, data.LONG, options.lines)
        short = column(case, options, data.SHORT, options.lines * 3)
        for name, figure in long.items():
            known.setdefault(name, (name, *cells(figure, short[name])))
    return [("× floor", "long", "short", "convcli ÷ it", "texts kept"), *known.values()]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("case", nargs="?", default="", help="only cases with this in their name")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lines", type=int, default=60, help="long documents in a round; of short ones thrice")
    parser.add_argument("--warm", type=int, default=5, help="rounds that go before, and are not measured")
    parser.add_argument("--steps", action="store_true", help="what each step costs")
    parser.add_argument("--startup", action="store_true", help="how fast the program starts")
    parser.add_argument("--scale", action="store_true", help="cost and memory by size, and what -j 2 brings")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 30, 100, 200], metavar="MB", help="for --scale")
    parser.add_argument("--source", default="openai-chat", help="for --startup")
    parser.add_argument("--target", default="anthropic", help="for --startup")
    options = parser.parse_args()
    if options.startup or options.scale:
        rows = processes.startup(options.rounds) if options.startup else processes.scale(options.rounds, options.sizes)
    else:
        rows = figures(options)
    sys.stdout.write(table(rows) + "\n")


if __name__ == "__main__":
    main()
