"""What the names of outputs say: the layout of transcripts, and the format of a report."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convcli.files.framing import Framing
    from convcli.report.screen import Screen

LISTS = frozenset((".json", ".jsonl", ".ndjson"))
"""Suffixes of JSON: one document, or lines."""
_TRANSCRIPTS = LISTS | {".sse", ".parquet", ".arrow"}
_FORMATS = frozenset((
    ".arrow", ".csv", ".htm", ".html", ".json", ".jsonl", ".markdown", ".md", ".ndjson", ".parquet", ".sarif", ".toml",
    ".tsv", ".txt", ".xml", ".yaml", ".yml",
))  # fmt: skip
"""Suffixes that promise a format."""


def layout_of(output: str | None) -> Framing | None:
    """Returns the layout that the name of an output implies; None if it implies none."""
    from convcli.files.names import is_lines, is_table, split_name, without_packing

    name = without_packing(output or "-")
    if is_lines(name) or is_table(name):
        return "jsonl"
    suffix = split_name(name)[1].lower()
    return "json" if suffix == ".json" else "sse" if suffix == ".sse" else None


def format_of_report(screen: Screen, output: str | None, formats: Collection[str], otherwise: str) -> str:
    """Returns the format of a report: the one that the name of its output ends with, otherwise the usual one.

    A note says so if the name ends like another format.
    """
    from convcli.files.names import named_format

    named = named_format(output or "", formats)
    if named is None:
        written, fitting = ("HTML", ()) if otherwise == "html" else ("text", (".txt",))
        announce_other_format(screen, output, written, fitting)
    return named or otherwise


def announce_other_format(
    screen: Screen, output: str | None, written: str = "JSON", fitting: Collection[str] = _TRANSCRIPTS
) -> None:
    """Prints a note if an output such as `out.csv` is not written in that format."""
    from convcli.files.names import split_name
    from convcli.report.text import safe_text

    suffix = split_name(output or "")[1].lower()
    if output is not None and suffix in _FORMATS and suffix not in fitting:
        screen.announce(f"note: {safe_text(output)} is written as {written}\n")
