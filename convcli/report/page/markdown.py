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

from convcli.wire.patterns import pattern

LINKED = frozenset(("http", "https", "mailto"))
"""Schemes of links that stay links; other links are shown as text."""
LANGUAGES = frozenset(
    (
        "bash",
        "c",
        "console",
        "cpp",
        "css",
        "diff",
        "docker",
        "go",
        "html",
        "ini",
        "javascript",
        "json",
        "kotlin",
        "lua",
        "php",
        "pycon",
        "python",
        "ruby",
        "rust",
        "sql",
        "swift",
        "toml",
        "typescript",
        "xml",
        "yaml",
    )
)
"""Languages whose code is colored. Other lexers of Pygments can take minutes for one screen of hostile code."""
MOST_COLOURED, LONGEST_LINE = 5_000, 300
"""Limits on the characters of colored code, and of each line: lexers take quadratic time in both."""
_SPACES = pattern(r"\s{31}")
"""More white space than code has; lexers take even more than quadratic time for it."""
_UNCOLORED = pattern(r'<span class="k-(?:n|nn|nv|nx|ni|na|bp|p|o|w|kp|err|vc|vi|vg|sx|si|sa|l|ld|g|gt)">([^<]*)</span>')
FORMATTER = HtmlFormatter(nowrap=True, classprefix="k-")


def html(text: str) -> str:
    """Renders Markdown as HTML."""
    rendered: str = _markdown().render(text)
    return rendered


def code(text: str, language: str) -> str:
    """Renders code as HTML, colored if the language is known and the code is short enough."""
    lexer = _lexer(language) if language and _is_quickly_coloured(text) else None
    return escape(text) if lexer is None else _colored(text, lexer)


def code_lines(text: str, language: str) -> list[str]:
    """Renders the lines of code as HTML; each is complete in itself."""
    lexer = _lexer(language, stripnl=False, ensurenl=False) if language and _is_quickly_coloured(text) else None
    colored = escape(text) if lexer is None else _colored(text, lexer).removesuffix("\n")
    return colored.split("\n")


def _colored(text: str, lexer: Any) -> str:
    """Returns colored code; tokens without a color get no element, which halves the size."""
    return _UNCOLORED.sub(r"\1", highlight(text, lexer, FORMATTER))


def _lexer(language: str, **options: bool) -> Any:
    try:
        lexer = get_lexer_by_name(language, **options)
    except ClassNotFound:
        return None
    return lexer if lexer.aliases[0] in LANGUAGES else None


def _is_quickly_coloured(text: str) -> bool:
    is_short = len(text) <= MOST_COLOURED and max(map(len, text.splitlines()), default=0) <= LONGEST_LINE
    return is_short and _SPACES.search(text) is None


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt(
        "commonmark", {"html": False, "breaks": True, "highlight": lambda text, name, _: code(text, name)}
    )
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
