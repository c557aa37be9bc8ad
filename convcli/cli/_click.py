"""The command line in click, made of the declarations of the commands: their help, errors and completion.

A command is imported when it is called. Its help has examples first, and options in groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from typing import Any

import click
from click.shell_completion import CompletionItem

from convcli.cli import _commands
from convcli.cli._commands import Parameter
from convcli.cli._types import TEXT, Kind, Number
from convcli.model.errors import JobError
from convcli.model.version import __version__
from convcli.report.screen import Screen

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 100}

WORDS = "convcli.words"
"""Where the context of a command keeps the words of its command line."""

COMMAND_GROUPS: tuple[tuple[str, str], ...] = (
    ("Look", "inspect sessions share serve stats diff"),
    ("Convert", "convert resume redact losses restore"),
    ("Check", "validate parts verify explain schema"),
    ("More", "detect dialects samples config completion help"),
)
"""The commands by what they are for, in order of use. The last group also gets commands that no group names."""

OPTION_GROUPS: tuple[tuple[str, str], ...] = (
    (
        "Options",
        "--to --in --from --as --output --out-dir --force --output-format --fail-on-loss --dry-run --tools --message"
        " --rerun --summary --follow --matrix --list --level --exact --program --home",
    ),
    (
        "Which transcripts",
        "--where --since --until --dedupe --offset --limit --sample --seed --line --at --join --exclude"
        " --transcripts-only",
    ),
    (
        "What is written",
        "--split --shuffle --set --default --map-model"
        " --branch --view --form --text-columns --arguments --framing --chunk --columns --events --no-trunc"
        " --findings --pager",
    ),
    ("How files are read", "--keep-going --allow-bad --lenient --duplicate-keys --nulls --max-line --isolated"),
    ("Losses and records", "--losses --restore-file --receipt --card"),
    ("Private data", "--redact --mask --allow --write-allow"),
    ("Findings", "--select --ignore --strict --check-arguments --statistics --baseline --write-baseline --exit-zero"),
    ("Jobs in parts", "--engine --part --address --part-size --retries --part-timeout"),
    ("More", ""),
    ("General", "--jobs --quiet --verbose --color --debug --help"),
)
"""Titles of the options in a help, the common ones first. The group without names gets options that no group names."""


class _Type(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """The kind of a parameter."""

    def __init__(self, kind: Kind) -> None:
        self.kind, self.name = kind, kind.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self.kind.convert(value)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str | None:
        return self.kind.metavar

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return self.kind.completed(incomplete)


class _Fraction(click.FloatRange):
    """A number in a range, which infinity and "not a number" are not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        return number if isfinite(number) else self.fail(f"{value} is no finite number.", param, ctx)


def _type(kind: Kind) -> click.ParamType:  # type: ignore[type-arg, unused-ignore]
    if not isinstance(kind, Number):
        return _Type(kind) if kind is not TEXT else click.STRING
    bounds: dict[str, Any] = {"min": kind.least, "max": kind.most, "min_open": kind.is_above}
    if kind.least is kind.most is None:
        return click.INT
    return click.IntRange(**bounds) if kind.of is int else _Fraction(**bounds)


class _Option(click.Option):
    """An option whose help is one paragraph: click would import `inspect` to remove its indentation."""

    def __init__(self, *args: Any, help: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.help = help


def _parameter(declared: Parameter) -> click.Parameter:
    """Returns click's parameter for a declared one."""
    settings = dict(declared.settings)
    if not declared.is_flag:
        settings["type"] = _type(declared.kind)
    if (attribute := declared.sets) is not None:

        def set_on_screen(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
            if is_asked and isinstance(ctx.obj, Screen):
                setattr(ctx.obj, attribute, True)

        settings |= {"expose_value": False, "callback": set_on_screen}
    return (click.Argument if declared.is_argument else _Option)(list(declared.names), **settings)


class _ClickCommand(click.Command):
    """A declared command."""

    def __init__(self, name: str, declared: _commands.Command) -> None:
        params = [*map(_parameter, declared.parameters), _help_option()]
        settings: dict[str, Any] = {"context_settings": CONTEXT_SETTINGS, "add_help_option": False}
        super().__init__(name, params=params, help=declared.function.__doc__, callback=self._run, **settings)
        self._declared = declared

    def _run(self, **values: Any) -> int:
        context = click.get_current_context()
        return self._declared.run(context.obj, values, context.meta[WORDS])

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self._declared.examples, formatter)
        formatter.write_paragraph()
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        if any(len(word) > 2 and word[0] == "-" and word[1].isalpha() for word in args[:end]):
            from convcli.cli._synonyms import check_dashes

            check_dashes(ctx, args[:end])
        ctx.meta[WORDS] = words = self._declared.with_values(args)
        try:
            return super().parse_args(ctx, list(words))
        except click.MissingParameter as error:
            from convcli.cli._synonyms import missing_parameter

            raise missing_parameter(error, ctx, args) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option) and not param.hidden]
        records = {_long_name(option): option.get_help_record(ctx) for option in options}
        required = [_long_name(option) for option in options if option.required]
        for title, names in _grouped(required, list(records)):
            with formatter.section(title):
                formatter.write_dl([record for name in names if (record := records[name]) is not None])


