"""Words by which other programs call what this one does: some call it here too, for others the right one is named."""

from __future__ import annotations

import click

ALIASES = {"view": "inspect", "show": "inspect", "show-settings": "config"}
"""Other words that call a command."""
COMMANDS_OF_OTHERS = {
    **dict.fromkeys(("cat", "print", "open", "less", "head"), "inspect"),
    **dict.fromkeys(("check", "lint", "test", "verify"), "validate"),
    **dict.fromkeys(("translate", "transform", "export", "to"), "convert"),
    **dict.fromkeys(("formats", "providers", "vendors", "matrix"), "dialects"),
    **dict.fromkeys(("identify", "file", "type", "which"), "detect"),
    **dict.fromkeys(("count", "statistics", "usage", "tokens"), "stats"),
    **dict.fromkeys(("settings", "configuration"), "config"),
    **dict.fromkeys(("undo", "revert", "back"), "restore"),
    **dict.fromkeys(("code", "why", "rule"), "explain"),
    **dict.fromkeys(("compare", "cmp", "same"), "diff"),
    **dict.fromkeys(("web", "ui", "browse", "server"), "serve"),
    **dict.fromkeys(("dry-run", "loss", "report"), "losses"),
}
"""Words by which other programs call what a command does."""
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
}
"""Options by which other programs do what there is another option for; `{}` is the word itself."""
COMMANDS_FOR_OPTIONS = {"dry-run": "convcli losses", "diff": "convcli diff", "stats": "convcli stats"}
"""Options for which there is a command."""


def option_meant(name: str, ctx: click.Context | None) -> str:
    """The question whether an option of this command was meant, or another command; empty when nothing is near."""
    from convcli.validation.wording import did_you_mean

    known = [option for param in ctx.command.get_params(ctx) for option in param.opts] if ctx is not None else []
    word = name.lstrip("-")
    other = OPTIONS_OF_OTHERS.get(word, "").format(word)
    if other.split(" ")[0] in known:
        return f'did you mean "{other}"?'
    if word in COMMANDS_FOR_OPTIONS:
        return f'did you mean "{COMMANDS_FOR_OPTIONS[word]}"?'
    near = did_you_mean(word, [option[2:] for option in known if option.startswith("--")], "{}").strip('"')
    return f'did you mean "--{near}"?' if near else ""
