"""Markdown on a terminal hides nothing but its own marks."""

from __future__ import annotations

import re

import pytest

from convcli.report.markdown import LONGEST, rendered, wrapped

VISIBLE = [
    "<think>a thought</think> and <!-- a comment -->",
    "<div>\na block\n</div>",
    "![a picture](http://x.example/y.png)",
    "[a link](http://x.example)",
    "[label]: http://x.example",
    "&amp; &#27;",
]


@pytest.mark.parametrize("text", VISIBLE)
def test_what_markdown_would_hide_is_shown(text: str) -> None:
    shown = " ".join(rendered(text, 60, colour=False).split())
    assert [word for word in re.findall(r"\w+", text) if word not in shown] == []


def test_marks_become_looks_and_lines_stay_lines() -> None:
    shown = rendered("# Title\n\n- **one**\n- two\n\nfirst\nsecond", 40, colour=True)
    assert "**" not in shown
    assert "\x1b[1mone\x1b[0m" in shown
    assert [line.strip() for line in shown.splitlines()[-2:]] == ["first", "second"]


@pytest.mark.parametrize(
    "text", ["[a](http://x/&#27;[2J)", "```&#27;[2J\nx\n```", "| a&#27;[2J |\n|---|\n| b |", "\\x1b[2J"]
)
def test_no_reference_becomes_a_control_character(text: str) -> None:
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", rendered(text, 60, colour=False))


def test_a_very_long_text_is_left_as_it_is() -> None:
    text = "**x** " * LONGEST
    assert rendered(text, 60, colour=True) == wrapped(text, 60) == text


def test_lines_are_broken_between_words() -> None:
    assert wrapped("one two three\n\n  four", 8) == "one two\nthree\n\n  four"
