"""The programs on the page about the library run as they stand; those with a package that is missing are skipped."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from convcli.report import pages
from tests.cli_cases import CLEAN, ROOT, write

BLOCKS = re.findall(r"```python\n(.*?)```", pages.page("library"), re.DOTALL)
PACKAGES = {
    "datasets": (pytest.mark.trainers, pytest.mark.exhaustive),
    "duckdb": (),
    "pandas": (pytest.mark.exhaustive,),
    "polars": (),
}
"""The packages of other projects that a program imports, and the marks of its test."""


def programs() -> list[Any]:
    """Returns the programs, each with the package that it needs, if any."""
    cases = []
    for number, block in enumerate(BLOCKS):
        package = next((name for name in PACKAGES if re.search(rf"(?m)^(from|import) {name}\b", block)), "")
        cases.append(pytest.param(block, package, id=f"{number}-{package}", marks=PACKAGES.get(package, ())))
    return cases


def test_the_page_has_a_program_for_each_package() -> None:
    assert {case.values[1] for case in programs()} == {"", *PACKAGES}


@pytest.mark.parametrize(("block", "package"), programs())
def test_a_program_of_the_page_runs(block: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if package:
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "samples" / "openai-chat" / "twin-weather.json", "chat.json")
    write(tmp_path / "chats.jsonl", CLEAN, CLEAN)
    exec(compile(block, "library.md", "exec"), {"__name__": "page"})
