"""A self-contained HTML page of a conversation: it loads nothing, and content from the transcript is inert.

It is readable without a script; a small one adds search, filters and keys. Its Content-Security-Policy allows only this
style and this script, by hash, and images embedded in the page.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import TypeAlias

from convcli.model.transcript import Transcript
from convcli.report import html_head
from convcli.report.html_head import hash_source, head
from convcli.report.page.articles import ROLES, Annotation, Annotations, ConversationView, mark_list
from convcli.report.page.pieces import in_pieces
from convcli.report.page.rail import rail
from convcli.report.page.sessions import SessionList, days_plots, session_list
from convcli.report.text import safe_text
from convcli.validation.wording import counted
from convcli.views.facts import Fact
from convcli.views.session_rows import about, grouped

__all__ = [
    "FIRST",
    "INDEX",
    "LIVE",
    "SERVED",
    "Annotation",
    "Annotations",
    "Frame",
    "SessionList",
    "conversation",
    "index",
    "policy",
]  # fmt: skip


def conversation(
    transcript: Transcript,
    title: str,
    facts: Sequence[Fact],
    marks: Annotations | None = None,
    *,
    up: str = "",
    version: str = "",
    masked: Sequence[tuple[str, int]] = (),
    sessions: SessionList | None = None,
) -> Iterator[str]:
    """Yields the page of one transcript. `masked`: the rules of redaction that masked something, and how often.

    `up` is the address of the page that links to it. With a `version`, the page polls its server for a newer one. With
    `sessions`, the list of them stands at its side.
    """
    view = ConversationView(transcript, marks or {})
    frame = SERVED if sessions is not None else PAGE
    yield _head(title, frame, LIVE if version else NO_REQUESTS)
    live = f' data-version="{escape(version)}"' if version else ""
    kind = ' class="served"' if sessions is not None else ""
    yield f"<body{live}{kind}>\n"
    if sessions is not None:
        yield f'<section class="left" aria-label="list and map">\n{PANES}'
        yield from session_list(sessions)
    yield from rail(view)
    yield "</section>\n" if sessions is not None else ""
    back = f'<p class="up"><a href="{escape(up)}">all sessions</a></p>\n' if up else ""
    yield f"<main>\n{_header(title, facts, mark_list(view.marks.get(-1, ())), back)}"
    yield _filters(view)
    yield from in_pieces(view.articles())
    yield _masked(masked)
    yield _tail(frame, KEYS)


def _masked(masked: Sequence[tuple[str, int]]) -> str:
    """Returns the list of what redaction masked."""
    if not masked:
        return ""
    rows = "".join(f"<li>{escape(rule)}: {counted(count, 'time')}</li>" for rule, count in masked)
    return f'<footer class="masked">\n<h2>Masked</h2>\n<ul>{rows}</ul>\n</footer>\n'


def index(title: str, sessions: SessionList, notes: Sequence[str] = (), *, live: bool = False) -> Iterator[str]:
    """Yields the page of a folder: its sessions in groups, with totals, and plots of the days.

    A `live` page polls its server for a newer one.
    """
    facts = [*about(sessions.rows), *map(Fact, notes)]
    yield f'{_head(title, INDEX, LIVE if live else NO_REQUESTS)}<body class="index">\n<main>\n'
    yield _header(title, facts, days_plots(grouped(sessions.rows, sessions.view._replace(by="day"))))
    yield from session_list(sessions)
    yield _tail(INDEX)


PANES = """\
<div class="panes" role="radiogroup" aria-label="what the pane shows">
<label><input type="radio" name="pane" checked> sessions</label>
<label><input type="radio" name="pane" id="show-map"> this session</label></div>
"""
FILTERS = """\
<form id="filters" hidden>
<span class="search"><input type="search" aria-label="search" placeholder="search (press /)"><output></output>
<button type="button" name="previous" aria-label="previous hit" title="previous hit (p)">‹</button>
<button type="button" name="next" aria-label="next hit" title="next hit (n)">›</button></span>
<details class="menu"><summary>filter</summary><div>{boxes}{tools}{states}</div></details>
<button type="button" name="open">open all</button>
<button type="button" name="theme" aria-label="dark or light" title="dark or light (t)">◐</button>
<button type="button" name="keys" aria-label="keys" title="keys (?)">?</button>
</form>
"""
STATES = ("error", "open", "lost")
KEYS = """\
<dialog id="keys"><h2>Keys</h2><dl>
<dt>/</dt><dd>search; Enter goes to the next hit</dd><dt>n p</dt><dd>next and previous hit</dd>
<dt>j k</dt><dd>next and previous message</dd><dt>u U</dt><dd>next and previous prompt</dd>
<dt>e E</dt><dd>next and previous failure</dd><dt>o</dt><dd>open or close all</dd>
<dt>t</dt><dd>dark or light</dd><dt>Esc</dt><dd>end the search</dd><dt>?</dt><dd>these keys</dd>
</dl><form method="dialog"><button>close</button></form></dialog>
"""


def _filters(view: ConversationView) -> str:
    """Returns the filter form, hidden until the script shows it."""
    known = ROLES - {"tool"}
    roles = [role for role in dict.fromkeys(message.role for message in view.messages) if role in known]
    boxes = "".join(f'<label><input type="checkbox" value="{role}" checked> {role}</label>' for role in roles)
    tools = sorted({safe_text(call.name) for _, _, call in view.pairs.calls})
    return FILTERS.format(boxes=boxes, tools=_choice("tool", tools), states=_choice("status", STATES))


def _choice(name: str, values: Sequence[str]) -> str:
    options = "".join(f"<option>{escape(value)}</option>" for value in values)
    return f'<select name="{name}" aria-label="{name}"><option value="">any {name}</option>{options}</select>'


def _header(title: str, facts: Sequence[Fact], more: str = "", back: str = "") -> str:
    chips = "".join(map(_chip, facts))
    return f'<header>\n{back}<h1>{escape(safe_text(title))}</h1>\n<p class="facts">{chips}</p>\n{more}</header>\n'


def _chip(fact: Fact) -> str:
    """Returns a fact; failures link to the messages that failed."""
    kind, hint = (f' {name}="{escape(safe_text(value))}"' if value else "" for name, value in
                  (("class", fact.kind), ("title", fact.hint)))  # fmt: skip
    tag, address = ("a", ' href="#status=error"') if fact.kind == "error" else ("span", "")
    return f"<{tag}{kind}{hint}{address}>{escape(safe_text(fact.text))}</{tag}> "


# ---------------------------------------------------------------- the frame


NO_REQUESTS = ""
LIVE = "; connect-src 'self'"
"""Additions to a page's policy: none, or requests to its own server."""
FIRST = "0"
"""A version that makes the page ask for a newer one at once."""

Frame: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""The style sheets and the scripts of a page."""
PAGE: Frame = ("page.css",), ("theme.js", "page.js")
SERVED: Frame = ("page.css", "sessions.css"), ("theme.js", "page.js", "sessions.js")
INDEX: Frame = ("page.css", "sessions.css"), ("theme.js", "sessions.js")


@cache
def policy(frame: Frame, more: str = NO_REQUESTS) -> str:
    """Returns the Content-Security-Policy of a page: its style, its script and embedded images."""
    style, script = _contents(frame)
    rules = f"style-src {hash_source(style)}", f"script-src {hash_source(script)}", "img-src data:"
    return html_head.policy(*rules) + more


@cache
def _contents(frame: Frame) -> tuple[str, str]:
    """Returns the style and the script."""
    style, script = ("".join(map(_text, names)) for names in frame)
    return style, script


def _text(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def _head(title: str, frame: Frame, more: str) -> str:
    return head(title, policy(frame, more), _contents(frame)[0])


def _tail(frame: Frame, more: str = "") -> str:
    return f"</main>\n{more}<script>{_contents(frame)[1]}</script>\n</body>\n</html>\n"
