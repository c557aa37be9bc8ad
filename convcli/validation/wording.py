"""Shared wording of messages: values, counts and keys are named, never quoted; and the nearest known word."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from convcli.model.errors import JobError
from convcli.wire.patterns import pattern

SAFE_WORD = pattern(r"[A-Za-z0-9_.-]{1,40}\Z")
"""What a message may quote from a document: the name of a role or key, never text or a terminal sequence."""
SCALAR_NAMES = {bool: "a boolean", int: "an integer", float: "a number"}
EDITS = ((2, 0), (5, 1), (9, 2), (40, 3))
"""Maximum word length, and the number of edits by which such a word may differ from the intended one."""
SHORTEST_PREFIX = 2
"""Minimum length of an abbreviation."""
MOST_COMPARED = 50
"""Limit on a document's words to compare for a hint: each costs time in each finding."""
LENGTHS = ((str, "a string", "character"), (list, "a list", "item"), (dict, "an object", "key"))


def shown_key(word: str) -> str:
    """Quotes a name, key or id if it is a plain word, otherwise gives its length."""
    return f'"{word}"' if SAFE_WORD.match(word) else f"a name of {counted(len(word), 'character')}"


def described(value: Any) -> str:
    """Returns the type and length of a value, without the value."""
    for kind, name, unit in LENGTHS:
        if isinstance(value, kind):
            return f"{name} of {counted(len(value), unit)}" if value else f"an empty {name.split()[1]}"
    return "null" if value is None else SCALAR_NAMES.get(type(value), "a value")


def counted(number: int, unit: str) -> str:
    """Formats a count: `1 error`, `2 errors`."""
    return f"{number:,} {unit}{'s' * (number != 1)}"


def one_of(words: Iterable[str]) -> str:
    """Joins words as alternatives: `a, b or c`."""
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def listed(keys: Iterable[str]) -> str:
    """Quotes keys and joins them with commas."""
    return ", ".join(f'"{key}"' for key in keys)


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Returns the word that was meant, None if none is near.

    Order of preference: the same word with other capitals or hyphens, one that is one letter shorter, the shortest word
    that begins with it, the longest that it begins with, one with the same parts, one that differs in few letters.
    """
    known = {_spelled(other): other for other in reversed(list(words))}
    here = _spelled(word)
    longer = [other for other in known if other.startswith(here)] if len(here) >= SHORTEST_PREFIX else []
    shorter = [other for other in known if here.startswith(f"{other}-")]
    same = [other for other in known if sorted(other.split("-")) == sorted(here.split("-"))]
    if here in known:
        near: str | None = here
    elif here[:-1] in known:
        near = here[:-1]
    elif longer or shorter or same:
        near = min(longer, key=len, default=None) or max(shorter, key=len, default=None) or same[0]
    else:
        near = _least_edited(here, known)
    return None if near is None else known[near]


def _spelled(word: str) -> str:
    """Returns the word in lower case with hyphens between its parts: `toolUse`, `tool_use` and `--tool-use` agree."""
    hyphenated = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_.\s]+", "-", word)
    return hyphenated.strip("-").lower()


def _least_edited(word: str, words: Iterable[str]) -> str | None:
    """Compares only words that may be near: each letter that the other lacks is an edit of its own."""
    most, letters = next((edits for length, edits in EDITS if len(word) <= length), 0), set(word)
    may_be_near = (
        other
        for other in words
        if abs(len(other) - len(word)) <= most
        and len(letters.difference(other)) <= most
        and len(set(other).difference(letters)) <= most
    )
    near = [(edits(word, other), other) for other in may_be_near]
    near = [(number, other) for number, other in near if number <= most]
    return min(near, key=lambda pair: (pair[0], pair[1][:1] != word[:1]), default=(0, None))[1]


def edits(one: str, other: str) -> int:
    """Returns the edit distance: insertions, deletions, replacements and swaps of neighboring letters."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        earlier, before, row = before, row, [at]
        for place, wanted in enumerate(other, 1):
            row.append(min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != wanted)))
            swapped = at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == wanted
            row[-1] = min(row[-1], earlier[place - 2] + 1) if swapped else row[-1]
    return row[-1]


def did_you_mean(word: str, words: Iterable[str], form: str = "did you mean {}?") -> str:
    """Asks whether the nearest of the words was meant, in this form; empty if none is near."""
    near = nearest(word, [other for other in words if SAFE_WORD.match(other)])
    return form.format(f'"{near}"') if near is not None else ""


def brief_hint(word: str, words: Collection[str]) -> str:
    """Like `did_you_mean`, for any number of words; empty if there are too many to compare."""
    return did_you_mean(word, words) if len(words) <= MOST_COMPARED and SAFE_WORD.match(word) else ""


def unknown(
    kind: str, word: str, known: Iterable[str], otherwise: str, synonyms: Mapping[str, str] | None = None
) -> JobError:
    """Returns the error for an unknown word.

    Its help is the known word that `synonyms` maps it to, or the nearest one, else `otherwise`.
    """
    known = list(known)
    squeezed = word.lower().replace("-", "").replace("_", "")
    other = next((meant for name, meant in (synonyms or {}).items() if name.replace("-", "") == squeezed), None)
    help_text = f'did you mean "{other}"?' if other in known else did_you_mean(word, known) or otherwise
    return JobError(f"unknown-{kind}", f'there is no {kind} "{word}"', help=help_text)
