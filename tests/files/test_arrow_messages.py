"""The size of Arrow's compressed buffers is known before they are unpacked, in files and streams."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from convcli.files import arrow_messages
from convcli.files.arrow_messages import check_file, checked_batches
from convcli.files.framing import open_stored
from convcli.model.errors import ContentError
from tests.files.test_tables import ROWS, records

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.arrow
LONG = 20 << 20


def stored(path: Path, table: Any, kind: str, codec: str | None) -> Path:
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(path, table.schema, options=options) as writer:
        writer.write_table(table, 100)
    return path


@pytest.mark.parametrize("codec", [None, "zstd", "lz4"])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_usual_tables_are_read(tmp_path: Path, kind: str, codec: str | None) -> None:
    table = pa.Table.from_pylist(ROWS)
    kept = table.append_column("kind", pa.array(["a", None] * (len(ROWS) // 2)).dictionary_encode())
    path = stored(tmp_path / "a", kept, kind, codec)
    assert [record.value["turns"] for record in records(path)] == [row["turns"] for row in ROWS]
    with closing(open_stored(str(path))) as file:
        if kind == "file":
            check_file(file)
        else:
            assert len(list(checked_batches(file))) == 7


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("place", ["column", "dictionary", "many"])
def test_a_buffer_that_was_packed_far_too_well_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, codec: str, place: str
) -> None:
    monkeypatch.setattr(arrow_messages, "MOST_MEMORY", LONG // 2)
    columns = {f"c{number}": ["x" * (4 << 20)] for number in range(20)} if place == "many" else {"a": ["x" * LONG]}
    table = pa.table(columns if place != "dictionary" else {"a": pa.array(columns["a"]).dictionary_encode()})
    path = stored(tmp_path / "a", table, kind, codec)
    with pytest.raises(ContentError) as caught:
        records(path)
    assert caught.value.code == "compression-bomb"


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_dictionaries_stay_in_memory_and_count_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    columns = {f"c{number}": pa.array(["x" * (4 << 20)]).dictionary_encode() for number in range(4)}
    path = stored(tmp_path / "a", pa.table(columns), kind, "zstd")
    assert len(records(path)) == 1
    monkeypatch.setattr(arrow_messages, "MOST_MEMORY", 10 << 20)
    with pytest.raises(ContentError) as caught:
        records(path)
    assert caught.value.code == "compression-bomb"


DAMAGE = ("damaged-table", "compression-bomb", "unread-column", "duplicate-key")


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_any_damage_of_metadata_is_a_damaged_table(tmp_path: Path, kind: str) -> None:
    path = stored(tmp_path / "a", pa.Table.from_pylist(ROWS[:3]), kind, "zstd")
    whole, codes = path.read_bytes(), set[str]()
    for at in range(8, len(whole), 7):
        path.write_bytes(whole[:at] + b"\xff\xff\xff\x7f" + whole[at + 4 :])
        try:
            records(path)
        except ContentError as error:
            codes.add(error.code)
    assert codes <= set(DAMAGE)
    assert "damaged-table" in codes
