"""Commands as they are declared, and the parser of usual command lines.

A command declares its parameters once. Usual words are parsed here; everything else, as a help, an error or a
completion, is left to click, whose parameters are made of the same declarations (`_click.py`). Importing click takes
longer than starting the interpreter.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, TypeVar

from convcli import cli
from convcli.cli._types import TEXT, Kind, Near
from convcli.model import modules
from convcli.model.errors import ConvcliError
from convcli.model.libraries import load_libraries
from convcli.report.screen import Screen

F = TypeVar("F", bound=Callable[..., Any])

WORDS = "command_line"
"""The argument by which a command that asks for it gets the words of its command line."""


class Parameter:
    """An option or argument: its names, the kind of its value, and `settings` of click for the rest.

    `sets`: the attribute of the Screen that a flag sets, instead of an argument of the command.
    """

    def __init__(
        self, *names: str, type: Kind = TEXT, is_argument: bool = False, sets: str | None = None, **settings: Any
    ) -> None:
        self.names, self.kind, self.is_argument, self.sets, self.settings = names, type, is_argument, sets, settings
        self.is_flag: bool = settings.get("is_flag", "/" in names[0])
        self.is_list: bool = settings.get("multiple", False) or "nargs" in settings

    @property
    def name(self) -> str:
        """The argument of the command: a name without dashes, else made of the first long one."""
        bare = [name for name in self.names if name[0] != "-"]
        return (bare or [name[2:] for name in self.names if name[:2] == "--"])[0].replace("-", "_")

    @property
    def optional_value(self) -> str | None:
        """The value of an option that is written without one; None for others."""
        value = self.settings.get("flag_value")
        return value if isinstance(value, str) else None

    def value(self, words: Sequence[Any]) -> Any:
        """Returns the value for the words that are written. Raises ConvcliError, or ValueError for click to explain."""
        if not words and self.settings.get("required"):
            raise ValueError
        if self.is_list:
            return tuple(map(self.kind.convert, words))
        value = words[-1] if words else self.settings.get("default", False if self.is_flag else None)
        return value if self.is_flag or value is None else self.kind.convert(value)


def add_option(*names: str, **settings: Any) -> Callable[[F], F]:
    """Decorates the function of a command with an option."""

    def decorate(function: F) -> F:
        function.__dict__.setdefault("parameters", []).append(Parameter(*names, **settings))
        return function

    return decorate


def add_argument(name: str, **settings: Any) -> Callable[[F], F]:
    """Decorates the function of a command with an argument. It is required unless it is declared otherwise."""
    settings = {"required": settings.get("nargs") != -1, **settings}
    return add_option(name, is_argument=True, **settings)


GENERAL = (
    Parameter(
        "-q",
        "--quiet",
        is_flag=True,
        sets="quiet",
        help="Print results and errors only: no warnings, notes, summary or progress.",
    ),
    Parameter(
        "--color",
        type=Near("colour", lambda: ["auto", "always", "never"]),
        default="auto",
        expose_value=False,
        help="Colors. Without it, NO_COLOR, FORCE_COLOR and TERM=dumb decide.",
    ),
    Parameter("--debug", is_flag=True, sets="debug", help="Print a traceback for internal errors."),
)
"""The options of all commands.

