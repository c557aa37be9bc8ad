"""What all HTML pages begin with: a head with a Content-Security-Policy that allows only what the page contains."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape

from convcli.report.text import safe_text


def hash_source(text: str) -> str:
    """Returns the source expression that allows this style or script, and no other."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def policy(*rules: str) -> str:
    """Returns a Content-Security-Policy that forbids everything but these rules."""
    return "; ".join(("default-src 'none'", *rules, "base-uri 'none'", "form-action 'none'"))


def head(title: str, allowed: str, style: str) -> str:
    """Returns the document up to the end of its head. `allowed` is its policy; the title is escaped here."""
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{allowed}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(safe_text(title))}</title>
<style>{style}</style>
</head>
"""
