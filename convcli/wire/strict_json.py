"""The strict JSON reader: slower than orjson, exact where orjson is not, and it reports where a document breaks.

It reads RFC 8259 with the standard library, but refuses duplicate keys, NaN and overflow, reads numbers of any size,
keeps lone surrogates, and limits depth. `exact_json.parse` uses it for documents that orjson refuses or may have
changed. A second pass finds positions, only if there is an error."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator
from itertools import accumulate, islice
from json.decoder import JSONDecodeError, JSONDecoder
from typing import Any, Literal, TypeAlias

from convcli.model.errors import ContentError
from convcli.wire import decimals, encodings
from convcli.wire.encodings import BOM
from convcli.wire.patterns import JSON_STRING, pattern
from convcli.wire.pointers import pointer
from convcli.wire.surrogates import spelled

DuplicateKeys: TypeAlias = Literal["error", "last"]
Position: TypeAlias = tuple[int, int, int]
"""Line and column (in characters), both from 1, and the byte offset, from 0."""

BEGIN: Position = (1, 1, 0)
ABSENT: Position = (0, 0, -1)
MAX_DEPTH = 200
SOON = 4 * MAX_DEPTH
"""Brackets after which most documents that are too deep are so: the others are counted only if these are not."""
MAX_SHOWN = 6
"""Steps of the path shown for a document that is too deep."""
MAX_DIGITS = 4_300
BLANK = " \t\n\r"

# Possessive quantifiers: an unterminated string fails at once instead of backtracking.
_CUT_STRING = f"{JSON_STRING}?"
"""A string whose closing quote may be missing."""
_TOKEN = pattern(_CUT_STRING + r'|[\[\]{},]|[^\s",:\[\]{}]++', re.DOTALL)
_BRACKET = pattern(_CUT_STRING + r"|[\[\]{}]", re.DOTALL)
_STRING = pattern(_CUT_STRING, re.DOTALL)
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OTHERS = bytes(byte for byte in range(256) if byte not in _STEPS)
_CUT = pattern(r"-?|\.|[eE][+-]?|t|tr|tru|f|fa|fal|fals|n|nu|nul|\\u[0-9a-fA-F]{0,4}")
_NUMBER = pattern(r"-?(?P<digits>[0-9]+)(?P<rest>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_PYTHON = pattern(r"'|None\b|True\b|False\b|b'|\(")

_SYNTAX = (
    ("Expecting value", "no JSON value begins here"),
    ("Expecting ','", "a comma or a closing bracket is missing here"),
    ("Expecting ':'", "a colon is missing after the key"),
    ("Expecting property name", "a key in double quotes is missing here"),
    ("Illegal trailing comma", "no JSON value begins here"),
    ("Extra data", "one JSON value is complete, and more follows it here"),
    ("Invalid \\", "this is not a JSON escape"),
)


class _RefusedError(ValueError):
    """A defect that the standard library would accept; a second pass identifies and locates it."""


def read(data: bytes | str, *, duplicate_keys: DuplicateKeys = "error", start: Position = BEGIN) -> Any:
    """Parses a whole JSON document exactly: integers as `int` of any size, other numbers as `float`, order kept.

    A number that no double represents is a `decimals.Decimal`, which is written as it was read. A string with half of a
    surrogate pair in capital letters is a `surrogates.Spelled`.

    `start` is the position of `data` in its file, for positions in errors.
    Raises ContentError; the codes are those of `wire.parse`.
    """
    text, start = _decode(data, start)
    if not text.strip(BLANK):
        raise _error("empty-input", "the input is empty", text, 0, start)
    _refuse_depth(text, start)
    try:
        return spelled(_READERS[duplicate_keys].decode(text), text)
    except JSONDecodeError as error:
        raise _syntax_error(text, error, start) from None
    except RecursionError:
        raise _too_deep(text, 0, start) from None
    except ValueError:
        raise _defect(text, duplicate_keys, start) from None


def positions(data: bytes, paths: Collection[tuple[str, ...]]) -> dict[tuple[str, ...], Position]:
    """Returns the positions of the values at these paths in a valid document; absent paths are omitted."""
    start, data = ((1, 1, 3), data[3:]) if data.startswith(BOM) else (BEGIN, data)
    text = data.decode("utf-8", "replace")
    wanted, lengths = frozenset(paths), {len(path) for path in paths}
    offsets: dict[tuple[str, ...], int] = {}
    for kind, at, _, steps in _events(text):
        if kind in "ov" and len(steps) in lengths and (path := tuple(map(str, steps))) in wanted:
            offsets[path] = at  # of equal keys the last one counts, as in the value
        if not any(lengths):
            break  # only the whole document is wanted
    located: dict[tuple[str, ...], Position] = {}
    before, last = 0, start
    for path, at in sorted(offsets.items(), key=lambda pair: pair[1]):
        before, last = at, position(text[before:at], at - before, last)  # each from the one before: one pass
        located[path] = last
    return located


def position(text: str, at: int, start: Position = BEGIN) -> Position:
    """Returns the position of character `at` in text that begins at `start`."""
    line, column, byte = start
    newline = text.rfind("\n", 0, at)
    column = at - newline if newline >= 0 else column + at
    return line + text.count("\n", 0, at), column, byte + len(text[:at].encode("utf-8", "surrogatepass"))


# --- the reader ------------------------------------------------------------------------------------------------------


def _constant(name: str) -> Any:
    raise _RefusedError(name)


def _finite(literal: str) -> float:
    value = decimals.read(literal)
    if math.isinf(value):
        raise _RefusedError(literal)
    return value


def _integer(literal: str) -> int:
    if len(literal) > MAX_DIGITS and len(literal.lstrip("-")) > MAX_DIGITS:
        raise _RefusedError(literal)
    return int(literal)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RefusedError
    return value


_READERS = {
    "error": JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_int=_integer, parse_constant=_constant),
    "last": JSONDecoder(parse_float=_finite, parse_int=_integer, parse_constant=_constant),
}


def _refuse_depth(text: str, start: Position) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    brackets = _STRING.sub("", text).encode("utf-8", "surrogatepass").translate(None, _OTHERS)
    depths = accumulate(map(_STEPS.__getitem__, brackets))
    if max(islice(depths, SOON), default=0) <= MAX_DEPTH and max(depths, default=0) <= MAX_DEPTH:
        return
    depth = 0
    for match in _BRACKET.finditer(text):
        bracket = match[0]
        if bracket in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise _too_deep(text, match.start(), start)
        elif bracket in "]}":
            depth -= 1


# --- bytes to text ---------------------------------------------------------------------------------------------------


def _decode(data: bytes | str, start: Position) -> tuple[str, Position]:
    if isinstance(data, str):
        return data, start
    other = encodings.of_beginning(data)
    if other is not None:
        raise _error(other.code, other.message, "", 0, start, other.help)
    if data.startswith(BOM):
        data, start = data[len(BOM) :], (start[0], start[1], start[2] + len(BOM))
    try:
        return data.decode("utf-8"), start
    except UnicodeDecodeError as error:
        before, other = data[: error.start].decode("utf-8"), encodings.of_invalid(data, error.start)
        raise _error(other.code, other.message, before, len(before), start, other.help) from None


# --- what is wrong, and where ----------------------------------------------------------------------------------------


def _error(
    code: str, message: str, text: str, at: int, start: Position, hint: str = "", where: str = ""
) -> ContentError:
    line, column, byte = position(text, at, start)
    return ContentError(code, message, line=line, column=column, byte=byte, where=where, help=hint)


def _too_deep(text: str, at: int, start: Position) -> ContentError:
    message = f"lists and objects are nested deeper than {MAX_DEPTH} levels"
    return _error("too-deep", message, text, at, start, where=_way_to(text, at))


def _way_to(text: str, at: int) -> str:
    """Returns the first steps of the path to a character; a deep path is not useful in full."""
    try:
        steps = next((list(path) for _, position, _, path in _events(text) if position >= at), [])
    except ValueError:  # a key that is not JSON
        return ""
    return pointer(steps[:MAX_SHOWN])


def _syntax_error(text: str, error: JSONDecodeError, start: Position) -> ContentError:
    at = _first_bad(text, error)
    if error.msg.startswith("Unterminated") or (len(text) - at < 8 and _CUT.fullmatch(text, at)):
        return _error("not-json", "the document ends before it is complete", text, len(text), start)
    if error.msg.startswith("Invalid control") and not text[at:].strip():
        help_text = "was the copy cut short?"
        return _error("not-json", "a string is never closed: the document ends inside it", text, at, start, help_text)
    if error.msg.startswith("Invalid control"):
        return _error(
            "control-character",
            f"a string contains the raw control character U+{ord(text[at]):04X}",
            text,
            at,
            start,
            "inside strings it must be written as an escape",
        )
    if text[at] == "\ufeff":
        return _error("misplaced-bom", "a byte order mark is not allowed here", text, at, start)
    zeros = encodings.of_zeros(text, at)
    if zeros is not None:
        return _error(zeros.code, zeros.message, text, at, start, zeros.help)
    message = next((ours for theirs, ours in _SYNTAX if error.msg.startswith(theirs)), "this is not JSON")
    is_text = start == BEGIN and not _OPENING.search(text)
    return _error("not-json", message, text, at, start, NO_JSON if is_text else _hint(text, at, error.msg))


NO_JSON = "convcli reads JSON, JSON Lines, streams of events (SSE), and tables of Parquet and Arrow"
_OPENING = pattern(r"^[^\S\n]*+[\[{]", re.MULTILINE)
"""The start of a line of JSON that can be a transcript."""


def _first_bad(text: str, error: JSONDecodeError) -> int:
    """Returns the position of the error, the same in every Python version."""
    if error.msg.startswith("Invalid \\"):
        return text.rfind("\\", 0, error.pos + 1)
    if error.msg.startswith("Illegal trailing comma"):
        return len(text) - len(text[error.pos + 1 :].lstrip(BLANK))
    return error.pos


def _hint(text: str, at: int, message: str) -> str:
    if message.startswith("Extra data"):
        return _hint_of_more(text, at)
    if _PYTHON.match(text, at):
        return "this looks like Python's repr; use json.dumps"
    if text.startswith(("//", "/*", "#"), at):
        return "JSON has no comments"
    if text[at] in "]}" and text[:at].rstrip(BLANK).endswith(","):
        return "JSON has no comma before a closing bracket"
    if message.startswith("Expecting property") and (text[at].isalpha() or text[at] in "_$"):
        return "JSON keys need double quotes; this looks like JavaScript"
    return ""


def _hint_of_more(text: str, at: int) -> str:
    if "\n" in text[len(text[:at].rstrip(BLANK)) : at]:
        return "several documents in one file: JSON Lines has one per line"
    return "there are two values on one line; is a newline missing?" if text[at] in '{["' else ""


def _defect(text: str, duplicate_keys: DuplicateKeys, start: Position) -> ContentError:
    """Returns the error for the first defect that JSON's grammar or Python allows but we refuse."""
    seen: list[dict[str, int]] = []
    for kind, at, token, path in _events(text):
        if kind == "o":
            seen.append({})
        elif kind == "c":
            seen.pop()
        elif kind == "v" and (reason := _refusal(token)):
            return _error(*reason, text, at, start, where=pointer(path))
        elif kind == "k" and duplicate_keys == "error":
            first = seen[-1].setdefault(str(path[-1]), at)
            if first != at:
                return _duplicate(text, first, at, path, start)
    raise AssertionError("the reader refused a valid document")


