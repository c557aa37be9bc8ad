"""The JSON Schemas of convcli: where they are, whether a document passes one, and what is wrong where it does not.

`jsonschema_rs` gives the verdict and the places within microseconds per kilobyte. `jsonschema` takes over where it is
missing or cannot hold a value (a lone surrogate). Both are imported when first needed, and neither opens a connection;
a few small good documents need neither (`glance`). Tests hold all three together. The words are ours: messages of
theirs quote the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

PLAIN_WORD = re.compile(r"[A-Za-z0-9_.-]{1,40}\Z")
"""What a message may repeat of a document: the name of a role or a key, never a text or a terminal sequence."""
FOUND = {bool: "a boolean", int: "an integer", float: "a number"}
LENGTHS = ((str, "a string", "character"), (list, "a list", "item"), (dict, "an object", "key"))


def shown_key(word: str) -> str:
    return f'"{word}"' if PLAIN_WORD.match(word) else f"a name of {counted(len(word), 'character')}"


def described(value: Any) -> str:
    """The type and the length of a value, without the value."""
    for kind, name, unit in LENGTHS:
        if isinstance(value, kind):
            return f"{name} of {counted(len(value), unit)}" if value else f"an empty {name.split()[1]}"
    return "null" if value is None else FOUND.get(type(value), "a value")


def counted(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'s' * (number != 1)}"


def one_of(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def listed(keys: Iterable[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)


def did_you_mean(word: str, words: Iterable[str], form: str = "did you mean {}?") -> str:
    from difflib import get_close_matches  # most documents are good

    near = get_close_matches(word, [other for other in words if PLAIN_WORD.match(other)], 1)
    return form.format(f'"{near[0]}"') if near else ""
