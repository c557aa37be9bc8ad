"""Splits long conversations: later articles are stored as plain text, and the script adds them when they come near.

A browser reads text much faster than it builds articles from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

AT_ONCE = 2_000_000
"""Characters of articles that the page contains as HTML. Most sessions are shorter, and so need no script."""
PIECE = 500_000
"""Characters of articles that the script adds together."""
WITHOUT_SCRIPT = "<noscript><p>The rest of this session is shown by the script of this page.</p></noscript>\n"


def in_pieces(articles: Iterable[str]) -> Iterator[str]:
    """Yields the articles; those after the first `AT_ONCE` characters as plain text.

    No article can end the element around its text: `<` is escaped in text from a transcript.
    """
    pending, size = iter(articles), 0
    while size < AT_ONCE and (article := next(pending, None)) is not None:
        size += len(article)
        yield article
    waiting, size = list[str](), 0
    for number, article in enumerate(pending):
        if not number:
            yield WITHOUT_SCRIPT
        waiting.append(article)
        size += len(article)
        if size >= PIECE:
            yield _later(waiting)
            waiting, size = [], 0
    if waiting:
        yield _later(waiting)


def _later(articles: list[str]) -> str:
    text = "".join(articles)
    return f'<div class="later" data-items="{len(articles)}"><script type="text/plain">{text}</script></div>\n'
