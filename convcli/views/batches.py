"""Conversion of batches of rows in columns, for `map` of datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from convcli import dialects
from convcli.engine import arguments, pipeline
from convcli.jobs.documents import finding_of
from convcli.model.dialect import Options
from convcli.model.errors import ContentError, RefusedError

if TYPE_CHECKING:
    from convcli.dialects._names import DialectName

LOSSES, ERROR = "losses", "error"
"""The columns with the number of losses of content, and with the code of the first error of a row."""


class BatchConversion(msgspec.Struct, frozen=True):
    """Converts batches of rows. It can be pickled, and its pickle depends on its options only.

    `to`, `source`: names of dialects · `keys`: of the converted rows that become columns.
    """

    to: str
    keys: tuple[str, ...]
    source: str | None
    options: Options
    keep_going: bool

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """Returns the columns of the converted rows. Raises ContentError or RefusedError, unless it keeps going."""
        columns: dict[str, list[Any]] = {name: [] for name in (*self.keys, LOSSES, ERROR)}
        for values in zip(*batch.values(), strict=True):
            row = self._converted({name: value for name, value in zip(batch, values, strict=True) if value is not None})
            for name, column in columns.items():
                column.append(row.get(name))
        return columns

    def _converted(self, row: dict[str, Any]) -> dict[str, Any]:
        target = dialects.get(self.to)
        try:
            value, source, _ = arguments.read(arguments.parsed(row), self.source)
            conversion = pipeline.convert(value, source, target, self.options)
        except (ContentError, RefusedError) as error:
            if not self.keep_going:
                raise
            return {ERROR: _code_of(error)}
        losses = sum(loss.level == "content" for loss in conversion.losses)
        return {**conversion.document, LOSSES: losses}


def _code_of(error: ContentError | RefusedError) -> str:
    findings = error.findings if isinstance(error, RefusedError) else [finding_of(error)]
    return next((finding.code for finding in findings if finding.severity == "error"), error.code)


def batches(
    to: DialectName | str,
    keys: Iterable[str] = ("messages", "tools"),
    *,
    source: DialectName | str | None = None,
    form: str | None = None,
    branch: Literal["active", "all"] = "all",
    view: Literal["history", "context"] = "history",
    set: Mapping[str, Any] | None = None,
    default: Mapping[str, Any] | None = None,
    map_model: Mapping[str, str] | None = None,
    keep_going: bool = False,
) -> BatchConversion:
    """Returns a function that converts batches of rows, for `Dataset.map(…, batched=True)`.

    A batch has a list for each column. The result has one for each of the `keys` of a converted row, null where a row
    does not have it, and the columns `losses` (the number of losses of content) and `error`. With `keep_going`, a row
    that cannot be converted has only its `error`; otherwise it raises ContentError or RefusedError. Null is read as an
    absent column. The other options are those of `convert`. Raises JobError for an unknown dialect or form.

        to_rows = convcli.batches("hf-chat", source="sharegpt")
        to_rows({"conversations": [[{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Hello."}]]})
    """
    target, name = dialects.get(to), None if source is None else dialects.get(source).name
    options = arguments.options(target, form, branch, 0, view, set, default, map_model)
    return BatchConversion(target.name, tuple(keys), name, options, keep_going)
