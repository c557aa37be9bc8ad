"""What the name of a file says: its compression, the format of its content, and one of its lines."""

from __future__ import annotations

import os
from collections.abc import Collection

from convcli.wire.patterns import pattern

PACKED = (".gz", ".bz2", ".xz", ".zst")
"""File suffixes of compressed files."""
LINES = (".jsonl", ".ndjson")
"""File suffixes of JSON Lines."""
TABLES = (".parquet", ".arrow")
"""File suffixes of tables."""
_LINE = r"(?P<file>.+):(?P<line>0|[1-9][0-9]{0,17})"
_WITH_LINE = pattern(_LINE)
_WITH_COLUMN = pattern(rf"{_LINE}:[0-9]+")
_OTHER_NAMES = {"htm": "html", "markdown": "md", "ndjson": "jsonl", "xml": "junit"}


def without_packing(name: str) -> str:
    """Removes a compression suffix from a file name."""
    stem, suffix = os.path.splitext(name)
    return stem if suffix.lower() in PACKED else name


def split_name(name: str) -> tuple[str, str]:
    """Returns a name without its suffixes, and the suffix of its content: `rows` and `.jsonl` for `rows.jsonl.gz`."""
    return os.path.splitext(without_packing(name))


def has_suffix(name: str, suffix: str) -> bool:
    """True if a file name has this suffix, or another one of JSON Lines."""
    return name.lower().endswith(LINES if suffix in LINES else suffix)


def is_lines(name: str) -> bool:
    """True if the file name has a JSON Lines suffix."""
    return split_name(name)[1].lower() in LINES


def is_table(name: str) -> bool:
    """True if the file name has the suffix of a table."""
    return name.lower().endswith(TABLES)


def named_format(name: str, formats: Collection[str]) -> str | None:
    """Returns the one of these formats that a file name ends with; None if it names none of them."""
    word = split_name(name)[1][1:].lower()
    word = word if word in formats else _OTHER_NAMES.get(word, "")
    return word if word in formats else None


def split_line(path: str) -> tuple[str, int | None]:
    """Splits FILE:LINE or FILE:LINE:COLUMN, as printed in findings; for a table, LINE is the row. None without a line.

    An existing file with such a name is that file."""
    for form in () if os.path.lexists(path) else (_WITH_LINE, _WITH_COLUMN):
        match = form.fullmatch(path)
        if match is not None and (match["file"] == "-" or os.path.lexists(match["file"])):
            return match["file"], int(match["line"])
    return path, None
