"""The output of a command without what its agent program wrote around it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from convcli.model.errors import ContentError
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

LONGEST_PREAMBLE = 600
"""Characters in which a preamble ends."""
_PREAMBLE = pattern(
    r"(?:(?:Chunk ID: [0-9a-f]+|Wall time: (?P<seconds>[0-9.]+) seconds|Exit code: (?P<exit>-?[0-9]+)"
    r"|Process exited with code (?P<code>-?[0-9]+)|Process running with session ID [0-9]+"
    r"|Original token count: [0-9]+|Total output lines: [0-9]+)\n)+Output:\n"
)
_EXIT = pattern(r"(?:Error: )?(?:Exit|exit) code (?P<code>-?[0-9]+)(?:\n|$)")
_STATED = pattern(r"(?:exited with|exit) code:? (?P<code>-?[0-9]{1,10})\b", re.IGNORECASE)
"""A statement of the exit code within a failure."""
BEGINNING = 200
"""Characters of a failure in which its exit code may be stated."""
_WRAPPED = pattern(r"\s*<(?P<tag>tool_use_error|system)>(?P<text>.*?)</(?P=tag)>\s*", re.DOTALL)
"""An element around a failure: of Claude Code, and of Kimi CLI."""


class CommandOutput(NamedTuple):
    """What a command printed, its exit code, and how long it took, as far as the text states it."""

    text: str
    exit_code: int | None = None
    seconds: float | None = None


def output_of(text: str, *, is_failed: bool = False) -> CommandOutput:
    """Returns the output of a result. Codex puts a preamble or a JSON object around it, Claude Code and Kimi CLI a tag,
    Claude Code also a line.

    The text of a failure may also state the exit code in a sentence, which stays in the text.
    """
    output = _without_frame(text)
    stated = _STATED.search(output.text[:BEGINNING]) if is_failed and output.exit_code is None else None
    return output if stated is None else output._replace(exit_code=int(stated["code"]))


def _without_frame(text: str) -> CommandOutput:
    found = _PREAMBLE.match(text[:LONGEST_PREAMBLE])
    if found is not None:
        code, seconds = found["code"] or found["exit"], found["seconds"]
        return CommandOutput(text[found.end() :], int(code) if code else None, _number(seconds))
    if text.startswith('{"output":'):
        return _of_json(text)
    wrapped = _WRAPPED.fullmatch(text) if text.lstrip().startswith("<") else None
    if wrapped is not None:
        return CommandOutput(wrapped["text"].strip())
    stated = _EXIT.match(text[:LONGEST_PREAMBLE])
    return CommandOutput(text[stated.end() :], int(stated["code"])) if stated is not None else CommandOutput(text)


def _of_json(text: str) -> CommandOutput:
    try:
        value: Any = exact_json.parse(text)
    except ContentError:
        return CommandOutput(text)
    output, facts = (value.get("output"), value.get("metadata")) if isinstance(value, dict) else (None, None)
    if not isinstance(output, str) or not isinstance(facts, dict) or value.keys() != {"output", "metadata"}:
        return CommandOutput(text)
    code, seconds = facts.get("exit_code"), facts.get("duration_seconds")
    return CommandOutput(output, int(code) if isinstance(code, int) else None, _number(seconds))


def _number(value: Any) -> float | None:
    try:
        return float(value) if value is not None else None
    except (TypeError, ValueError):
        return None
