"""convcli help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from convcli import dialects
from convcli.cli import _shared
from convcli.cli._commands import Command, group
from convcli.cli._types import completing
from convcli.model import plugins
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

EXAMPLES = """\
convcli help
convcli help sending
convcli help openai-chat
convcli help convert
"""
MEANT = {
    "config": "configuration",
    "settings": "configuration",
    "toml": "configuration",
    "format": "intermediate-format",
    "hub": "intermediate-format",
    "loss": "losses",
    "github": "ci",
    "pre-commit": "ci",
    "sarif": "ci",
    "python": "library",
    "api": "library",
    "pandas": "library",
    "plugin": "plugins",
    "replay": "sending",
    "sdk": "sending",
    "request": "sending",
    "html": "looking",
    "viewer": "looking",
    "redact": "redaction",
    "secrets": "redaction",
    "privacy": "redaction",
    "where": "selecting",
    "filter": "selecting",
    "dedupe": "selecting",
    "split": "selecting",
    "shuffle": "selecting",
    "rows": "training",
    "card": "training",
    "receipt": "losses",
    "verify": "losses",
    "trainer": "training",
    "ray": "scale",
    "spark": "scale",
    "s3": "scale",
    "cluster": "scale",
}
"""Other words for topics."""


def _words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return completing(_known(ctx), incomplete)


def _known(ctx: click.Context) -> list[str]:
    """Returns the topics, dialects and commands."""
    from convcli.report import pages

    words = (*pages.topics(), *dialects.names(), *plugins.names(), *group.list_commands(ctx))
    return list(dict.fromkeys(words))


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("topic", required=False, metavar="[TOPIC|DIALECT|COMMAND]", shell_complete=_words)
@click.pass_context
def command(ctx: click.Context, topic: str | None) -> int:
    """Show a page about a topic, dialect or command."""
    from convcli.report import pages
    from convcli.validation.wording import unknown

    screen: Screen = ctx.obj
    width = _shared.width()
    if topic is None:
        screen.show(_topics())
    elif topic in pages.topics():
        screen.show([pages.shown(pages.page(topic), width, screen.out)])
    elif topic in dialects.names() or topic in plugins.names():
        screen.show([pages.shown(pages.of_dialect(dialects.get(topic)), width, screen.out)])
    elif (named := group.get_command(ctx, topic)) is not None and ctx.parent is not None:
        with named.make_context(topic, [], parent=ctx.parent, resilient_parsing=True) as context:
            screen.show([f"{named.get_help(context)}\n"])
    elif topic in dialects.aliases():
        screen.show([pages.shown(pages.of_dialect(dialects.get(topic)), width, screen.out)])
    else:
        raise unknown("topic", topic, _known(ctx), "convcli help lists the topics", MEANT)
    return 0


def _topics() -> Iterator[str]:
    from convcli.report import pages

    topics = pages.topics()
    wide = max(map(len, topics))
    yield "Topics:\n"
    yield from (f"  {topic:{wide}}  {pages.title(topic)}\n" for topic in topics)
    yield "\nconvcli help TOPIC shows the page, convcli help DIALECT one about a dialect (convcli dialects\n"
    yield "lists them), convcli help COMMAND the options of a command.\n"
