"""The pages of `convcli help`: Markdown files in the package, and a generated page for each dialect.

On a terminal rich lays them out; elsewhere they are printed as Markdown, for a file or another program."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

from convcli import dialects
from convcli.model.dialect import Dialect
from convcli.report.text import Paint
from convcli.views import probes
from convcli.wire.patterns import pattern

SUFFIX = ".md"
EMPTY_LINES = pattern(r"\n{3,}")
WIDEST = 100
"""Maximum line width in cells: longer lines of prose are hard to read."""
FRAMINGS = {
    "document": "one JSON document",
    "records": "JSON Lines, one document per line",
    "events": "JSON Lines, all lines form one document",
    "sse": "a stream of server-sent events",
}
OUTCOMES = {
    "kept": "Kept",
    "encoded": "Kept by a convention, because the format has no field for it",
    "changed": "Changed",
    "lost": "Lost",
}


@cache
def folder() -> str:
    """Returns the folder of the pages."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pages")


def topics() -> list[str]:
    """Returns the topics of the pages, in alphabetical order."""
    return sorted(name.removesuffix(SUFFIX) for name in os.listdir(folder()) if name.endswith(SUFFIX))


def page(topic: str) -> str:
    """Returns the page about a topic, as Markdown."""
    with open(os.path.join(folder(), topic + SUFFIX), encoding="utf-8") as file:
        return file.read()


def title(topic: str) -> str:
    """Returns the heading of a page."""
    return page(topic).partition("\n")[0].removeprefix("# ")


def of_dialect(dialect: Dialect) -> str:
    """Returns the page about a dialect: its documentation, how it is stored in files, and measured conversions."""
    return "\n".join(("\n\n".join(_of_dialect(dialect)), ""))


def _of_dialect(dialect: Dialect) -> Iterator[str]:
    yield f"# {dialect.name}: {dialect.title}"
    yield _described(dialect)
    yield "## In files"
    yield "\n".join(f"- {FRAMINGS[framing]}" for framing in dialect.framings)
    name, forms = dialect.name, ", ".join(f"`{form}`" for form in dialect.forms)
    yield f"Forms: {forms}. convcli writes the first, unless `--form` or the transcript itself has another."
    yield f"`convcli schema {name}` prints the JSON Schema; `convcli validate --from {name}` checks files."
    if dialect.is_written:
        yield f"## What a conversion to {name} keeps"
        yield from _measured(dialect)
    conventions = list(_conventions(dialect))
    if conventions:
        yield "## Tool results that are written by a convention"
        yield "\n".join(conventions)


def _described(dialect: Dialect) -> str:
    """Returns the documentation of the dialect's module; its list of quirks gets a heading."""
    lines = [line.replace("Quirks", "## Quirks", 1) if line.startswith("Quirks") else line for line in _doc(dialect)]
    return "\n".join(f"{line}\n" if line.startswith("## ") else line for line in lines)


def _doc(dialect: Dialect) -> list[str]:
    return dialects.documentation(dialect.name).strip().splitlines() or [dialect.title, "", dialect.specification]


def _measured(dialect: Dialect) -> Iterator[str]:
    """Yields the features by outcome, with reasons for those that are not kept."""
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
    """Renders a page for a terminal of this width; returns it unchanged without one."""
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
