"""Tables with a column of transcripts as JSON texts, one batch after the other: what engines that work on Arrow tables
call, as Ray Data's `map_batches` and `map` of Hugging Face datasets. Formats: https://arrow.apache.org/docs/python."""

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
    """Converts the texts of a column; a table, or a record batch, in, and a table with a row for each of its rows out.

    `column` holds JSON as text or bytes, and gets the converted documents, null where nothing was converted. `keep` are
    the other columns that go along. `loss_count` says how many losses a row has; `losses` and `findings` are arrays as
    JSON texts, with places in the document of the row. The options are those of `convcli.convert`. Pickles, and keeps
    no state. Raises JobError for what is no such dialect, form or column.

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
        """The table with converted texts."""
        source, target = dialects.get(self.source), dialects.get(self.to)
        options = arguments.options(target, self.form, self.branch, self.chunk, self.view, self.set)
        return _mapped(table, self.column, self.keep, lambda texts: lines.convert(texts, source, target, options))


class ValidateBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Says what is wrong with the texts of a column, which is kept as it is: `findings` as for `Batch`, and in
    `error_count` how many of them are errors. The options are those of `convcli.validate`."""

    source: str
    column: str = "text"
    keep: tuple[str, ...] = ()
    as_: str | None = None
    strict: bool = False

    def __call__(self, table: Any) -> Any:
        """The table with findings."""
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
    """The bytes of each row; of a null nothing, which is a blank line."""
    kinds = arrow.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    is_text = kinds.is_string(column.type) or kinds.is_large_string(column.type)
    if not is_text and not kinds.is_binary(column.type) and not kinds.is_large_binary(column.type):
        raise JobError("usage", f'the column "{name}" holds {column.type}, and JSON texts are wanted')
    return (row.as_buffer().to_pybytes() if row.is_valid else b"" for row in column)


def _written(arrow: Any, kind: Any, outcomes: Iterable[LineOutcome]) -> Any:
    """The converted documents, in a column of the same type as that of the given ones."""
    kind = kind.value_type if arrow.types.is_dictionary(kind) else kind
    is_large = arrow.types.is_large_string(kind) or arrow.types.is_large_binary(kind)
    data = [outcome.data or None for outcome in outcomes]
    return arrow.array(data, arrow.large_binary() if is_large else arrow.binary()).cast(kind)


def _listed(items: Iterable[Any]) -> str:
    """Losses or findings without the line, which would be that of the batch."""
    return exact_json.write(builtins([replace(item, line=0) for item in items])).decode()
