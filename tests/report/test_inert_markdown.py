"""Markdown inside of Markdown: tags are text, code stays as it is, and no fence is left open."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from convcli.report.inert_markdown import inert


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<EMAIL-1> <script>", "\\<EMAIL-1> \\<script>"),
        ("use `List<a>` and <b>", "use `List<a>` and \\<b>"),
        ("a `\n<b>` <b>", "a `\n<b>` \\<b>"),
        ("```py\nx: List<a>\n```\n<b>", "```py\nx: List<a>\n```\n\\<b>"),
        ("```\nopen <b>", "```\nopen <b>\n```"),
        ("~~~~\n```\n~~~~", "~~~~\n```\n~~~~"),
        ("a\n\n    code <b>\n\n<details>", "a\n\n    code <b>\n\n\\<details>"),
        ("- x\n  ```\n  <a>", "- x\n  ```\n  <a>"),
        ("| a | b |\n|---|---|\n| `<x>` | <y> |", "| a | b |\n|---|---|\n| `<x>` | \\<y> |"),
        ("``a `<b>` c`` <d>", "``a `<b>` c`` \\<d>"),
        ("1 < 2 <- 3", "1 < 2 <- 3"),
        ("", ""),
    ],
)
def test_tags_outside_of_code_are_escaped_and_fences_end(text: str, shown: str) -> None:
    assert inert(text) == shown


@pytest.mark.parametrize(
    "text", ["<details>\n```\n</details>", "- ```\n</details>", "> ~~~\n<b>\n\n```", "``` `<b>\n<b>"]
)
def test_what_follows_is_not_part_of_the_text(text: str) -> None:
    tokens = MarkdownIt("commonmark", {"html": True}).parse(f"{inert(text)}\n\n</end>\n")
    assert [token.content for token in tokens if token.type == "html_block"] == ["</end>\n"]
