"""The arguments of `convert`, as its modules get them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from convcli.cli._parts import Engine
    from convcli.jobs.reading import ReadingOptions
    from convcli.model.dialect import Dialect


class ConvertArguments(msgspec.Struct, frozen=True):
    """The arguments of `convert`."""

    paths: tuple[str, ...]
    reading: ReadingOptions
    target: Dialect
    output: str | None
    out_dir: str | None
    force: bool
    fail_on_loss: str | None
    losses: str | None
    restore_file: str | None
    keep_going: bool
    allow_bad: str | None
    branch: Any
    view: Any
    split: str | None
    shuffle: int | None
    set_keys: tuple[str, ...]
    default_keys: tuple[str, ...]
    models: tuple[str, ...]
    form: str | None
    framing: Any
    chunk: int | None
    program_turns: Any
    tools: Any
    tools_of: str | None
    columns: str | None
    split_at: Any
    max_turns: int | None
    max_tokens: int | None
    tokenizer: str | None
    lenient: bool
    text_columns: bool
    arguments: Any
    jobs: int
    engine: Engine | None
    card: bool
    receipt: str | None
    command_line: list[str]
    """The words of the command line, as the receipt has them."""
