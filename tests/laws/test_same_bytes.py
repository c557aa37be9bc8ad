"""L7: from a file, from a pipe in small pieces, packed, or record by record: the same bytes and the same report."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import shutil
import sys
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import msgspec
import pytest

from convcli import dialects
from convcli.jobs import converting, inputs
from convcli.jobs.documents import Skipped
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.errors import JobError
from convcli.wire.decimals import builtins
from tests import tiers
from tests.support import Memory, dumped, names, sample_files, samples_of

PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


class Done(NamedTuple):
    """What came of an input, without the name of its file."""

    data: bytes
    losses: list[Any]
    findings: list[Any]


class Dripping:
    """A pipe that gives a few bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, size: int) -> bytes:
        piece, self.data = self.data[: min(size, 61)], self.data[min(size, 61) :]
        return piece


def converted(path: Path | str, source: str, target: Dialect) -> Done:
    """One file in another dialect, as `convert` does it."""
    output, losses, findings = Memory(), list[Any](), list[Any]()
    with inputs.opened(str(path), source) as opened:
        try:
            sinks = converting.Sinks(losses.append, findings.append)
            converting.completed(
                converting.InputConversion(opened, converting.Job(target), lambda suffix: output, sinks)
            )
        except JobError as error:
            return Done(error.code.encode(), [], [])
    assert output.is_there or findings
    losses = [builtins(msgspec.structs.replace(loss, file="")) for loss in losses]
    return Done(output.data, losses, [msgspec.structs.replace(finding, file="") for finding in findings])


def targets_of(source: str) -> list[Dialect]:
    return [dialects.get(name) for name in tiers.targets_of(source)]


def clear(source: str) -> list[Path]:
    """The samples whose layout their content tells: a single line is JSON Lines only by its name."""
    return [path for path in sample_files(source) if path.read_bytes().count(b"\n") > 1]


class Given(NamedTuple):
    """A document as a job gets it from an input: all that its conversion knows of the input."""

    line: int
    raw: bytes
    value: bytes
    lines: list[int]
    at: str


def given(path: Path | str, source: str) -> tuple[str, list[Given]]:
    """The layout of an input, and its documents."""
    with inputs.opened(str(path), source) as opened:
        items = [item for item in opened if not isinstance(item, Skipped)]
        return opened.layout, [
            Given(item.line, item.raw, dumped(item.value), getattr(item.value, "lines", []), item.at) for item in items
        ]


@pytest.mark.parametrize("name", names())
def test_l7_a_pipe_and_a_packed_file_give_what_the_file_gives(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The documents are the same, each with the same line: so each conversion of them is, which knows nothing else of
    the input. A few conversions, one at least to each dialect, show that: in the usual tier of one file for each."""
    targets = [dialects.get(target) for one, target in tiers.chosen_pairs() if one == name]
    for number, (path, (suffix, pack)) in enumerate(zip(clear(name), cycle(PACKERS.items()), strict=False)):
        packed = tmp_path / (path.name + suffix)
        packed.write_bytes(pack(path.read_bytes()))
        pipe = partial(Dripping, path.read_bytes())
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=pipe()))
        assert given(path, name) == given(packed, name) == given("-", name)
        for target in targets if number < (len(PACKERS) if tiers.is_exhaustive() else 1) else ():
            expected = converted(path, name, target)
            assert converted(packed, name, target) == expected
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=pipe()))
            assert converted("-", name, target) == expected


@pytest.mark.parametrize("name", names())
def test_l7_a_file_has_the_same_report_under_any_name_and_layout(name: str, tmp_path: Path) -> None:
    """White space between values says nothing, and so does the suffix of a file."""
    for number, sample in enumerate(samples_of(name)[:3]):
        path = tmp_path / f"{number}.json"
        shutil.copyfile(sample.path, other := tmp_path / f"{number}.data")
        rows = isinstance(sample.document, Rows)
        path.write_bytes(other.read_bytes() if rows or sample.index else dumped(sample.document))
        for target in targets_of(name) if not rows and sample.path.suffix == ".json" else ():
            one, two = converted(path, name, target), converted(other, name, target)
            assert (one.data, one.losses) == (two.data, two.losses)


OF_RECORDS = [name for name in names() if "records" in dialects.get(name).framings]
FROM_ARRAYS = tiers.enough(OF_RECORDS, tiers.written())


@pytest.mark.parametrize("name", OF_RECORDS)
def test_l7_the_members_of_an_array_are_converted_as_the_lines_of_a_file(name: str, tmp_path: Path) -> None:
    """But for the brackets, and for places, which are of the array. Read from a pipe it is the same.

    The documents are the same, so a few conversions, one at least to each dialect, are enough in every tier.
    """
    documents = [sample.document for sample in samples_of(name)]
    (lines := tmp_path / "all.jsonl").write_bytes(b"".join(dumped(document) + b"\n" for document in documents))
    (array := tmp_path / "all.json").write_bytes(b"[\n" + b",\n".join(map(dumped, documents)) + b"\n]\n")
    with inputs.opened(str(array), name) as opened:
        if opened.layout != "array":
            pytest.skip("in this dialect the array is a document itself")
    assert [one.value for one in given(lines, name)[1]] == [one.value for one in given(array, name)[1]]
    for target in (dialects.get(target) for one, target in FROM_ARRAYS if one == name):
        one, other = converted(lines, name, target), converted(array, name, target)
        if b"one-transcript-only" in (one.data, other.data):
            assert one.data == other.data
            continue
        assert [json.loads(line) for line in one.data.splitlines()] == json.loads(other.data)
        places = [(loss["line"] - 1, loss["where"]) for loss in one.losses]
        assert [f"/{line}{where}" for line, where in places] == [loss["where"] for loss in other.losses]
        assert [finding.code for finding in one.findings] == [finding.code for finding in other.findings]


@pytest.mark.parametrize("name", OF_RECORDS)
def test_l7_many_records_in_a_file_are_converted_as_each_by_itself(name: str, tmp_path: Path) -> None:
    documents = [sample.document for sample in samples_of(name)]
    lines = [dumped(document) + b"\n" for document in documents]
    (whole := tmp_path / "all.jsonl").write_bytes(b"".join(lines))
    for target in targets_of(name):
        together = converted(whole, name, target)
        if together.data == b"one-transcript-only":
            assert "records" not in target.framings
            continue
        data, losses = b"", list[Any]()
        for number, line in enumerate(lines, 1):
            (alone := tmp_path / "one.jsonl").write_bytes(line)
            done = converted(alone, name, target)
            data += done.data
            losses += [{**loss, "line": number} for loss in done.losses]
        assert together.data == data
        assert together.losses == losses
