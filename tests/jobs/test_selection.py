"""Which transcripts of all inputs are worked on."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from convcli.jobs import inputs
from convcli.jobs.documents import Document
from convcli.jobs.selection import Selection
from convcli.model.errors import JobError
from tests.cli_cases import OTHER, write

OPENED = partial(inputs.opened, dialect=OTHER)


def files(folder: Path, *sizes: int) -> list[str]:
    """Files of so many rows, whose texts are numbered over all of them."""
    paths, number = list[str](), 0
    for size in sizes:
        rows = [{"messages": [{"role": "user", "content": str(number + i)}]} for i in range(size)]
        paths.append(str(write(folder / f"{len(paths)}.jsonl", *rows)))
        number += size
    return paths


def texts(paths: list[str], selection: Selection) -> list[int]:
    """What is chosen of the files."""
    chosen = list[int]()
    selection.scan(paths, OPENED)
    for path in paths:
        with OPENED(path, selection=selection) as source:
            chosen += [int(item.value["messages"][0]["content"]) for item in source if isinstance(item, Document)]
    return chosen


def is_even(document: Any) -> bool:
    return int(document.value["messages"][0]["content"]) % 2 == 0


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), list(range(6))),
        (Selection(limit=4), [0, 1, 2, 3]),
        (Selection(limit=0), []),
        (Selection(offset=4), [4, 5]),
        (Selection([is_even], limit=1, offset=1), [2]),
        (Selection(sample=99, offset=5), [5]),
        (Selection(limit=99), list(range(6))),
        (Selection([is_even]), [0, 2, 4]),
        (Selection([is_even], limit=2), [0, 2]),
        (Selection(sample=99), list(range(6))),
        (Selection([is_even], sample=99), [0, 2, 4]),
        (Selection(sample=0), []),
    ],
)
def test_conditions_and_limits_count_over_all_inputs(tmp_path: Path, selection: Selection, expected: list[int]) -> None:
    assert texts(files(tmp_path, 3, 1, 2), selection) == expected


def test_a_sample_is_of_all_inputs_in_their_order_and_the_same_again(tmp_path: Path) -> None:
    paths = files(tmp_path, 30, 1, 20)
    drawn = texts(paths, Selection(sample=10, seed=3))
    assert len(drawn) == 10
    assert drawn == sorted(drawn) == texts(paths, Selection(sample=10, seed=3))
    assert drawn != texts(paths, Selection(sample=10, seed=4))
    assert len(texts(paths, Selection(sample=10, limit=4))) == 4


def test_each_transcript_is_drawn_as_often(tmp_path: Path) -> None:
    paths = files(tmp_path, 3, 7)
    counts = Counter(text for seed in range(300) for text in texts(paths, Selection(sample=2, seed=seed)))
    assert set(counts) == set(range(10))
    assert min(counts.values()) > 30
    assert max(counts.values()) < 100


def test_nothing_is_read_behind_the_last_one(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"messages": []}, "{", {"messages": []})
    selection = Selection(limit=1)
    with OPENED(str(path), selection=selection) as source:
        assert [type(item) for item in source] == [Document]


def test_a_sample_of_standard_input_is_refused() -> None:
    with pytest.raises(JobError):
        Selection(sample=1).scan(["-"], OPENED)
