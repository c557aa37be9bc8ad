"""What names of files say."""

from __future__ import annotations

import pytest

from convcli.files.names import is_lines, is_table, named_format, split_name, without_packing


@pytest.mark.parametrize(
    ("name", "bare", "stem", "suffix"),
    [
        ("a.json.GZ", "a.json", "a", ".json"),
        ("a.b.JSONL", "a.b.JSONL", "a.b", ".JSONL"),
        ("a.parquet", "a.parquet", "a", ".parquet"),
        ("a.zst", "a", "a", ""),
        ("d.gz/a", "d.gz/a", "d.gz/a", ""),
    ],
)
def test_a_name_is_split_without_its_compression(name: str, bare: str, stem: str, suffix: str) -> None:
    assert (without_packing(name), *split_name(name)) == (bare, stem, suffix)


def test_lines_and_tables_are_named() -> None:
    assert [is_lines(name) for name in ("a.jsonl", "a.NDJSON.xz", "a.json", "jsonl")] == [True, True, False, False]
    assert [is_table(name) for name in ("a.parquet", "a.ARROW", "a.parquet.gz", "parquet")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_format_is_named_by_its_suffix_or_another_usual_one() -> None:
    formats = ("csv", "html", "md", "junit")
    names = ("a.CSV.gz", "a.htm", "a.markdown", "a.xml", "a.json", "csv", "")
    assert [named_format(name, formats) for name in names] == ["csv", "html", "md", "junit", None, None, None]
