"""The size of a Parquet file's pages is known before they are unpacked, whatever its footer says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from convcli.files.framing import open_stored
from convcli.files.parquet_pages import group_size
from convcli.model.errors import ContentError
from tests.files.test_tables import records

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.arrow


def stored(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    parquet.write_table(pa.table(columns), path, **options)
    return path


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
def test_the_pages_have_the_sizes_that_the_footer_sums_up(tmp_path: Path, compression: str, version: str) -> None:
    texts = [f"{number} {'text ' * (number % 50)}" for number in range(5_000)]
    columns = {"text": texts, "repeated": ["a" * 100] * 5_000, "lists": [[1, None]] * 5_000}
    options = {"compression": compression, "data_page_version": version, "row_group_size": 2_000}
    path = stored(tmp_path / "a.parquet", columns, data_page_size=4_096, **options)
    file = parquet.ParquetFile(path)
    for index in range(file.num_row_groups):
        group = file.metadata.row_group(index)
        size = group_size(open_stored(str(path)), group)
        headers = group.total_byte_size - size.total  # the footer counts the headers of pages too
        assert 0 < headers < group.total_byte_size / 4 + 4_096
        assert 0 < size.dictionaries < size.total


@pytest.mark.parametrize("columns", [1, 40])
def test_a_value_that_was_packed_far_too_well_is_not_unpacked(tmp_path: Path, columns: int) -> None:
    text = "x" * (136 << 20) if columns == 1 else "x" * (4 << 20)
    names = {f"c{number}": [text] for number in range(columns)}
    path = stored(tmp_path / "bomb.parquet", names, compression="zstd", use_dictionary=False, write_statistics=False)
    assert path.stat().st_size < 300_000
    with pytest.raises(ContentError) as caught:
        records(path)
    assert caught.value.code == "compression-bomb"


def test_a_long_value_that_rows_repeat_is_read_a_few_rows_at_a_time(tmp_path: Path) -> None:
    text = "x" * (4 << 20)
    path = stored(tmp_path / "a.parquet", {"text": [text] * 100}, compression="zstd", dictionary_pagesize_limit=8 << 20)
    assert path.stat().st_size < 10_000
    file = parquet.ParquetFile(path)
    assert group_size(open_stored(str(path)), file.metadata.row_group(0)).dictionaries > len(text)
