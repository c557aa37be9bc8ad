"""`python -m tests.benchmarks`: convcli against the floor that no converter can beat, and against peers if installed.

The floor is `orjson.dumps(orjson.loads(line))` of the same lines. Candidates run in turn within each round; the figure
is the median of the ratios to the floor of the same round, in CPU time of one core. Each round has lines of its own:
some peers remember what they have seen.

`--startup` and `--scale` measure the program as a process instead.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from statistics import median

import orjson

from convcli import dialects
from convcli.engine import conversion, pipeline
from convcli.model.dialect import Options
from convcli.proof.difference import difference
from convcli.validation import schemas, verdict
from convcli.wire import exact_json
from tests.benchmarks import data, peers, processes

Work = Callable[[bytes], object]


def seconds(work: Work, lines: list[bytes]) -> float:
    """CPU seconds for all lines."""
    start = time.process_time()
    for line in lines:
        work(line)
    return time.process_time() - start


def ratios(candidates: dict[str, Work], lines: list[bytes], rounds: int) -> dict[str, float]:
    """For each candidate the median of floor ÷ candidate: 1 is as fast as the floor."""
    found: dict[str, list[float]] = {name: [] for name in candidates}
    for work in (floor, *candidates.values()):
        seconds(work, lines[:1])
    gc.freeze()  # the modules of the peers and what is prepared must not be visited again and again
    for some in (lines[number::rounds] for number in range(rounds)):
        base = seconds(floor, some)
        for name, work in candidates.items():
            found[name].append(base / seconds(work, some))
    return {name: median(values) for name, values in found.items()}


def floor(line: bytes) -> object:
    return orjson.dumps(orjson.loads(line))


def converting(source: str, target: str) -> Work:
    """The whole pipeline: exact reading, validation, lift, lower, derived losses, writing."""
    one, two = dialects.get(source), dialects.get(target)
    return lambda line: exact_json.write(pipeline.convert(exact_json.parse(line), one, two).document)


def converting_the_long_way(source: str, target: str) -> Work:
    """The same, as it is where messages are not plain, or documents share neither tools nor settings."""
    one, two = dialects.get(source), dialects.get(target)
    return lambda line: exact_json.write(
        conversion.lower(conversion.lift(exact_json.parse(line), one), two, source=one).document
    )


def validating(source: str) -> Work:
    """Exact reading, schema and rules."""
    dialect = dialects.get(source)
    return lambda line: pipeline.validate(exact_json.parse(line), dialect)


def steps(source: str, target: str, lines: list[bytes], rounds: int) -> dict[str, float]:
    """What each step costs, in floors."""
    one, two = dialects.get(source), dialects.get(target)
    if not two.is_written:
        return {}
    documents = {line: exact_json.parse(line) for line in lines}
    before = {line: one.lift(documents[line]) for line in lines}
    written = {line: two.lower(before[line], Options()) for line in lines}
    after = {line: two.lift(written[line]) for line in lines}
    works: dict[str, Work] = {
        "read": exact_json.parse,
        "schema": lambda line: schemas.accepts(source, documents[line]),
        "lift": lambda line: one.lift(documents[line]),
        "lower": lambda line: two.lower(before[line], Options()),  # type: ignore[misc]
        "lift back": lambda line: two.lift(written[line]),
        "compare": lambda line: difference(before[line], after[line], one, two),
        "rules": lambda line: verdict.of_output(written[line], after[line], two, before[line], one),
        "write": lambda line: exact_json.write(written[line]),
    }
    return {name: 1 / ratio for name, ratio in ratios(works, lines, rounds).items()}


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows as a Markdown table; the first is its head."""
    head, *body = rows
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, tuple("---" for _ in head), *body])


def column(options: argparse.Namespace, scale: float, count: int) -> dict[str, str]:
    """All figures for conversations of this scale."""
    count *= options.rounds
    lines, lossy = data.lines(count, scale), data.lines(count, scale, named=True)
    convert = converting(options.source, options.target)
    candidates = {
        f"convcli: convert {options.source} → {options.target}, proved": convert,
        "convcli: the same the long way, for what is not plain": converting_the_long_way(
            options.source, options.target
        ),
        "convcli: validate": validating(options.source),
        **peers.installed(),
    }
    found = ratios(candidates, lines, options.rounds)
    found["convcli: convert, every user's message loses a field"] = ratios({"": convert}, lossy, options.rounds)[""]
    if options.steps:
        costs = steps(options.source, options.target, lines, options.rounds)
        found |= {f"  cost of {step}": cost for step, cost in costs.items()}
    bytes_each = sum(map(len, lines)) / sum(len(orjson.loads(line)["messages"]) for line in lines)
    return {"bytes per message": f"{bytes_each:,.0f}", **{name: f"{value:.3f}" for name, value in found.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--lines", type=int, default=60, help="long conversations in a round; of short ones thrice")
    parser.add_argument("--steps", action="store_true", help="what each step costs")
    parser.add_argument("--startup", action="store_true", help="how fast the program starts")
    parser.add_argument("--scale", action="store_true", help="cost and memory by size, and what -j 2 brings")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 30, 100, 200], metavar="MB", help="for --scale")
    parser.add_argument("--source", default="openai-chat")
    parser.add_argument("--target", default="anthropic")
    options = parser.parse_args()
    if options.startup or options.scale:
        rows = processes.startup(options.rounds) if options.startup else processes.scale(options.rounds, options.sizes)
        sys.stdout.write(table(rows) + "\n")
        return
    columns = {"long": column(options, 1.0, options.lines), "short": column(options, 0.18, options.lines * 3)}
    rows = [("× floor", *columns)] + [(name, *(one[name] for one in columns.values())) for name in columns["long"]]
    sys.stdout.write(table(rows) + "\n")


if __name__ == "__main__":
    main()
