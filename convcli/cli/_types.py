"""Types of options: choices, dialects, codes, formats. For a wrong word the error names the nearest right one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from types import ModuleType
from typing import TYPE_CHECKING, Any

from convcli import dialects
from convcli.model.dialect import Dialect
from convcli.model.errors import JobError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Kind:
    """The kind of values that a parameter takes: any text."""

    name = "text"
    metavar: str | None = None

    def convert(self, word: Any) -> Any:
        """Returns the value of a word. Raises JobError, or ValueError for what click explains."""
        return word

    def completed(self, incomplete: str) -> list[CompletionItem]:
        """Returns what may be meant by the beginning of a word."""
        return []


class Number(Kind):
    """A number between bounds, `least` and `most`; with `is_above`, greater than `least`."""

    name = "number"

    def __init__(
        self,
        least: int | None = None,
        most: int | None = None,
        *,
        of: type[int] | type[float] = int,
        is_above: bool = False,
    ) -> None:
        self.least, self.most, self.of, self.is_above = least, most, of, is_above

    def convert(self, word: Any) -> Any:
        value = self.of(word)
        is_less = self.least is not None and (value <= self.least if self.is_above else value < self.least)
        is_number = isinstance(value, int) or isfinite(value)
        if is_less or (self.most is not None and value > self.most) or not is_number:
            raise ValueError
        return value


class Near(Kind):
    """A word out of a list that is made when it is needed. Raises JobError `unknown-<name>`, not click's errors.

    `otherwise` is the help for a word that is near to none; without it, the help lists all words.
    """

    def __init__(self, name: str, words: Callable[[], list[str]], otherwise: str = "") -> None:
        self.name, self.words, self._otherwise = name, words, otherwise

    def convert(self, word: Any) -> Any:
        if word not in self.words():
            from convcli.validation.wording import unknown

            help_text = self._otherwise or f"choose from {', '.join(self.words())}"
            raise unknown(self.name, str(word), self.words(), help_text)
        return word

    @property
    def metavar(self) -> str:  # type: ignore[override]
        return "|".join(self.words())

    def completed(self, incomplete: str) -> list[CompletionItem]:
        return completing(self.words(), incomplete)


class _DialectName(Kind):
    """The name of a dialect; the value is the Dialect. Raises JobError `unknown-dialect`."""

    name = "dialect"

    def convert(self, word: Any) -> Dialect:
        try:
            return dialects.get(word)
        except JobError as error:
            from convcli.cli._synonyms import meant_format

            error.help = (meant_format(word) if error.code == "unknown-dialect" else "") or error.help
            raise

    def completed(self, incomplete: str) -> list[CompletionItem]:
        return completing(list(dialects.names()), incomplete)


def completing(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Returns the words that begin with what is typed."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


class _Path(Kind):
    """A file or a folder. Whether it can be read shows when it is opened."""

    name = "path"

    def completed(self, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_MOST_DIGITS = 10


def size_in_bytes(text: str, option: str) -> int:
    """Returns the bytes that a size such as 64M means. Raises JobError that names the option."""
    bare = text.upper().removesuffix("B")
    unit = bare[-1:] if bare[-1:] in _UNITS else ""
    digits = bare.removesuffix(unit)
    if not digits.isascii() or not digits.isdigit() or digits[0] == "0" or len(digits) > _MOST_DIGITS:
        raise JobError("usage", f"{option} needs a number of bytes", help="write 512K, 64M or 1G")
    return int(digits) * _UNITS[unit]


class Size(Kind):
    """A number of bytes, such as 64M, for this option. Raises JobError."""

    name = "size"

    def __init__(self, option: str) -> None:
        self._option = option

    def convert(self, word: Any) -> int:
        return size_in_bytes(word, self._option)


TEXT = Kind()
PATH = _Path()
DIALECT = _DialectName()


class CodeList(Kind):
    """Codes separated by commas. Raises JobError `unknown-code`."""

    name = "codes"

    def convert(self, word: Any) -> Any:
        from convcli.model import codes

        near = Near("code", lambda: list(codes.table()), "convcli explain --list lists them all")
        return tuple(near.convert(code.strip()) for code in word.split(",") if code.strip())


VIEW = Near("view", lambda: ["history", "context"])
"""What is written of a session with a compaction: all of it, or what the model would be sent next."""

BRANCH = Near("branch", lambda: ["active", "all"])
"""What is written of a session with branches: the active one, or all that the target can store."""


def format_of(package: ModuleType) -> Near:
    """Returns the type of an option that names a format in this package of `report`."""

    def names() -> list[str]:
        from convcli.report import choice

        return choice.names(package)

    return Near("output-format", names)


LEVELS: dict[str | None, Any] = {None: None, "content": "content", "context": "context", "any": "envelope"}
"""The lowest level of losses at which a job fails, by its name on the command line."""


def model_names(words: Iterable[str]) -> dict[str, str]:
    """Parses A=B, each a name of a model. Raises JobError."""
    pairs = [word.partition("=") for word in words]
    if not all(old and new for old, _, new in pairs):
        help_text = "write OLD=NEW, as gpt-4o=claude-sonnet-4-5; OLD may contain *"
        raise JobError("usage", "--map-model needs two names of models", help=help_text)
    return {old: new for old, _, new in pairs}


def key_and_value(word: str, option: str = "--set") -> tuple[str, Any]:
    """Parses KEY=VALUE. VALUE is JSON, else a string; @FILE is the contents of a file. Raises JobError."""
    from convcli.model.errors import ContentError
    from convcli.wire import exact_json

    key, separator, value = word.partition("=")
    if not key or not separator:
        raise JobError("usage", f"{option} needs a key and a value", help="write KEY=VALUE, as max_tokens=1024")
    if value.startswith("@"):
        from convcli.files.side_files import read_side_text  # rarely needed

        help_text = f"{option} KEY=@FILE reads a file; a string that begins with @ is quoted as JSON"
        value = read_side_text(value[1:], help=help_text)
    try:
        return key, exact_json.parse(value)
    except ContentError:
        return key, value