def _long_name(option: click.Option) -> str:
    return next((name for name in option.opts if name.startswith("--")), option.opts[0])


def _grouped(required: list[str], names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yields the title and the options of each group; required options come first in the first group."""
    known = " ".join(words for _, words in OPTION_GROUPS).split()
    left = dict.fromkeys(names)
    for at, (title, words) in enumerate(OPTION_GROUPS):
        group = words.split() or [name for name in names if name not in known]
        group = [name for name in ([] if at else required) + group if name in left]
        left = {name: None for name in left if name not in group}
        if group:
            yield title, list(dict.fromkeys(group))


class _ClickGroup(click.Group):
    """All commands of the folder. A call imports only its own command; the overview imports all of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return _commands.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            from convcli.cli._synonyms import ALIASES

            return self.get_command(ctx, ALIASES[cmd_name]) if cmd_name in ALIASES else None
        return _ClickCommand(cmd_name, _commands.get(cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            from convcli.cli._synonyms import COMMANDS_OF_OTHERS, HINTS
            from convcli.validation.wording import unknown

            hint = HINTS.get(args[0], "convcli -h lists them all")
            names = [] if args[0] in HINTS else self.list_commands(ctx)
            raise unknown("command", args[0], names, hint, COMMANDS_OF_OTHERS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands by group, each with what it does."""
        names = self.list_commands(ctx)
        room = formatter.width - 4 - max(map(len, names))
        for title, words in _grouped_commands(names):
            commands = [(name, self.get_command(ctx, name)) for name in words]
            width = max(map(len, names))
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), each.get_short_help_str(room)) for name, each in commands if each is not None]
                )

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_text(self.help or "")
        write_examples(EXAMPLES, formatter)
        self.format_commands(ctx, formatter)
        formatter.write_paragraph()
        formatter.write("convcli COMMAND -h shows its options, convcli help lists pages to read.\n")


def _grouped_commands(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    left = list(names)
    for title, words in COMMAND_GROUPS:
        group = [name for name in words.split() if name in left]
        left = [name for name in left if name not in group]
        yield title, [*group, *(left if title == COMMAND_GROUPS[-1][0] else [])]


EXAMPLES = """\
convcli sessions                            # agent sessions on this machine
convcli samples session -o session.jsonl    # a file to try commands on
convcli inspect session.jsonl
convcli convert session.jsonl --to hf-chat -o row.jsonl
"""


def write_examples(examples: str, formatter: click.HelpFormatter) -> None:
    """Writes the section with the examples."""
    if examples:
        with formatter.section("Examples"):
            formatter.write("".join(f"  {line}\n" for line in examples.strip().splitlines()))


def _help_option() -> click.Option:
    return exiting_option("-h", "--help", text=click.Context.get_help, help="Show this message and exit.")


def exiting_option(*names: str, text: Callable[[click.Context], str], help: str) -> click.Option:
    """Returns an option that prints a text and exits. click's own would import `locale` to translate its help."""

    def show(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
        if is_asked and not ctx.resilient_parsing:
            click.echo(text(ctx))
            ctx.exit()

    return _Option(names, is_flag=True, is_eager=True, expose_value=False, callback=show, help=help)


def _show_help(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _version(_: click.Context) -> str:
    return f"convcli {__version__}"


group = _ClickGroup(
    "convcli",
    help="Convert LLM transcripts between formats and report every loss.",
    callback=click.pass_context(_show_help),
    invoke_without_command=True,
    params=[
        exiting_option("-V", "--version", text=_version, help="Show the version and exit."),
        *map(_parameter, _commands.GENERAL),
        _help_option(),
    ],
    context_settings=CONTEXT_SETTINGS,
    add_help_option=False,
)


def call(argv: Sequence[str], screen: Screen) -> int:
    """Runs a command line and returns the exit code. Raises ConvcliError, also for errors of click."""
    try:  # group.main would return 1 for a closed pipe
        with group.make_context("convcli", list(argv), obj=screen) as context:
            code = group.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        raise _usage(error) from None
    return code if isinstance(code, int) else 0


def _usage(error: click.ClickException) -> JobError:
    """Turns an error of click into one of convcli, with the nearest match."""
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "convcli"
    otherwise = f"{command} -h has examples"
    if isinstance(error, click.NoSuchOption):
        from convcli.cli._synonyms import meant_option

        help_text = meant_option(error.option_name, error.ctx) or otherwise
        return JobError("unknown-option", f'there is no option "{error.option_name}"', help=help_text)
    message = error.format_message().splitlines()[0].rstrip(".")
    message = re.sub(r"is not a valid integer( range)?$", "is no integer", message.replace("'", '"'))
    return JobError("usage", message[:1].lower() + message[1:], help=otherwise)


def written(name: str, words: list[str]) -> dict[str, Any]:
    """Returns what these words of a command line state for each parameter of a command."""
    command = _ClickCommand(name, _commands.get(name))
    values: dict[str, Any] = command.make_parser(click.Context(command)).parse_args(list(words))[0]
    return values


def help_of(name: str) -> str | None:
    """Returns the help of a command; None if there is none with this name."""
    parent = click.Context(group, info_name="convcli")
    command = group.get_command(parent, name)
    if command is None:
        return None
    with command.make_context(name, [], parent=parent, resilient_parsing=True) as context:
        return command.get_help(context)
