"""The language of marks: conditions for a document to be in a format, as data.

A mark consists of conditions separated by spaces; all must hold for a value. A condition is a path and a test.

- A path has steps separated by `/`: `KEY` or `KEY|KEY` (one of these keys) · `KEY?` (what is under the key if that is
  an object or a list, otherwise the value itself) · `*` (some item of a list) · `+` (every item, of at least one) ·
  `0`, `-1` (the first and last item) · `@` (some value of an object).
- A test is one of: nothing (there is a value) · `=a|b` one of these strings or integers · `^a|b` a string with such a
  prefix · `~REGEX` a string in which the expression occurs · `:TYPE|TYPE` a value of a type in `TYPES` · `<a|b` an
  object without other keys · `<<a|b` without other keys that have a value · `(MARK)` an object with this mark.
- `!` before a condition: it does not hold. So `!messages/*(!role)` is true if no message lacks a role.

The first condition must name a key. It finds the mark: the other marks are not looked at. So it should be the rarest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeAlias

from convcli.kit.objects import objects_in
from convcli.model.document import Rows
from convcli.wire.patterns import pattern

Holds: TypeAlias = Callable[[Any], str | bool]
"""Returns the first key or string that meets the condition, or True; False if it does not hold."""

MILLISECONDS = 10**11
TYPES: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "text": lambda value: isinstance(value, str) and value != "",
    "upper": lambda value: isinstance(value, str) and value.isupper(),
    "list": lambda value: isinstance(value, list),
    "rows": lambda value: isinstance(value, Rows),
    "dict": lambda value: isinstance(value, dict),
    "bool": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "milliseconds": lambda value: isinstance(value, int) and value >= MILLISECONDS,
    "set": lambda value: value is not None,
}
"""The types of values: `rows` are the lines of a file, `milliseconds` a time since 1970, `set` is anything but null."""
_PATH = pattern(r"[^=^:~<()\s]*")
_VALUES = ("role", "type")
"""Keys whose values find a mark, not the key alone."""
_ITEMS = ("*", "+", "0", "-1", "@")
"""Steps to items."""
_LISTED = "messages"
_HELD = ("content", "tool_calls")
"""Keys of messages below which keys find a mark."""


@cache
def holds(mark: str) -> Holds:
    """Compiles a mark."""
    first, *others = map(_condition, _split(mark))
    if not others:
        return first

    def all_hold(value: Any) -> str | bool:
        found = first(value)
        if found is False:
            return False
        for condition in others:
            if condition(value) is False:
                return False
        return found

    return all_hold


def _split(mark: str) -> Iterator[str]:
    """Yields the conditions: a space within parentheses separates none."""
    start = depth = 0
    for at, sign in enumerate(mark):
        depth += (sign == "(") - (sign == ")")
        if sign == " " and not depth:
            yield mark[start:at]
            start = at + 1
    yield mark[start:]


def _condition(text: str) -> Holds:
    words = text.removeprefix("!")
    path = _PATH.match(words).group()  # type: ignore[union-attr]
    condition = _test(words[len(path) :])
    for step in reversed(path.split("/") if path else ()):
        condition = _step(step, condition)
    return condition if words is text else lambda value: condition(value) is False


def _test(text: str) -> Holds:
    sign, asked = text[:1], text[1:]
    if sign == "(":
        inner = holds(asked[:-1])
        return lambda value: inner(value) if isinstance(value, dict) else False
    if sign == "~":
        search = re.compile(asked).search
        return lambda value: isinstance(value, str) and search(value) is not None
    options = tuple(asked.removeprefix("<").split("|"))
    if sign == ":":
        tests = [TYPES[name] for name in options]
        return tests[0] if len(tests) == 1 else lambda value: any(test(value) for test in tests)
    if sign == "^":
        return lambda value: value if isinstance(value, str) and value.startswith(options) else False
    if sign == "=":
        integers = tuple(int(option) for option in options if option.isdigit())
        return lambda value: (value in options and value) or (value in integers if value.__class__ is int else False)
    if sign == "<":
        keys, is_set = frozenset(options), asked.startswith("<")
        return lambda value: (
            isinstance(value, dict) and all(key in keys or (is_set and below is None) for key, below in value.items())
        )
    return lambda value: True


def _step(step: str, inner: Holds) -> Holds:
    if step == "*":
        return lambda value: _some(value, inner) if isinstance(value, list) else False
    if step == "@":
        return lambda value: _some(value.values(), inner) if isinstance(value, dict) else False
    if step == "+":
        return lambda value: bool(isinstance(value, list) and value and all(inner(one) is not False for one in value))
    if step in ("0", "-1"):
        at = int(step)
        return lambda value: inner(value[at]) if isinstance(value, list) and value else False
    if step.endswith("?"):
        key = step[:-1]
        return lambda value: (
            inner(value[key]) if isinstance(value, dict) and isinstance(value.get(key), (dict, list)) else inner(value)
        )
    keys = step.split("|")
    return _one_key(step, inner) if len(keys) == 1 else _some_key(keys, inner)


def _one_key(key: str, inner: Holds) -> Holds:
    def of_key(value: Any) -> str | bool:
        if not isinstance(value, dict) or key not in value:
            return False
        result = inner(value[key])
        return key if result is True else result

    return of_key


def _some_key(keys: list[str], inner: Holds) -> Holds:
    each = [_one_key(key, inner) for key in keys]

    def of_keys(value: Any) -> str | bool:
        return next((result for one in each if (result := one(value)) is not False), False)

    return of_keys


def _some(values: Iterable[Any], inner: Holds) -> str | bool:
    for value in values:
        result = inner(value)
        if result is not False:
            return result
    return False


# ---------------------------------------------------------------- the keys that find a mark


def names_of(mark: str) -> Iterator[str]:
    """Yields names by the first condition of a mark: it holds only for documents with one of them (`names_in`)."""
    path = _PATH.match(mark.replace("(", "/")).group()  # type: ignore[union-attr]
    sign, asked = mark[len(path) : len(path) + 1], mark[len(path) + 1 :]
    steps = path.split("/")
    while len(steps) > 1:
        first = steps[0].removesuffix("?")
        if first != steps[0] and first != _LISTED:
            yield first
        elif first not in _ITEMS and (first != _LISTED or steps[1] not in _ITEMS):
            break
        del steps[0]
    key, *below = [step for step in steps if step not in _ITEMS]
    head = f"{key}/" if key in _HELD and below else ""
    if head:
        key, *below = below
    if sign == "=" and key in _VALUES and not below:
        values = re.split(r"[ )]", asked, maxsplit=1)[0].split("|")
        yield from (f"{head}{key}:{value}" for value in values)
    else:
        yield from (f"{head}{name}" for name in key.split("|"))


def names_in(document: Any) -> set[str]:
    """Returns the keys of a document, of its items, and of its messages, with their roles and types (`role:user`).

    Keys of their contents and calls are paths (`content/type`).
    """
    names: set[str] = set()
    for each in objects_in(document if isinstance(document, list) else [document]):
        _add_names(each, names)
        for message in objects_in(each.get(_LISTED)):
            _add_names(message, names)
    return names


def _add_names(native: dict[str, Any], names: set[str]) -> None:
    names.update(native)
    for key in _VALUES:
        if isinstance(native.get(key), str):
            names.add(f"{key}:{native[key]}")
    for key in _HELD:
        below = native.get(key)
        for each in objects_in([below] if isinstance(below, dict) else below):
            names.update([f"{key}/{name}" for name in each])
            if isinstance(each.get("type"), str):
                names.add(f"{key}/type:{each['type']}")
