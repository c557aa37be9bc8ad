"""What the rows of `convert` are made of: their columns, and where conversations are split."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convcli.model.errors import JobError

if TYPE_CHECKING:
    from convcli.cli._convert_arguments import ConvertArguments
    from convcli.jobs.results import RowShape
    from convcli.jobs.splitting import Splitting


def shape(arguments: ConvertArguments) -> RowShape:
    """Returns what rows are made of. An output with a restore file has all of a document. Raises JobError."""
    from convcli.files.names import is_table
    from convcli.jobs.results import RowShape

    target, split = arguments.target, splitting(arguments)
    if split is not None and arguments.restore_file is not None:
        raise JobError("usage", "--restore-file excludes options that split conversations")
    columns = None
    if target.columns != "none" or arguments.columns is not None:
        from convcli.views import row_columns  # most targets have no columns

        columns = row_columns.chosen(arguments.columns, target, is_table=is_table(arguments.output or "-"))
    return RowShape(columns, split, target.is_training and arguments.restore_file is None)


def splitting(arguments: ConvertArguments) -> Splitting | None:
    """Returns where conversations are split. Raises JobError."""
    chosen = arguments.split_at, arguments.max_turns, arguments.max_tokens, arguments.tokenizer
    if all(value is None for value in chosen):
        return None
    from convcli.jobs.splitting import splitting

    return splitting(*chosen)
