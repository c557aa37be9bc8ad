"""One page for a browser, complete in itself: no script, nothing from outside, every character of a cell escaped.

The page names a Content-Security-Policy that forbids all but its own style, should an escape ever be forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from convcli.report.tables import View, cell

FOLDED = frozenset(("call", "result", "reasoning", "event", "opaque"))
"""Kinds of rows whose long texts are folded: what people said is read first."""
LONG = 160
"""Characters that are shown of a folded text."""

HEAD = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --line: #d0d7de; --soft: #f6f8fa; --dim: #59636e; --bad: #c4232d; --user: #1a7f37;
  --assistant: #0969da; --system: #8250df }
@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --soft: #151b23; --dim: #9198a1; --bad: #ff7b72;
  --user: #3fb950; --assistant: #58a6ff; --system: #bc8cff } }
body { font: 14px/1.5 system-ui, sans-serif; margin: 1.5rem }
table { border-collapse: collapse; width: 100% }
th { position: sticky; top: 0; background: Canvas; text-align: left; color: var(--dim); font-weight: 600 }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap }
td.name { white-space: normal; overflow-wrap: anywhere; min-width: 10rem }
h1 { font-size: 1rem; overflow-wrap: anywhere }
td.number { text-align: right; font-variant-numeric: tabular-nums }
td.long { white-space: normal; width: 100%; min-width: 18rem }
pre { font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 }
summary { cursor: pointer; font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; color: var(--dim) }
details pre { background: var(--soft); padding: .6rem; margin-top: .4rem; border-radius: 6px }
.user { color: var(--user) } .assistant { color: var(--assistant) } .system, .developer { color: var(--system) }
.error, .open, .orphan, .dropped, .lost { color: var(--bad); font-weight: 600 } .event { color: var(--dim) }
@media (max-width: 60rem) { thead { display: none } tr { display: block; border-bottom: 1px solid var(--line);
  padding: .4rem 0 } td, td.name { display: inline-block; border: 0; padding: .1rem .4rem; min-width: 0 }
  td:empty { display: none } td.long { display: block; width: auto; min-width: 0 } }
</style>
"""
NAME = 24
"""Characters of a cell that stay on one line."""
WORDS = frozenset(("user", "assistant", "system", "developer", "error", "open", "orphan", "dropped", "lost", "event"))
"""Words of ours that the style knows; no other text becomes the name of a class."""
WIDE = frozenset(("text", "arguments", "result", "why", "title"))


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """The page, row by row."""
    title = escape(cell(view.title))
    yield f"{HEAD}<title>{title}</title>\n</head>\n<body>\n<h1>{title}</h1>\n<table>\n"
    yield f"<thead><tr>{''.join(f'<th>{escape(name)}</th>' for name in columns)}</tr></thead>\n<tbody>\n"
    for row in rows:
        yield f"<tr>{''.join(_cell(name, row.get(name), row.get('kind')) for name in columns)}</tr>\n"
    yield "</tbody>\n</table>\n</body>\n</html>\n"


def _cell(name: str, value: Any, kind: Any) -> str:
    if name in WIDE and value:
        return f'<td class="long">{_long(cell(value, lines=True), kind in FOLDED or name != "text")}</td>'
    if isinstance(value, (int, float)):
        return f'<td class="number">{value:,}</td>'
    text = cell(value)
    known = f' class="{text}"' if text in WORDS else ' class="name"' if len(text) > NAME else ""
    return f"<td{known}>{escape(text)}</td>"


def _long(text: str, folded: bool) -> str:
    shown = f'<pre dir="auto">{escape(text)}</pre>'
    if not folded or len(text) <= LONG:
        return shown
    return f"<details><summary>{escape(' '.join(text[:LONG].split()))}…</summary>{shown}</details>"
