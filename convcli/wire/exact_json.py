"""Bytes ⇄ JSON values, exactly. No number, key or character changes without an error.

orjson is fast, but without an error it turns integers beyond 64 bits into floats, rounds what a double cannot
represent, and keeps the last of two equal keys. So its result is written again: equal bytes prove that nothing was
lost, because the value then determines the text.
Texts that another writer spaced or escaped differently are proved by two counts (`_proved`), those inside a string
that are only spaced by a comparison without white space, and whatever is left goes to the strict reader. Numbers are
exact at any size; what a double cannot hold is a `decimals.Decimal`.
A large text is read and written without orjson where the memory that it requests is not to be had (`wire.space`).
Only this module and `exact_writer` use orjson.
"""

from __future__ import annotations

from _thread import _local as local  # as in `threading`, which nothing else here imports
from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import Any

import msgspec
import orjson

from convcli.wire import space, strict_json
from convcli.wire.pointers import is_index, steps
from convcli.wire.strict_json import BEGIN, MAX_DEPTH, DuplicateKeys, Position

__all__ = [
    "BEGIN",
    "DuplicateKeys",
    "Order",
    "Position",
    "exact",
    "key",
    "locate_all",
    "parse",
    "parse_rounded",
    "parse_text",
    "write",
    "write_line",
    "write_text",
]

_SPACES = b" \t\n\r"
_DIGITS_TO_ZERO = bytes.maketrans(b"123456789.", b"0000000000")
_TOO_LONG = b"0" * 16
"""Digits and a point. A double preserves 15 digits, unless the number is `_TINY`, and 64 bits preserve 18."""
_TINY = 1e-290
_SMALL, _SMALL_TOO = b"0e-000", b"0E-000"
"""The start of a `_TINY` number with few digits."""
_MIN_DEEP = 2 * (MAX_DEPTH + 1)
"""The fewest characters of a text that is too deep: each level has an opening and a closing bracket."""
_dumps: Callable[..., bytes] = orjson.dumps
"""orjson's function, or from the first large text on one that requests the memory before."""
_SCALARS = frozenset((str, int, bool))
"""Types whose values are the same JSON value if they are equal."""


def parse(data: bytes | str, *, duplicate_keys: DuplicateKeys = "error", start: Position = BEGIN) -> Any:
    """Parses a whole JSON document (RFC 8259), at most 200 levels deep; lone surrogates are kept.

    A leading byte order mark is accepted in bytes, not in a `str`, where it could be text. `start` is the position of
    `data` in its file. Raises ContentError with a position and one of the codes `empty-input`,
    `wrong-encoding`, `not-utf8`, `misplaced-bom`, `not-json`, `not-finite`, `number-overflow`, `duplicate-key`,
    `control-character`, `too-deep`, `big-number`.
    """
    return _parse(data, duplicate_keys, start)[0]


def parse_text(text: str) -> tuple[Any, bool]:
    """Parses JSON inside a string; also returns whether `write_text` gives the same text. Raises as `parse` does."""
    is_flat = len(text) < _MIN_DEEP or text.count("{") + text.count("[") <= MAX_DEPTH
    if is_flat and len(text) <= space.LARGE:  # nearly all are
        try:
            raw, value = text.encode(), orjson.loads(text)
            again = orjson.dumps(value)
            if again == raw:
                return value, True
            if _is_spaced(raw, again) or _proved(raw, value, again, "error"):
                return value, False
        except (ValueError, TypeError, MemoryError):
            pass
    value, is_same = _parse(text, "error", BEGIN)
    return value, is_same or write_text(value) == text


