"""Parquet and Arrow files as records."""

from __future__ import annotations

import gzip
import io
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from convcli.files.framing import Record, Source
from convcli.files.opening import open_input
from convcli.files.tables import TableSource
from convcli.model.errors import ContentError, JobError

ROWS: list[dict[str, Any]] = [{"n": n, "turns": [{"role": "user", "content": f"{n}"}]} for n in range(700)]


def test_without_pyarrow_a_table_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "a.parquet"
    for magic in (b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff"):
        path.write_bytes(magic + b"\0" * 60)
        with pytest.raises(JobError) as caught:
            open_input(str(path))
        assert (caught.value.code, caught.value.exit_code, caught.value.file) == ("arrow-missing", 2, str(path))
        assert caught.value.help == "pip install 'convcli[arrow]'"


def test_a_text_is_read_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "a.parquet"
    for data in (b'{"PAR1": 1}\n', gzip.compress(b'{"PAR1": 1}\n'), b""):
        path.write_bytes(data)
        with open_input(str(path)) as source:
            assert isinstance(source, Source)


# ---------------------------------------------------------------- with pyarrow

arrow = pytest.mark.arrow
KINDS = ["parquet", "file", "stream"]


def table(path: Path, kind: str = "parquet", rows: list[dict[str, Any]] = ROWS) -> Path:
    """Rows in a file of this kind."""
    pa = pytest.importorskip("pyarrow")
    made = pa.Table.from_pylist(rows)
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(made, path, row_group_size=100)
        return path
    with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(path, made.schema) as writer:
        writer.write_table(made, 300)
    return path


def records(path: Path) -> list[Record]:
    with open_input(str(path)) as source:
        return list(source.each())


@arrow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packed", [False, True])
def test_rows_are_records_that_count_from_one(tmp_path: Path, kind: str, packed: bool) -> None:
    path = table(tmp_path / "no-suffix", kind)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    read = records(path)
    assert [record.value for record in read] == ROWS
    assert [record.line for record in read] == list(range(1, 701))


@arrow
@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_read_from_a_pipe(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(tmp_path / "a", kind).read_bytes()
    (tmp_path / "a").unlink()
    with open("/dev/zero", "rb") as pipe:
        monkeypatch.setattr("convcli.files.framing.open_stdin", lambda: Pipe(data, pipe.fileno()))
        with open_input("-") as source:
            assert (source.name, source.unpacked_size) == ("<stdin>", 0)
            assert [record.value for record in source.each()] == ROWS


class Pipe(io.BytesIO):
    """Bytes that have no size before they are read."""

    def __init__(self, data: bytes, number: int) -> None:
        super().__init__(data)
        self._number = number

    def fileno(self) -> int:
        return self._number


@arrow
def test_row_groups_are_ranges_that_another_process_reads(tmp_path: Path) -> None:
    with open_input(str(table(tmp_path / "a.parquet"))) as source:
        assert isinstance(source, TableSource)
        parts = list(source.ranges(1))
        assert [(part.start, part.stop, part.before) for part in parts] == [(n, n + 1, 100 * n) for n in range(7)]
        whole = [(part.start, part.stop, part.before) for part in source.ranges(1 << 30)]
        assert whole == [(0, 7, 0)]
        assert source.unpacked_size == (tmp_path / "a.parquet").stat().st_size
        read = [record for part in parts for record in source.records(part.start, part.stop, part.before)]
        assert [(record.line, record.value) for record in read] == list(enumerate(ROWS, 1))


@arrow
def test_a_table_is_pickled_by_its_descriptor_and_without_what_was_reported(tmp_path: Path) -> None:
    rows = [{"a": {"x": 1}}, {"a": {"y": 1}}]
    with open_input(str(table(tmp_path / "a.parquet", rows=rows))) as source:
        assert isinstance(source, TableSource)
        assert len(list(source.each())) == len(source.columns.padding) == 2
        state = source.__getstate__()
    assert (state["_reader"], state["_table"]) == (None, None)
    assert pickle.dumps({**state, "_stored": None, "_file": None})


@arrow
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_was_cut_off_or_changed_is_one_error(tmp_path: Path, kind: str) -> None:
    whole = table(tmp_path / "whole", kind).read_bytes()
    path = tmp_path / "a.parquet"
    for size in (8, 100, len(whole) // 2, len(whole) - 3 if kind == "parquet" else len(whole) // 3):
        path.write_bytes(whole[:size])
        with pytest.raises(ContentError) as caught:
            records(path)
        assert (caught.value.code, caught.value.file) == ("damaged-table", str(path)), size
    if kind == "parquet":
        path.write_bytes(whole[:4] + b"\xff" * (len(whole) // 2) + whole[len(whole) // 2 + 4 :])
        with pytest.raises(ContentError):
            records(path)


@arrow
@pytest.mark.parametrize("kind", KINDS)
def test_lengths_that_were_changed_do_not_crash_the_process(tmp_path: Path, kind: str) -> None:
    whole = table(tmp_path / "whole", kind, ROWS[:40]).read_bytes()
    path = tmp_path / "a"
    codes = set[str]()
    for at in range(8, len(whole) - 8, 16):
        path.write_bytes(whole[:at] + b"\xff\xff\xff\x0f" + whole[at + 4 :])
        try:
            codes.update(record.error.code for record in records(path) if record.error)
        except ContentError as error:
            codes.add(error.code)
    assert {"damaged-table"} <= codes


@arrow
def test_a_row_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    buffers = pa.array([b"good", b"\xff", b"fine"], pa.binary()).buffers()
    texts = pa.StringArray.from_buffers(3, buffers[1], buffers[2])
    numbers = pa.array([1.0, 2.0, float("nan")])
    parquet.write_table(pa.table({"t": texts, "n": numbers}), tmp_path / "a.parquet")
    read = records(tmp_path / "a.parquet")
    assert [(record.line, record.error.code if record.error else record.value) for record in read] == [
        (1, {"t": "good", "n": 1.0}),
        (2, "not-utf8"),
        (3, "not-finite"),
    ]


@arrow
def test_a_table_without_rows_has_no_records(tmp_path: Path) -> None:
    for kind in KINDS:
        assert records(table(tmp_path / kind, kind, [])) == []


def test_texts_with_the_same_beginning_are_read_however_well_they_are_packed(tmp_path: Path) -> None:
    """DuckDB writes pages of up to 100 MB, and Polars a table as one batch, with the same instructions in each row."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    beginning = " ".join(map(str, range(6_000)))
    table = pa.table({"text": [f"{beginning} {number}" for number in range(1_500)], "none": pa.nulls(1_500)})
    parquet.write_table(
        table, tmp_path / "a", compression="zstd", compression_level=9, use_dictionary=False, data_page_size=64 << 20,
        write_batch_size=2_000,
    )  # fmt: skip
    with pa.ipc.new_file(tmp_path / "b", table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    for name in ("a", "b"):
        assert (tmp_path / name).stat().st_size < 600_000
        with open_input(str(tmp_path / name)) as source:
            read = [record.value["text"] for record in source.each()]
        assert read == table["text"].to_pylist()


def test_a_dictionary_of_views_is_read(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    values = pa.array(["short", "x" * 50, None], pa.string_view())
    column = pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 2, 1], pa.uint32()), values)
    table = pa.table({"text": column})
    with pa.ipc.new_file(tmp_path / "a", table.schema) as writer:
        writer.write_table(table)
    with open_input(str(tmp_path / "a")) as source:
        read = [record.value.get("text") for record in source.each()]
    assert read == ["x" * 50, "short", None, None, "x" * 50]
