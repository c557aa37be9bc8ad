"""What the codes of findings, errors and losses mean: a closed table, kept as data in `codes.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Code(NamedTuple):
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
    loaded = tomllib.loads(Path(__file__).with_name("codes.toml").read_text(encoding="utf-8"))
    return {name: Code(name, **{key: text.strip("\n") for key, text in said.items()}) for name, said in loaded.items()}


def find(name: str) -> Code | None:
    """The code of this name, if there is one."""
    return table().get(name)
