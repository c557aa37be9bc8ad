"""The part of a page that shows calls: a call with its changes, its result and the run of its subagent; media."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, NamedTuple

from convcli.model.transcript import Media, ToolCall, ToolResult
from convcli.report.page.diffs import change_block
from convcli.report.page.markdown import code, html
from convcli.report.text import json_text, one_line, safe_text
from convcli.validation.wording import counted
from convcli.views.call_lines import call_line
from convcli.views.changes import Changes
from convcli.views.failures import is_rejection
from convcli.views.gists import COMMANDS, command_of
from convcli.views.outputs import CommandOutput, output_of
from convcli.views.rows import is_error, part_text
from convcli.views.titles import plain
from convcli.views.todos import SIGNS, todos_of
from convcli.wire.decimals import builtins

INLINE = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
"""Image types that are shown: raster formats, which cannot contain scripts."""
STATES = frozenset(("ok", "error", "open", "orphan"))
"""Statuses that the style knows; programs may have others."""
NO_TIME = 0.05
"""Durations in seconds below this are not shown."""
MOST_OPEN = 40
"""Maximum number of diff lines that are shown unfolded."""
FIRST = 160
"""Characters of a result shown in its heading."""
AGENTS = frozenset(("Task", "Agent", "task", "agent", "spawn_agent", "subagent"))
"""Tools that start an agent: its task and its answer are Markdown."""
MARKDOWN = frozenset(("plan", "prompt", "markdown", "result"))
"""Arguments that are Markdown."""
DEFAULTS = {"replace_all": False, "replaceAll": False, "expected_replacements": 1}
"""Arguments of edits that are not shown with these values."""
_KINDS = {
    "plan": ("todo", "plan", "task", "agent", "skill", "question"),
    "run": ("bash", "shell", "exec", "command", "terminal", "stdin", "process"),
    "edit": ("edit", "write", "patch", "replace", "create", "notebook", "delete"),
    "find": ("read", "grep", "glob", "search", "find", "list", "ls", "view", "fetch", "web", "open"),
}
"""Kinds of tools, for their color, by words in their names."""


class Shown(NamedTuple):
    """What a call shows, apart from its arguments: its result and the run of its subagent as HTML."""

    answer: str = ""
    run: str = ""
    output: CommandOutput | None = None
    is_seen: bool = False
    """True if there is something to look at, such as an image."""


def call_card(
    call: ToolCall,
    mark: str,
    status: str,
    seconds: float | None,
    changes: Changes,
    shown: Shown,
    cwd: str | None = None,
) -> str:
    """Returns a call as one line, with its arguments, its run and its result folded below."""
    arguments = call.arguments if call.raw_arguments is None else call.raw_arguments
    line = call_line(arguments, changes, cwd)
    number = mark.removeprefix("#")
    size = sum(len(change.lines) for change in changes.files)
    is_open = 0 < size <= MOST_OPEN or shown.is_seen
    state = status if status in STATES else ""
    body = "".join((*_arguments(call, line.shown, changes), shown.run, shown.answer))
    counts = _counts(changes) if changes.files else ""
    return (
        f'<details class="card {state} {kind_of(call.name)}" id="call-{number}"{" open" * is_open}>'
        f"<summary><b>{escape(safe_text(call.name))}</b>"
        f"{_dim(line.purpose, 'purpose')} <code>{escape(safe_text(line.text))}</code>{counts}"
        f'{_state(status, shown.output)}{_seconds(seconds, shown.output)} <span class="mark">{mark}</span>'
        f"{_why(status, shown.output)}</summary>"
        f"{_link(f'call-{number}', mark, 'mark', f'link to call {number}')}{body}</details>\n"
    )


def kind_of(name: str) -> str:
    """Returns the kind of a tool, by its name."""
    lower = name.lower()
    return next((kind for kind, words in _KINDS.items() if any(word in lower for word in words)), "other")


def _counts(changes: Changes) -> str:
    added, removed = (sum(getattr(change, name) for change in changes.files) for name in ("added", "removed"))
    return f' <span class="counts"><ins>+{added:,}</ins> <del>−{removed:,}</del></span>'


def _state(status: str, output: CommandOutput | None) -> str:
    """Returns the status as a badge: nothing for a success, the exit code and the first words of a failure."""
    if status == "error" and output is not None:
        is_refused = is_rejection(output.text)
        code_ = f"exit {output.exit_code}" if output.exit_code else "rejected" if is_refused else "failed"
        return _badge("rejected" if is_refused else "error", code_)
    if status in ("ok", ""):
        return _badge("exit", f"exit {output.exit_code}") if output is not None and output.exit_code else ""
    return _badge(status if status in STATES else "", {"open": "no result"}.get(status, status))


def _why(status: str, output: CommandOutput | None) -> str:
    """Returns the first words of a failure."""
    words = one_line(output.text, FIRST) if status == "error" and output is not None else ""
    return f'<span class="why">{escape(safe_text(words))}</span>' if words else ""


def _badge(kind: str, words: str) -> str:
    return f' <span class="state {kind}">{escape(safe_text(words))}</span>'


def _seconds(seconds: float | None, output: CommandOutput | None) -> str:
    known = output.seconds if output is not None and output.seconds else seconds
    return _dim(f"{known:,.1f} s", "seconds") if known is not None and known >= NO_TIME else ""


def _dim(words: str, kind: str) -> str:
    return f' <span class="dim {kind}">{escape(safe_text(words))}</span>' if words else ""


def _arguments(call: ToolCall, shown: frozenset[str], changes: Changes) -> Iterator[str]:
    """Yields the arguments that the line does not show whole."""
    if call.raw_arguments is not None:
        yield f"<pre>{escape(safe_text(call.raw_arguments, lines=True))}</pre>"
        return
    hidden = shown | changes.names | {name for name, value in DEFAULTS.items() if call.arguments.get(name) is value}
    yield from _fields({name: value for name, value in call.arguments.items() if name not in hidden})
    todos = todos_of(call.arguments)
    if todos is not None:
        items = (
            f'<li class="{todo.state}"><span aria-hidden="true">{SIGNS[todo.state]}</span> '
            f"{escape(safe_text(todo.text))}{_hidden(todo.state)}</li>"
            for todo in todos[1]
        )
        yield f'<ul class="todos">{"".join(items)}</ul>'
    for change in changes.files:
        yield change_block(change, with_path=len(changes.files) > 1)


def _hidden(state: str) -> str:
    """Returns the state for readers who do not see the box."""
    return f' <span class="unseen">({state})</span>' if state != "open" else ""


def _fields(arguments: dict[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        if name in COMMANDS and command_of(value):
            yield f'<pre class="code">{code(safe_text(f"$ {command_of(value)}", lines=True), "console")}</pre>'
        elif name in MARKDOWN and isinstance(value, str) and "\n" in value:
            yield f'<div class="text inset">{html(safe_text(value, lines=True))}</div>'
        else:
            yield f'<div class="field"><span class="dim">{escape(safe_text(name))}</span> {_value(value)}</div>'


def _value(value: Any) -> str:
    if isinstance(value, str):
        text = safe_text(value, lines=True)
        return f"<pre>{escape(text)}</pre>" if "\n" in text else f"<code>{escape(text)}</code>"
    return f"<code>{escape(json_text(builtins(value)))}</code>"


def result_block(
    result: ToolResult,
    status: str,
    *,
    index: int | None = None,
    call: str = "",
    is_open: bool = False,
    agent: bool = False,
) -> str:
    """Returns a folded result: its first words, then all of it.

    Under its call it links to its message; elsewhere it links to the call. The answer of an agent is Markdown.
    """
    number = call.removeprefix("#")
    link = _link(f"m{index}", str(index), "link", f"link to message {index}") if index is not None else ""
    link += _link(f"call-{number}", call, "mark", f"to call {number}") if number != call else ""
    label = (
        f' <span class="link">{index}</span>'
        if index is not None
        else f' <span class="mark">{call}</span>' * bool(call)
    )
    output = CommandOutput("\n\n".join(map(part_text, result.value))) if agent and result.kind == "multimodal" else None
    output = output or output_of(part_text(result), is_failed=is_error(result))
    text = safe_text(output.text, lines=True)
    first = plain(text, FIRST) if agent else one_line(text, FIRST)
    shown = "".join(map(_piece, result.value)) if result.kind == "multimodal" and not agent else _text(text, agent)
    size = _dim(counted(len(text), "character"), "size")
    place = f' id="m{index}"' if index is not None else ""
    badge = _state(status, output) or (_badge("ok", "result") if status == "ok" else "")
    return (
        f'<details class="result"{place}{" open" * is_open}><summary>{badge} <span class="first">{escape(first)}'
        f"</span>{size}{label}</summary>{link}{shown}</details>"
    )


def _text(text: str, is_markdown: bool) -> str:
    if not text:
        return ""
    return f'<div class="text inset">{html(text)}</div>' if is_markdown else f"<pre>{escape(text)}</pre>"


def _link(place: str, words: str, kind: str, label: str) -> str:
    """Returns a link that stands over the same words in the line of an open fold: a fold has no link in its line."""
    return f'<a href="#{place}" class="{kind}" aria-label="{label}">{words}</a>'


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
