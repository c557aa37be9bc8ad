"""A self-contained HTML page: it is readable without a script, loads nothing, and escapes every character of a cell.
A small script adds a search.

The page's Content-Security-Policy allows only this style and this script, by hash, in case an escape is ever missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from convcli.report.html_head import hash_source, head, policy
from convcli.report.tables import View, cell

FOLDED = frozenset(("call", "result", "reasoning", "event", "opaque"))
"""Kinds of rows whose long texts are folded, so that messages stand out."""
LONG = 160
"""Characters shown of a folded text."""
NAME = 24
"""Maximum length of a cell that stays on one line."""
WORDS = frozenset(
    (
        "user", "assistant", "system", "developer", "event", "reasoning", "error", "open", "orphan", "branch",
        "dropped", "lost",
    )
)  # fmt: skip
"""Words of convcli that the style knows; no other text becomes a class name."""
WIDE = frozenset(("text", "arguments", "result", "why", "title"))

STYLE = """
:root { color-scheme: light dark; --line: #d0d7de; --soft: #f6f8fa; --dim: #59636e; --bad: #c4232d; --user: #1a7f37;
  --assistant: #0969da; --system: #8250df; --found: #fff3a3 }
@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --soft: #151b23; --dim: #9198a1; --bad: #ff7b72;
  --user: #3fb950; --assistant: #58a6ff; --system: #bc8cff; --found: #5c4a00 } }
body { font: 14px/1.5 system-ui, sans-serif; margin: 1.5rem }
h1 { font-size: 1.1rem; margin: 0; overflow-wrap: anywhere }
header p { margin: .2rem 0; color: var(--dim); overflow-wrap: anywhere }
#search { display: flex; gap: .8rem; align-items: baseline; margin: .8rem 0 }
#search[hidden], tr[hidden] { display: none }
#search input { font: inherit; flex: 0 1 24rem; padding: .3rem .6rem; border: 1px solid var(--line);
  border-radius: 6px }
#search output { color: var(--dim) }
::highlight(found) { background: var(--found) }
table { border-collapse: collapse; width: 100% }
th { position: sticky; top: 0; background: Canvas; text-align: left; color: var(--dim); font-weight: 600 }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap }
td.name { white-space: normal; overflow-wrap: anywhere; min-width: 10rem }
td.number { text-align: right; font-variant-numeric: tabular-nums }
td.long { white-space: normal; width: 100%; min-width: 18rem }
pre { font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 }
summary { cursor: pointer; font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; color: var(--dim) }
details pre { background: var(--soft); padding: .6rem; margin-top: .4rem; border-radius: 6px }
.user { color: var(--user) } .assistant { color: var(--assistant) } .system, .developer { color: var(--system) }
.error, .open, .orphan, .dropped, .lost { color: var(--bad); font-weight: 600 } .event, .branch { color: var(--dim) }
.reasoning { font-style: italic }
@media (max-width: 60rem) { thead { display: none } tr { display: block; border-bottom: 1px solid var(--line);
  padding: .4rem 0 } td, td.name { display: inline-block; border: 0; padding: .1rem .4rem; min-width: 0 }
  td:empty { display: none } td.long { display: block; width: auto; min-width: 0 } }
"""

SCRIPT = """
const search = document.getElementById("search"), [box] = search.getElementsByTagName("input");
const [counter] = search.getElementsByTagName("output"), rows = [...document.querySelectorAll("tbody tr")];
const marks = window.Highlight && CSS.highlights ? new Highlight() : null;
if (marks) CSS.highlights.set("found", marks);
const mark = (row, word) => {
  const walk = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const text = node.data.toLowerCase();
    for (let at = text.indexOf(word); at >= 0 && marks.size < 2000; at = text.indexOf(word, at + word.length)) {
      const range = new Range();
      range.setStart(node, at), range.setEnd(node, at + word.length), marks.add(range);
    }
  }
};
const find = () => {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let found = 0;
  marks?.clear();
  for (const row of rows) {
    const text = row.textContent.toLowerCase(), hit = words.every((word) => text.includes(word));
    row.hidden = !hit, found += hit;
    for (const fold of row.getElementsByTagName("details")) {
      const rest = fold.lastChild.textContent.toLowerCase();
      fold.open = words.length > 0 && hit && words.some((word) => rest.includes(word));
    }
    if (marks && hit) words.forEach((word) => mark(row, word));
  }
  counter.textContent = words.length ? `${found} of ${rows.length} rows` : "";
};
let waiting;
box.addEventListener("input", () => { clearTimeout(waiting), waiting = setTimeout(find, 120); });
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== box) event.preventDefault(), box.focus();
  if (event.key === "Escape" && event.target === box) box.value = "", find();
});
search.hidden = false;
const wanted = () => { box.value = decodeURIComponent(location.hash.slice(1)), find(); };
window.addEventListener("hashchange", wanted);
if (location.hash || box.value) location.hash ? wanted() : find();
"""


POLICY = policy(f"style-src {hash_source(STYLE)}", f"script-src {hash_source(SCRIPT)}")
SEARCH = """\
<div id="search" hidden><input type="search" aria-label="Search" placeholder="Search (press /)"><output></output></div>
"""
TAIL = f"</tbody>\n</table>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"


def render(columns: Sequence[str], rows: Iterable[dict[str, Any]], view: View) -> Iterator[str]:
    """Yields the page, row by row."""
    name, *about = (escape(cell(words)) for words in view.title)
    text = f"<p>{', '.join(about)}</p>\n" if about else ""
    yield head(cell(view.title[0]), POLICY, STYLE)
    yield f"<body>\n<header>\n<h1>{name}</h1>\n{text}</header>\n{SEARCH}<table>\n"
    yield f"<thead><tr>{''.join(f'<th>{escape(name)}</th>' for name in columns)}</tr></thead>\n<tbody>\n"
    for row in rows:
        yield f"<tr>{''.join(_cell(name, row.get(name), row.get('kind')) for name in columns)}</tr>\n"
    yield TAIL


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
