"""What the codes of findings, errors and losses mean: a closed table, kept as data in `codes.toml`."""

from __future__ import annotations

import os
from functools import cache

import msgspec


class Code(msgspec.Struct, frozen=True):
    """What a code means: in a few words, why it matters, an example and its mended twin, and what to do."""

    name: str
    title: str
    why: str
    bad: str
    good: str
    mend: str


@cache
def table() -> dict[str, Code]:
    """All codes by name, in the order of the table."""
    import tomllib  # not for every call of the program

    with open(os.path.join(os.path.dirname(__file__), "codes.toml"), "rb") as file:
        loaded = tomllib.load(file)
    return {
        name: Code(name, **{key: text.strip("\n") for key, text in entry.items()}) for name, entry in loaded.items()
    }


def find(name: str) -> Code | None:
    """The code of this name, if there is one."""
    return table().get(name)
