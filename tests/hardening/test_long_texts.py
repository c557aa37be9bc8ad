"""A long text takes time in proportion to its length, of whatever kind it is and wherever it stands in a document.

Two things are measured in CPU: a step relative to the median of that step over many places and kinds of text, and how
it grows from a text that is four times shorter. `CONVCLI_HARDENING` is the number of pairs of a place and a kind; with
more than there are, each pair is tried once. A failure names the pair, which alone decides it.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline, reading
from convcli.engine.redaction.redactor import Redactor
from convcli.model.document import with_value
from convcli.model.errors import ConvcliError
from convcli.model.transcript import Path
from convcli.report import page
from convcli.views import rows
from convcli.views.statistics import Statistics
from tests import tiers
from tests.planting import leaf_paths
from tests.support import Sample, names, samples_of

CASES = int(os.environ.get("CONVCLI_HARDENING", "1000" if tiers.is_exhaustive() else "30"))
SIZE = 300_000
MOST_RATIO = 20
"""The CPU of a step, relative to its median."""
FEW_SECONDS = 0.3
"""Seconds of CPU that are no evidence: a machine with much else to do needs more for the same work."""
MOST_SECONDS = 30
SHORTER = 4
"""How much shorter the text is that growth is measured from."""
MOST_GROWTH = 9
"""How much longer a step takes for the longer text: 4 times is linear, 16 times quadratic."""
FAR = 10
"""How many times longer than the most a step may take is a defect even if it is linear."""
KINDS: dict[str, str] = {
    "letters": "a", "words": "ab cd ", "spaces": " ", "tabs": "\t", "lines": "\n", "line ends": "\r\n", "rows": "ab\n",
    "quotes": '"', "escapes": "\\", "escaped quotes": '\\"', "digits": "1", "fractions": "0.", "powers": "1e9,",
    "lists": "[", "objects": "{", "nested objects": '{"a":', "nested lists": "[1,", "empty lists": "[],",
    "keys": '{"a":1},', "tags": "<a>", "thoughts": "<think>", "ends of thoughts": "</think>", "calls": "<tool_call>",
    "calls of Qwen": "<function=f>", "turns": "<|im_start|>user\n", "turns of Llama": "[INST] ", "speakers": "Human: ",
    "fences": "```\n", "code": "`", "stars": "*", "lines of stars": "* *\n", "underscores": "_a_", "headings": "# ",
    "items": "- ", "quotations": "> ", "tables": "|a|b\n", "links": "[a](", "images": "![](",
    "addresses": "https://a.b/", "embedded": "data:image/png;base64,", "base64": "QUJD", "hexadecimal": "0f",
    "entities": "&amp;", "NUL": "\0", "bidi": "\u202e", "emoji": "\U0001f469\u200d\U0001f467", "accents": "e\u0301",
    "surrogates": "\ud83d", "kana": "\u3042",
    "mails": "a@", "domains": "a.", "times": "2026-01-02T03:04:05Z ", "keys of programs": "sk-", "PEM": "-----BEGIN ",
    "settings": "a=", "paths": "/home/a", "patch": "+a\n", "hunks": "@@ -1 +1 @@\n", "separators": "--",
    "pairs": "a:b,", "colours": "\x1b[31m", "numbers of lines": "     1\u2192", "exits": "exit code ", "prices": "$1 ",
    "dollars": "$",
}  # fmt: skip
"""Pieces that are repeated."""


FIELDS = ("content", "arguments", "result")
"""Fields of a conversation that pages show, and redaction searches, in different ways."""


class Case(NamedTuple):
    """A long text in a document."""

    sample: Sample
    path: Path
    kind: str
    target: str

    def __str__(self) -> str:
        return f"{self.kind} in {self.sample} at {'/'.join(map(str, self.path))}, to {self.target}"

    def document(self, size: int) -> Any:
        return with_value(self.sample.document, self.path, long(self.kind, size))


@cache
def places() -> tuple[tuple[Sample, Path], ...]:
    """Returns one place of each key of each dialect that has a string."""
    found: dict[tuple[str, Path], tuple[Sample, Path]] = {}
    for name in names():
        for sample in samples_of(name):
            for path, value in leaf_paths(sample.document):
                key = tuple(step if isinstance(step, str) else 0 for step in path)
                if isinstance(value, str) and path:
                    found.setdefault((name, key), (sample, path))
    return tuple(found.values())


def cases() -> Iterator[Case]:
    """Yields all cases, or as many as are wanted."""
    everything = len(places()) * len(KINDS)
    if everything <= CASES:
        chosen: Any = product(places(), KINDS)
    else:
        choices = random.Random("places")
        chosen = ((choices.choice(places()), choices.choice(list(KINDS))) for _ in range(CASES))
    for (sample, path), kind in chosen:
        yield Case(sample, path, kind, random.Random(f"{sample} {path} {kind}").choice(tiers.written()))


def steps(case: Case, size: int = SIZE) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yields what is done with the document, by name."""
    document, source = case.document(size), dialects.get(case.sample.dialect)
    yield "detect", lambda: detection.detect(document)
    yield "validate", lambda: pipeline.validate(document, source)
    yield "convert", lambda: pipeline.convert(document, source, dialects.get(case.target))


