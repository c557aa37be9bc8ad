"""Arranges the rows of all inputs: in a random order, and in several outputs, such as for training and validation."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from itertools import accumulate

from convcli.files.framing import Framing
from convcli.files.layouts import DocumentWriter
from convcli.files.outputs import Output
from convcli.files.spill import ShuffledLines
from convcli.jobs.destinations import Joined
from convcli.jobs.digests import prompt_digest
from convcli.model.errors import JobError
from convcli.model.transcript import Transcript
from convcli.wire.patterns import pattern

PLACEHOLDER = "{split}"
"""What stands for the name of a split in the name of an output."""
_SHARE = pattern(r"\s*([A-Za-z0-9_][A-Za-z0-9_.-]*)\s*=\s*(\d+(?:\.\d*)?|\.\d+)\s*")


def shares(text: str) -> dict[str, float]:
    """Returns the splits of `train=0.95,val=0.05` with their shares, whose sum is made 1. Raises JobError."""
    matches = [_SHARE.fullmatch(word) for word in text.split(",")]
    found = {match[1]: float(match[2]) for match in matches if match is not None}
    total = sum(found.values())
    if len(found) != len(matches) or not all(found.values()):
        raise JobError("usage", "--split needs different names with shares above 0", help="write train=0.95,val=0.05")
    return {name: share / total for name, share in found.items()}


class Splits:
    """Assigns conversations to splits by a digest of the messages before the first answer.

    So a conversation stays in its split when others are added and when it grows, and conversations with the same
    prompt are never in different splits.
    """

    def __init__(self, shares: Mapping[str, float]) -> None:
        self._bounds = list(zip(accumulate(shares.values()), shares, strict=True))

    def of(self, transcript: Transcript) -> str:
        """Returns the name of the split of a conversation."""
        number = int.from_bytes(blake2b(prompt_digest(transcript), digest_size=8).digest())
        fraction = number / (1 << 64)
        return next((name for bound, name in self._bounds if fraction < bound), self._bounds[-1][1])


class Arranged:
    """The outputs of all inputs, by split; one with the name "" without splits.

    `route` chooses the output of the rows that follow. With a seed, each output gets its rows in a random order when
    all are known.
    """

    def __init__(
        self, outputs: Mapping[str, tuple[Output, Framing]], many: str, splits: Splits | None, seed: int | None
    ) -> None:
        self._joined = {name: Joined(output, layout, many) for name, (output, layout) in outputs.items()}
        self._lines = {name: ShuffledLines(seed) for name in outputs} if seed is not None else {}
        self._splits, self._current = splits, next(iter(outputs))
        self.rows = dict.fromkeys(outputs, 0)

    @property
    def files(self) -> list[DocumentWriter]:
        """The files that are written."""
        return [joined.file for joined in self._joined.values()]

    def route(self, transcript: Transcript) -> None:
        """Chooses the output for the rows of this conversation, which follow."""
        if self._splits is not None:
            self._current = self._splits.of(transcript)

    def part(self, suffix: str) -> Output:
        """Returns the output for one input; its documents are lines of JSON."""
        return _RoutedPart(self)

    def write(self, line: bytes) -> None:
        """Writes a row to the chosen output, or keeps it until all are known. Raises OutputError."""
        self.rows[self._current] += 1
        if self._lines:
            self._lines[self._current].add(line)
        else:
            self._joined[self._current].file.add_line(line)

    def complete(self) -> None:
        """Writes the rows that wait for their order. Raises OutputError."""
        for name, lines in self._lines.items():
            for line in lines:
                self._joined[name].file.add_line(line)
        self._lines.clear()

    def commit(self) -> None:
        """Commits all outputs. Raises as `Output.commit` does."""
        for joined in self._joined.values():
            joined.commit()

    def discard(self) -> None:
        """Discards the outputs that are not committed."""
        for joined in self._joined.values():
            joined.discard()


class _RoutedPart:
    """The part of an input in the outputs, which is not committed by itself."""

    def __init__(self, arranged: Arranged) -> None:
        self.name, self.write = arranged.files[0].output.name, arranged.write

    def commit(self) -> None:
        """Does nothing: the part is committed with the whole."""

    def discard(self) -> None:
        """Does nothing: the part is discarded with the whole."""
