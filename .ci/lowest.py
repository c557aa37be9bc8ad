"""Prints the lowest version that pyproject.toml allows of each direct dependency, for pip: `lowest.py [EXTRA…]`."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+(?:\[[^\]]*\])?)>=(?P<version>[0-9.]+)(?:,<[0-9.]+)?")


def pins(extras: Iterable[str]) -> Iterator[str]:
    """Yields `name==version`. Raises ValueError for a requirement without a lower bound."""
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    for requirement in sum((project["optional-dependencies"][extra] for extra in extras), project["dependencies"]):
        match = REQUIREMENT.fullmatch(requirement)
        if match is None:
            raise ValueError(f"pyproject.toml: {requirement} has no lower bound, or one that is not understood")
        yield f"{match['name']}=={match['version']}"


if __name__ == "__main__":
    print("\n".join(pins(sys.argv[1:])))
