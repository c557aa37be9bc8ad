"""A conversation as Markdown, for an issue or a gist: prompts and answers open, calls and thinking folded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from convcli.model.transcript import Media, Message, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Transcript
from convcli.report.text import safe_text
from convcli.views.gists import gist
from convcli.views.program_texts import is_of_program
from convcli.views.rows import CallPairs, part_text

LONGEST = 20_000
"""Characters of one part; GitHub takes 65,536 in a comment."""
NAMES = {"user": "User", "assistant": "Assistant", "system": "System", "developer": "Developer"}


def markdown(
    transcript: Transcript, title: str, about: Sequence[str], masked: Sequence[tuple[str, int]] = ()
) -> Iterator[str]:
    """Yields the Markdown of a transcript; `masked` are the rules that masked something, and how often."""
    pairs = CallPairs(transcript)
    numbers = {id(call): number for number, (_, _, call) in enumerate(pairs.calls)}
    yield f"# {_line(title)}\n\n{_line(' · '.join(about))}\n"
    before = ""
    for message in transcript.messages:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        if message.role == "tool" and all(pairs.call_of[id(part)] is not None for part in results):
            continue
        if message.role != before:
            yield f"\n## {NAMES.get(message.role, _line(message.role))}\n"
        before = message.role
        for part in message.parts:
            yield "\n" + "".join(_part(part, message, pairs, numbers))
    if masked:
        rows = "".join(f"| {rule} | {count:,} |\n" for rule, count in masked)
        yield f"\n## Masked\n\n| rule | times |\n|---|---|\n{rows}"


def _part(part: Part, message: Message, pairs: CallPairs, numbers: dict[int, int]) -> Iterator[str]:
    match part:
        case Text() if message.role in ("system", "developer") or is_of_program(part.text):
            yield _folded(gist(part.text, 80) or "text", part.text)
        case Text() | Refusal():
            yield f"{_inert(safe_text(part.text, lines=True))}\n"
        case Reasoning():
            text = "\n".join([*(part.summary or ()), part.text]).strip()
            if text:
                yield _folded("thinking", text)
        case ToolCall():
            results = [result for _, _, result in pairs.results_of.get(numbers[id(part)], [])]
            status = "".join(f" — {pairs.status(result)}" for result in results if pairs.status(result) == "error")
            text = "\n\n".join([_arguments(part), *map(part_text, results)])
            yield _folded(f"{part.name} {gist(part.arguments, 100)}{status}", text)
        case Media():
            yield f"*[{part.type}]*\n"
        case _:
            yield _folded(part.type, part_text(part))


def _arguments(call: ToolCall) -> str:
    command = call.arguments.get("command")
    return f"$ {command}" if isinstance(command, str) else part_text(call)


def _folded(title: str, text: str) -> str:
    """Returns a part that is closed at first; its text is shown as it is, whatever fences it has."""
    text = safe_text(text, lines=True)
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… {len(text) - LONGEST:,} more characters"
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", shown)), 3)
    heading = _line(title).replace("&", "&amp;").replace("<", "&lt;")
    return f"<details><summary>{heading}</summary>\n\n{fence}text\n{shown}\n{fence}\n\n</details>\n"


def _inert(text: str) -> str:
    """Returns text whose HTML is not interpreted outside of code: placeholders stay visible."""
    return re.sub(r"<(?=[A-Za-z/!?])", "\\\\<", text)


def _line(text: str) -> str:
    return " ".join(safe_text(text).split())