def _refusal(token: str) -> tuple[str, str] | None:
    if token.startswith(("NaN", "Infinity", "-Infinity")):
        return "not-finite", "NaN and Infinity are not JSON numbers"
    number = _NUMBER.match(token)
    if number and number["rest"]:
        return (
            ("number-overflow", "the number is beyond the range of a double") if math.isinf(float(number[0])) else None
        )
    if number and len(number["digits"]) > MAX_DIGITS:
        return "big-number", f"the integer has more than {MAX_DIGITS} digits"
    return None


def _duplicate(text: str, first: int, again: int, path: list[str | int], start: Position) -> ContentError:
    one, two = position(text, first, start), position(text, again, start)
    here = f"line {one[0]} column {one[1]}" if one[0] != two[0] else f"column {one[1]}"
    there = f"line {two[0]} column {two[1]}" if one[0] != two[0] else f"column {two[1]}"
    message = f"the same key twice in one object: {here} (byte {one[2]}) and {there} (byte {two[2]})"
    return _error("duplicate-key", message, text, again, start, "--duplicate-keys last keeps the last", pointer(path))


# --- the second pass -------------------------------------------------------------------------------------------------


def _events(text: str) -> Iterator[tuple[str, int, str, list[str | int]]]:
    """Yields each `o`pening, `c`losing, `k`ey and `v`alue with its position, text and path (one live list)."""
    path: list[str | int] = []
    open_brackets: list[str] = []
    key_next = False
    for match in _TOKEN.finditer(text):
        token, at = match[0], match.start()
        if token == ",":
            key_next = open_brackets[-1:] == ["{"]
        elif token in "]}":
            key_next = False
            if open_brackets:
                open_brackets.pop()
                path.pop()
            yield "c", at, token, path
        elif key_next:
            key_next = False
            path[-1] = json.loads(token) if "\\" in token else token[1:-1]
            yield "k", at, token, path
        else:
            if open_brackets and open_brackets[-1] == "[":
                path[-1] = int(path[-1]) + 1
            key_next = token == "{"
            yield "o" if token in "[{" else "v", at, token, path
            if token in "[{":
                open_brackets.append(token)
                path.append(-1)
