"""Rows in a random order and in several outputs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from convcli.jobs.arranging import Splits, shares
from convcli.model.errors import JobError
from convcli.model.transcript import Message, Text, Transcript
from tests.cli_cases import OTHER, run, write


def spoken(*texts: str) -> Transcript:
    roles = ("user", "assistant")
    return Transcript([Message(roles[i % 2], [Text(text)]) for i, text in enumerate(texts)])  # type: ignore[arg-type]


def test_shares_are_made_to_a_sum_of_1() -> None:
    assert shares("train=0.75,val=0.25") == shares("train = 3, val=1") == {"train": 0.75, "val": 0.25}


@pytest.mark.parametrize("text", ["", "train", "train=x", "train=1,train=2", "train=0,val=1", "../a=1", "a=-1", "a=1,"])
def test_what_is_no_split_is_an_error_of_the_job(text: str) -> None:
    with pytest.raises(JobError, match="different names with shares"):
        shares(text)


def test_conversations_are_split_by_their_shares() -> None:
    splits = Splits({"train": 0.75, "val": 0.25})
    counts = Counter(splits.of(spoken(str(number))) for number in range(1000))
    assert 680 < counts["train"] < 820
    assert counts.total() == counts["train"] + counts["val"]


def test_a_conversation_that_grows_stays_in_its_split() -> None:
    splits = Splits({"a": 0.5, "b": 0.5})
    for number in range(20):
        assert splits.of(spoken(str(number), "x")) == splits.of(spoken(str(number), "x", "y", "z"))


def rows(*texts: str) -> list[dict[str, Any]]:
    return [{"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "x"}]} for text in texts]


def read(path: Path) -> list[str]:
    return [json.loads(line)["messages"][0]["content"] for line in path.read_bytes().splitlines()]


def test_splits_are_files_of_a_folder_and_stay_the_same_when_data_is_added(tmp_path: Path) -> None:
    texts = [str(number) for number in range(40)]
    source = write(tmp_path / "a.jsonl", *rows(*texts))
    words = ["--to", OTHER, "--split", "train=0.8,val=0.2", "--force"]
    done = run("convert", source, *words, "--out-dir", tmp_path / "set")
    assert done.returncode == 0, done.stderr
    train, val = read(tmp_path / "set" / "train.jsonl"), read(tmp_path / "set" / "val.jsonl")
    assert sorted(train + val) == sorted(texts)
    assert train == [text for text in texts if text in train]
    assert f"note: rows by split: train {len(train)}, val {len(val)}" in done.stderr.decode()
    more = write(tmp_path / "0.jsonl", *rows("new", "newer"))
    done = run("convert", more, source, *words, "-o", tmp_path / "data-{split}.json", "-j", "2")
    assert done.returncode == 0, done.stderr
    again = json.loads((tmp_path / "data-train.json").read_bytes())
    kept = [row["messages"][0]["content"] for row in again]
    assert [text for text in kept if not text.startswith("new")] == train


def test_a_shuffled_output_depends_on_rows_and_seed_only(tmp_path: Path) -> None:
    texts = [str(number) for number in range(20)]
    one, two = write(tmp_path / "a.jsonl", *rows(*texts[:9])), write(tmp_path / "b.jsonl", *rows(*texts[9:]))
    outputs = [run("convert", *files, "--to", OTHER, "--shuffle", seed).stdout
               for files, seed in (((one, two), 1), ((two, one), 1), ((one, two), 2))]  # fmt: skip
    assert outputs[0] == outputs[1] != outputs[2]
    assert sorted(outputs[0].splitlines()) == sorted(outputs[2].splitlines())
    assert outputs[0].count(b"\n") == 20


def test_a_bad_row_leaves_no_split_behind(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", *rows("a", "b"), "{")
    words = ["convert", source, "--to", OTHER, "--split", "x=1,y=1", "--shuffle", 1, "-o", tmp_path / "{split}.jsonl"]
    assert run(*words).returncode == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl"]
    assert run(*words, "--keep-going").returncode == 1
    assert sorted(read(tmp_path / "x.jsonl") + read(tmp_path / "y.jsonl")) == ["a", "b"]


@pytest.mark.parametrize(
    "words",
    [
        ["--split", "a=1,b=1"],
        ["--split", "a=1,b=1", "-o", "x.jsonl"],
        ["--split", "nothing", "--out-dir", "x"],
        ["--shuffle", "1", "--out-dir", "x"],
        ["--shuffle", "1", "-o", "{split}.jsonl"],
        ["--shuffle", "1", "--restore-file", "r"],
        ["--shuffle", "1", "--engine", "local", "--out-dir", "x"],
    ],
)
def test_options_that_do_not_fit_are_an_error_of_the_job(tmp_path: Path, words: list[str]) -> None:
    source = write(tmp_path / "a.jsonl", *rows("a"))
    done = run("convert", source, "--to", OTHER, *words, cwd=tmp_path)
    assert (done.returncode, [path.name for path in tmp_path.iterdir()]) == (2, ["a.jsonl"])


def test_splits_may_be_tables(tmp_path: Path) -> None:
    tables = pytest.importorskip("pyarrow.parquet")
    source = write(tmp_path / "a.jsonl", *rows(*"abcdefgh"))
    done = run("convert", source, "--to", "hf-chat", "--split", "x=1,y=1", "-o", tmp_path / "{split}.parquet")
    assert done.returncode == 0, done.stderr
    assert sum(tables.read_table(tmp_path / f"{name}.parquet").num_rows for name in "xy") == 8
