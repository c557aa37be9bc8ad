"""A change of a file as HTML: colored lines, with numbers where they are known.

Signs and numbers are attributes that the style shows, so text copied from the page is code."""

from __future__ import annotations

from html import escape

from convcli.report.page.markdown import code_lines
from convcli.report.text import safe_text
from convcli.views.changes import Change, Line

LANGUAGES = {
    "bash": "sh bash zsh", "c": "c h", "cpp": "cc cpp cxx hh hpp", "css": "css", "docker": "Dockerfile", "go": "go",
    "html": "htm html", "ini": "cfg ini", "javascript": "cjs js jsx mjs", "json": "json", "kotlin": "kt kts",
    "lua": "lua", "php": "php", "python": "py pyi", "ruby": "rb", "rust": "rs", "sql": "sql", "swift": "swift",
    "toml": "toml", "typescript": "cts mts ts tsx", "xml": "svg xml", "yaml": "yaml yml",
}  # fmt: skip
_OF_SUFFIX = {suffix: language for language, suffixes in LANGUAGES.items() for suffix in suffixes.split()}
TAGS = {"+": "ins", "-": "del", " ": "span"}
KINDS = {"added": "new file", "deleted": "deleted", "moved": "moved", "changed": ""}


def change_block(change: Change, *, with_path: bool = False) -> str:
    """Returns a change; `with_path` for one of several files."""
    colored = code_lines("\n".join(safe_text(line.text, lines=True) for line in change.lines), language_of(change.path))
    texts = (
        colored
        if len(colored) == len(change.lines)
        else [escape(safe_text(line.text, lines=True)) for line in change.lines]
    )
    lines = "".join(map(_line, change.lines, texts))
    words = " · ".join(filter(None, [change.path if with_path else "", KINDS[change.kind]]))
    head = f'<p class="path">{escape(safe_text(words))}</p>' if words else ""
    return f'{head}<pre class="diff">{lines}</pre>' if lines else head


def language_of(path: str) -> str:
    """Returns the language of a file's code, by its name; empty if it is unknown."""
    return _OF_SUFFIX.get(path.replace("\\", "/").rpartition("/")[2].rpartition(".")[2], "")


def _line(line: Line, text: str) -> str:
    if line.sign == "@":
        return f"<i>{text}</i>"
    number = f' data-n="{line.number}"' if line.number is not None else ""
    tag = TAGS[line.sign]
    return f"<{tag}{number}>{text}</{tag}>"
