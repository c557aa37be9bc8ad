"""The complete matrix of long texts: `python -m tests.long_texts_long [--share 1/20] [--size 100000] [--only NAME]`.

A long text of every kind stands in every string of every dialect. The strings of a document that may be any text get it
at the same time, so that 60 kinds in 4,000 strings are some 20,000 documents instead of 250,000. Strings that decide
what the document is get it one by one. For each step, prints the CPU per byte of the slowest document, relative to the
median, and exits 1 if it is more than 20.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from random import Random
from typing import Any, NamedTuple

from convcli import dialects
from convcli.engine import detection, pipeline, reading
from convcli.model.document import with_value
from convcli.model.errors import ConvcliError
from convcli.model.transcript import Path
from convcli.wire import exact_json
from tests import tiers
from tests.hardening.test_long_texts import KINDS, MOST_RATIO, TooLongError, places
from tests.support import Sample

FEW_SECONDS = 0.05
"""Seconds of CPU that are no evidence: collecting garbage takes as long."""


MOST_LISTED = 50
"""Documents that are measured again."""


class Case(NamedTuple):
    """A document in which each of these strings is a long text of one kind."""

    sample: Sample
    paths: tuple[Path, ...]
    kind: str
    size: int

    def __str__(self) -> str:
        pointers = ", ".join("/".join(map(str, path)) for path in self.paths[:3])
        more = f" and {len(self.paths) - 3} more" if len(self.paths) > 3 else ""
        return f"{self.kind} in {self.sample} at {pointers}{more}"

    @property
    def bytes(self) -> int:
        """The bytes of the long texts in JSON."""
        return len(exact_json.write(self.text)) * len(self.paths)

    @property
    def text(self) -> str:
        return KINDS[self.kind] * (self.size // len(KINDS[self.kind]))

    def steps(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Yields what is done with the document, by name."""
        document, source = self.document(), dialects.get(self.sample.dialect)
        target = dialects.get(Random(f"{self.sample} {self.kind}").choice(tiers.written()))
        yield "detect", partial(detection.detect, document)
        yield "validate", partial(pipeline.validate, document, source)
        yield "convert", partial(pipeline.convert, document, source, target)

    def document(self) -> Any:
        document, text = self.sample.document, self.text
        for path in self.paths:
            document = with_value(document, path, text)
        return document


def seconds(action: Callable[[], Any]) -> float:
    """Returns the CPU of an action; an error of convcli is an answer, and anything else a defect.

    It is ended after two minutes by the clock: while a timer of CPU runs, Linux counts CPU in steps of 4 ms."""
    begin = time.process_time()
    signal.setitimer(signal.ITIMER_REAL, 120)
    try:
        with suppress(ConvcliError, TooLongError):
            action()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return time.process_time() - begin


def stop(*_: object) -> None:
    raise TooLongError


def is_free(sample: Sample, path: Path) -> bool:
    """True if the document is read with any text at this path."""
    try:
        reading.lift(with_value(sample.document, path, "ab cd"), dialects.get(sample.dialect))
    except ConvcliError:
        return False
    return True


def cases(size: int, share: tuple[int, int], only: str) -> Iterator[Case]:
    """Yields the documents of this share, in an order that is random and the same each time."""
    of_sample: dict[str, tuple[Sample, list[Path]]] = {}
    for sample, path in places():
        if not only or sample.dialect == only:
            of_sample.setdefault(str(sample), (sample, []))[1].append(path)
    every = list[Case]()
    for sample, paths in of_sample.values():
        free = tuple(path for path in paths if is_free(sample, path))
        groups = [free] if free else []
        groups += [(path,) for path in paths if path not in free]
        every += [Case(sample, group, kind, size) for group in groups for kind in KINDS]
    Random(1).shuffle(every)
    yield from every[share[0] - 1 :: share[1]]


def apart(case: Case, name: str) -> Iterator[tuple[float, Case]]:
    """Yields the CPU per byte of a step for each string of a slow document by itself."""
    for path in case.paths if len(case.paths) > 1 else ():
        one = case._replace(paths=(path,))
        yield seconds(dict(one.steps())[name]) / one.bytes, one


Times = list[tuple[float, Case]]
"""The CPU per byte of a step for each document."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Lets the timer of `seconds` end a step."""
    before = signal.signal(signal.SIGALRM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def measured(every: Iterable[Case]) -> dict[str, Times]:
    """Measures each step of each document once."""
    of_step: dict[str, Times] = defaultdict(list)
    for case in every:
        for name, step in case.steps():
            of_step[name].append((seconds(step) / case.bytes, case))
    return of_step


def slowest(name: str, times: Times, median: float) -> tuple[float, list[str]]:
    """Returns the most CPU per byte of a step, and the documents above the limit, which are measured three times."""
    most, slow = 0.0, list[str]()
    for first, case in sorted(times, key=lambda each: -each[0])[:MOST_LISTED]:
        taken = first
        if taken > MOST_RATIO * median:
            taken = min(taken, *(seconds(dict(case.steps())[name]) / case.bytes for _ in range(2)))
        if taken > MOST_RATIO * median and taken * case.bytes > FEW_SECONDS:
            one = max(apart(case, name), key=lambda each: each[0], default=(taken, case))
            slow.append(f"{name}: {taken / median:.0f} times the median: {case}; slowest: {one[1]}")
        most = max(most, taken)
    return most, slow


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", default="1/1", metavar="K/N", help="every N-th document, from the K-th on")
    parser.add_argument("--size", type=int, default=100_000, help="characters of each text")
    parser.add_argument("--only", default="", metavar="DIALECT")
    chosen = parser.parse_args(arguments)
    number, total = map(int, chosen.share.split("/"))
    is_slow = False
    with stoppable():
        for name, times in measured(cases(chosen.size, (number, total), chosen.only)).items():
            median = statistics.median(taken for taken, _ in times)
            most, slow = slowest(name, times, median)
            sys.stdout.write("".join(f"{line}\n" for line in slow))
            figures = f"median {median * 1e9:.1f} ns per byte, slowest ÷ median {most / median:.1f}"
            sys.stdout.write(f"{name}, {len(times):,} documents: {figures}\n")
            is_slow |= bool(slow)
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main())
