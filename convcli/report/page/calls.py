"""Calls and results as cards: one argument per line, commands as console code, edits as diffs."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from html import escape
from typing import Any

from convcli.model.transcript import Media, ToolCall, ToolResult
from convcli.report.page.markdown import code
from convcli.report.text import json_text, safe_text
from convcli.validation.wording import counted
from convcli.views.gists import COMMANDS, command_of, gist
from convcli.views.rows import part_text
from convcli.wire.decimals import builtins

INLINE = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
"""Image types that are shown: raster formats, which cannot contain scripts."""
CHANGES = (("old_string", "new_string"), ("oldText", "newText"), ("old_str", "new_str"), ("old_text", "new_text"))
"""Argument pairs of an edit: the old text and the new text."""
DIFFS = ("patch", "diff", "unified_diff")
STATES = frozenset(("ok", "error", "open", "orphan"))
"""Statuses that the style knows; programs may have others."""
SHORT = 80
"""Maximum length of an argument that the heading shows in full."""
NO_TIME = 0.05
"""Durations in seconds below this are not shown."""
MOST_OPEN = 30
"""Maximum number of diff lines that are shown unfolded."""
FIRST = 120
"""Characters of a result shown in its heading."""


def call_card(call: ToolCall, mark: str, status: str, seconds: float | None, answer: str) -> str:
    """Returns a call with its arguments, and its result folded below."""
    words = safe_text(gist(call.arguments if call.raw_arguments is None else call.raw_arguments))
    time = f'<span class="dim">{seconds:,.1f} s</span>' if seconds is not None and seconds >= NO_TIME else ""
    state = _state(status) if status not in ("ok", "") else ""
    number = mark.removeprefix("#")
    return (
        f'<section class="card {status if status in STATES else ""}" id="call-{number}">'
        f"<h3>{_mark(f'call-{number}', mark)}"
        f"<b>{escape(safe_text(call.name))}</b> <code>{escape(words)}</code> {state}{time}</h3>"
        f"{''.join(_arguments(call))}{answer}</section>\n"
    )


def _state(status: str) -> str:
    known = f" {status}" if status in STATES else ""
    return f'<span class="state{known}">{escape(safe_text(status))}</span>'


def _is_told(arguments: dict[str, Any]) -> bool:
    """True if the heading already shows the only argument."""
    value = next(iter(arguments.values()))
    return len(arguments) == 1 and isinstance(value, str) and len(value) < SHORT and "\n" not in value


def _arguments(call: ToolCall) -> Iterator[str]:
    """Yields the arguments, folded."""
    if call.raw_arguments is not None:
        yield _folded("arguments", f"<pre>{escape(safe_text(call.raw_arguments, lines=True))}</pre>")
        return
    if call.arguments and not _is_told(call.arguments):
        inside = "".join(_fields(call.arguments))
        is_open = _change_of(call.arguments) != () and inside.count("\n") <= MOST_OPEN
        yield _folded(counted(len(call.arguments), "argument"), inside, is_open=is_open)


def _fields(arguments: dict[str, Any]) -> Iterator[str]:
    changed = _change_of(arguments)
    for name, value in arguments.items():
        if name in COMMANDS and command_of(value):
            yield f'<pre class="code">{code(safe_text(f"$ {command_of(value)}", lines=True), "console")}</pre>'
        elif name in DIFFS and isinstance(value, str):
            yield f'<pre class="code">{code(safe_text(value, lines=True), "diff")}</pre>'
        elif name not in changed:
            yield f'<div class="field"><span class="dim">{escape(safe_text(name))}</span> {_value(value)}</div>'
    if changed:
        yield f'<pre class="code">{_change(*(arguments[name] for name in changed))}</pre>'


def _change_of(arguments: dict[str, Any]) -> tuple[str, ...]:
    """Returns the names of the arguments with the old and the new text of an edit, if any."""
    return next((pair for pair in CHANGES if all(isinstance(arguments.get(name), str) for name in pair)), ())


def _change(before: str, after: str) -> str:
    lines = list(unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]
    return code(safe_text("\n".join(lines), lines=True), "diff")


def _value(value: Any) -> str:
    if isinstance(value, str):
        text = safe_text(value, lines=True)
        return f"<pre>{escape(text)}</pre>" if "\n" in text else f"<code>{escape(text)}</code>"
    return f"<code>{escape(json_text(builtins(value)))}</code>"


def result_block(result: ToolResult, status: str, *, index: int | None = None, call: str = "") -> str:
    """Returns a folded result: its first words, then all of it.

    Under its call it links to its message; elsewhere it links to the call.
    """
    link = _mark(f"m{index}", str(index)) if index is not None else ""
    link += _mark(f"call-{call.removeprefix('#')}", call) if call.startswith("#") else ""
    text = safe_text(part_text(result), lines=True)
    first = " ".join(text[: 4 * FIRST].split())[:FIRST]
    shown = f"<pre>{escape(text)}</pre>" if result.kind != "multimodal" else "".join(map(_piece, result.value))
    size = f'<span class="dim">{counted(len(text), "character")}</span>'
    head = f"{link}{_state(status)} {escape(first)}{'…' if len(text) > len(first) else ''} ·"
    place = f' id="m{index}"' if index is not None else ""
    return f'<details class="result"{place}><summary>{head} {size}</summary>{shown}</details>'


def _mark(place: str, words: str) -> str:
    return f'<a href="#{place}" class="mark">{words}</a> '


def _piece(part: Any) -> str:
    return medium(part) if isinstance(part, Media) else f"<pre>{escape(safe_text(part_text(part), lines=True))}</pre>"


def medium(part: Media) -> str:
    """Returns an embedded image, or a description of any other medium."""
    label = escape(safe_text(part.name or part.type))
    if part.type == "image" and part.data is not None and part.media_type in INLINE and _is_base64(part.data):
        return f'<img src="data:{part.media_type};base64,{part.data}" alt="{label}" loading="lazy">'
    return f'<p class="elsewhere">{escape(safe_text(part_text(part)))}</p>'


def _is_base64(data: str) -> bool:
    return data.isascii() and data.replace("+", "").replace("/", "").rstrip("=").isalnum()


def _folded(title: str, inside: str, *, is_open: bool = False) -> str:
    return f'<details class="arguments"{" open" * is_open}><summary>{title}</summary>{inside}</details>'
