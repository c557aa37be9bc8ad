"""The pages of `convcli help`: Markdown files beside the code, and a page for each dialect, made of what the code says.

On a terminal rich lays them out; elsewhere they are the Markdown that they are, for a file or another program."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

from convcli import dialects
from convcli.model.dialect import Dialect
from convcli.report.text import Paint
from convcli.views import probes

SUFFIX = ".md"
EMPTY_LINES = re.compile(r"\n{3,}")
WIDEST = 100
"""Cells beyond which lines of prose are hard to follow."""
FRAMINGS = {
    "document": "one JSON document",
    "records": "JSON Lines, a document on each line",
    "events": "JSON Lines, all lines together are one document",
    "sse": "a stream of server-sent events",
}
OUTCOMES = {
    "kept": "Kept",
    "encoded": "Kept by a convention, since the format has no field for it",
    "changed": "Changed",
    "lost": "Lost",
}


@cache
def folder() -> str:
    """Where the pages are."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pages")


def topics() -> list[str]:
    """The topics of the pages, in alphabetical order."""
    return sorted(name.removesuffix(SUFFIX) for name in os.listdir(folder()) if name.endswith(SUFFIX))


def page(topic: str) -> str:
    """The page about a topic, as Markdown."""
    with open(os.path.join(folder(), topic + SUFFIX), encoding="utf-8") as file:
        return file.read()


def title(topic: str) -> str:
    """The heading of a page."""
    return page(topic).partition("\n")[0].removeprefix("# ")


def of_dialect(dialect: Dialect) -> str:
    """The page about a dialect: what its author wrote of it, how files hold it, and what it can say, measured."""
    return "\n".join(("\n\n".join(_of_dialect(dialect)), ""))


def _of_dialect(dialect: Dialect) -> Iterator[str]:
    yield f"# {dialect.name}: {dialect.title}"
    yield _described(dialect)
    yield "## In files"
    yield "\n".join(f"- {FRAMINGS[framing]}" for framing in dialect.framings)
    name, forms = dialect.name, ", ".join(f"`{form}`" for form in dialect.forms)
    yield f"Forms: {forms}. The first is written, unless `--form` names another or the transcript is plainly one."
    yield f"`convcli schema {name}` prints the JSON Schema; `convcli validate --from {name}` checks files."
    if dialect.is_written:
        yield f"## What is left of a transcript that is converted to {name}"
        yield from _measured(dialect)
    conventions = list(_conventions(dialect))
    if conventions:
        yield "## Results of tools that are written by a convention"
        yield "\n".join(conventions)


def _described(dialect: Dialect) -> str:
    """The documentation of its module, whose list of quirks gets a heading."""
    lines = [line.replace("Quirks", "## Quirks", 1) if line.startswith("Quirks") else line for line in _doc(dialect)]
    return "\n".join(f"{line}\n" if line.startswith("## ") else line for line in lines)


def _doc(dialect: Dialect) -> list[str]:
    return dialects.documentation(dialect.name).strip().splitlines() or [dialect.title, "", dialect.specification]


def _measured(dialect: Dialect) -> Iterator[str]:
    """Each feature under what becomes of it; of those that are not kept the reasons too."""
    reports = {feature: probes.written(feature, dialect.name) for feature in probes.PROBES}
    yield "Measured by converting a small sample of each feature."
    kept = [feature for feature, report in reports.items() if report.outcome == "kept"]
    yield f"{OUTCOMES['kept']}: {', '.join(kept) or 'nothing'}."
    for outcome in ("encoded", "changed", "lost"):
        rows = [
            f"- {feature}: {'; '.join(dict.fromkeys(loss.why for loss in report.losses))}"
            for feature, report in reports.items()
            if report.outcome == outcome
        ]
        if rows:
            yield f"{OUTCOMES[outcome]}:"
            yield "\n".join(rows)


def _conventions(dialect: Dialect) -> Iterator[str]:
    for convention in dialect.conventions:
        for kind, (loss, why) in convention.loss.items():
            yield f"- `{kind}` is {loss}: {why}"


def shown(markdown: str, width: int | None, paint: Paint) -> str:
    """A page as a terminal of this width shows it; as it is without one."""
    if width is None:
        return markdown
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    heading, _, text = markdown.removeprefix("# ").partition("\n")
    console = Console(
        width=min(width, WIDEST),
        force_terminal=paint.colour,
        color_system="standard" if paint.colour else None,
        highlight=False,
        theme=Theme({"markdown.code": "cyan", "markdown.h2": "bold"}),
    )
    with console.capture() as capture:
        console.print(Markdown(text, code_theme="ansi_dark", hyperlinks=False))
    lines = "\n".join(line.rstrip() for line in capture.get().strip("\n").splitlines())
    return f"{paint.bold(heading)}\n\n{EMPTY_LINES.sub(chr(10) * 2, lines)}\n"
