"""Patterns that are compiled when they are first used."""

import re

import pytest

from convcli.wire import patterns


def test_a_pattern_does_what_the_compiled_one_does() -> None:
    word = patterns.pattern("[a-z]+", re.IGNORECASE)
    assert word.fullmatch("Tokyo") is not None
    assert word.findall("a Bc 1") == re.compile("[a-z]+", re.IGNORECASE).findall("a Bc 1")
    assert patterns.pattern(rb"[0-9]").sub(b"-", b"a1") == b"a-"


def test_a_pattern_is_compiled_when_it_is_first_used_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    monkeypatch.setattr(patterns.re, "compile", lambda *expression: compiled.append(expression) or re.Pattern)
    pattern = patterns.pattern("a")
    assert compiled == []
    assert pattern.match is pattern.match is re.Pattern.match
    assert compiled == [("a", 0)]
