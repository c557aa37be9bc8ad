"""A plugin as its author installs it: the one that the page about plugins shows."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from tests.cli_cases import environment

PAGE = Path(__file__).parent.parent / "convcli" / "pages" / "plugins.md"
PACKAGE = "convcli_captions"
TALK = '{"captions": [{"speaker": "user", "says": "Hi."}, {"speaker": "assistant", "says": "Hello."}]}'


def block(language: str, words: str) -> str:
    """The code block of the page that has these words."""
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    [found] = [text for text in blocks if words in text]
    return found


def install(site: Path, *, without_schema: bool = False, **changed: str) -> Path:
    """Put the plugin into a folder of packages; `changed` replaces words of its code by others."""
    package = site / PACKAGE
    (package / "schemas").mkdir(parents=True)
    code = block("python", "DIALECT = Dialect(")
    for before, after in changed.items():
        assert before in code
        code = code.replace(before, after)
    (package / "__init__.py").write_text(code, encoding="utf-8")
    if not without_schema:
        (package / "schemas" / "captions.schema.json").write_text(block("json", "$schema"), encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(block("toml", "entry-points"))["project"]
    about = site / f"{PACKAGE}-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8")
    [(group, entries)] = project["entry-points"].items()
    lines = "".join(f"{name} = {value}\n" for name, value in entries.items())
    (about / "entry_points.txt").write_text(f"[{group}]\n{lines}", encoding="utf-8")
    return site


def with_site(site: Path) -> dict[str, str]:
    """The environment in which the packages of the folder can be imported."""
    usual = environment()
    return {**usual, "PYTHONPATH": os.pathsep.join((usual["PYTHONPATH"], str(site)))}
