"""The messages of a page: an article for each, with results and runs of subagents inside of their calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

from convcli.model.branches import active
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.report.page.calls import AGENTS, Shown, call_card, medium, result_block
from convcli.report.page.markdown import html
from convcli.report.text import json_text, safe_text
from convcli.validation.wording import counted
from convcli.views.agent_runs import Numbered, runs_of, summary_of
from convcli.views.changes import change_of_call
from convcli.views.facts import duration
from convcli.views.outputs import output_of
from convcli.views.program_texts import Segment, content_of, is_message_of_program, label_of, segments
from convcli.views.rows import UNWELL, CallPairs, is_error, part_text, seconds_between
from convcli.views.titles import plain
from convcli.views.todos import todos_of
from convcli.wire.decimals import builtins

ROLES = frozenset(("system", "developer", "user", "assistant", "tool", "event"))
STATUSES = frozenset(("ok", "error", "open", "orphan", "lost"))
FOLDED_ROLES = frozenset(("system", "developer"))
"""Roles whose text no person reads first: it is folded to one line."""
PREVIEW = 160
"""Characters of folded text in its heading."""


class Annotation(NamedTuple):
    """A note on a message: a loss or a finding, with its class and text."""

    kind: str
    text: str


Annotations = Mapping[int, Sequence[Annotation]]
"""By message index; -1 for the transcript as a whole."""


class ConversationView:
    """One conversation: which result and which run belongs under which call, and what is on the active branch."""

    def __init__(self, transcript: Transcript, marks: Annotations) -> None:
        self.transcript, self.marks, self.messages = transcript, marks, transcript.messages
        self.pairs = CallPairs(transcript)
        self.asked = {id(call): (number, message) for number, (_, message, call) in enumerate(self.pairs.calls)}
        kept = set(map(id, active(transcript))) if transcript.head is not None else None
        lists = [id(call) for _, _, call in self.pairs.calls if todos_of(call.arguments) is not None]
        self.shown_lists = {*lists[:1], *lists[-1:]}
        """The first and the last todo list, which are unfolded: the others say what changed in their line."""
        self.runs, self.nested = runs_of(self.messages, self.pairs)
        others = (message for index, message in enumerate(self.messages) if index not in self.nested)
        self.off = {id(message) for message in others if kept is not None and id(message) not in kept}

    def articles(self) -> Iterator[str]:
        """Yields the messages; events are folded into groups, and results are nested under their calls."""
        top = [(index, message) for index, message in enumerate(self.messages) if index not in self.nested]
        yield from self._of(top, "item")

    def failed(self) -> dict[int, ToolCall | None]:
        """Returns the messages with a failure, and the first call that failed in each."""
        failed: dict[int, ToolCall | None] = {}
        for number, (index, _, call) in enumerate(self.pairs.calls):
            if any(is_error(result) for _, _, result in self.pairs.results_of.get(number, ())):
                failed.setdefault(index, call)
        for index, message in enumerate(self.messages):
            if message.error:
                failed.setdefault(index, None)
        return dict(sorted(failed.items()))

    def _of(self, numbered: Iterable[Numbered], kind: str) -> Iterator[str]:
        """Yields these messages as articles of a class."""
        speaker: tuple[Any, ...] | None = None
        shown = (pair for pair in numbered if not self._stands_beneath_calls(pair[1]))
        for is_event, group in groupby(shown, lambda pair: pair[1].role == "event"):
            if is_event:
                yield self._events(list(group), kind)
                continue
            for index, message in group:
                same = message.role, message.name, message.model
                yield self._article(index, message, kind, is_more=same == speaker and message.role != "user")
                speaker = same if not is_message_of_program(message) else None

    def _stands_beneath_calls(self, message: Message) -> bool:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        answers = bool(results) and all(self.pairs.call_of[id(part)] is not None for part in results)
        return answers and len(results) == len(message.parts)

    def _events(self, events: list[Numbered], kind: str) -> str:
        names = [_event_name(message) for _, message in events]
        words = ", ".join(dict.fromkeys(filter(None, names)))
        rows = "".join(
            f'<details id="m{index}"><summary>{escape(safe_text(name or "event"))}</summary>'
            f"<pre>{escape(safe_text(_event_text(message), lines=True))}</pre></details>"
            for name, (index, message) in zip(names, events, strict=True)
        )
        return (
            f'<details class="{kind} events" data-role="event"><summary>{counted(len(events), "event")}'
            f'<span class="dim preview">{escape(safe_text(words[:PREVIEW]))}</span></summary>{rows}</details>\n'
        )

    def _article(self, index: int, message: Message, kind: str, *, is_more: bool) -> str:
        marks = list(self.marks.get(index, ()))
        role = message.role if message.role in ROLES else "other"
        parts = "".join(self._part(part, message, marks) for part in message.parts)
        if message.error:
            parts += f'<p class="state error">{escape(safe_text(message.error))}</p>'
        tools, states = self._tools_and_states(message)
        states |= {"lost"} if marks else set()
        about = (
            f'data-role="{role}" data-tool="{escape(tools)}" data-status="{chr(10).join(sorted(states & STATUSES))}"'
        )
        classes = [kind, role, *self._classes(message, is_more=is_more)]
        head = self._heading(index, message)
        return (
            f'<article class="{" ".join(classes)}" id="m{index}" {about}>\n{head}'
            f'<div class="body">{parts}{mark_list(marks)}</div></article>\n'
        )

    def _classes(self, message: Message, *, is_more: bool) -> Iterator[str]:
        is_quiet = message.role in FOLDED_ROLES or is_message_of_program(message)
        if id(message) in self.off:
            yield "off"
        if is_quiet:
            yield "quiet"
        if is_more and not is_quiet and message.replaces is None:
            yield "more"

    def _tools_and_states(self, message: Message) -> tuple[str, set[str]]:
        """Returns the names of the tools on lines, and the statuses, with those of the runs inside."""
        names, states = dict[str, None](), {"error"} if message.error else set[str]()
        waiting = [message]
        for each in waiting:
            states |= {self._status(part) for part in each.parts} | ({"error"} if each.error else set())
            for part in each.parts:
                if isinstance(part, ToolCall):
                    names[safe_text(part.name)] = None
                    waiting += [run for _, run in self.runs.get(self.asked[id(part)][0], ())]
        return "\n".join(names), states

    def _heading(self, index: int, message: Message) -> str:
        before = self.messages[index - 1].created_at if index else None
        tokens = (message.usage or {}).get("outputTokens")
        unwell = UNWELL.get(message.stop_reason or "")
        words = [message.name, message.model, counted(tokens, "token") if tokens else None]
        words += ["not on the active branch" if id(message) in self.off else None]
        words += ["summary of what came before" if message.replaces is not None else None]
        about = " · ".join(escape(safe_text(word)) for word in words if word)
        state = f' <span class="state error">{unwell}</span>' if unwell else ""
        return (
            f'<h2 class="meta"><span class="role">{escape(safe_text(message.role))}</span> '
            f'<span class="dim about">{about}</span>{state}{_time(message, before)}'
            '<button type="button" class="copy" aria-label="copy this message"></button>'
            f'<a href="#m{index}" class="link" aria-label="link to message {index}">{index}</a></h2>\n'
        )

    def _part(self, part: Part, message: Message, marks: list[Annotation]) -> str:
        match part:
            case Text():
                return _text(part.text, message.role)
            case Reasoning():
                text = safe_text("\n".join([*(part.summary or ()), part.text]), lines=True)
                return folded("thinking", html(text), text, "thinking") if text.strip() else ""
            case ToolCall():
                return self._call(part, marks)
            case ToolResult():
                is_open = message.role == "tool"
                return result_block(part, self.pairs.status(part) or "", call=self.pairs.mark(part), is_open=is_open)
            case Media():
                return medium(part)
            case _:
                kind = part.dialect if isinstance(part, Opaque) else part.type
                text = safe_text(part_text(part), lines=True)
                return folded(kind, f"<pre>{escape(text)}</pre>", text)

    def _call(self, call: ToolCall, marks: list[Annotation]) -> str:
        number, asked = self.asked[id(call)]
        results = self.pairs.results_of.get(number, [])
        changes = change_of_call(call, results)
        is_agent = call.name in AGENTS
        is_seen = any(_has_image(result) for _, _, result in results)
        is_shown = bool(changes.files) or todos_of(call.arguments) is not None
        answer = "".join(
            self._answer(at, by, result, is_agent=is_agent, is_open=is_seen or not is_shown)
            for at, by, result in results
        )
        output = output_of(part_text(results[0][2]), is_failed=is_error(results[0][2])) if results else None
        seconds = seconds_between(asked.created_at, results[0][1].created_at) if results else None
        marks += [mark for at, _, _ in results for mark in self.marks.get(at, ())]
        shown = Shown(answer, self._run(number), output, is_seen or id(call) in self.shown_lists)
        return call_card(call, self.pairs.mark(call), self._status(call), seconds, changes, shown, self.transcript.cwd)

    def _run(self, number: int) -> str:
        """Returns the run of the agent that a call started."""
        run = self.runs.get(number)
        if not run:
            return ""
        return f'<details class="run"><summary>{summary_of(run)}</summary>{"".join(self._of(run, "sub"))}</details>'

    def _answer(self, index: int, message: Message, result: ToolResult, *, is_agent: bool, is_open: bool) -> str:
        if self._stands_beneath_calls(message):
            status = self.pairs.status(result) or ""
            return result_block(result, status, index=index, is_open=is_open, agent=is_agent)
        return f'<p class="elsewhere">its result: <a href="#m{index}">message {index}</a></p>'

    def _status(self, part: Part) -> str:
        """Returns the status of a part; a call has that of its result."""
        if isinstance(part, ToolCall):
            results = self.pairs.results_of.get(self.asked[id(part)][0])
            return self.pairs.status(results[0][2] if results else part) or ""
        return (self.pairs.status(part) or "") if isinstance(part, ToolResult) else ""


def _text(text: str, role: str) -> str:
    """Returns text as Markdown; instructions, and what a program wrote in the user's place, as one line."""
    if not text.strip():
        return ""
    if role == "user":
        return "".join(map(_segment, segments(text)))
    shown = safe_text(text, lines=True)
    return folded(role, html(shown), shown) if role in FOLDED_ROLES else f'<div class="text">{html(shown)}</div>\n'


