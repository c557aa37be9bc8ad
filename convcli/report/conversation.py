"""A conversation as Markdown, for an issue or a gist: prompts and answers open, calls, their runs and thinking folded.

Nothing in a transcript can end a fold: its HTML is escaped outside of code, and open fences are closed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from convcli.model.transcript import Media, Message, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Transcript
from convcli.report.inert_markdown import inert
from convcli.report.text import safe_text
from convcli.views.agent_runs import Numbered, runs_of, summary_of
from convcli.views.gists import gist
from convcli.views.outputs import output_of
from convcli.views.program_texts import content_of, label_of, segments
from convcli.views.rows import CallPairs, is_error, part_text

LONGEST = 20_000
"""Characters of one part; GitHub takes 65,536 in a comment."""
PREVIEW = 80
"""Characters of a folded text in its heading."""
NAMES = {"user": "User", "assistant": "Assistant", "system": "System", "developer": "Developer"}


def markdown(
    transcript: Transcript, title: str, about: Sequence[str], masked: Sequence[tuple[str, int]] = ()
) -> Iterator[str]:
    """Yields the Markdown of a transcript; `masked` are the rules that masked something, and how often."""
    yield f"# {_line(title)}\n\n{_line(' · '.join(about))}\n"
    yield from _Conversation(transcript).written()
    if masked:
        rows = "".join(f"| {rule} | {count:,} |\n" for rule, count in masked)
        yield f"\n## Masked\n\n| rule | times |\n|---|---|\n{rows}"


class _Conversation:
    """One conversation: which result and which run belongs under which call."""

    def __init__(self, transcript: Transcript) -> None:
        self.messages, self.pairs = transcript.messages, CallPairs(transcript)
        self.numbers = {id(call): number for number, (_, _, call) in enumerate(self.pairs.calls)}
        self.runs, self.nested = runs_of(self.messages, self.pairs)

    def written(self) -> Iterator[str]:
        top = [(index, message) for index, message in enumerate(self.messages) if index not in self.nested]
        yield from self._of(top, "\n## {}\n")

    def _of(self, numbered: Iterable[Numbered], heading: str) -> Iterator[str]:
        """Yields these messages; the first of each role in turn has a heading."""
        before = ""
        for _, message in numbered:
            results = [part for part in message.parts if isinstance(part, ToolResult)]
            if message.role == "tool" and all(self.pairs.call_of[id(part)] is not None for part in results):
                continue
            if message.role != before:
                yield heading.format(NAMES.get(message.role, _line(message.role)))
            before = message.role
            for part in message.parts:
                yield from (f"\n{piece}" for piece in self._part(part, message))

    def _part(self, part: Part, message: Message) -> Iterator[str]:
        match part:
            case Text() if message.role in ("system", "developer"):
                yield _folded(gist(part.text, PREVIEW) or "text", part.text)
            case Text() if message.role == "user":
                for text, is_of_program in segments(part.text):
                    preview = f"{label_of(text)}: {content_of(text)}"
                    yield _folded(gist(preview, PREVIEW), text) if is_of_program else _open(text)
            case Text() | Refusal():
                yield _open(part.text)
            case Reasoning():
                text = "\n".join([*(part.summary or ()), part.text]).strip()
                if text:
                    yield _folded("thinking", text)
            case ToolCall():
                yield self._call(part)
            case Media():
                yield f"*[{part.type}]*\n"
            case _:
                yield _folded(part.type, part_text(part))

    def _call(self, call: ToolCall) -> str:
        number = self.numbers[id(call)]
        results = [result for _, _, result in self.pairs.results_of.get(number, [])]
        status = "".join(" — error" for result in results if self.pairs.status(result) == "error")
        outputs = [output_of(part_text(result), is_failed=is_error(result)).text for result in results]
        title, run = f"{call.name} {gist(call.arguments, 100)}{status}", self.runs.get(number)
        if not run:
            return _folded(title, "\n\n".join([_arguments(call), *outputs]))
        inside = _fold(summary_of(run), "".join(self._of(run, "\n**{}**\n")))
        answers = "".join(f"\n{_open(output)}" for output in outputs)
        return _fold(title, f"{_fenced(_arguments(call))}\n{inside}{answers}")


def _arguments(call: ToolCall) -> str:
    command = call.arguments.get("command")
    return f"$ {command}" if isinstance(command, str) else part_text(call)


def _open(text: str) -> str:
    """Returns text as Markdown."""
    return f"{inert(safe_text(text, lines=True))}\n"


def _folded(title: str, text: str) -> str:
    """Returns a text that is closed at first, and shown as it is."""
    return _fold(title, _fenced(text))


def _fold(title: str, content: str) -> str:
    heading = _line(title).replace("&", "&amp;").replace("<", "&lt;")
    return f"<details><summary>{heading}</summary>\n\n{content}\n</details>\n"


def _fenced(text: str) -> str:
    """Returns text as a block of code, whatever fences it has."""
    text = safe_text(text, lines=True)
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… {len(text) - LONGEST:,} more characters"
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", shown)), 3)
    return f"{fence}text\n{shown}\n{fence}\n"


def _line(text: str) -> str:
    return " ".join(safe_text(text).split())
