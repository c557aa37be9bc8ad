"""Counts the steps of a backtracking search, as the `re` module does it, so that a test needs no clock.

A pattern is run on texts that repeat what its own repeats accept, and then break off: the known way to make a search
take quadratic or exponential time. https://owasp.org/www-community/attacks/Regular_expression_Denial_of_Service_-_ReDoS
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import Any

from re import _constants as op  # type: ignore[attr-defined] # isort: skip
from re import _parser as parser  # type: ignore[attr-defined] # isort: skip

SIZES = 40, 160
"""Lengths of the repeated piece."""
ALPHABET = [chr(code) for code in (*range(9, 14), *range(32, 127), 0xE9, 0x3042, 0x1F3FB, 0xFE0F, 0xD800)]
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
MOST_PIECES = 3
"""Different texts that are tried for each repeat."""


class TooManyError(Exception):
    """The search takes far more steps than a linear one."""


class Search:
    """One pattern, and the steps that its search takes."""

    def __init__(self, pattern: re.Pattern[Any] | tuple[Any, int]) -> None:
        text, flags = (pattern.pattern, pattern.flags) if isinstance(pattern, re.Pattern) else pattern
        text = text.decode("latin-1") if isinstance(text, bytes) else text
        flags = flags & ~re.UNICODE if isinstance(text, str) else flags
        self._flags, self._tree = flags, parser.parse(text, flags)
        self._flags |= self._tree.state.flags
        self._steps = self._most = 0
        self._text = ""
        self._groups: dict[int, tuple[int, int]] = {}

    def steps(self, text: str, *, anchored: bool, most: int) -> int:
        """Returns the number of steps, at every position unless `anchored`. Raises TooManyError beyond `most`."""
        self._text, self._steps, self._most = text, 0, most
        at = 0
        while at <= len(text):
            end = next(self._nodes(list(self._tree), 0, at), None)
            if anchored:
                break
            at = at + 1 if end is None or end == at else end  # like `finditer`, which goes on after a match
        return self._steps

    def end(self, text: str) -> int | None:
        """Returns where a match at the beginning of the text ends."""
        self._text, self._steps, self._most = text, 0, 1 << 20
        return next(self._nodes(list(self._tree), 0, 0), None)

    def texts(self, size: int) -> Iterator[str]:
        """Yields texts that repeat what each repeat of the pattern accepts, `size` times."""
        for before, body in _repeats(list(self._tree), [""]):
            for piece in islice(filter(None, _examples(list(body))), MOST_PIECES):
                for end in ("", "\x0b\x01", "!"):
                    yield f"{before}{piece * size}{end}"
                yield f"{before}{piece}" * size

    def _count(self) -> None:
        self._steps += 1
        if self._steps > self._most:
            raise TooManyError

    def _nodes(self, nodes: list[Any], index: int, at: int) -> Iterator[int]:
        if index == len(nodes):
            yield at
            return
        kind, value = nodes[index]
        for end in self._node(kind, value, at):
            yield from self._nodes(nodes, index + 1, end)

    def _node(self, kind: Any, value: Any, at: int) -> Iterator[int]:
        self._count()
        if kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            if at < len(self._text) and accepts(kind, value, self._text[at], self._flags):
                yield at + 1
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from self._nodes(list(branch), 0, at)
        elif kind is op.SUBPATTERN:
            for end in self._nodes(list(value[3]), 0, at):
                self._groups[value[0]] = at, end
                yield end
        elif kind is op.ATOMIC_GROUP:
            yield from islice(self._nodes(list(value), 0, at), 1)
        elif kind in REPEATS:
            low, high, body = value
            ends = self._repeated(list(body), low, high, at, is_lazy=kind is op.MIN_REPEAT)
            yield from islice(ends, 1) if kind is op.POSSESSIVE_REPEAT else ends
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from self._assertion(kind, value, at)
        elif kind is op.AT:
            if self._is_at(value, at):
                yield at
        elif kind is op.GROUPREF:
            start, end = self._groups.get(value, (0, 0))
            if self._text.startswith(self._text[start:end], at):
                yield at + end - start
        else:
            raise NotImplementedError(kind)

    def _repeated(self, body: list[Any], low: int, high: int, at: int, *, is_lazy: bool) -> Iterator[int]:
        """Yields the ends of a repeat, without recursion: the longest first, or the shortest."""
        if is_lazy and low == 0:
            yield at
        open_ends: list[tuple[Iterator[int], int]] = [(self._nodes(body, 0, at), at)]
        while open_ends:
            ends, begin = open_ends[-1]
            count = len(open_ends)
            end = next(ends, None) if count <= high else None
            if end is None or (end == begin and count > low):
                open_ends.pop()
                if not is_lazy and count - 1 >= low:
                    yield begin
                continue
            if is_lazy and count >= low:
                yield end
            open_ends.append((self._nodes(body, 0, end), end))

    def _assertion(self, kind: Any, value: Any, at: int) -> Iterator[int]:
        direction, body = value
        starts = [at] if direction > 0 else [at - 1]  # the package looks back at one character
        found = any(next(self._nodes(list(body), 0, start), None) is not None for start in starts if start >= 0)
        if found == (kind is op.ASSERT):
            yield at

    def _is_at(self, value: Any, at: int) -> bool:
        text, is_multiline = self._text, self._flags & re.MULTILINE
        if value in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            return at == 0 or bool(value is op.AT_BEGINNING and is_multiline and text[at - 1] == "\n")
        if value in (op.AT_END, op.AT_END_STRING):
            is_last = at == len(text) or (value is op.AT_END and at == len(text) - 1 and text[at] == "\n")
            return is_last or bool(value is op.AT_END and is_multiline and text[at] == "\n")
        sides = [0 <= index < len(text) and re.match(r"\w", text[index]) is not None for index in (at - 1, at)]
        return (sides[0] != sides[1]) == (value is op.AT_BOUNDARY)


def accepts(kind: Any, value: Any, char: str, flags: int) -> bool:
    """True if one character matches a node of one character."""
    if kind is op.ANY:
        return bool(flags & re.DOTALL) or char != "\n"
    if kind in (op.LITERAL, op.NOT_LITERAL):
        is_same = ord(char) == value or bool(flags & re.IGNORECASE and char.lower() == chr(value).lower())
        return is_same == (kind is op.LITERAL)
    items = [item for item in value if item[0] is not op.NEGATE]
    return any(_is_in(item, char, flags) for item in items) != (len(items) < len(value))


def _is_in(item: Any, char: str, flags: int) -> bool:
    kind, value = item
    chars = {char, char.lower(), char.upper()} if flags & re.IGNORECASE else {char}
    if kind is op.LITERAL:
        return chr(value) in chars
    if kind is op.RANGE:
        return any(len(one) == 1 and value[0] <= ord(one) <= value[1] for one in chars)
    return CATEGORIES[value](char)


CATEGORIES: dict[Any, Callable[[str], bool]] = {
    op.CATEGORY_DIGIT: str.isdecimal,
    op.CATEGORY_NOT_DIGIT: lambda char: not char.isdecimal(),
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    op.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    op.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


def _examples(nodes: list[Any]) -> Iterator[str]:
    """Yields some texts that these nodes match."""
    return ("".join(parts) for parts in product(*(list(islice(_of_node(*node), MOST_PIECES)) for node in nodes)))


def _of_node(kind: Any, value: Any) -> Iterator[str]:
    if kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
        chars = [char for char in ALPHABET if accepts(kind, value, char, 0)] or [
            chr(value) if kind is op.LITERAL else ""
        ]
        yield from dict.fromkeys(
            [chars[0], *("\n" for char in chars if char == "\n"), chars[len(chars) // 2], chars[-1]]
        )
    elif kind is op.BRANCH:
        for branch in value[1]:
            yield from islice(_examples(list(branch)), 2)
    elif kind is op.SUBPATTERN:
        yield from _examples(list(value[3]))
    elif kind is op.ATOMIC_GROUP:
        yield from _examples(list(value))
    elif kind in REPEATS:
        for example in islice(_examples(list(value[2])), MOST_PIECES):
            yield example * max(value[0], 1)
    else:
        yield ""


def _repeats(nodes: list[Any], before: list[str]) -> Iterator[tuple[str, Any]]:
    """Yields each repeat without an end, with a text that leads to it."""
    for kind, value in nodes:
        if kind in REPEATS:
            if value[1] is op.MAXREPEAT:
                yield before[0], value[2]
            yield from _repeats(list(value[2]), before)
        elif kind is op.SUBPATTERN:
            yield from _repeats(list(value[3]), before)
        elif kind is op.ATOMIC_GROUP:
            yield from _repeats(list(value), before)
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from _repeats(list(branch), before)
        before = [before[0] + next(_of_node(kind, value), "")]
