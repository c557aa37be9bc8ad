"""Columns of a training row that state where it comes from, next to the conversation.

convcli writes them into rows of dialects that allow other columns (`Dialect.columns`). They are not part of the
conversation: a dialect is detected without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

ColumnType: TypeAlias = Literal["string", "integer", "strings"]

COLUMNS: Mapping[str, ColumnType] = {
    "id": "string",
    "parent": "string",
    "program": "string",
    "model": "string",
    "file": "string",
    "line": "integer",
    "part": "integer",
    "parts": "integer",
    "cwd": "string",
    "branch": "string",
    "created": "string",
    "tokens": "integer",
    "turns": "integer",
    "errors": "integer",
    "failed": "strings",
    "losses": "integer",
}
"""The columns in the order in which they are written, with the types of their values. Any value may be null."""
MARK = "program"
"""The column that every row with columns has, with a name in it. No dialect has a key of this name."""


def has_columns(document: Any) -> bool:
    """True if a row has columns of its origin."""
    return isinstance(document, dict) and isinstance(document.get(MARK), str)


def without_columns(document: Any) -> Any:
    """Returns a row without the columns of its origin, or any other document as it is."""
    if not has_columns(document):
        return document
    return {key: value for key, value in document.items() if key not in COLUMNS}


def marked(document: Any) -> Any:
    """Returns a row with no other column of its origin than the mark, or any other document as it is."""
    return {**without_columns(document), MARK: document[MARK]} if has_columns(document) else document
