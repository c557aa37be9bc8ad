"""Markdown on a terminal, rendered by rich. All text stays visible: HTML, images and references hide nothing."""

from __future__ import annotations

import io

from convcli.report.text import lines_of

LONGEST = 50_000
"""Limit on the characters rendered, about a second of work."""
HIDING = ("image", "reference", "html_inline", "html_block", "entity")
"""Markdown rules that would replace or hide text."""


def rendered(text: str, width: int, *, colour: bool) -> str:
    """Renders safe text as Markdown of this width; returns it unchanged if it is too long."""
    if len(text) > LONGEST:
        return text
    from markdown_it import MarkdownIt
    from rich.console import Console
    from rich.markdown import Markdown

    markdown = Markdown("", hyperlinks=False, code_theme="ansi_dark")
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(HIDING)
    markdown.parsed = parser.parse(text)
    for child in (child for token in markdown.parsed for child in token.children or ()):
        child.type = "hardbreak" if child.type == "softbreak" else child.type  # line breaks of models are intended
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
    """Wraps lines wider than this between words."""
    return text if len(text) > LONGEST else "\n".join(line.rstrip() for line in lines_of(text, width))