def parse_rounded(text: str) -> Any:
    """Parses JSON inside a string; numbers may be rounded to doubles.

    For callers that need only its keys, and to know that it is valid. Raises as `parse` does.
    """
    try:
        is_short = len(text) <= MAX_DEPTH  # most are, and cannot be too deep
        if not is_short and len(text) > space.LARGE:
            _measure_values()
            space.request(space.of_reading(text.encode()))
        value = orjson.loads(text)
        has_all_keys = text.count('"') == _dumps(value).count(b'"') and r"\u0022" not in text
        if has_all_keys and (is_short or text.count("{") + text.count("[") <= MAX_DEPTH):
            return value
    except (ValueError, TypeError, MemoryError):
        pass
    return _parse(text, "error", BEGIN)[0]


def _parse(data: bytes | str, duplicate_keys: DuplicateKeys, start: Position) -> tuple[Any, bool]:
    try:
        raw = data if isinstance(data, bytes) else data.encode()
        if len(raw) > space.LARGE:
            _measure_values()
            space.request(space.of_reading(raw))
        value = orjson.loads(raw)
        again, around = (_dumps(value), 0) if len(raw) < _MIN_DEEP else _dump_within_depth(value)
    except (ValueError, TypeError, MemoryError):  # refused by orjson, raw surrogates in a str, too deep, too large
        return strict_json.read(data, duplicate_keys=duplicate_keys, start=start), False
    if again == raw or (around and len(again) == len(raw) + 2 * around and again.startswith(raw, around)):
        return value, True
    if _proved(raw, value, again, duplicate_keys):
        return value, False
    return strict_json.read(data, duplicate_keys=duplicate_keys, start=start), False


def _measure_values() -> None:
    """Measures each value from now on before orjson writes it: it may have long strings of a large text."""
    global _dumps

    def dumps(value: Any, option: int = 0) -> bytes:
        space.request(space.of_writing(value))
        return orjson.dumps(value, option=option)

    _dumps = dumps


def _is_spaced(raw: bytes, again: bytes) -> bool:
    """True if a text differs only in white space from what was written of its value, which has all of its strings: then
    its keys and numbers are there too. False is no verdict yet."""
    return raw.translate(None, _SPACES) == again.translate(None, _SPACES)


def _proved(raw: bytes, value: Any, again: bytes, duplicate_keys: DuplicateKeys) -> bool:
    """True only if no key was dropped and every number is exact; may be False without need.

    A dropped entry loses at least the two quotes of its key. Writing adds a quote only for one spelled as `\\u0022`.
    """
    if duplicate_keys == "error" and (raw.count(b'"') != again.count(b'"') or rb"\u0022" in raw):
        return False
    digits = raw.translate(_DIGITS_TO_ZERO)
    if _TOO_LONG in digits:
        return False
    return not ((_SMALL in digits or _SMALL_TOO in digits) and _holds_tiny(value))


def _holds_tiny(value: Any) -> bool:
    """True if there is a number to which a number below the smallest doubles may have been rounded."""
    stack = [value]
    while stack:
        node = stack.pop()
        if node.__class__ is dict:
            stack.extend(node.values())
        elif node.__class__ is list:
            stack.extend(node)
        elif node.__class__ is float and -_TINY < node < _TINY:
            return True
    return False


def _dump_within_depth(value: Any) -> tuple[bytes, int]:
    """Returns orjson's output for a value, and the number of lists around it, which use up orjson's depth limit.

    Raises TypeError beyond 200 levels."""
    try:
        nest: Nest = _of_thread.nest
    except AttributeError:
        nest = nest_of_thread()
    nest.inner[0] = value
    try:
        return _dumps(nest.outer), nest.spare
    finally:
        nest.inner[0] = None


class Nest(msgspec.Struct, frozen=True):
    """`spare` nested lists, as many as orjson writes beyond our limit."""

    spare: int
    outer: list[Any]
    inner: list[Any]


_of_thread = local()


def nest_of_thread() -> Nest:
    """Returns the lists of this thread: shared ones would mix the values of threads."""
    known: Nest | None = getattr(_of_thread, "nest", None)
    if known is not None:
        return known
    inner: list[Any] = [None]
    outer = inner
    for _ in range(_spare_depth() - 1):
        outer = [outer]
    _of_thread.nest = nest = Nest(_spare_depth(), outer, inner)
    return nest


