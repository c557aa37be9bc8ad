"""The lists at the sides of a page: prompts, changed files, failures and tools, each with links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from urllib.parse import quote

from convcli.report.page.articles import ConversationView
from convcli.report.page.plot import tokens
from convcli.report.text import safe_text
from convcli.views.call_lines import call_line, relative
from convcli.views.changes import NOTHING, files_changed
from convcli.views.titles import plain, prompt_of

ENTRY = 80
"""Characters of an entry."""
MOST = 200
"""Files and failures that are listed."""


def rail(view: ConversationView) -> Iterator[str]:
    """Yields the map with the plot and the prompts, and the other lists."""
    failed = view.failed()
    yield '<div class="rail">\n<nav id="map" aria-label="map of the session">\n'
    yield tokens(view.messages, failed)
    yield "<h2>Prompts</h2>\n<ol>\n"
    yield from _prompts(view)
    yield '</ol>\n</nav>\n<aside id="side" aria-label="files, failures and tools">\n'
    yield from _section("Files changed", _files(view))
    yield from _section("Failures", _failures(view))
    yield from _section("Tools", _tools(view))
    yield "</aside>\n</div>\n"


def _section(title: str, entries: Iterator[str]) -> Iterator[str]:
    rows = "".join(entries)
    if rows:
        yield f"<h2>{title}</h2>\n<ul>\n{rows}</ul>\n"


def _prompts(view: ConversationView) -> Iterator[str]:
    """Yields user messages, and summaries that replace the messages before them."""
    for index, message in enumerate(view.messages):
        text = prompt_of(message, ENTRY) if index not in view.nested else ""
        if text:
            kind = ' class="summary"' if message.replaces is not None else ""
            time = (message.created_at or "")[11:16]
            shown = f"<time>{escape(safe_text(time))}</time> " if time else ""
            yield f'<li{kind}><a href="#m{index}">{shown}{escape(safe_text(text))}</a></li>\n'


def _files(view: ConversationView) -> Iterator[str]:
    for path, (index, added, removed) in list(files_changed(view.pairs).items())[:MOST]:
        name = escape(safe_text(relative(path, view.transcript.cwd)))
        counts = f'<span class="counts"><ins>+{added:,}</ins> <del>−{removed:,}</del></span>'
        yield f'<li><a href="#m{index}" title="{name}"><span class="path"><bdi>{name}</bdi></span>{counts}</a></li>\n'


def _failures(view: ConversationView) -> Iterator[str]:
    for index, call in list(view.failed().items())[:MOST]:
        error = plain(view.messages[index].error or "", ENTRY)
        line = call_line(call.arguments, NOTHING, view.transcript.cwd).text if call is not None else error
        name = f"<b>{escape(safe_text(call.name))}</b> " if call is not None else ""
        yield f'<li class="failed"><a href="#m{index}">{name}{escape(safe_text(line[:ENTRY]))}</a></li>\n'


def _tools(view: ConversationView) -> Iterator[str]:
    for name, count in Counter(call.name for _, _, call in view.pairs.calls).most_common():
        shown = safe_text(name)
        link = f'<a href="#tool={quote(shown, safe="")}">'
        yield f'<li>{link}{escape(shown)} <span class="dim">{count:,}</span></a></li>\n'
