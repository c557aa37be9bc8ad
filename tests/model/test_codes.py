"""Every code that an error can have is explained; `convcli explain` has no gaps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import convcli
from convcli.model import codes

PACKAGE = Path(convcli.__file__).parent
OF_ERRORS = ("ContentError", "JobError", "OutputError", "Finding")
OF_WORDS = ("unknown", "Near")
"""What makes the code `unknown-NAME` of the name of what is not known."""


def stated() -> Iterator[tuple[str, str]]:
    """Each code that stands in the code, with its place."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                called, word = getattr(node.func, "id", getattr(node.func, "attr", "")), node.args[0].value
                if isinstance(word, str) and called in (*OF_ERRORS, *OF_WORDS):
                    name = f"unknown-{word}" if called in OF_WORDS else word
                    yield name, f"{path.relative_to(PACKAGE)}:{node.lineno}"


def test_every_code_of_an_error_is_explained() -> None:
    every = list(stated())
    assert len(every) > 100
    assert [(name, place) for name, place in every if codes.find(name) is None] == []


@pytest.mark.parametrize("name", ["dropped", "missing-tool-result", "unknown-topic"])
def test_a_code_is_found_by_its_name(name: str) -> None:
    code = codes.find(name)
    assert code is not None
    assert (code.name, code.title != "", code.fix[-1]) == (name, True, ".")


def test_a_word_that_is_no_code_is_none() -> None:
    assert codes.find("droped") is None
