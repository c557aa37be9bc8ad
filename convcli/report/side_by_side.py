"""Two conversations side by side as a self-contained HTML page without a script, with the words that differ marked.

Text from files is escaped, and the page's Content-Security-Policy allows only its own style.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from html import escape
from itertools import zip_longest
from typing import Any, NamedTuple, TypeAlias

from convcli.model.transcript import Message, Part, ToolCall, ToolResult, Transcript
from convcli.proof.equality import as_json
from convcli.report.html_head import hash_source, head, policy
from convcli.report.text import cut, json_text, one_line, safe_text
from convcli.report.words import Words, compared
from convcli.validation.wording import counted
from convcli.views.rows import is_error, kind_of, part_text

AROUND = 2
"""Equal messages shown before and after a difference; others are folded."""
MOST_EQUAL = 600
"""Characters of equal text that are shown unfolded."""
FIRST = 100
"""Characters of a folded text in its summary."""
LONGEST = 200
"""Characters of a value in the list of other differences."""

STYLE = """
:root { color-scheme: light dark; --line: #d0d7de; --soft: #f6f8fa; --dim: #59636e; --bad: #c4232d; --gone: #ffd7d5;
  --new: #ccf2d4 }
@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --soft: #151b23; --dim: #9198a1; --bad: #ff7b72;
  --gone: #67252a; --new: #1c4f2a } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 120rem; padding: 0 1rem }
h1 { font-size: 1.2rem; margin: 0 }
h2 { font-size: 1rem; margin: 1.5rem 0 .5rem }
.row { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; border-top: 1px solid var(--line) }
.row > * { min-width: 0; padding: .5rem .25rem }
.files { position: sticky; top: 0; background: Canvas; font-weight: 600; overflow-wrap: anywhere; border: 0 }
.changed { background: var(--soft) }
h3 { font-size: .8rem; font-weight: 600; color: var(--dim); margin: 0 0 .2rem }
.failed { color: var(--bad) }
pre { font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 .4rem }
del, ins { text-decoration: none; border-radius: 3px }
del { background: var(--gone) } ins { background: var(--new) }
summary, .dim { color: var(--dim) }
summary { cursor: pointer; padding: .5rem .25rem; border-top: 1px solid var(--line); overflow-wrap: anywhere }
.equal summary { border: 0; padding: 0 0 .4rem; font: 13px/1.5 ui-monospace, monospace }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere }
@media (max-width: 40rem) { .row { grid-template-columns: 1fr } .row > :empty { display: none }
  .row > :last-child { border-left: 3px solid var(--line); padding-left: .75rem } }
