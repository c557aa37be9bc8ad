"""Other values for the free ones of a document: marks, which are found again, and probes, at which some might look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from itertools import count, repeat
from typing import Any

from convcli.engine.shapes import values as free
from convcli.engine.shapes.reading import Format, Place, filled
from convcli.engine.shapes.values import ARGUMENTS, ID, TEXT, is_json
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolDefinition, ToolResult, Transcript

TEXTS = (
    "a", " a", "a\n", "\ta\r\n\n", "0", "-1.5e3", "true", "null", "None", '"a"', "```json\n{}\n```", "---\na: b\n---",
    "<think>a</think>b", "<think>", "</think>a", "<think>\n\n</think>\n\na", "<thinking>a</thinking>",
    '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>', "<tool_response>\na\n</tool_response>", "<tools>[]",
    "<image>", "<audio>a</audio>", "<|im_start|>user\na<|im_end|>", "<|channel|>final<|message|>a<|end|>",
    "[INST] a [/INST]", "[TOOL_CALLS][]", "Error: a", "error", "[error] a", "Interrupted", "Observation: a",
    "data:image/png;base64,iVBORw0KGgo=", "https://example.com/a.png", "@a.txt", "/compact", "# a", "\u2028é👩‍👧",
    "\0\x1b[31m", "{{ a }}", "%s {0} $a",
    "2026-01-02T03:04:05.678Z", "2026-01-02", "366de010-5128-8239-84cb-193d9e62e120", "image/png", "claude-opus-5",
    "user: a", "Human: a", "\\n\\u0041", "a" * 3000,
)  # fmt: skip
"""Texts in which some reader might see something else."""
OBJECTS: tuple[dict[str, Any], ...] = (
    {"a": 1}, {"": ""}, {"a": {"b": [1, {"c": 1.5}, {}, []]}}, {"input": "a"}, {"a": 2**63, "b": 10**30},
    {"error": "a"}, {"type": "text", "text": "a"}, {"1": False}, {"a": "x" * 3000}, {"arguments": {"a": 1}},
    {"é": "\u2028"},
)  # fmt: skip
NUMBERS = (0, 1, -1, 2**53 + 1, 1_760_000_000, 1_760_000_000_123)

EVERYTHING = Transcript(
    [
        Message("system", [Text("a")]),
        Message("user", [Text("a"), Media("image", url="https://example.com/a.png")]),
        Message("assistant", [Reasoning("a"), Text("a"), ToolCall("call_1", "f", {"a": 1}), ToolCall("b", "f", {})]),
        Message("tool", [ToolResult("call_1", "f", "data", {"a": 1})]),
        Message("tool", [ToolResult("b", "f", "error", "a")]),
        Message("assistant", [Reasoning("a"), Text("a")]),
    ],
    tools=[ToolDefinition("f", "a", {"type": "object", "properties": {"a": {"type": "integer"}}})],
)
"""A conversation of which some dialects keep parts in texts."""

MARK = re.compile(r"73(\d{5})91")
"""What stands in every mark, around its number."""


def mark(kind: int, old: Any, number: int) -> Any:
    """The mark of this number in place of a free value of this kind, of the class of the old one."""
    found = f"73{number:05}91"
    if kind == TEXT:
        return f"text {found} of them"
    if kind == ID:
        return found if len(old) == len(found) else f"{_start(old)}{found}aaaaaaaaaa"
    if kind == ARGUMENTS:
        return {"mark": found}
    return old.__class__(found)


def texts_for(source: Dialect, target: Dialect) -> list[str]:
    """Texts that are tried: those above, and all in which these dialects themselves write what others have fields for.
    What may be JSON is no free value."""
    found = dict.fromkeys((*TEXTS, *_written_by(source), *_written_by(target)))
    return [text for text in found if not is_json(text)]


@cache
def _written_by(dialect: Dialect) -> tuple[str, ...]:
    """The texts of all its forms of a conversation that holds everything."""
    texts: dict[str, None] = {}

    def note(kind: int, old: Any, place: Place) -> Any:
        if kind == TEXT:
            texts[old] = None
        return old

    for form in dialect.forms:
        with suppress(Exception):  # of a plugin nothing is known; then it has fewer probes
            document = dialect.lower(EVERYTHING, Options(form=form))
            rows = document if isinstance(document, list) else [document]
            for row in (row for row in rows if isinstance(row, dict)):
                filled(row, Format(frozenset(row)), note)
    return tuple(texts)


def variants(document: dict[str, Any], form: Format, texts: list[str]) -> Iterator[dict[str, Any]]:
    """The document with probes: each value is another one, and in each variant one that it was not before; in the last
    one all values of a kind are the same, but for ids."""
    texts = [text for text in texts if not (form.without_tags and free.TAG in text)]
    for first in range(len(texts)):
        yield filled(document, form, partial(_next_probe, texts, count(first), count(first)))
    yield filled(document, form, partial(_next_probe, texts, repeat(0), count()))


def _next_probe(
    texts: list[str], numbers: Iterator[int], different: Iterator[int], kind: int, old: Any, place: Place
) -> Any:
    number = next(different if kind == ID else numbers)
    return texts[number % len(texts)] if kind == TEXT else _probe(kind, old, number)


def _probe(kind: int, old: Any, number: int) -> Any:
    if kind == ID:
        is_nine = len(old) == 9
        rest = f"{number}{'b' * (number % 3 * free.LONGEST_ID)}"[: free.LONGEST_ID].ljust(10, "c")
        return f"{number:09}" if is_nine else f"{_start(old)}{rest}"
    if kind == ARGUMENTS:
        return OBJECTS[number % len(OBJECTS)]
    return old.__class__(NUMBERS[number % len(NUMBERS)])


def _start(id_: str) -> str:
    """The word before an id, with what divides them."""
    known = free.id_class(id_)
    return f"{known[0]}_" if known is not None and known[0] else ""
