"""Markdown on a terminal, by rich, in which everything stays visible: no HTML, image, or reference takes text away."""

from __future__ import annotations

import io

from convcli.report.text import lines_of

LONGEST = 50_000
"""Characters of a text that is rendered: a second of work."""
HIDING = ("image", "reference", "html_inline", "html_block", "entity")
"""What Markdown would show as something else than its text, or not at all."""


def rendered(text: str, width: int, *, colour: bool) -> str:
    """A text that is safe to show, as Markdown of this width; as it is where it is too long."""
    if len(text) > LONGEST:
        return text
    from markdown_it import MarkdownIt
    from rich.console import Console
    from rich.markdown import Markdown

    markdown = Markdown("", hyperlinks=False, code_theme="ansi_dark")
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(HIDING)
    markdown.parsed = parser.parse(text)
    for child in (child for token in markdown.parsed for child in token.children or ()):
        child.type = "hardbreak" if child.type == "softbreak" else child.type  # models mean the lines that they write
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
    )
    with console.capture() as capture:
        console.print(markdown)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def wrapped(text: str, width: int) -> str:
    """The lines of a text, broken between words where they are wider than this."""
    return text if len(text) > LONGEST else "\n".join(line.rstrip() for line in lines_of(text, width))