class TooLongError(Exception):
    """The step takes far longer than any other."""


@contextmanager
def limited() -> Iterator[None]:
    """Ends what needs more CPU than any step may."""

    def stop(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def seconds(action: Callable[[], Any]) -> float:
    """Returns the CPU of an action; an error of convcli is an answer, and anything else a defect."""
    begin = time.process_time()
    with suppress(ConvcliError, TooLongError), limited():
        action()
    return time.process_time() - begin


def slow_steps(each: Iterator[Case]) -> Iterator[str]:
    """Yields the steps that take far longer than the same step usually does, measured twice, and longer than the length
    of the text explains. What takes long but grows with the length is named only from `FAR` on: a busy machine can
    make 0.2 s of a step into 0.4 s."""
    of_step: dict[str, list[tuple[float, Case]]] = defaultdict(list)
    for case in each:
        for name, step in steps(case):
            of_step[name].append((seconds(step), case))
    for name, times in of_step.items():
        most = max(FEW_SECONDS, MOST_RATIO * statistics.median(taken for taken, _ in times))
        for taken, case in times:
            if taken <= most or (again := seconds(dict(steps(case))[name])) <= most:
                continue
            few = seconds(dict(steps(case, SIZE // SHORTER))[name])
            if again > FAR * most or again > MOST_GROWTH * few:
                yield f"{name}: {again:.1f} s, not {most:.1f} s, and {few:.1f} s for a quarter of the text: {case}"


def long(kind: str, size: int = SIZE) -> str:
    """Returns a text of this size."""
    return KINDS[kind] * (size // len(KINDS[kind]))


def steps_of_text(kind: str, field: str, size: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yields what is done with a text that the reader of a page sees, or that may have something private."""
    message = {"role": "assistant", "content": "a", "tool_calls": [call("c", "{}")]}
    result = {"role": "tool", "tool_call_id": "c", "content": "a"}
    text = long(kind, size)
    if field == "arguments":
        message["tool_calls"] = [call("c", text)]
    else:
        (result if field == "result" else message)["content"] = text
    document, source = {"messages": [{"role": "user", "content": "a"}, message, result]}, dialects.get("openai-chat")
    transcript = reading.lift(document, source)
    yield "redact", lambda: Redactor().redact(document, source)
    yield "page", lambda: list(page.conversation(transcript, "", []))
    yield "rows", lambda: list(rows.by_message(transcript))
    yield "statistics", lambda: Statistics().add(transcript, "openai-chat")


def call(id_: str, arguments: str) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": "f", "arguments": arguments}}


def growing_steps(kind: str, field: str) -> Iterator[str]:
    """Yields the steps that take far longer for a longer text than its length explains, measured three times."""
    for name, step in steps_of_text(kind, field, SIZE):
        taken = seconds(step)
        if taken <= FEW_SECONDS:
            continue
        shorter = dict(steps_of_text(kind, field, SIZE // SHORTER))[name]
        few = max(seconds(shorter), seconds(shorter))
        if taken > MOST_GROWTH * few and (again := seconds(step)) > MOST_GROWTH * few:
            yield f"{name}: {again:.1f} s, and {few:.1f} s for a text {SHORTER} times shorter: {kind} in {field}"


@pytest.mark.hardening
def test_a_long_text_takes_time_in_proportion_wherever_it_stands() -> None:
    assert list(slow_steps(cases())) == []


@pytest.mark.hardening
def test_the_type_of_a_row_may_be_long_and_have_many_slashes() -> None:
    """The types of rows are compared with those that they may be subtypes of."""
    types = [(sample, path) for sample, path in places() if path[-1] in ("type", "kind", "sessionUpdate")]
    each = (Case(*place, "addresses", "intermediate") for place in tiers.few(types, 30))
    assert list(slow_steps(each)) == []


@pytest.mark.hardening
@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_done_with_a_text_takes_time_in_proportion(kind: str) -> None:
    fields = FIELDS if len(FIELDS) * len(KINDS) * 100 < CASES else [random.Random(kind).choice(FIELDS)]
    assert [line for field in fields for line in growing_steps(kind, field)] == []


@pytest.mark.hardening
@pytest.mark.exhaustive
@pytest.mark.parametrize(("power", "found"), [(2, [": escapes"]), (1, [])])
def test_a_step_that_takes_far_longer_is_found(power: int, found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def validate(document: Any, source: Any) -> None:
        share = str(document).count("\\\\") / SIZE
        end = time.process_time() + 4 * FEW_SECONDS * share**power
        while time.process_time() < end:
            pass

    monkeypatch.setattr(pipeline, "validate", validate)
    of_one = [Case(*places()[0], kind, "intermediate") for kind in ("letters", "words", "lines", "escapes")]
    lines = list(slow_steps(iter(of_one)))
    assert [line.partition(" in ")[0].partition(": escapes")[1] for line in lines] == found
