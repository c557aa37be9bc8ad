"""Renders Markdown of a transcript as inert HTML: no raw HTML, no remote images, no script.

markdown-it-py escapes HTML, and Pygments colors code; both come with rich.
"""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

LINKED = frozenset(("http", "https", "mailto"))
"""Schemes of links that stay links; other links are shown as text."""
MOST_COLOURED = 20_000
"""Limit on the characters of colored code."""
FORMATTER = HtmlFormatter(nowrap=True, classprefix="k-")


def html(text: str) -> str:
    """Renders Markdown as HTML."""
    rendered: str = _markdown().render(text)
    return rendered


def code(text: str, language: str) -> str:
    """Renders code as HTML, colored if the language is known."""
    try:
        lexer = get_lexer_by_name(language) if language and len(text) <= MOST_COLOURED else None
    except ClassNotFound:
        lexer = None
    return escape(text) if lexer is None else highlight(text, lexer, FORMATTER)


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "highlight": lambda text, name, _: code(text, name)})
    markdown.enable(["table", "strikethrough"])
    markdown.validateLink = _is_linked  # type: ignore[method-assign]
    markdown.add_render_rule("image", _image)
    markdown.add_render_rule("link_open", _link)
    return markdown


def _is_linked(url: str) -> bool:
    try:
        return urlsplit(url).scheme.lower() in LINKED
    except ValueError:
        return False


def _image(_: Any, tokens: Any, index: int, __: Any, ___: Any) -> str:
    """Shows only the alternative text and address: a loaded image would reveal who reads the page."""
    token = tokens[index]
    return f'<span class="elsewhere">[image {escape(token.content)}: {escape(str(token.attrs.get("src", "")))}]</span>'


def _link(renderer: Any, tokens: Any, index: int, options: Any, environment: Any) -> str:
    token = tokens[index]
    token.attrs["title"] = token.attrs.get("href", "")
    token.attrs["rel"] = "noreferrer noopener nofollow"
    token.attrs["target"] = "_blank"
    opened: str = renderer.renderToken(tokens, index, options, environment)
    return opened