def _segment(segment: Segment) -> str:
    shown = safe_text(segment.text, lines=True)
    if not segment.is_of_program:
        return f'<div class="text">{html(shown)}</div>\n'
    inside = safe_text(content_of(segment.text))
    return folded(label_of(segment.text), f"<pre>{escape(shown)}</pre>", shown, first=inside)


def folded(title: str, content: str, text: str, kind: str = "program", first: str | None = None) -> str:
    """Returns text that is one line at first: its title, its first words and its length."""
    first = plain(text if first is None else first, PREVIEW)
    return (
        f'<details class="{kind}"><summary><b>{escape(safe_text(title))}</b>'
        f'<span class="dim preview">{escape(first)}</span>'
        f'<span class="dim size">{counted(len(text), "character")}</span></summary>{content}</details>\n'
    )


def mark_list(marks: Sequence[Annotation]) -> str:
    """Returns the notes on a message."""
    items = "".join(f'<li class="{mark.kind}">{escape(safe_text(mark.text))}</li>' for mark in marks)
    return f'<ul class="marks">{items}</ul>\n' if items else ""


def _has_image(result: ToolResult) -> bool:
    return result.kind == "multimodal" and any(
        isinstance(part, Media) and part.type == "image" for part in result.value
    )


def _event_name(message: Message) -> str:
    """Returns the type of an event, as its agent program names it."""
    value: Any = next((part.value for part in message.parts if isinstance(part, Opaque)), None)
    names = [each.get(key) for each in _objects(value) for key in ("subtype", "type", "role")]
    return next((name for name in names if isinstance(name, str)), "")[:PREVIEW]


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yields the object that says most of an event first."""
    if isinstance(value, dict):
        yield from (each for each in (value.get("payload"), value) if isinstance(each, dict))


def _event_text(message: Message) -> str:
    parts = (
        json_text(builtins(part.value), indent=True) if isinstance(part, Opaque) else part_text(part)
        for part in message.parts
    )
    return "\n".join(parts)


def _time(message: Message, before: str | None) -> str:
    """Returns the time of a message; its hint says how much later than the message before, and with what context."""
    time = message.created_at
    if not time:
        return ""
    seconds, usage = seconds_between(before, time), message.usage or {}
    later = f", {duration(seconds)} later" if seconds is not None and seconds >= 1 else ""
    read, written = usage.get("inputTokens"), usage.get("outputTokens")
    later += f", {read or 0:,} tokens read, {written or 0:,} written" if read or written else ""
    full = escape(safe_text(time))
    words = time[11:19] if len(time) >= 19 and time[10:11] == "T" else time[:19]
    return f' <time datetime="{full}" title="{full}{later}">{escape(safe_text(words))}</time>'
