"""Replacement values for free values: marks, which are recognized in the output, and probes, which may reveal rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from itertools import count, repeat
from typing import Any

from convcli.engine.shapes import values as free
from convcli.engine.shapes.reading import Format, Place, filled
from convcli.engine.shapes.values import ARGUMENTS, ID, NAME, TEXT
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolDefinition, ToolResult, Transcript
from convcli.wire.patterns import pattern

TEXTS = (
    "a", " a", "a\n", "\ta\r\n\n", "0", "-1.5e3", "true", "null", "None", '"a"', "```json\n{}\n```", "---\na: b\n---",
    "<think>a</think>b", "<think>", "</think>a", "<think>\n\n</think>\n\na", "<thinking>a</thinking>",
    '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>', "<tool_response>\na\n</tool_response>", "<tools>[]",
    "<image>", "<audio>a</audio>", "<|im_start|>user\na<|im_end|>", "<|channel|>final<|message|>a<|end|>",
    "[INST] a [/INST]", "[TOOL_CALLS][]", "Error: a", "error", "[error] a", "Interrupted", "Observation: a",
    "data:image/png;base64,iVBORw0KGgo=", "https://example.com/a.png", "@a.txt", "/compact", "# a", "\u2028é👩‍👧",
    "\0\x1b[31m", "{{ a }}", "%s {0} $a",
    "2026-01-02T03:04:05.678Z", "2026-01-02", "366de010-5128-8239-84cb-193d9e62e120", "image/png", "claude-opus-5",
    "a b c d", "A sentence.", "user: a", "Human: a", "\\n\\u0041", "a" * 3000,
)  # fmt: skip
"""Texts that some reader might interpret."""
JSON_TEXTS = (
    '{"a": 1}', '{"a":"b"}', '[{"a": 1.50, "b": null}]', " {}\n", "[]", '["a", 2]', '{"a": 1, "a": 2}', '{"a": NaN}',
    "{a", "[a", '{"error": "a"}', '{"error":{"message":"a","code":1}}', '{"is_error": true, "message": "a"}',
    '{"status": "error"}', '{"output": "a", "metadata": {"exit_code": 1, "duration_seconds": 0.5}}', '{"result": "a"}',
    '{"content": "a"}', '{"stdout": "a", "stderr": "b", "exit_code": 1}',
    '{"success": false, "data": {"a": 10000000000000000000000.5}}', '{"type": "text", "text": "a"}',
    '[{"type": "text", "text": "a"}]', '{"name": "f", "arguments": {"a": 1}}', '[{"name": "f", "arguments": "{}"}]',
    '{"role": "user", "content": "a"}', '{"thought": "a", "response": "b"}', '{"schema": {"type": "object"}}',
    '{"\\u0061": "\\ud800"}', '"{}"', '```json\n{"a": 1}\n```',
)  # fmt: skip
"""Texts that are JSON, or begin as JSON does, with the keys by which readers recognize calls, results and failures."""
OBJECTS: tuple[dict[str, Any], ...] = (
    {"a": 1}, {"": ""}, {"a": {"b": [1, {"c": 1.5}, {}, []]}}, {"input": "a"}, {"a": 2**53, "b": -1e30},
    {"error": "a"}, {"type": "text", "text": "a"}, {"1": False}, {"a": "x" * 3000}, {"arguments": {"a": 1}},
    {"é": "\u2028"},
)  # fmt: skip
NAMES = (
    "f", "A", "x" * 40, "a1_", "unknown", "null", "None", "true", "name", "error", "output", "result", "response",
    "string", "object", "json", "schema", "function", "functions", "tool", "user", "assistant", "system", "model",
    "human", "gpt", "chatgpt", "bing", "bard", "auto", "any", "none", "required", "default", "search", "read_file",
    "Read", "bash", "Bash", "shell", "exec_command", "Execute", "apply_patch", "python", "browser", "web_search",
    "code_execution", "computer", "image_generation", "mcp__a__b", "finish", "final_answer", "think", "multi_tool_use",
)  # fmt: skip
"""Names that some reader might know."""
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
"""A conversation with parts that some dialects store in text."""

MARK = pattern(r"73(\d{5})91")
"""The pattern around the number in every mark."""


def mark(kind: int, old: Any, number: int) -> Any:
    """Returns the mark with this number for a free value of this kind, of the same class as the old value."""
    text = f"73{number:05}91"
    if kind == TEXT:
        return f"text {text} of them."  # language, so that a loss of it is content where the value decides that
    if kind == NAME:
        return f"n{text}"
    if kind == ID:
        return text if len(old) == len(text) else f"{_start(old)}{text}aaaaaaaaaa"
    if kind == ARGUMENTS:
        return {"mark": text}
    return old.__class__(text)


def texts_for(source: Dialect, target: Dialect) -> list[str]:
    """Returns the probe texts: `TEXTS`, `JSON_TEXTS`, and those in which these dialects store what others have fields
    for."""
    return [*dict.fromkeys((*TEXTS, *JSON_TEXTS, *_written_by(source), *_written_by(target)))]


@cache
def _written_by(dialect: Dialect) -> tuple[str, ...]:
    """Returns the texts of a full conversation in all forms of the dialect."""
    texts: dict[str, None] = {}

    def note(kind: int, old: Any, place: Place) -> Any:
        if kind == TEXT:
            texts[old] = None
        return old

    for form in dialect.forms:
        with suppress(Exception):  # plugins may raise anything; they then have fewer probes
            document = dialect.lower(EVERYTHING, Options(form=form))
            rows = document if isinstance(document, list) else [document]
            for row in (row for row in rows if isinstance(row, dict)):
                filled(row, Format(frozenset(row)), note)
    return tuple(texts)


def variants(document: dict[str, Any], form: Format, texts: list[str]) -> Iterator[dict[str, Any]]:
    """Yields the document with probes: in each variant every value is new; in the last, values of a kind are equal,
    except ids."""
    texts = [text for text in texts if not form.excludes(text)]
    for first in range(max(len(texts), len(NAMES))):
        yield filled(document, form, partial(_next_probe, texts, count(first), count(first)))
    yield filled(document, form, partial(_next_probe, texts, repeat(0), count()))


def _next_probe(
    texts: list[str], numbers: Iterator[int], different: Iterator[int], kind: int, old: Any, place: Place
) -> Any:
    number = next(different if kind in (ID, NAME) else numbers)
    return texts[number % len(texts)] if kind == TEXT else _probe(kind, old, number)


def _probe(kind: int, old: Any, number: int) -> Any:
    if kind == ID:
        is_mistral = len(old) == 9
        rest = f"{number}{'b' * (number % 3 * free.LONGEST_ID)}"[: free.LONGEST_ID].ljust(10, "c")
        return f"{number:09}" if is_mistral else f"{_start(old)}{rest}"
    if kind == NAME:
        turn, which = divmod(number, len(NAMES))
        return NAMES[which] if turn % 2 == 0 else f"n{number}"
    if kind == ARGUMENTS:
        return OBJECTS[number % len(OBJECTS)]
    return old.__class__(NUMBERS[number % len(NUMBERS)])


def _start(id_: str) -> str:
    """Returns the prefix of an id, with its separator."""
    known = free.id_class(id_)
    return f"{known[0]}_" if known is not None and known[0] else ""