"""
POLICY = policy(f"style-src {hash_source(STYLE)}")
COLUMNS = ("field", "level", "place", "first", "second")

_Side: TypeAlias = list[tuple[int, Message]]
"""The messages of one transcript without events, each with its index."""
_Pair: TypeAlias = tuple[int | None, int | None]
"""The positions of two messages that stand side by side."""


class Comparison(NamedTuple):
    """Two transcripts, one of them None if only one file has it, and the rows of the differences that count.

    `changed` are the indexes of the messages of either side that have such a difference.
    """

    first: Transcript | None
    second: Transcript | None
    rows: Sequence[dict[str, Any]]
    changed: tuple[Container[int], Container[int]]


def page(first: str, second: str, comparisons: Iterable[Comparison], summary: str) -> Iterator[str]:
    """Yields the page of two files. `summary` is the last line of the text output."""
    yield f"{head('Differences', POLICY, STYLE)}<body>\n<h1>{_escaped(summary)}</h1>\n"
    yield f'<div class="row files"><div>{_escaped(first)}</div><div>{_escaped(second)}</div></div>\n'
    for comparison in comparisons:
        yield from _conversation(comparison)
        yield from _others(comparison.rows)
    yield "</body>\n</html>\n"


def _conversation(comparison: Comparison) -> Iterator[str]:
    sides = [_messages(transcript) for transcript in (comparison.first, comparison.second)]
    pairs = list(_pairs(*([message for _, message in side] for side in sides)))
    differs = [_differs(sides, pair, comparison.changed) for pair in pairs]
    if not any(differs):
        return
    shown = [any(differs[max(index - AROUND, 0) : index + AROUND + 1]) for index in range(len(pairs))]
    folded: list[str] = []
    for pair, is_shown, is_changed in zip(pairs, shown, differs, strict=True):
        row = _row(sides, pair, is_changed=is_changed)
        if is_shown:
            yield from _fold(folded)
            folded = []
            yield row
        else:
            folded.append(row)
    yield from _fold(folded)


def _fold(rows: Sequence[str]) -> Iterator[str]:
    if rows:
        yield f"<details><summary>{counted(len(rows), 'equal message')}</summary>\n{''.join(rows)}</details>\n"


def _messages(transcript: Transcript | None) -> _Side:
    messages = enumerate(transcript.messages if transcript is not None else ())
    return [(index, message) for index, message in messages if message.role != "event"]


def _pairs(first: Sequence[Message], second: Sequence[Message]) -> Iterator[_Pair]:
    """Aligns two lists of messages: first those with the same text, between them those of the same kind."""
    for begin, end, other_begin, other_end in _blocks([_text(one) for one in first], [_text(one) for one in second]):
        if begin == end or other_begin == other_end or end - begin == other_end - other_begin:
            yield from zip_longest(range(begin, end), range(other_begin, other_end))
            continue
        shapes = [_shape(one) for one in first[begin:end]], [_shape(one) for one in second[other_begin:other_end]]
        for i, j, k, n in _blocks(*shapes):
            yield from zip_longest(range(begin + i, begin + j), range(other_begin + k, other_begin + n))


def _blocks(first: Sequence[Any], second: Sequence[Any]) -> Iterator[tuple[int, int, int, int]]:
    codes = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    yield from ((i, j, k, n) for _, i, j, k, n in codes)


def _text(message: Message) -> tuple[str, ...]:
    return message.role, *(f"{kind_of(part)} {_name(part)}\n{part_text(part)}" for part in message.parts)


def _shape(message: Message) -> tuple[str, ...]:
    return message.role, *(f"{kind_of(part)} {_name(part)}" for part in message.parts)


def _differs(sides: Sequence[_Side], pair: _Pair, changed: Sequence[Container[int]]) -> bool:
    """True if two messages read differently, and a difference that counts is in one of them."""
    both = [None if at is None else side[at] for side, at in zip(sides, pair, strict=True)]
    counts = any(one is not None and one[0] in indexes for one, indexes in zip(both, changed, strict=True))
    first, second = (None if one is None else _text(one[1]) for one in both)
    return counts and first != second


def _row(sides: Sequence[_Side], pair: _Pair, *, is_changed: bool) -> str:
    messages = [None if at is None else side[at][1] for side, at in zip(sides, pair, strict=True)]
    parts = [message.parts if message is not None else [] for message in messages]
    cells: list[list[str]] = [[], []]
    for one, other in zip_longest(*parts):
        texts = ["" if part is None else safe_text(part_text(part), lines=True) for part in (one, other)]
        for cell, part, pieces, tag in zip(cells, (one, other), compared(*texts), ("del", "ins"), strict=True):
            if part is not None:
                cell.append(_heading(part) + _shown(pieces, tag))
    headings = (
        f"<h3>{_escaped(message.role)} · {index}</h3>" if message is not None else ""
        for message, index in zip(messages, pair, strict=True)
    )
    inside = "".join(f"<div>{heading}{''.join(cell)}</div>" for heading, cell in zip(headings, cells, strict=True))
    return f'<section class="row{" changed" if is_changed else ""}">{inside}</section>\n'


def _heading(part: Part) -> str:
    if not isinstance(part, (ToolCall, ToolResult)):
        return "" if part.type == "text" else f"<h3>{_escaped(kind_of(part))}</h3>"
    failed = ' class="failed"' if is_error(part) else ""
    return f"<h3{failed}>{kind_of(part)} {_escaped(_name(part))}{' failed' if failed else ''}</h3>"


def _name(part: Part) -> str:
    return part.name if isinstance(part, (ToolCall, ToolResult)) else ""


def _shown(pieces: Sequence[Words], tag: str) -> str:
    """Returns a text with its changes marked; a long equal text is folded, and equal text between changes is cut."""
    if any(piece.differs for piece in pieces):
        return f'<pre dir="auto">{_marked(_without_middles(pieces), tag)}</pre>'
    text = "".join(piece.text for piece in pieces)
    if len(text) <= MOST_EQUAL:
        return f'<pre dir="auto">{escape(text)}</pre>'
    summary = f"{escape(one_line(text, FIRST))}… <small>{counted(len(text), 'equal character')}</small>"
    return f'<details class="equal"><summary>{summary}</summary><pre dir="auto">{escape(text)}</pre></details>'


def _without_middles(pieces: Iterable[Words]) -> Iterator[Words]:
    """Yields the pieces; of a long equal one only its beginning and its end."""
    for piece in pieces:
        if piece.differs or len(piece.text) <= MOST_EQUAL:
            yield piece
        else:
            left_out = len(piece.text) - MOST_EQUAL
            half = MOST_EQUAL // 2
            yield Words(f"{piece.text[:half]}\n[… {left_out:,} equal …]\n{piece.text[-half:]}", False)


def _marked(pieces: Iterable[Words], tag: str) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" if differs else escape(text) for text, differs in pieces)


def _others(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yields the list of all differences."""
    if not rows:
        return
    heads = "".join(f"<th>{name}</th>" for name in COLUMNS)
    yield f"<details><summary>{counted(len(rows), 'difference')} by field</summary>\n<table><tr>{heads}</tr>\n"
    for row in rows:
        values = [
            "" if row[name] is None else cut(json_text(as_json(row[name])), LONGEST) for name in ("before", "after")
        ]
        place = " → ".join(dict.fromkeys(filter(None, (row["first"], row["second"]))))
        cells = (row["field"], row["level"], place, *values)
        yield f"<tr>{''.join(f'<td>{_escaped(cell)}</td>' for cell in cells)}</tr>\n"
    yield "</table></details>\n"


def _escaped(text: str) -> str:
    return escape(safe_text(text))
