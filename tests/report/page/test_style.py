"""The colors of a page have enough contrast in both themes: 4.5 to 1 for text, as WCAG AA wants."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from convcli.report import page

STYLE = files(page.__name__).joinpath("page.css").read_text("utf-8")
COLORS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", STYLE)
}
TEXTS = ("text", "dim", "user", "assistant", "system", "bad", "warn", "good", "run", "edit", "find", "plan", "other")
CODE = ("text", "keyword", "string", "name", "number", "comment")
PAIRS = [
    *((text, back) for text in TEXTS for back in ("back", "soft")),
    *((text, "user-back") for text in ("text", "dim", "user")),
    *((text, "bad-back") for text in ("text", "dim", "bad", "warn", "good", "run", "edit", "find", "plan", "other")),
    *((text, back) for text in CODE for back in ("soft", "added", "removed")),
    *(("text", back) for back in ("found", "here")),
]
LEAST = 4.5


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert round(contrast("#000000", "#ffffff"), 2) == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_its_background(theme: int) -> None:
    found = {(text, back): contrast(COLORS[text][theme], COLORS[back][theme]) for text, back in PAIRS}
    assert {pair: round(ratio, 2) for pair, ratio in found.items() if ratio < LEAST} == {}


def test_every_color_has_both_themes_and_no_other_color_is_stated() -> None:
    named = set(re.findall(r"var\(--([a-z-]+)", STYLE)) - {"kind"}
    assert named <= COLORS.keys()
    rules = STYLE[STYLE.index("color-scheme: dark }") :]
    assert re.findall(r"#[0-9a-f]{6}\b", rules) == []
