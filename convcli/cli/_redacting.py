"""The options of commands that mask private data, and what they print about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec.structs import replace

from convcli.cli._commands import add_option
from convcli.cli._types import PATH
from convcli.model.errors import JobError
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.jobs.reading import ReadingOptions
    from convcli.jobs.redacting import Redaction

F = TypeVar("F", bound=Callable[..., Any])


def option(function: F) -> F:
    """Adds `--redact`, `--mask` and `--allow`. They become the redaction of the argument `reading`."""

    @wraps(function)
    def with_redaction(
        screen: Screen,
        /,
        *,
        reading: ReadingOptions,
        is_redacted: bool,
        words: tuple[str, ...],
        allow: str | None,
        **values: Any,
    ) -> Any:
        if not (is_redacted or words or allow):
            return function(screen, reading=reading, **values)
        redaction = redaction_of(words, allow)
        code = function(screen, reading=replace(reading, redaction=redaction), **values)
        announce(screen, redaction)
        return code

    help_text = "Mask keys, passwords, e-mail addresses, home directories and other private data first."
    flag = add_option("--redact", "is_redacted", is_flag=True, help=help_text)
    return flag(word_options(cast(F, with_redaction)))


def word_options(function: F) -> F:
    """Adds the options for words to mask and for values that may stay."""
    help_text = "Mask this word too; @FILE has one word a line. Implies --redact. Repeatable."
    mask = add_option("--mask", "words", multiple=True, metavar="WORD|@FILE", help=help_text)
    help_text = "Values that may stay: a file of hashes, which convcli redact --check --write-allow writes."
    return mask(add_option("--allow", type=PATH, metavar="FILE", help=help_text)(function))


def redaction_of(
    words: Iterable[str], allow: str | None, *, is_new: bool = False, is_one_session: bool = False
) -> Redaction:
    """Returns the redaction that these options describe; with `is_new`, the list of accepted values may be missing."""
    import os

    from convcli.jobs.redacting import Allowed, Redaction, load_allowed

    is_absent = allow is None or (is_new and not os.path.exists(allow))
    allowed = Allowed() if allow is None or is_absent else load_allowed(allow)
    listed = [word for each in words for word in _words(each)]
    return Redaction(listed, allowed, is_one_session=is_one_session)


def _words(word: str) -> list[str]:
    if not word.startswith("@"):
        return [word]
    from convcli.files.side_files import read_side_text  # rarely needed

    lines = read_side_text(word[1:], "file of words").split("\n")
    return [line.strip() for line in lines if line.strip()]


def check_engine(reading: ReadingOptions) -> None:
    """Raises JobError if a job in parts is to mask private data: its parts do not share placeholders."""
    if reading.redaction is not None:
        help_text = "mask the files first: convcli redact FILE… --out-dir DIR"
        raise JobError("usage", "--engine and --redact exclude each other", help=help_text)


def announce(screen: Screen, redaction: Redaction) -> None:
    """Prints how much was masked, by rule. No value is printed."""
    screen.announce(summary(redaction) + "\n")


def summary(redaction: Redaction) -> str:
    """Returns how much was masked, by rule, in one line."""
    counts = redaction.counts
    if not counts:
        return "redact: nothing found"
    listed = ", ".join(f"{name} ×{count:,}" for name, count in counts.most_common())
    return f"redact: {counts.total():,} masked: {listed}"
