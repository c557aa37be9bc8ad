"""The restore file of a conversion: a record for each written document, and for its surroundings."""

from __future__ import annotations

from typing import Any

from convcli.engine import texts
from convcli.engine.restore import around, is_rows, record
from convcli.jobs.documents import Document, Outer
from convcli.jobs.inputs import Input
from convcli.model.dialect import Dialect
from convcli.wire import exact_json


def kept(document: Any, item: Document, source: Input, target: Dialect) -> bytes:
    """Returns the lines of a restore file for a document that was written.

    The surroundings of picked documents follow the last of them: documents that are not written stay in them."""
    converted, _ = texts.read(document, target)  # as `restore` reads it
    line = record(item.original, converted, item.dialect, target)
    if source.layout == "array" and source.outer is None:
        line["layout"] = "array"
    elif source.layout == "json" and source.outer is None and type(item.original) is list and is_rows(item.dialect):
        line["layout"] = "json"
    if item.shell is not None:
        line["shell"], line["many"] = item.shell, item.dialect.many
    if item.outer is None or source.outer is None:
        return exact_json.write_line(line)
    before = kept_around(source, item.outer)
    item.outer.kept.append(item.at.removeprefix(item.outer.at))
    return before + exact_json.write_line({**line, "at": item.outer.kept[-1]})


def kept_around(source: Input, last: Outer | None = None) -> bytes:
    """Returns the surroundings of picked documents, up to those of a last record, or to the end."""
    lines: list[bytes] = []
    while source.outer and source.outer[0] is not last:
        outer = source.outer.popleft()
        lines.append(exact_json.write_line(around(outer.value, outer.kept, is_member=bool(outer.at))))
    return b"".join(lines)
