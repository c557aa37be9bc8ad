"""The codes of findings, errors and losses: a closed table, stored in `codes.toml`."""

from __future__ import annotations

import os
from functools import cache

import msgspec


class Code(msgspec.Struct, frozen=True):
    """The meaning of a code: a short title, why it matters, an example, its fixed version, and the fix (`mend`)."""

    name: str
    title: str
    why: str
    bad: str
    good: str
    fix: str


@cache
def table() -> dict[str, Code]:
    """Returns all codes by name, in the order of the file."""
    import tomllib  # not needed by most commands

    with open(os.path.join(os.path.dirname(__file__), "codes.toml"), "rb") as file:
        loaded = tomllib.load(file)
    return {
        name: Code(name, **{key: text.strip("\n") for key, text in entry.items()}) for name, entry in loaded.items()
    }


def find(name: str) -> Code | None:
    """Returns the code of this name; None if there is none."""
    return table().get(name)
