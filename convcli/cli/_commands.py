"""Commands that are loaded when they are called, and help that begins with examples."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

import click

from convcli import cli
from convcli.cli._types import Near
from convcli.model.version import __version__

EVERYWHERE = {"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 100}


class Command(click.Command):
    """A command with examples. An option with an optional value takes it only after `=`: the next word is a file."""

    def __init__(self, *args: Any, examples: str = "", **more: Any) -> None:
        super().__init__(*args, **{"context_settings": EVERYWHERE, **more})
        self.examples = examples
        self.params += everywhere()

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        bare = {name: value for param in self.params for name, value in _bare(param)}
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, [*(bare.get(word, word) for word in args[:end]), *args[end:]])


def _bare(param: click.Parameter) -> list[tuple[str, str]]:
    if not isinstance(param, click.Option) or param.is_flag or not isinstance(param.flag_value, str):
        return []
    return [(name, f"{name}={param.flag_value}") for name in param.opts]


class CommandGroup(click.Group):
    """All commands of the folder. Only the one that is called is imported, and all for the help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [module.name for module in pkgutil.iter_modules(cli.__path__) if not module.name.startswith("_")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"convcli.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            from convcli.validation.wording import unknown

            raise unknown("command", args[0], self.list_commands(ctx), "convcli -h lists them all")
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_text(self.help or "")
        write_examples(EXAMPLES, formatter)
        self.format_usage(ctx, formatter)
        self.format_commands(ctx, formatter)
        formatter.write_paragraph()
        formatter.write("convcli COMMAND -h shows its options, convcli --version the version.\n")


EXAMPLES = """\
convcli inspect chat.json
convcli convert chat.json --to anthropic -o out.json
convcli losses --from anthropic --to openai-chat
"""


def write_examples(examples: str, formatter: click.HelpFormatter) -> None:
    """The examples, before anything else."""
    if examples:
        with formatter.section("Examples"):
            formatter.write("".join(f"  {line}\n" for line in examples.strip().splitlines()))
        formatter.write_paragraph()


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
    ]


def _show_help(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


group = CommandGroup(
    "convcli",
    help="Convert transcripts of language models; nothing is lost without being told.",
    callback=click.pass_context(_show_help),
    invoke_without_command=True,
    params=everywhere(),
    context_settings=EVERYWHERE,
)
click.version_option(__version__, prog_name="convcli", message="%(prog)s %(version)s")(group)
