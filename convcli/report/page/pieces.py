"""Long conversations: what is far below the beginning stands in the page as text, of which its script makes articles
when they come near. A browser reads text much faster than it makes articles of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

AT_ONCE = 2_000_000
"""Characters of articles that stand in the page as they are: all of most sessions, which need no script then."""
PIECE = 500_000
"""Characters of articles that are made together."""
WITHOUT_SCRIPT = "<noscript><p>The rest of this session is shown by the script of this page.</p></noscript>\n"


def in_pieces(articles: Iterable[str]) -> Iterator[str]:
    """The articles, those behind the first `AT_ONCE` characters as texts. No article can end the element of its text:
    what a transcript says has no `<`."""
    pending, size = iter(articles), 0
    while size < AT_ONCE and (article := next(pending, None)) is not None:
        size += len(article)
        yield article
    waiting = list[str]()
    for number, article in enumerate(pending):
        if not number:
            yield WITHOUT_SCRIPT
        waiting.append(article)
        if sum(map(len, waiting)) >= PIECE:
            yield _later(waiting)
            waiting = []
    if waiting:
        yield _later(waiting)


def _later(articles: list[str]) -> str:
    text = "".join(articles)
    return f'<div class="later" data-items="{len(articles)}"><script type="text/plain">{text}</script></div>\n'
