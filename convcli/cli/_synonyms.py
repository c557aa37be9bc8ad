"""Words of other programs for commands and options of convcli, and the help for mistakes on the command line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from convcli.model.errors import JobError

if TYPE_CHECKING:
    import click

ALIASES = {"view": "inspect", "show": "inspect", "show-settings": "config"}
"""Other words that call a command."""
COMMANDS_OF_OTHERS = {
    **dict.fromkeys(("cat", "print", "open", "less", "head"), "inspect"),
    **dict.fromkeys(("check", "lint", "test"), "validate"),
    **dict.fromkeys(("translate", "transform", "to"), "convert"),
    **dict.fromkeys(("formats", "providers", "vendors", "matrix"), "dialects"),
    **dict.fromkeys(("identify", "file", "type", "which"), "detect"),
    **dict.fromkeys(("count", "statistics", "usage", "tokens", "cost"), "stats"),
    **dict.fromkeys(("settings", "configuration"), "config"),
    **dict.fromkeys(("undo", "revert", "back"), "restore"),
    **dict.fromkeys(("code", "why", "rule"), "explain"),
    **dict.fromkeys(("compare", "cmp", "same"), "diff"),
    **dict.fromkeys(("web", "ui", "browse", "server"), "serve"),
    **dict.fromkeys(("dry-run", "loss", "report"), "losses"),
    **dict.fromkeys(("demo", "example", "examples"), "samples"),
    **dict.fromkeys(("continue", "handoff"), "resume"),
    **dict.fromkeys(("anonymize", "anonymise", "mask"), "redact"),
}
"""Words by which other programs call what a command does."""
HINTS = {
    **dict.fromkeys(
        ("dedupe", "dedup", "deduplicate", "uniq"),
        "convcli convert FILE --to DIALECT --dedupe leaves out duplicates; --dedupe=prefix also beginnings",
    ),
    **dict.fromkeys(
        ("filter", "select", "sample"),
        "convcli convert FILE --to DIALECT --where CONDITION (or --sample N) chooses transcripts",
    ),
    "split": "convcli convert FILE --to DIALECT --out-dir DIR writes a file for each transcript",
    **dict.fromkeys(
        ("merge", "join", "concat", "combine"),
        "convcli convert FILE FILE --to DIALECT -o FILE.jsonl writes all transcripts into one file",
    ),
    **dict.fromkeys(("grep", "search", "find"), 'convcli inspect FILE --where "text~PATTERN" searches the messages'),
    **dict.fromkeys(
        ("export", "markdown", "md", "html", "page"),
        "convcli share FILE writes a page without private data; convcli inspect FILE -o FILE.html or FILE.md keeps it",
    ),
    "version": "convcli --version shows it",
}
"""Words for which no single command stands, and how to do the job, or that convcli does not do it."""
OPTIONS_OF_OTHERS = {
    **dict.fromkeys(("json", "jsonl", "csv", "tsv", "html", "sarif", "junit", "github"), "--output-format {}"),
    **dict.fromkeys(("markdown", "md"), "--output-format md"),
    **dict.fromkeys(("xml",), "--output-format junit"),
    "format": "--output-format",
    **dict.fromkeys(("grep", "filter", "search", "role"), "--where"),
    **dict.fromkeys(("fields", "select-columns"), "--columns"),
    **dict.fromkeys(("wide", "full", "no-truncate"), "--no-trunc"),
    **dict.fromkeys(("threads", "workers", "parallel", "processes"), "--jobs"),
    **dict.fromkeys(("head", "max", "top"), "--limit"),
    **dict.fromkeys(("input-format", "source", "input-dialect"), "--from"),
    **dict.fromkeys(("target", "dest", "into"), "--to"),
    **dict.fromkeys(("overwrite", "yes"), "--force"),
    **dict.fromkeys(("outfile", "out-file"), "--output"),
    **dict.fromkeys(("outdir", "output-directory", "directory"), "--out-dir"),
    **dict.fromkeys(("no-config", "no-configuration"), "--isolated"),
    **dict.fromkeys(("no-color", "colour", "no-colour"), "--color"),
    **dict.fromkeys(("lossless", "no-loss", "fail-on"), "--fail-on-loss"),
    **dict.fromkeys(("silent", "no-warnings", "no-progress"), "--quiet"),
}
"""Options by which other programs do what another option does here; `{}` is the word itself."""
COMMANDS_FOR_OPTIONS = {"dry-run": "convcli losses", "diff": "convcli diff", "stats": "convcli stats"}
"""Options for which there is a command."""
TABLE_FORMATS = {
    "markdown": "md", "md": "md", "html": "html", "csv": "csv", "tsv": "tsv", "table": "table", "text": "table",
    "txt": "table",
}  # fmt: skip
"""Words for a format that `inspect` writes and no dialect has, and its name."""
FILE_FORMATS = ("parquet", "arrow", "json", "jsonl", "ndjson", "sse")
"""Words for a file format, which the name of the output decides."""


def meant_option(name: str, ctx: click.Context | None) -> str:
    """Returns the question whether another option or command was meant; empty if none is near."""
    from convcli.validation.wording import did_you_mean

    known = _long_options(ctx.command, ctx) if ctx is not None else []
    word = name.lstrip("-")
    other = OPTIONS_OF_OTHERS.get(word, "").format(word)
    if other.split(" ")[0] in known:
        return f'did you mean "{other}"?'
    if word in COMMANDS_FOR_OPTIONS:
        return f'did you mean "{COMMANDS_FOR_OPTIONS[word]}"?'
    near = did_you_mean(word, [option[2:] for option in known], "{}").strip('"')
    return f'did you mean "--{near}"?' if near else ""


def _long_options(command: click.Command, ctx: click.Context) -> list[str]:
    names = (option for param in command.get_params(ctx) for option in param.opts)
    return [name for name in names if name.startswith("--")]


def meant_format(word: str) -> str:
    """Returns how to get a format that is no dialect; empty for any other word."""
    word = word.lower()
    if word in TABLE_FORMATS:
        return f"convcli inspect FILE --output-format {TABLE_FORMATS[word]} writes that; --to takes a dialect"
    if word in FILE_FORMATS:
        return f"the name of the output decides that, as -o FILE.{word}; --to takes a dialect (convcli dialects)"
    return ""


def check_dashes(ctx: click.Context, args: list[str]) -> None:
    """Raises JobError for a long option behind a single dash: `-to x` would be `-t o` and a file `x`."""
    known = set(_long_options(ctx.command, ctx))
    for word in args:
        name = word.partition("=")[0]
        if len(name) > 2 and name[1] != "-" and f"-{name}" in known:
            raise JobError("unknown-option", f'there is no option "{name}"', help=f'did you mean "-{name}"?')


def missing_parameter(error: click.MissingParameter, ctx: click.Context, args: list[str]) -> JobError:
    """Returns the error for an option or argument that is missing, with the dialect that may be meant by a word."""
    param = error.param
    if param is not None and param.param_type_name == "option":
        name = next((name for name in param.opts if name.startswith("--")), param.opts[0])
        words = [word for word in args if param.name == "target" and _is_dialect(word)]
        if words:
            help_text = f'did you mean "{name} {words[-1]}"?'
        elif param.name == "target":
            help_text = f"convcli dialects lists the values of {name}"
        else:
            help_text = f"{ctx.command_path} -h has examples"
        return JobError("usage", f'missing option "{name}"', help=help_text)
    metavar = param.human_readable_name if param is not None else "FILE"
    stdin = "a lone - reads stdin; " if metavar == "FILE..." else ""
    return JobError("usage", f'missing argument "{metavar}"', help=f"{stdin}{ctx.command_path} -h has examples")


def _is_dialect(word: str) -> bool:
    from convcli import dialects

    return not os.path.lexists(word) and (word in dialects.names() or word in dialects.aliases())
