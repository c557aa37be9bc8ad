"""Converts tables with a column of transcripts as JSON strings, batch by batch.

Engines that work on Arrow tables call it, such as `map_batches` of Ray Data and `map` of Hugging Face datasets.
Formats: https://arrow.apache.org/docs/python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import arguments
from convcli.files.columns import pyarrow
from convcli.jobs import lines
from convcli.jobs.judging import JudgingOptions
from convcli.jobs.lines import LineOutcome
from convcli.model.errors import JobError
from convcli.wire import exact_json
from convcli.wire.decimals import builtins


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """Converts the texts of a column; takes a table or record batch, and returns a table with a row for each row.

    `column` has JSON as strings or bytes, and gets the converted documents, null if nothing was converted. `keep`:
    other columns to keep. `loss_count` is the number of losses of a row; `losses` and `findings` are arrays as JSON
    strings, with pointers into the row's document. The options are those of `convcli.convert`. Can be pickled, and has
    no state. Raises JobError for an unknown dialect, form or column.

        ds.map_batches(Batch(source="openai-chat", to="anthropic"), batch_format="pyarrow")   # Ray Data
        ds.with_format("arrow").map(Batch(source="openai-chat", to="anthropic"), batched=True)  # Hugging Face datasets
    """

    source: str
    to: str
    column: str = "text"
    keep: tuple[str, ...] = ()
    form: str | None = None
    branch: Literal["active", "all"] = "all"
    view: Literal["history", "context"] = "history"
    chunk: int = 0
    set: Mapping[str, Any] = {}

    def __call__(self, table: Any) -> Any:
        """Returns the table with converted documents."""
        source, target = dialects.get(self.source), dialects.get(self.to)
        options = arguments.options(target, self.form, self.branch, self.chunk, self.view, self.set)
        return _mapped(table, self.column, self.keep, lambda texts: lines.convert(texts, source, target, options))


class ValidateBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Validates the documents in a column, which is unchanged.

    Adds `findings` as for `Batch`, and `error_count`, the number of errors among them. The options are those of
    `convcli.validate`."""

    source: str
    column: str = "text"
    keep: tuple[str, ...] = ()
    as_: str | None = None
    strict: bool = False

    def __call__(self, table: Any) -> Any:
        """Returns the table with findings."""
        source, target = dialects.get(self.source), None if self.as_ is None else dialects.get(self.as_)
        options = JudgingOptions(self.strict, target)
        return _mapped(table, self.column, self.keep, lambda texts: lines.validate(texts, source, options), False)


def _mapped(
    table: Any,
    name: str,
    keep: tuple[str, ...],
    work: Callable[[Iterable[bytes]], Iterator[LineOutcome]],
    converts: bool = True,
) -> Any:
    arrow = pyarrow()
    for wanted in (name, *keep):
        if wanted not in table.schema.names:
            raise JobError("usage", f'the table has no column "{wanted}"')
    column = table.column(name)
    outcomes = list(work(_texts(arrow, column, name)))
    columns: dict[str, Any] = {each: table.column(each) for each in keep}
    columns[name] = _written(arrow, column.type, outcomes) if converts else column
    if converts:
        columns["loss_count"] = arrow.array([len(each.losses) for each in outcomes], arrow.int64())
        columns["losses"] = arrow.array([_listed(each.losses) for each in outcomes], arrow.string())
    else:
        errors = [sum(finding.severity == "error" for finding in each.findings) for each in outcomes]
        columns["error_count"] = arrow.array(errors, arrow.int64())
    columns["findings"] = arrow.array([_listed(each.findings) for each in outcomes], arrow.string())
    return arrow.table(columns)


def _texts(arrow: Any, column: Any, name: str) -> Iterator[bytes]:
    """Yields the bytes of each row; null becomes a blank line."""
    kinds = arrow.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    is_text = kinds.is_string(column.type) or kinds.is_large_string(column.type)
    if not is_text and not kinds.is_binary(column.type) and not kinds.is_large_binary(column.type):
        raise JobError("usage", f'the column "{name}" has the type {column.type}; expected JSON strings')
    return (row.as_buffer().to_pybytes() if row.is_valid else b"" for row in column)


def _written(arrow: Any, kind: Any, outcomes: Iterable[LineOutcome]) -> Any:
    """Returns the converted documents in a column of the same type as the input."""
    kind = kind.value_type if arrow.types.is_dictionary(kind) else kind
    is_large = arrow.types.is_large_string(kind) or arrow.types.is_large_binary(kind)
    data = [outcome.data or None for outcome in outcomes]
    return arrow.array(data, arrow.large_binary() if is_large else arrow.binary()).cast(kind)


def _listed(items: Iterable[Any]) -> str:
    """Returns losses or findings as JSON without the line, which would be that of the batch."""
    return exact_json.write(builtins([replace(item, line=0) for item in items])).decode()
