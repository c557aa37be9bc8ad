"""The table of CONTRIBUTING that says what dialects cost; `python -m tests.test_contributing` prints its rows."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from convcli import dialects

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "convcli"
BORROWED = re.compile(r"from convcli\.families\.(\w+)")
ROW = re.compile(r"^\| `([\w-]+)` \| ([\d,]+) \| (.*) \|$", re.MULTILINE)
LISTED = ROW.findall((ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8"))
TOLERANCE = 0.2
"""Of the lines of a dialect: a table that a small change breaks would be changed without being read."""


def sources(name: str) -> list[str]:
    """The modules of a dialect."""
    path = PACKAGE / "dialects" / name.replace("-", "_")
    files = sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    return [file.read_text(encoding="utf-8") for file in files]


def cost(name: str) -> tuple[int, list[str]]:
    """The lines of its modules, and the families that it borrows."""
    texts = sources(name)
    families = {family for text in texts for family in BORROWED.findall(text)}
    return sum(text.count("\n") for text in texts), sorted(families)


def rows() -> str:
    """The rows of the table, the shortest dialect first."""
    costs = {name: cost(name) for name, _, _ in LISTED}
    ordered = sorted(costs, key=lambda name: costs[name][0])
    return "".join(f"| `{name}` | {costs[name][0]:,} | {', '.join(costs[name][1])} |\n" for name in ordered)


@pytest.mark.parametrize(("name", "lines", "families"), LISTED)
def test_a_dialect_costs_what_is_listed(name: str, lines: str, families: str) -> None:
    assert name in dialects.names()
    actual, borrowed = cost(name)
    assert abs(int(lines.replace(",", "")) - actual) <= TOLERANCE * actual, f"{name} has {actual:,} lines now"
    assert families == ", ".join(borrowed)


def test_the_table_is_not_empty() -> None:
    assert len(LISTED) >= 10


if __name__ == "__main__":
    sys.stdout.write(rows())
