"""Commands that are imported when they are called, and their help: examples first, options and commands in groups."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

import click

from convcli import cli
from convcli.cli._types import CommandOption, Near
from convcli.model import modules
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


class Command(click.Command):
    """A command with examples and grouped options.

    An option with an optional value takes the next word only if that word is one of its values and no file.
    """

    def __init__(self, *args: Any, examples: str = "", **more: Any) -> None:
        super().__init__(*args, **{"context_settings": CONTEXT_SETTINGS, "add_help_option": False, **more})
        self.examples = examples
        self.params += general_options()

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)
        formatter.write_paragraph()
        super().format_help(ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        code = super().invoke(ctx)
        if isinstance(ctx.obj, Screen):
            ctx.obj.announce_speed()
        return code

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        optional = {name: param for param in self.params for name in _names_with_optional_value(param)}
        end = args.index("--") if "--" in args else len(args)
        if any(len(word) > 2 and word[0] == "-" and word[1].isalpha() for word in args[:end]):
            from convcli.cli._synonyms import check_dashes

            check_dashes(ctx, args[:end])
        ctx.meta[WORDS] = words = [*_with_values(args[:end], optional), *args[end:]]
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


def _names_with_optional_value(param: click.Parameter) -> list[str]:
    if not isinstance(param, click.Option) or param.is_flag or not isinstance(param.flag_value, str):
        return []
    return param.opts


def _with_values(args: list[str], optional: dict[str, click.Parameter]) -> Iterator[str]:
    """Rewrites `--opt value` as `--opt=value` where the value is optional."""
    words = iter(enumerate(args))
    for at, word in words:
        param = optional.get(word)
        if not isinstance(param, click.Option):
            yield word
            continue
        following = args[at + 1] if at + 1 < len(args) else ""
        if isinstance(param.type, Near) and following in param.type.words() and not os.path.lexists(following):
            next(words)
            yield f"{word}={following}"
        else:
            yield f"{word}={param.flag_value}"


class CommandGroup(click.Group):
    """All commands of the folder. A call imports only its own command; the overview imports all of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return modules.names(cli.__path__)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            from convcli.cli._synonyms import ALIASES

            return self.get_command(ctx, ALIASES[cmd_name]) if cmd_name in ALIASES else None
        command: click.Command = import_module(f"convcli.cli.{cmd_name}").command
        return command

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


def general_options() -> list[click.Parameter]:
    """Returns the options of all commands.

    `main` also looks for `--color` and `--debug` before click does, since errors of the command line obey them.
    """
    colour = Near("colour", lambda: ["auto", "always", "never"])
    return [
        CommandOption(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            callback=_be_quiet,
            help="Print results and errors only: no warnings, notes, summary or progress.",
        ),
        CommandOption(
            ["--color"],
            type=colour,
            default="auto",
            expose_value=False,
            help="Colours. Without it, NO_COLOR, FORCE_COLOR and TERM=dumb decide.",
        ),
        CommandOption(["--debug"], is_flag=True, expose_value=False, help="Print a traceback for internal errors."),
        exiting_option("-h", "--help", text=click.Context.get_help, help="Show this message and exit."),
    ]


def _be_quiet(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked and isinstance(ctx.obj, Screen):
        ctx.obj.quiet = True


def exiting_option(*names: str, text: Callable[[click.Context], str], help: str) -> click.Option:
    """Returns an option that prints a text and exits. click's own would import `locale` to translate its help."""

    def show(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
        if is_asked and not ctx.resilient_parsing:
            click.echo(text(ctx))
            ctx.exit()

    return CommandOption(names, is_flag=True, is_eager=True, expose_value=False, callback=show, help=help)


def _show_help(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _version(_: click.Context) -> str:
    return f"convcli {__version__}"


group = CommandGroup(
    "convcli",
    help="Convert LLM transcripts between formats and report every loss.",
    callback=click.pass_context(_show_help),
    invoke_without_command=True,
    params=[
        exiting_option("-V", "--version", text=_version, help="Show the version and exit."),
        *general_options(),
    ],
    context_settings=CONTEXT_SETTINGS,
    add_help_option=False,
)
