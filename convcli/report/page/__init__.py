"""A self-contained HTML page of a conversation: it loads nothing, and content from the transcript is inert.

It is readable without a script; a small one adds search, filters and keys. Its Content-Security-Policy allows only this
style and this script, by hash, and images embedded in the page.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import NamedTuple

from convcli.model.branches import active
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.report.page import markdown, plot
from convcli.report.page.calls import call_card, medium, result_block
from convcli.report.page.pieces import in_pieces
from convcli.report.text import safe_text
from convcli.validation.wording import counted
from convcli.views.program_texts import is_message_of_program, is_of_program, label_of
from convcli.views.rows import UNWELL, CallPairs, part_text, seconds_between

ROLES = frozenset(("system", "developer", "user", "assistant", "tool", "event"))
STATUSES = frozenset(("ok", "error", "open", "orphan", "lost"))
ENTRY = 60
"""Characters of an entry in the outline."""


class Annotation(NamedTuple):
    """A note on a message: a loss or a finding, with its class and text."""

    kind: str
    text: str


Annotations = Mapping[int, Sequence[Annotation]]
"""By message index; -1 for the transcript as a whole."""


def conversation(
    transcript: Transcript,
    title: str,
    about: Sequence[str],
    marks: Annotations | None = None,
    *,
    up: str = "",
    version: str = "",
    masked: Sequence[tuple[str, int]] = (),
) -> Iterator[str]:
    """Yields the page of one transcript. `masked`: the rules of redaction that masked something, and how often.

    `up` is the address of the page that links to it. With a `version`, the page polls its server for a newer one.
    """
    view = _View(transcript, marks or {})
    yield _head(title, LIVE if version else NO_REQUESTS)
    live = f' data-version="{escape(version)}"' if version else ""
    yield f'<body{live}>\n<nav id="map" aria-label="map of the session">\n{_link(up, "all sessions")}'
    yield plot.tokens(transcript.messages)
    yield from view.entries()
    yield f"</nav>\n<main>\n{_header(title, about, _marks(view.marks.get(-1, ())))}"
    yield from view.filters()
    yield from in_pieces(view.articles())
    yield _masked(masked)
    yield _tail()


def _masked(masked: Sequence[tuple[str, int]]) -> str:
    """Returns the list of what redaction masked."""
    if not masked:
        return ""
    rows = "".join(f"<li>{escape(rule)}: {counted(count, 'time')}</li>" for rule, count in masked)
    return f'<footer class="masked">\n<h2>Masked</h2>\n<ul>{rows}</ul>\n</footer>\n'


def index(
    title: str,
    about: Sequence[str],
    columns: Sequence[str],
    rows: Sequence[Mapping[str, str]],
    *,
    live: bool = False,
) -> Iterator[str]:
    """Yields the page of a folder: a row per session, whose `title` links to its `page`.

    A `live` page polls its server for a newer one.
    """
    names = "".join(f"<th>{escape(name)}</th>" for name in columns)
    asks = f' data-version="{FIRST}"' if live else ""
    yield f'{_head(title, LIVE if live else NO_REQUESTS)}<body class="index"{asks}>\n<main>\n'
    yield f"{_header(title, about)}{SEARCH}"
    yield f"<table>\n<thead><tr>{names}</tr></thead>\n<tbody>\n"
    for row in rows:
        cells = (escape(safe_text(row.get(name, ""))) for name in columns)
        linked = (
            f'<a href="{escape(row["page"])}">{cell}</a>' if name == "title" else cell
            for name, cell in zip(columns, cells, strict=True)
        )
        yield f'<tr class="item">{"".join(f"<td>{cell}</td>" for cell in linked)}</tr>\n'
    yield f"</tbody>\n</table>\n{_tail()}"


SEARCH = """\
<form id="filters" hidden><input type="search" aria-label="search" placeholder="search (press /)">
<output></output></form>
"""


class _View:
    """One conversation: which result belongs under which call, and which messages are on the active branch."""

    def __init__(self, transcript: Transcript, marks: Annotations) -> None:
        self.transcript, self.marks, self.messages = transcript, marks, transcript.messages
        self.pairs = CallPairs(transcript)
        self.asked = {id(call): (number, message) for number, (_, message, call) in enumerate(self.pairs.calls)}
        kept = set(map(id, active(transcript))) if transcript.head is not None else None
        self.off = {id(message) for message in self.messages if kept is not None and id(message) not in kept}

    # ------------------------------------------------------------ outline and filters

    def entries(self) -> Iterator[str]:
        """Yields the outline: user messages, and summaries that replace the messages before them."""
        yield "<ol>\n"
        for index, message in enumerate(self.messages):
            text = _first_text(message)
            if message.role == "user" and text and not is_message_of_program(message):
                kind = ' class="summary"' if message.replaces is not None else ""
                yield f'<li{kind}><a href="#m{index}">{escape(safe_text(text))}</a></li>\n'
        yield "</ol>\n"

    def filters(self) -> Iterator[str]:
        """Yields the filter form, hidden until the script shows it."""
        roles = [role for role in dict.fromkeys(message.role for message in self.messages) if role in ROLES - {"tool"}]
        tools = sorted({safe_text(call.name) for _, _, call in self.pairs.calls})
        boxes = "".join(f'<label><input type="checkbox" value="{role}" checked> {role}</label>' for role in roles)
        options = "".join(f"<option>{escape(name)}</option>" for name in tools)
        yield SEARCH.replace(
            "<output>",
            f'{boxes}<select name="tool" aria-label="tool"><option value="">any tool</option>{options}</select>'
            '<select name="status" aria-label="status"><option value="">any status</option><option>error</option>'
            '<option>open</option><option>lost</option></select><button type="button">open all</button><output>',
        )

    # ------------------------------------------------------------ the conversation

    def articles(self) -> Iterator[str]:
        """Yields the messages; events are folded into groups, and results are nested under their calls."""
        before: str | None = None
        for is_event, group in groupby(enumerate(self.messages), lambda pair: pair[1].role == "event"):
            number_messages = list(group)
            if is_event:
                yield self._events(number_messages)
                continue
            for index, message in number_messages:
                if not self._stands_beneath_calls(message):
                    yield self._article(index, message, before)
                before = message.created_at or before

    def _stands_beneath_calls(self, message: Message) -> bool:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        answers = bool(results) and all(self.pairs.call_of[id(part)] is not None for part in results)
        return answers and len(results) == len(message.parts)

    def _events(self, events: list[tuple[int, Message]]) -> str:
        texts = ((index, safe_text("".join(map(part_text, message.parts)), lines=True)) for index, message in events)
        rows = "".join(f'<div id="m{index}"><pre>{escape(text)}</pre></div>' for index, text in texts)
        return (
            f'<details class="item events" data-role="event"><summary>{counted(len(events), "event")}</summary>'
            f"{rows}</details>\n"
        )

    def _article(self, index: int, message: Message, before: str | None) -> str:
        marks = list(self.marks.get(index, ()))
        role = message.role if message.role in ROLES else "other"
        parts = "".join(self._part(part, index, message, marks) for part in message.parts)
        if message.error:
            parts += f'<p class="state error">{escape(safe_text(message.error))}</p>'
        tools = "\n".join(safe_text(part.name) for part in message.parts if isinstance(part, ToolCall))
        status = {self._status(part) for part in message.parts} | ({"error"} if message.error else set())
        status |= {"lost"} if marks else set()
        states = "\n".join(sorted(status & STATUSES))
        facts = f'data-role="{role}" data-tool="{escape(tools)}" data-status="{states}"'
        off = " off" if id(message) in self.off else ""
        off += " quiet" if message.role in FOLDED_ROLES or is_message_of_program(message) else ""
        head = self._heading(index, message, before)
        return f'<article class="item {role}{off}" id="m{index}" {facts}>\n{head}{parts}{_marks(marks)}</article>\n'

    def _heading(self, index: int, message: Message, before: str | None) -> str:
        tokens = (message.usage or {}).get("outputTokens")
        unwell = UNWELL.get(message.stop_reason or "")
        words = [message.name, message.model, counted(tokens, "token") if tokens else None]
        words += ["not on the active branch" if id(message) in self.off else None]
        words += ["summary of what came before" if message.replaces is not None else None]
        about = " · ".join(escape(safe_text(word)) for word in words if word)
        state = f' <span class="state error">{unwell}</span>' if unwell else ""
        return (
            f'<h2><a href="#m{index}" class="mark">{index}</a> '
            f'<span class="role">{escape(safe_text(message.role))}</span> '
            f'<span class="dim">{about}</span>{state}{_time(message.created_at, before)}'
            '<button type="button" class="copy">copy</button></h2>\n'
        )

    def _part(self, part: Part, index: int, message: Message, marks: list[Annotation]) -> str:
        match part:
            case Text():
                text = safe_text(part.text, lines=True)
                if message.role in FOLDED_ROLES:
                    return _folded(message.role, markdown.html(text), len(text))
                if message.role == "user" and is_of_program(part.text):
                    return _folded(label_of(part.text), f"<pre>{escape(text)}</pre>", len(text))
                return f'<div class="text">{markdown.html(text)}</div>\n'
            case Reasoning():
                text = safe_text("\n".join([*(part.summary or ()), part.text]), lines=True)
                if not text.strip():
                    return ""
                title = f"thinking, {counted(len(text), 'character')}"
                return f'<details class="thinking"><summary>{title}</summary>{markdown.html(text)}</details>\n'
            case ToolCall():
                return self._call(part, marks)
            case ToolResult():
                return result_block(part, self.pairs.status(part) or "", call=self.pairs.mark(part))
            case Media():
                return medium(part)
            case _:
                kind = part.dialect if isinstance(part, Opaque) else part.type
                text = escape(safe_text(part_text(part), lines=True))
                return f"<details><summary>{escape(safe_text(kind))}</summary><pre>{text}</pre></details>\n"

    def _call(self, call: ToolCall, marks: list[Annotation]) -> str:
        number, asked = self.asked[id(call)]
        results = self.pairs.results_of.get(number, [])
        answer = "".join(self._answer(at, by, result) for at, by, result in results)
        seconds = seconds_between(asked.created_at, results[0][1].created_at) if results else None
        marks += [mark for at, _, _ in results for mark in self.marks.get(at, ())]
        return call_card(call, self.pairs.mark(call), self._status(call), seconds, answer)

    def _answer(self, index: int, message: Message, result: ToolResult) -> str:
        if self._stands_beneath_calls(message):
            return result_block(result, self.pairs.status(result) or "", index=index)
        return f'<p class="elsewhere">its result: <a href="#m{index}">message {index}</a></p>'

    def _status(self, part: Part) -> str:
        """Returns the status of a part; a call has that of its result."""
        if isinstance(part, ToolCall):
            results = self.pairs.results_of.get(self.asked[id(part)][0])
            return self.pairs.status(results[0][2] if results else part) or ""
        return (self.pairs.status(part) or "") if isinstance(part, ToolResult) else ""


FOLDED_ROLES = frozenset(("system", "developer"))
"""Roles whose text no person reads first: it is folded to one line."""


def _folded(title: str, content: str, length: int) -> str:
    """Returns text that is one line at first."""
    summary = f'{escape(safe_text(title))} <span class="dim">{counted(length, "character")}</span>'
    return f'<details class="program"><summary>{summary}</summary>{content}</details>\n'


def _first_text(message: Message) -> str:
    texts = (part.text for part in message.parts if isinstance(part, Text) and part.text.strip())
    text = next((text for text in texts if not is_of_program(text)), "")
    words = " ".join(text[: 4 * ENTRY].split())
    return words if len(words) <= ENTRY else f"{words[: ENTRY - 1]}…"


def _header(title: str, about: Sequence[str], more: str = "") -> str:
    words = "".join(f"<span>{escape(safe_text(word))}</span> " for word in about)
    return f"<header>\n<h1>{escape(safe_text(title))}</h1>\n<p>{words}</p>\n{more}</header>\n"


def _marks(marks: Sequence[Annotation]) -> str:
    items = "".join(f'<li class="{mark.kind}">{escape(safe_text(mark.text))}</li>' for mark in marks)
    return f'<ul class="marks">{items}</ul>\n' if items else ""


def _link(address: str, text: str) -> str:
    return f'<p><a href="{escape(address)}">{text}</a></p>\n' if address else ""


# ---------------------------------------------------------------- times


def _time(time: str | None, before: str | None) -> str:
    if not time:
        return ""
    seconds = seconds_between(before, time)
    later = f" +{_duration(seconds)}" if seconds is not None and seconds >= 1 else ""
    return f' <time datetime="{escape(safe_text(time))}">{escape(safe_text(time[:19].replace("T", " ")))}{later}</time>'


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


# ---------------------------------------------------------------- the frame


NO_REQUESTS = ""
LIVE = "; connect-src 'self'"
"""Additions to a page's policy: none, or requests to its own server."""
FIRST = "0"
"""A version that makes the page ask for a newer one at once."""


def policy(more: str = NO_REQUESTS) -> str:
    """Returns the Content-Security-Policy of a page: its style, its script and embedded images."""
    return _frame()[2] + more


@cache
def _frame() -> tuple[str, str, str]:
    """Returns the style, the script, and the policy that allows these two."""
    style, script = (files(__name__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    hashes = [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (style, script)]
    rules = f"default-src 'none'; style-src {hashes[0]}; script-src {hashes[1]}; img-src data:"
    return style, script, f"{rules}; base-uri 'none'; form-action 'none'"


def _head(title: str, more: str) -> str:
    style, *_ = _frame()
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(more)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(safe_text(title))}</title>
<style>{style}</style>
</head>
"""


def _tail() -> str:
    return f"</main>\n<script>{_frame()[1]}</script>\n</body>\n</html>\n"
