"""The words that messages share: values, counts and keys by name, never by value, and the nearest known word."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from convcli.model.errors import JobError

PLAIN_WORD = re.compile(r"[A-Za-z0-9_.-]{1,40}\Z")
"""What a message may repeat of a document: the name of a role or a key, never a text or a terminal sequence."""
SCALAR_NAMES = {bool: "a boolean", int: "an integer", float: "a number"}
CUTOFF, LOOSE_CUTOFF = 0.6, 0.5
"""How like two words must be, as `difflib` measures it: in documents, and on the command line, where any hint helps."""
MOST_COMPARED = 50
"""Words of a document among which the nearest is looked for: that costs time for each of them, in each finding."""
LENGTHS = ((str, "a string", "character"), (list, "a list", "item"), (dict, "an object", "key"))


def shown_key(word: str) -> str:
    """A name, key or id as a message may show it: only if it is a plain word."""
    return f'"{word}"' if PLAIN_WORD.match(word) else f"a name of {counted(len(word), 'character')}"


def described(value: Any) -> str:
    """The type and the length of a value, without the value."""
    for kind, name, unit in LENGTHS:
        if isinstance(value, kind):
            return f"{name} of {counted(len(value), unit)}" if value else f"an empty {name.split()[1]}"
    return "null" if value is None else SCALAR_NAMES.get(type(value), "a value")


def counted(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'s' * (number != 1)}"


def one_of(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def listed(keys: Iterable[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)


def nearest(word: str, words: Iterable[str], cutoff: float = CUTOFF) -> str | None:
    """The word that is most like this one; None when none is like it."""
    from difflib import get_close_matches  # takes milliseconds to import, and most documents are good

    return next(iter(get_close_matches(word, words, 1, cutoff)), None)


def did_you_mean(word: str, words: Iterable[str], form: str = "did you mean {}?", *, cutoff: float = CUTOFF) -> str:
    """The question whether the nearest of the words was meant, in this form; empty when none is near."""
    near = nearest(word, [other for other in words if PLAIN_WORD.match(other)], cutoff)
    return form.format(f'"{near}"') if near is not None else ""


def brief_hint(word: str, words: Collection[str]) -> str:
    """`did_you_mean` where a document may have any number of words; empty where too many are to be compared."""
    return did_you_mean(word, words) if len(words) <= MOST_COMPARED and PLAIN_WORD.match(word) else ""


def unknown(kind: str, word: str, known: Iterable[str], otherwise: str) -> JobError:
    """The error for a word that is none of the known ones: its help is the nearest of them, else `otherwise`."""
    help_text = did_you_mean(word, known, cutoff=LOOSE_CUTOFF) or otherwise
    return JobError(f"unknown-{kind}", f'there is no {kind} "{word}"', help=help_text)
