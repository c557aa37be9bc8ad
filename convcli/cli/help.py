"""convcli help."""

from __future__ import annotations

from collections.abc import Iterator

from convcli import dialects
from convcli.cli import _commands, _shared
from convcli.cli._commands import add_argument, declare
from convcli.model import plugins
from convcli.report.screen import Screen

EXAMPLES = """\
convcli help
convcli help sending
convcli help openai-chat
convcli help convert
"""
MEANT = {
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
    "trainer": "training",
    "ray": "scale",
    "spark": "scale",
    "s3": "scale",
    "cluster": "scale",
}
"""Other words for topics."""


def _known() -> list[str]:
    """Returns the topics, dialects and commands."""
    from convcli.report import pages

    words = (*pages.topics(), *dialects.names(), *plugins.names(), *_commands.names())
    return list(dict.fromkeys(words))


@declare(EXAMPLES)
@add_argument(
    "topic",
    required=False,
    metavar="[TOPIC|DIALECT|COMMAND]",
    shell_complete=lambda _, __, word: [known for known in _known() if known.startswith(word)],
)
def command(screen: Screen, topic: str | None) -> int:
    """Show a page about a topic, dialect or command."""
    from convcli.report import pages
    from convcli.validation.wording import unknown

    width = _shared.width()
    if topic is None:
        screen.show(_topics())
    elif topic in pages.topics():
        screen.show([pages.shown(pages.page(topic), width, screen.out)])
    elif topic in dialects.names() or topic in plugins.names():
        screen.show([pages.shown(pages.of_dialect(dialects.get(topic)), width, screen.out)])
    elif (page := _of_command(topic)) is not None:
        screen.show([f"{page}\n"])
    elif topic in dialects.aliases():
        screen.show([pages.shown(pages.of_dialect(dialects.get(topic)), width, screen.out)])
    else:
        raise unknown("topic", topic, _known(), "convcli help lists the topics", MEANT)
    return 0


def _of_command(name: str) -> str | None:
    """Returns the help of a command; None if there is no such command."""
    from convcli.cli._click import help_of

    return help_of(name)


def _topics() -> Iterator[str]:
    from convcli.report import pages

    topics = pages.topics()
    wide = max(map(len, topics))
    yield "Topics:\n"
    yield from (f"  {topic:{wide}}  {pages.title(topic)}\n" for topic in topics)
    yield "\nconvcli help TOPIC shows the page, convcli help DIALECT one about a dialect (convcli dialects\n"
    yield "lists them), convcli help COMMAND the options of a command.\n"
