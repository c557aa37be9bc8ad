"""Writes the columns that state where a training row comes from, next to its conversation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.engine.conversion import Conversion
from convcli.jobs.documents import Document
from convcli.jobs.portions import Portion
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError
from convcli.model.row_columns import COLUMNS, MARK, has_columns
from convcli.proof.reasons import MISSING, SET, Loss
from convcli.validation.wording import unknown

EVERY, NO = "all", "none"
COLUMN_OF = {"id": "id", "model": "model", "cwd": "cwd", "createdAt": "created"}
"""The columns that store a field of the transcript."""
OF_FAILURES = ("tool_result.kind", "tool_result.isError")
"""The fields that state a failure, which the column `failed` has."""
STORED = frozenset((*COLUMN_OF, *OF_FAILURES))
"""The fields that only a column may store."""


class RowColumns(msgspec.Struct, frozen=True):
    """The columns to write.

    `names`: those to find where the source has none · `carried`: those to keep of a source that has some ·
    `adds_to_all`: also to requests and to rows of other data sets, whose origin is only a file and a line.
    """

    names: tuple[str, ...] = ()
    carried: tuple[str, ...] = tuple(COLUMNS)
    adds_to_all: bool = False

    def add(
        self,
        item: Document,
        conversion: Conversion,
        losses: list[Loss],
        portion: Portion | None,
    ) -> list[Loss]:
        """Adds the columns to the converted row, and returns the losses that remain. A key of the row stays as it is.

        What only a column stores is encoded. A column of the source that the row has is not lost.
        """
        row, is_row = conversion.document, item.dialect.columns != "none"
        if is_row and has_columns(item.value):
            columns = {name: item.value.get(name) for name in self.carried}
            row, losses = self._without_others(item, conversion, losses)
        elif self.names and (self.adds_to_all or (not is_row and _has_origin(item, portion))):
            from convcli.views.row_facts import FINDERS, RowFacts

            facts = RowFacts(item, portion or Portion(conversion.transcript), losses, conversion.left_out)
            columns = {name: FINDERS[name](facts) for name in self.names}
        else:
            return losses
        if not isinstance(row, dict):
            return losses
        conversion.document = {**row, **{name: value for name, value in columns.items() if row.get(name) is None}}
        return [_explained(loss, columns) for loss in losses if not _is_carried(loss, columns)]

    def _without_others(self, item: Document, conversion: Conversion, losses: list[Loss]) -> tuple[Any, list[Loss]]:
        """Returns the row without columns that its own dialect has kept and the user does not want."""
        row = conversion.document
        others = COLUMNS.keys() - self.carried
        if not others or not has_columns(row):
            return row, losses
        others -= {"id"} if conversion.transcript.id is not None else set()
        gone = {name: value for name, value in row.items() if name in others}
        dropped = [
            Loss("dropped", f"/{name}", f"extras.{item.dialect.name}.{name}", "context", SET, value)
            for name, value in gone.items()
            if value is not None
        ]
        item.locate(dropped)
        return {name: value for name, value in row.items() if name not in gone}, [*losses, *dropped]


def chosen(words: str | None, target: Dialect, *, is_table: bool) -> RowColumns | None:
    """Returns the columns that `--columns` names: all, none, or a list. None if the target has none.

    By default all are written into a table and where the dialect usually has them, for sources that state an origin.
    Raises JobError.
    """
    if target.columns == "none":
        if words not in (None, NO):
            message = f"--columns: rows of {target.title} have no other columns"
            raise JobError("usage", message, help="convcli help training lists the dialects that have")
        return None
    if words is None:
        return RowColumns(tuple(COLUMNS) if is_table or target.columns == "usual" else ())
    names = {EVERY: tuple(COLUMNS), NO: ()}.get(words) if words in (EVERY, NO) else _listed(words)
    assert names is not None
    return RowColumns(names, names, adds_to_all=True)


def _listed(words: str) -> tuple[str, ...]:
    """Returns the named columns in their usual order, with the one that marks a row with columns."""
    named = {word.strip() for word in words.split(",")} - {""}
    for name in sorted(named - COLUMNS.keys()):
        raise unknown("column", name, tuple(COLUMNS), "convcli help training lists them")
    return tuple(name for name in COLUMNS if name in named or name == MARK)


def _has_origin(item: Document, portion: Portion | None) -> bool:
    """True for a session, a conversation from an export or a log, and a part of a conversation. Other documents are
    converted without being lifted if others of their shape were; finding the columns would lift each of them."""
    is_from_log = item.outer is not None or bool(item.routes)
    return portion is not None or is_from_log or _names_conversations(item.dialect)


@cache
def _names_conversations(dialect: Dialect) -> bool:
    return dialect.names_conversations


def _is_carried(loss: Loss, columns: Mapping[str, Any]) -> bool:
    """True for the loss of a column of the source that the output has."""
    field = loss.field
    return loss.kind == "dropped" and field.startswith("extras.") and _has(columns, field.rpartition(".")[2], loss)


def _has(columns: Mapping[str, Any], name: str, loss: Loss) -> bool:
    return name in columns and loss.before is not MISSING and bool(columns[name] == loss.before)


def _explained(loss: Loss, columns: Mapping[str, Any]) -> Loss:
    """Returns the loss of a value that only a column stores as encoded."""
    if loss.field not in STORED:
        return loss
    column = COLUMN_OF.get(loss.field, "")
    if loss.field in OF_FAILURES and columns.get("failed"):
        column = "failed"
    elif loss.kind != "dropped" or not column or not _has(columns, column, loss):
        return loss
    return replace(loss, kind="encoded", why=f'the column "{column}" of the row has it')
