"""Selects the transcripts of a job: by conditions, by an offset and a limit, or as a sample."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Protocol, runtime_checkable

from convcli.files.packed import may_wait
from convcli.jobs.documents import Document, Item
from convcli.model.errors import ConvcliError, JobError


@runtime_checkable
class ReadsAhead(Protocol):
    """A condition that depends on later documents: it sees all of them before it judges the first."""

    reads_ahead: bool

    def prepare(self, document: Document) -> None: ...

    def __call__(self, document: Document) -> bool: ...


class Selection:
    """Selects documents over all inputs together; stretches that are not documents always pass, to be reported.

    `offset` skips the first of them. A sample is drawn from the documents that meet the conditions, each equally
    likely, and the same for the same inputs and `seed`. `scan` reads the inputs first, so that only the positions of
    sampled documents are kept in memory. Conditions that read ahead see all documents before that.
    """

    def __init__(
        self,
        conditions: Sequence[Callable[[Document], bool]] = (),
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
        *,
        offset: int = 0,
    ) -> None:
        self.conditions, self._left, self._sample, self._seed = conditions, limit, sample, seed
        self._to_skip = offset
        self._drawn: set[tuple[str, int]] | None = None

    def scan(self, paths: Iterable[str], opened: Callable[[str], AbstractContextManager[Iterable[Item]]]) -> None:
        """Draws the sample, if requested. Raises JobError for standard input and pipes, which can be read only once."""
        paths = list(paths)
        if any(isinstance(condition, ReadsAhead) and condition.reads_ahead for condition in self.conditions):
            for _, _, document in self._read(paths, opened):
                self._prepare(document)
        if self._sample is None:
            return
        dice, chosen = random.Random(self._seed), list[tuple[float, str, int]]()
        for path, number in self._met(paths, opened):
            heapq.heappush(chosen, (-dice.random(), path, number))
            if len(chosen) > self._sample:
                heapq.heappop(chosen)
        self._drawn = {(path, number) for _, path, number in chosen}

    def choose(self, path: str, items: Iterable[Item]) -> Iterator[Item]:
        """Yields the selected items of an input; nothing is read after the last one."""
        if self._left == 0:
            return
        for number, item in enumerate(items):
            if not isinstance(item, Document):
                yield item
            elif (path, number) in self._drawn if self._drawn is not None else self._meets(item):
                if self._to_skip:
                    self._to_skip -= 1
                    continue
                yield item
                self._left = None if self._left is None else self._left - 1
                if self._left == 0:
                    return

    def _met(
        self, paths: Iterable[str], opened: Callable[[str], AbstractContextManager[Iterable[Item]]]
    ) -> Iterator[tuple[str, int]]:
        """Yields the documents to sample from."""
        for path, number, document in self._read(paths, opened):
            if self._meets(document):
                yield path, number

    def _read(
        self, paths: Iterable[str], opened: Callable[[str], AbstractContextManager[Iterable[Item]]]
    ) -> Iterator[tuple[str, int, Document]]:
        """Yields all documents. Errors of inputs are reported later, when they are processed."""
        for path in paths:
            if path == "-" or may_wait(path):
                name = "standard input" if path == "-" else "a pipe"
                message = f"--sample and --dedupe=prefix read inputs twice, and {name} can be read only once"
                raise JobError("usage", message)
            with suppress(ConvcliError), opened(path) as items:
                for number, item in enumerate(items):
                    if isinstance(item, Document):
                        yield path, number, item

    def _prepare(self, document: Document) -> None:
        """Shows a document to conditions that read ahead, if it meets those before them."""
        for condition in self.conditions:
            if isinstance(condition, ReadsAhead) and condition.reads_ahead:
                condition.prepare(document)
            elif not condition(document):
                return

    def _meets(self, document: Document) -> bool:
        return all(condition(document) for condition in self.conditions)
