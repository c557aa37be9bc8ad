"""Types of options: a word out of a list, dialects, codes, formats; a wrong word gets the nearest right one."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from convcli import dialects
from convcli.model.dialect import Dialect

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Near(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A word out of a list that is made when it is needed. Raises JobError `unknown-<name>`, not click's errors."""

    def __init__(self, name: str, words: Callable[[], list[str]]) -> None:
        self.name, self.words = name, words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from convcli.validation.wording import unknown

        if value not in self.words():
            raise unknown(self.name, str(value), self.words(), f"choose from {', '.join(self.words())}")
        return value

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "|".join(self.words())

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return completing(self.words(), incomplete)


class _DialectType(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """The name of a dialect, as the Dialect itself. Raises JobError `unknown-dialect`."""

    name = "dialect"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Dialect:
        return value if isinstance(value, Dialect) else dialects.get(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return completing(list(dialects.names()), incomplete)


def completing(words: list[str], incomplete: str) -> list[CompletionItem]:
    """The words that begin with what is typed."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


class _PathType(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A file or a folder. Whether it can be read shows when it is opened, and is told as all errors are."""

    name = "path"  # that of `click.Path` is translated, for which `locale` is loaded

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


PATH = _PathType()
DIALECT = _DialectType()


class CodeList(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Codes with commas between them. Raises JobError `unknown-code`."""

    name = "codes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from convcli.model import codes

        near = Near("code", lambda: list(codes.table()))
        return tuple(near.convert(word.strip(), param, ctx) for word in value.split(",") if word.strip())


VIEW = Near("view", lambda: ["history", "context"])
"""What of a session with a compaction is written: all of it, or what a model would be sent next."""

BRANCH = Near("branch", lambda: ["active", "all"])
"""What of a tree is written: only the active branch, or all that the target can carry."""


def format_of(package: ModuleType) -> Near:
    """One of the formats in a folder of `report`."""

    def names() -> list[str]:
        from convcli.report import choice

        return choice.names(package)

    return Near("output-format", names)


LEVELS: dict[str | None, Any] = {None: None, "content": "content", "context": "context", "any": "envelope"}
"""The lowest level of losses at which a job fails, by what the command line calls it."""


def key_and_value(word: str) -> tuple[str, Any]:
    """KEY=VALUE; what is no JSON is a text."""
    from convcli.model.errors import ContentError, JobError
    from convcli.wire import exact_json

    key, separator, value = word.partition("=")
    if not key or not separator:
        raise JobError("usage", "--set needs a key and a value", help="write KEY=VALUE, as max_tokens=1024")
    try:
        return key, exact_json.parse(value)
    except ContentError:
        return key, value
