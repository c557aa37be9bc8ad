"""The first bytes of a file decide what it is, never its name."""

from __future__ import annotations

import gc
import gzip
import warnings
from pathlib import Path

import pytest

from convcli.files.archives import ArchiveSource
from convcli.files.framing import Source
from convcli.files.opening import open_input
from convcli.model.errors import ContentError
from tests.files.test_archives import archive


@pytest.mark.parametrize(
    ("data", "kind"),
    [(b"[1]", Source), (b"", Source), (archive(), ArchiveSource)],
    ids=["json", "empty", "archive"],  # the bytes of an archive have its time, and each process makes its own
)
def test_the_first_bytes_decide_whatever_the_name(tmp_path: Path, data: bytes, kind: type) -> None:
    for name, stored in (("a.parquet", data), ("b.eval", gzip.compress(data))):
        (tmp_path / name).write_bytes(stored)
        with open_input(str(tmp_path / name)) as source:
            assert isinstance(source, kind)


def test_what_cannot_be_opened_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(ContentError) as caught:
        open_input(str(path))
    assert caught.value.file == str(path)


@pytest.mark.parametrize("data", [b"PK\x03\x04", archive()[:-10], b"PAR1 and more PAR1"], ids=["start", "cut", "table"])
def test_what_cannot_be_opened_leaves_no_file_open(tmp_path: Path, data: bytes) -> None:
    pytest.importorskip("pyarrow")
    packed = gzip.compress(data)
    with warnings.catch_warnings(record=True) as unclosed:
        warnings.simplefilter("always", ResourceWarning)
        for stored in (data, packed, packed[:-9]):
            (tmp_path / "a").write_bytes(stored)
            with pytest.raises(ContentError):
                open_input(str(tmp_path / "a"))
        gc.collect()
    assert unclosed == []
