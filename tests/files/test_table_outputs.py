"""Tables as outputs: whole or not at all, and the rows come back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from convcli.files import table_outputs
from convcli.files.names import is_table
from convcli.files.opening import open_input
from convcli.files.outputs import open_output
from convcli.files.shapes import PathFacts
from convcli.files.table_outputs import TableOutput
from convcli.model.errors import JobError, OutputError

KNOWN = PathFacts(lambda _: True, lambda _: False)
ROWS: list[dict[str, Any]] = [{"n": n, "turns": [{"role": "user", "content": f"{n}"}]} for n in range(700)]


def test_without_pyarrow_a_table_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(JobError) as caught:
        TableOutput(open_output(str(tmp_path / "a.parquet")), KNOWN)
    assert (caught.value.code, caught.value.help) == ("arrow-missing", "pip install 'convcli[arrow]'")
    assert [is_table(name) for name in ("a.parquet", "a.ARROW", "a.json", "parquet")] == [True, True, False, False]


arrow = pytest.mark.arrow
NAMES = ["a.parquet", "a.arrow"]


def output(path: Path) -> TableOutput:
    pytest.importorskip("pyarrow")
    return TableOutput(open_output(str(path)), KNOWN)


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def written(path: Path, *pieces: bytes) -> list[Any]:
    table = output(path)
    for piece in pieces:
        table.write(piece)
    assert not path.exists()
    table.commit()
    with open_input(str(path)) as source:
        return [record.value for record in source.each()]


@arrow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_rows_come_back_however_they_were_cut_into_pieces(
    tmp_path: Path, name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_outputs, "BATCH", 100)
    monkeypatch.setattr(table_outputs, "GROUP", 4000)
    rows = ROWS if size > 1 else ROWS[:20]
    data = lines(rows)
    assert written(tmp_path / name, *(data[at : at + size] for at in range(0, len(data), size))) == rows


@arrow
@pytest.mark.parametrize("name", NAMES)
def test_what_was_not_committed_leaves_nothing_behind(tmp_path: Path, name: str) -> None:
    table = output(tmp_path / name)
    table.write(lines(ROWS))
    table.discard()
    table.discard()
    assert list(tmp_path.iterdir()) == []


@arrow
def test_a_transcript_that_is_a_list_is_no_row(tmp_path: Path) -> None:
    table = output(tmp_path / "a.parquet")
    with pytest.raises(JobError, match="a table row must be an object"):
        table.write(b"[1]\n")


@arrow
def test_half_of_a_surrogate_pair_is_kept_in_a_column_of_json(tmp_path: Path) -> None:
    rows = [{"a": "fine", "b": ["x"]}, {"a": "fine \\ud800", "b": ["half \ud800"]}]
    table = output(tmp_path / "a.parquet")
    table.write(lines(rows))
    table.commit()
    assert table.texts == ["b"]
    with open_input(str(tmp_path / "a.parquet")) as source:
        assert json.dumps([record.value for record in source.each()]) == json.dumps(rows)


@arrow
def test_what_is_read_back_as_another_value_is_known_once_it_is_written(tmp_path: Path) -> None:
    table = output(tmp_path / "a.parquet")
    rows = [
        {"a": "x", "b": {"c": 0.5}, "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]},
        {"a": 1, "b": {"c": 1}, "t": 1, "content": "x"},
        {"b": {"c": 2, "d": None}, "a": 1, "content": [{"text": "x", "type": "text"}]},
    ]
    table.write(lines(rows))
    table.complete()
    assert not (tmp_path / "a.parquet").exists()
    assert table.texts == ["a"]
    assert [tuple(each) for each in table.changed.values()] == [
        (("b", "c"), 1, "/b/c", 2),
        (("content",), 2, "/content", 1),
    ]
    table.commit()
    assert (tmp_path / "a.parquet").exists()


@arrow
def test_an_error_of_the_disk_is_reported_and_leaves_nothing_behind(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")

    class Full:
        name = str(tmp_path / "a.parquet")

        def write(self, data: bytes) -> None:
            raise OutputError("cannot-write", "cannot write it: No space left on device")

        def commit(self) -> None:
            raise AssertionError

        def discard(self) -> None:
            pass

    table = TableOutput(Full(), KNOWN)
    table.write(lines(ROWS))
    with pytest.raises(OutputError, match="No space left"):
        table.commit()


@arrow
def test_data_sets_load_what_was_written(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    for name, kind in (("a.parquet", "parquet"), ("a.arrow", "arrow")):
        written(tmp_path / name, lines(ROWS))
        loaded = datasets.load_dataset(
            kind, data_files=str(tmp_path / name), split="train", cache_dir=str(tmp_path / "cache")
        )
        assert list(loaded) == ROWS


@arrow
def test_texts_that_hold_lists_stay_texts_next_to_objects(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    known = PathFacts(lambda path: path[-1:] != ("arguments",), lambda _: True)
    rows = [{"call": {"arguments": held}} for held in ({"a": 1}, "[1]", "{", '"', "")]
    table = TableOutput(open_output(str(tmp_path / "a.parquet")), known)
    table.write(lines(rows))
    table.commit()
    with open_input(str(tmp_path / "a.parquet")) as source:
        assert [record.value for record in source.each()] == rows
