"""Markdown of a transcript, made safe to stand inside of other Markdown: its HTML is text, and its fences end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from convcli.wire.patterns import pattern

_TAG = pattern(r"<(?=[A-Za-z/!?])")
_SPAN = pattern(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


def inert(text: str) -> str:
    """Returns Markdown that shows the same, and whose `<` begins no HTML. Code stays as it is."""
    lines, written = text.split("\n"), list[str]()
    tokens = _parser().parse(text)
    for begin, end, codes in _blocks(tokens, len(lines)):
        block = "\n".join(lines[begin:end])
        written.append(block if codes is None else _escaped(block, codes))
    return "\n".join([*written, *_end(tokens, lines)])


def _blocks(tokens: Iterable[Any], count: int) -> Iterator[tuple[int, int, set[str] | None]]:
    """Yields consecutive ranges of lines, with the spans of code in them; None for a block that is code."""
    codes = dict[tuple[int, int], set[str] | None]()
    for token in tokens:
        if token.map and token.type in ("fence", "code_block"):
            codes[tuple(token.map)] = None
        elif token.map and token.type == "inline":  # the cells of a row share their range
            spans = codes.setdefault(tuple(token.map), set())
            if spans is not None:
                spans.update(child.content for child in token.children or () if child.type == "code_inline")
    at = 0
    for (begin, end), spans in codes.items():
        if begin > at:
            yield at, begin, set()
        yield max(begin, at), end, spans
        at = end
    if at < count:
        yield at, count, set()


def _escaped(text: str, codes: set[str]) -> str:
    """Returns lines of prose with escaped tags, except in spans of code."""
    pieces, at = list[str](), 0
    for span in _SPAN.finditer(text) if codes else ():
        if _content(span[2]) in codes:
            pieces += [_TAG.sub(r"\\<", text[at : span.start()]), span[0]]
            at = span.end()
    return "".join([*pieces, _TAG.sub(r"\\<", text[at:])])


def _content(code: str) -> str:
    """Returns the content of a span as CommonMark defines it."""
    code = code.replace("\n", " ")
    is_padded = code.startswith(" ") and code.endswith(" ") and code.strip(" ")
    return code[1:-1] if is_padded else code


def _end(tokens: list[Any], lines: list[str]) -> Iterator[str]:
    """Yields the fence that closes the last block of code, if the text ends inside of it."""
    last = next((token for token in reversed(tokens) if token.level == 0 and token.map), None)
    if last is None or last.type != "fence":
        return
    closing = lines[last.map[1] - 1].strip()
    is_closed = last.map[1] - last.map[0] > 1 and closing.startswith(last.markup) and not closing.strip(last.markup[0])
    if not is_closed:
        yield last.markup


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
