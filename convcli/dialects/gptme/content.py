"""The content of an assistant message of gptme: one string with its thoughts, texts and calls.

Source: gptme/tools/base.py and gptme/llm/llm_anthropic.py of gptme/gptme at d27f98d3; read 2026-11-27.
"""

from __future__ import annotations

import re
from itertools import pairwise

from convcli.kit.objects import as_object, as_text
from convcli.kit.values import read_arguments, write_arguments
from convcli.model.transcript import Part, Reasoning, Text, ToolCall
from convcli.wire.patterns import pattern

MARK = pattern(r"^(?P<fence>`{3,})|^@(?P<name>[\w.]+)\((?P<id>[\w\-:.]+)\):\s*(?={)|<think>\n?", re.MULTILINE)
"""What begins a fenced block, a call or a thought."""
TOKENS = pattern(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}]', re.DOTALL)
"""The strings and braces of JSON. A string that is not closed ends with the text."""
THOUGHT_END, SIGNED, SIGNED_END = "</think>", "<!-- think-sig: ", " -->"
AFTER_THOUGHT, BETWEEN = "\n\n", "\n"


def read(content: str) -> list[Part]:
    """Returns the parts of a content. Calls in fenced blocks are text, as are marks that nothing closes."""
    parts: list[Part] = []
    start = at = 0
    before = ""
    unclosed: set[str] = set()
    while mark := MARK.search(content, at):
        opening = mark["fence"] or ("@" if mark["name"] else "<")
        part, end = _special(content, mark) if opening not in unclosed else (None, -1)
        if end < 0:
            unclosed.add(opening)
        elif part is not None:
            _add_text(parts, content[start : mark.start()], before, BETWEEN)
            parts.append(part)
            start, before = end, AFTER_THOUGHT if isinstance(part, Reasoning) else BETWEEN
        at = max(end, mark.end())
    _add_text(parts, content[start:], before, "")
    return parts


def _add_text(parts: list[Part], text: str, before: str, after: str) -> None:
    """Adds the text between two other pieces, without the line breaks that separate it from them."""
    for line_break in before:
        text = text.removeprefix(line_break)
    text = text.removesuffix(after)
    if text.strip() or (text and not before and not after):
        parts.append(Text(text))


def _special(content: str, mark: re.Match[str]) -> tuple[Part | None, int]:
    """Returns the part that begins at a mark, None for a fenced block, and its end; -1 if nothing closes it."""
    begin = mark.end()
    if mark["fence"]:
        closing = re.compile(rf"^{mark['fence']}[ \t]*$", re.MULTILINE).search(content, begin)
        return None, closing.end() if closing else -1
    end = end_of_object(content, begin) if mark["name"] else content.find(THOUGHT_END, begin)
    if end < 0:
        return None, end
    if mark["name"]:
        return ToolCall(mark["id"], mark["name"], *read_arguments(content[begin:end])), end
    return _read_thought(content[begin:end].removesuffix(BETWEEN)), end + len(THOUGHT_END)


def _read_thought(text: str) -> Reasoning:
    """Returns a thought. Anthropic's signature stands in a comment behind it."""
    head, signed, signature = text.rpartition(SIGNED)
    if not signed or not signature.endswith(SIGNED_END):
        return Reasoning(text)
    return Reasoning(head.removesuffix(BETWEEN), metadata={"signature": signature.removesuffix(SIGNED_END)})


def end_of_object(text: str, start: int = 0) -> int:
    """Returns the end of the JSON object that begins at `start`; -1 if nothing closes it."""
    depth = 0
    for token in TOKENS.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return -1


def write(parts: list[Part]) -> str:
    """Returns the content of parts: the inverse of `read`."""
    pieces = [(part, piece) for part in parts if (piece := _piece(part))]
    joints = [_joint(one, other) for (one, _), (other, _) in pairwise(pieces)]
    return "".join(joint + piece for joint, (_, piece) in zip(["", *joints], pieces, strict=False))


def _joint(one: Part, other: Part) -> str:
    are_texts = isinstance(one, Text) and isinstance(other, Text)
    return AFTER_THOUGHT if are_texts or isinstance(one, Reasoning) else BETWEEN


def _piece(part: Part) -> str:
    if isinstance(part, ToolCall):
        return f"@{part.name}({part.id}): {write_arguments(part.arguments, part.raw_arguments)}"
    if isinstance(part, Reasoning):
        signature = as_text(as_object(part.metadata).get("signature"))
        signed = f"{SIGNED}{signature}{SIGNED_END}{BETWEEN}" if signature else ""
        return f"<think>\n{part.text}{BETWEEN}{signed}{THOUGHT_END}"
    return part.text if isinstance(part, Text) else ""
