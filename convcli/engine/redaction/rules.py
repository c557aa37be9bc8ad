"""The rules that find secrets by their form. `rules.toml` lists them with examples and sources."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Literal, TypeAlias

import msgspec

Kind: TypeAlias = Literal["KEY", "PASSWORD", "PRIVATE-KEY", "EMAIL", "PHONE", "IP", "HOME", "USER", "HOST", "WORD"]
"""What a placeholder stands for: `<EMAIL-1>`."""

KINDS: tuple[Kind, ...] = ("KEY", "PASSWORD", "PRIVATE-KEY", "EMAIL", "PHONE", "IP", "HOME", "USER", "HOST", "WORD")


class Secret(msgspec.Struct, frozen=True):
    """A form of secrets.

    `keywords`: one of them occurs in every match · `expression`: its group `secret` is the part to mask, without one
    the whole match is · `match`, `other`: examples that it finds, and that it must not find.
    """

    id: str
    title: str
    kind: Kind
    keywords: tuple[str, ...]
    expression: re.Pattern[str]
    match: tuple[str, ...]
    other: tuple[str, ...]
    source: str


BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]))"
"""A secret begins a word, or follows an escape in the text of a program."""


@cache
def secrets() -> tuple[Secret, ...]:
    """Returns all rules, in the order of the file."""
    import tomllib

    with open(os.path.join(os.path.dirname(__file__), "rules.toml"), "rb") as file:
        rows = tomllib.load(file)
    return tuple(_secret(name, row) for name, row in rows.items())


def _secret(name: str, row: dict[str, object]) -> Secret:
    begins_word = not str(row["expression"]).startswith(("[?&]", "/", "-----"))
    compiled = re.compile((BEGIN if begins_word else "") + str(row["expression"]))
    return msgspec.convert({"other": (), **row, "id": name, "expression": compiled}, Secret, strict=False)
