"""The head of all HTML pages: its policy allows what the page contains by hash, and its title is text."""

from __future__ import annotations

import base64
import hashlib

from convcli.report.html_head import hash_source, head, policy


def test_a_style_is_allowed_by_the_hash_of_its_bytes() -> None:
    digest = base64.b64encode(hashlib.sha256("a { color: ä }".encode()).digest()).decode()
    assert hash_source("a { color: ä }") == f"'sha256-{digest}'"


def test_a_policy_forbids_everything_that_no_rule_allows() -> None:
    assert policy() == "default-src 'none'; base-uri 'none'; form-action 'none'"
    assert policy("img-src data:") == "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"


def test_a_hostile_title_is_text() -> None:
    shown = head("</title><script>\x1b", policy(), "p {}")
    assert "<title>&lt;/title&gt;&lt;script&gt;\\x1b</title>\n<style>p {}</style>\n</head>\n" in shown
    assert "<script>" not in shown