@cache
def _spare_depth() -> int:
    """Returns how many levels orjson writes beyond our limit; this differs between its versions."""
    value: list[Any] = []
    for _ in range(MAX_DEPTH):
        value = [value]
    spare = 0
    while True:
        try:
            orjson.dumps(value)
        except TypeError:
            return spare
        value, spare = [value], spare + 1


def write(value: Any, *, indent: bool = False) -> bytes:
    """Returns a JSON value as UTF-8, compact or indented by two, without a final newline.

    Integers beyond 64 bits, lone surrogates (as the escapes that were read, or in small letters) and depths that orjson
    refuses come out in the same layout. Raises TypeError for what is not a JSON value.
    """
    try:
        return _dumps(value, option=orjson.OPT_INDENT_2 if indent else 0)
    except (TypeError, MemoryError):
        return b"".join(_pieces(value, indent))


def write_line(value: Any, *, indent: bool = False) -> bytes:
    """Like `write`, with a final newline; avoids a second copy of large text."""
    try:
        return _dumps(value, option=orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0))
    except (TypeError, MemoryError):
        return b"".join((*_pieces(value, indent), b"\n"))


def _pieces(value: Any, indent: bool = False, *, spelled: bool = True) -> Iterator[bytes]:
    from convcli.wire.exact_writer import pieces  # rarely needed

    return pieces(value, indent, spelled=spelled)


def write_text(value: Any) -> str:
    """Returns a JSON value as a compact string, for JSON inside a string."""
    return write(value).decode()


def digest(value: Any) -> str:
    """Returns the SHA-256 of a JSON value in hexadecimal; it depends on values and key order, not on layout."""
    from hashlib import sha256  # slow to import, and rarely needed

    return sha256(key(value)).hexdigest()


def exact(a: Any, b: Any) -> bool:
    """True if both are the same JSON value: same types (1, 1.0 and true differ), same keys in the same order."""
    if a.__class__ is b.__class__ and a.__class__ in _SCALARS:
        return bool(a == b)
    return a is b or (a is not None and b is not None and key(a) == key(b))


def key(value: Any) -> bytes:
    """Returns equal bytes for equal JSON values, however lone surrogates are spelled, and different bytes otherwise."""
    try:
        return _dumps(value)
    except (TypeError, MemoryError):
        return b"".join(_pieces(value, spelled=False))


def locate_all(data: bytes, pointers: Collection[str]) -> dict[str, Position]:
    """Returns line, column and byte of the values at these JSON Pointers; (0, 0, -1) if absent."""
    paths = {pointer: steps(pointer) for pointer in pointers}
    located = strict_json.positions(data, paths.values())
    return {pointer: located.get(path, strict_json.ABSENT) for pointer, path in paths.items()}


class Order:
    """The order of a document: sorts JSON Pointers by the position of each step in its container.

    An absent value sorts like its last existing parent.
    """

    def __init__(self, document: Any) -> None:
        self._document = document
        self._ranks: dict[int, dict[str, int]] = {}

    def of(self, pointer: str) -> list[int]:
        """Returns a sort key for a pointer."""
        node, position = self._document, list[int]()
        for step in steps(pointer):
            if isinstance(node, dict) and step in node:
                position.append(self._rank(node, step))
                node = node[step]
            elif isinstance(node, list) and is_index(step) and int(step) < len(node):
                position.append(int(step))
                node = node[int(step)]
            else:
                break
        return position

    def _rank(self, node: dict[str, Any], name: str) -> int:
        """Ranks the keys of an object; cached, because each key may have a finding."""
        if id(node) not in self._ranks:
            self._ranks[id(node)] = {key: i for i, key in enumerate(node)}
        return self._ranks[id(node)][name]