`main` also looks for `--color` and `--debug` before they are parsed, since errors of the command line obey them.
"""


class Command:
    """A command: its function, which takes the Screen and the parameters, and examples for its help."""

    def __init__(self, function: Callable[..., int], examples: str, *, keeps_words: bool) -> None:
        self.function, self.examples, self._keeps_words = function, examples, keeps_words
        self.parameters: list[Parameter] = [*reversed(function.__dict__.get("parameters", ())), *GENERAL]

    def run(self, screen: Screen, values: dict[str, Any], words: Sequence[str]) -> int:
        """Runs the command with these values of its parameters, parsed from these words. Returns the exit code."""
        code = self.function(screen, **values, **({WORDS: words} if self._keeps_words else {}))
        screen.announce_speed()
        return code

    def with_values(self, args: Sequence[str]) -> list[str]:
        """Rewrites `--opt value` as `--opt=value` where the value is optional.

        Such an option takes the next word only if that word is one of its values and no file.
        """
        with_optional = [each for each in self.parameters if each.optional_value is not None]
        optional = {name: each for each in with_optional for name in each.names if name[0] == "-"}
        end = args.index("--") if "--" in args else len(args)
        return [*_with_values(args[:end], optional), *args[end:]]

    def parse(self, words: Sequence[str], screen: Screen) -> dict[str, Any] | None:
        """Returns the values of the parameters, and sets what options set of the Screen; None for unusual words."""
        sorted_words = self._sorted(words)
        if sorted_words is None:
            return None
        values: dict[str, Any] = {}
        try:
            for parameter in self.parameters:
                value = parameter.value(sorted_words.get(parameter, ()))
                if parameter.settings.get("expose_value", parameter.sets is None):
                    values[parameter.name] = value
        except (ConvcliError, ValueError):  # click comes to the same one, and explains it
            return None
        for parameter in sorted_words:
            if parameter.sets is not None:
                setattr(screen, parameter.sets, True)
        return values

    def _sorted(self, words: Sequence[str]) -> dict[Parameter, list[Any]] | None:
        """Returns what is written for each parameter; None if it is not certain."""
        named = {name: each for each in self.parameters for names in each.names for name in names.split("/")}
        given: dict[Parameter, list[Any]] = {}
        left, rest = iter(words), list[str]()
        for word in left:
            if word == "--":
                rest += left
            elif word[:1] != "-" or word == "-":
                rest.append(word)
            else:
                name, sign, value = word.partition("=")
                option = named.get(name)
                if option is None or (sign and (option.is_flag or name[:2] != "--")):
                    return None
                if not sign and not option.is_flag:
                    value = next(left, "--")
                    if value[:1] == "-" != value:  # it may be missing
                        return None
                written = not option.names[0].endswith(f"/{name}") if option.is_flag else value
                given.setdefault(option, []).append(written)
        for argument in (each for each in self.parameters if each.is_argument):
            count = len(rest) if argument.is_list else 1
            given[argument], rest = rest[:count], rest[count:]
        return None if rest else given


def _with_values(args: Sequence[str], optional: dict[str, Parameter]) -> Iterator[str]:
    words = iter(enumerate(args))
    for at, word in words:
        option = optional.get(word)
        if option is None:
            yield word
            continue
        following = args[at + 1] if at + 1 < len(args) else ""
        if isinstance(option.kind, Near) and following in option.kind.words() and not os.path.lexists(following):
            next(words)
            yield f"{word}={following}"
        else:
            yield f"{word}={option.optional_value}"


def declare(examples: str, *, keeps_words: bool = False) -> Callable[[Callable[..., int]], Command]:
    """Decorates the function of a command, below which its parameters are declared.

    With `keeps_words`, the function also gets the words of the command line.
    """
    return lambda function: Command(function, examples, keeps_words=keeps_words)


def names() -> list[str]:
    """Returns the names of the commands: one for each public module of the folder."""
    return modules.names(cli.__path__)


def get(name: str) -> Command:
    """Returns the command with this name, whose module is imported."""
    command: Command = import_module(f"convcli.cli.{name}").command
    return command


def call(argv: Sequence[str], screen: Screen) -> int:
    """Runs a command line and returns the exit code. Raises ConvcliError, also for a wrong command line."""
    if argv and argv[0] in names():
        command = get(argv[0])
        words = command.with_values(argv[1:])
        values = command.parse(words, screen)
        if values is not None:
            return command.run(screen, values, words)
    load_libraries("click")
    from convcli.cli import _click

    return _click.call(argv, screen)
