"""Commands that are loaded when they are called, and help that begins with examples."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import click

from convcli import cli
from convcli.cli._types import Near
from convcli.model import modules
from convcli.model.version import __version__
from convcli.report.screen import Screen

EVERYWHERE = {"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 100}


OPTION_GROUPS: tuple[tuple[str, str], ...] = (
    (
        "Options",
        "--to --in --from --as --output --out-dir --force --fail-on-loss --tools --message --summary --follow --where"
        " --matrix --list --level --exact --program --output-format",
    ),
    ("What is read", "--line --at --exclude --transcripts-only --duplicate-keys --nulls --sample --seed --isolated"),
    ("What is written", "--set --form --framing --chunk --branch --view --columns --events --limit --no-trunc --pager"),
    ("Parts", "--engine --address --part-size"),
    ("Losses", "--losses --restore-file --keep-going"),
    ("Findings", "--select --ignore --strict --check-arguments --statistics --baseline --write-baseline --exit-zero"),
    ("More", ""),
    ("Work", "--jobs --verbose --color --debug --help"),
)
"""Titles of the options in a help, the common ones first; what stands nowhere is under the one without names."""


class Command(click.Command):
    """A command with examples, and options in groups. An option with an optional value takes the next word only where
    that is one of its values and no file; any other word is a file."""

    def __init__(self, *args: Any, examples: str = "", **more: Any) -> None:
        super().__init__(*args, **{"context_settings": EVERYWHERE, "add_help_option": False, **more})
        self.examples = examples
        self.params += everywhere()

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)
        formatter.write_paragraph()
        super().format_help(ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        code = super().invoke(ctx)
        if isinstance(ctx.obj, Screen):
            ctx.obj.tell_speed()
        return code

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        bare = {name: param for param in self.params for name in _bare(param)}
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, [*_with_values(args[:end], bare), *args[end:]])

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
    """The options of a command, the required and the common ones first, with the titles of their groups."""
    known = " ".join(words for _, words in OPTION_GROUPS).split()
    left = dict.fromkeys(names)
    for at, (title, words) in enumerate(OPTION_GROUPS):
        group = words.split() or [name for name in names if name not in known]
        group = [name for name in ([] if at else required) + group if name in left]
        left = {name: None for name in left if name not in group}
        if group:
            yield title, list(dict.fromkeys(group))


def _bare(param: click.Parameter) -> list[str]:
    """The names of an option with an optional value."""
    if not isinstance(param, click.Option) or param.is_flag or not isinstance(param.flag_value, str):
        return []
    return param.opts


def _with_values(args: list[str], bare: dict[str, click.Parameter]) -> Iterator[str]:
    """The words, in which each option with an optional value has one after `=`."""
    words = iter(enumerate(args))
    for at, word in words:
        param = bare.get(word)
        if not isinstance(param, click.Option):
            yield word
            continue
        following = args[at + 1] if at + 1 < len(args) else ""
        if isinstance(param.type, Near) and following in param.type.words() and not os.path.lexists(following):
            next(words)
            yield f"{word}={following}"
        else:
            yield f"{word}={param.flag_value}"


SELDOM = frozenset(["completion", "config", "explain", "restore", "resume", "schema", "serve", "sessions", "stats"])
"""Commands of which the overview shows the names only."""


class CommandGroup(click.Group):
    """All commands of the folder. Only the one that is called is imported, and all for the help."""

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
            from convcli.cli._synonyms import COMMANDS_OF_OTHERS
            from convcli.validation.wording import unknown

            raise unknown("command", args[0], self.list_commands(ctx), "convcli -h lists them all", COMMANDS_OF_OTHERS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The common commands with what they do, the others by name: all of it fits a small terminal."""
        names = self.list_commands(ctx)
        common = [(name, self.get_command(ctx, name)) for name in names if name not in SELDOM]
        room = formatter.width - 6 - max(len(name) for name, _ in common)
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(room)) for name, each in common if each is not None])
        with formatter.section("More commands"):
            formatter.write_text(", ".join(name for name in names if name in SELDOM))

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_text(self.help or "")
        write_examples(EXAMPLES, formatter)
        self.format_commands(ctx, formatter)
        formatter.write_paragraph()
        formatter.write("convcli COMMAND -h shows its options, convcli help lists pages to read.\n")


EXAMPLES = """\
convcli inspect samples/cohere/twin-weather.json
convcli convert samples/cohere/twin-weather.json --to anthropic -o out.json
"""


def write_examples(examples: str, formatter: click.HelpFormatter) -> None:
    """The examples, before anything else."""
    if examples:
        with formatter.section("Examples"):
            formatter.write("".join(f"  {line}\n" for line in examples.strip().splitlines()))


def everywhere() -> list[click.Parameter]:
    """The options that all commands have. `main` has looked at them before: errors of the command line obey them."""
    colour = Near("colour", lambda: ["auto", "always", "never"])
    return [
        click.Option(
            ["--color"],
            type=colour,
            default="auto",
            expose_value=False,
            help="Colours; NO_COLOR, FORCE_COLOR and TERM=dumb are obeyed.",
        ),
        click.Option(["--debug"], is_flag=True, expose_value=False, help="A traceback for errors of convcli itself."),
        told_at_once("-h", "--help", text=click.Context.get_help, help="Show this message and exit."),
    ]


def told_at_once(*names: str, text: Callable[[click.Context], str], help: str) -> click.Option:
    """An option that prints a text and ends the program. What click calls so is translated, and `locale` loaded."""

    def tell(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
        if is_asked and not ctx.resilient_parsing:
            click.echo(text(ctx))
            ctx.exit()

    return click.Option(names, is_flag=True, is_eager=True, expose_value=False, callback=tell, help=help)


def _show_help(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _version(_: click.Context) -> str:
    return f"convcli {__version__}"


group = CommandGroup(
    "convcli",
    help="Convert transcripts of language models; nothing is lost without being told.",
    callback=click.pass_context(_show_help),
    invoke_without_command=True,
    params=[told_at_once("-V", "--version", text=_version, help="Show the version and exit."), *everywhere()],
    context_settings=EVERYWHERE,
    add_help_option=False,
)
