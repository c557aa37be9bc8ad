"""Every regular expression of the package takes linear time: its steps are counted on texts that keep it busy."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import convcli
from tests.hardening.steps import SIZES, Search, TooManyError

SEARCHING = {"search", "finditer", "findall", "sub", "subn", "split"}
"""Methods that try a pattern at every position."""
ROOT = Path(convcli.__file__).parent
MOST_STEPS = 50_000
MOST_GROWTH = 1.6
"""The steps per character of the longest text, relative to the shortest: 1 is linear, 4 is quadratic."""
FEW_STEPS = 2_500
"""Steps that are no evidence of growth."""


class Use(NamedTuple):
    """A pattern, where it is written, and whether it is tried at one position only."""

    place: str
    text: str | bytes
    flags: int
    is_anchored: bool


@cache
def uses() -> tuple[Use, ...]:
    return tuple(dict.fromkeys((*_of_modules(), *_of_calls())))


def _of_modules() -> Iterator[Use]:
    """Yields the patterns that are constants of modules."""
    searched = {name for tree in _trees().values() for name in _searched(tree)}
    for path in sorted(ROOT.rglob("*.py")):  # families have no `__init__`, so `pkgutil` does not find them
        name_of_module = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
        module = importlib.import_module(name_of_module)
        for name, value in vars(module).items():
            for pattern in value.values() if isinstance(value, dict) else [value]:
                if isinstance(pattern, re.Pattern) or type(pattern).__name__ == "_Uncompiled":
                    yield Use(f"{name_of_module}.{name}", pattern.pattern, pattern.flags, name not in searched)


def _of_calls() -> Iterator[Use]:
    """Yields the patterns that are written in a call of `re`; compiled ones are constants, or match at one position."""
    for path, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                of, first = node.func.value, node.args[0]
                is_of_re = isinstance(of, ast.Name) and of.id == "re" and node.func.attr != "compile"
                if is_of_re and isinstance(first, ast.Constant):
                    yield Use(f"{path}:{node.lineno}", first.value, 0, node.func.attr not in SEARCHING)


@cache
def _trees() -> dict[str, ast.Module]:
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text("utf-8")) for path in ROOT.rglob("*.py")}


def _searched(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in SEARCHING:
            name = node.value
            yield name.id if isinstance(name, ast.Name) else name.attr if isinstance(name, ast.Attribute) else ""


def slow_text(use: Use) -> str | None:
    """Returns the beginning of a text for which the steps grow faster than its length; None if there is none."""
    search = Search((use.text, use.flags))
    for short, long in zip(search.texts(SIZES[0]), search.texts(SIZES[-1]), strict=True):
        try:
            few = search.steps(short, anchored=use.is_anchored, most=MOST_STEPS) / len(short)
            many = search.steps(long, anchored=use.is_anchored, most=MOST_STEPS)
        except TooManyError:
            return long[:20]
        if many > FEW_STEPS and many / len(long) > MOST_GROWTH * few:
            return long[:20]
    return None


@pytest.mark.parametrize("text", [r"^\s*[\[{]", r"a*b", r"<t>(.*?)</t>", r"(a|a)*$", r"(a+)+b", r"x[^y]*y", r"\s+$"])
def test_a_slow_pattern_is_found(text: str) -> None:
    assert slow_text(Use("", text, re.MULTILINE, False)) is not None


@pytest.mark.parametrize("text", [r"^[^\S\n]*+[\[{]", r"[a-z]+", r"\bx\d{1,3}", '"[^"]*+"?', r"(ab|cd)+"])
def test_a_quick_pattern_is_not(text: str) -> None:
    assert slow_text(Use("", text, re.MULTILINE, False)) is None


SAMPLES = ["", "abc", "a1 b22\n c", '{"a": [1, "x\\"y"]}', "<t>a</t>\n<t>b", "aaab", "2026-01-02T03:04:05Z", "\n\n x"]


@pytest.mark.exhaustive
def test_steps_are_counted_of_the_search_that_re_does() -> None:
    for use in uses():
        if isinstance(use.text, str):
            pattern = re.compile(use.text, use.flags)
            for text in SAMPLES:
                expected = pattern.match(text)
                assert Search((use.text, use.flags)).end(text) == (expected and expected.end()), (use, text)


BOUNDED = {
    "convcli.families.rows.qwen.PARAMETER": "only sees text that ends in its closing tag",
    "convcli.jobs.joining.THOUGHT": "only sees text that ends in its closing tag",
    "convcli.views.conditions._JOINED": "only sees a condition of the command line",
}
"""Patterns that are slow for a text that they never see, with the reason."""


@pytest.mark.hardening
@pytest.mark.exhaustive
def test_no_pattern_of_the_package_is_slow() -> None:
    assert len(uses()) > 60
    slow = {use.place: text for use in uses() if (text := slow_text(use)) is not None}
    assert slow.keys() == BOUNDED.keys(), slow
