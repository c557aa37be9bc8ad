"""convcli inspect."""

from __future__ import annotations

from typing import Any

from convcli.cli import _redacting, _selecting, _shared
from convcli.cli._commands import add_option, declare
from convcli.cli._inspecting import InspectArguments, Inspecting
from convcli.cli._output_names import format_of_report
from convcli.cli._types import DIALECT, PATH, Near, Number, format_of
from convcli.report import tables
from convcli.report.choice import names
from convcli.report.screen import Screen

EXAMPLES = """\
convcli samples session -o session.jsonl
convcli inspect session.jsonl                       # a row for each message, call and result
convcli inspect session.jsonl --tools --where status=error,open
convcli inspect session.jsonl --message 4           # all of one message
convcli inspect session.jsonl --where "text~cart|test"
convcli inspect session.jsonl -o session.html       # a page for a browser
convcli inspect ~/.claude/projects                  # a row for each session
"""


@declare(EXAMPLES)
@_selecting.dated
@_selecting.sampling
@_shared.inputs
@_redacting.option
@_shared.join_option
@add_option("--summary", is_flag=True, help="A row of counts for each transcript, even for a single one.")
@add_option("--tools", "tool_rows", is_flag=True, help="A row for each tool call, with its result.")
@add_option("--message", "number", type=Number(0), metavar="N", help="One message in full; the first is 0.")
@add_option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    shell_complete=lambda _, __, word: _selecting.completed(word, "=", _every_column()),
    help='Only rows that meet all conditions: role=tool,user, "size>1000 and text~time.?out".',
)
@add_option(
    "--events",
    type=Near("choice", lambda: ["show", "hide"]),
    help="Show or hide events of the agent program, which no model read. Tables without --where hide them by default.",
)
@add_option(
    "--columns",
    metavar="A,B",
    shell_complete=lambda _, __, word: _selecting.completed(word, "", _every_column()),
    help="These columns, in this order.",
)
@add_option("--limit", type=Number(0), metavar="N", help="At most this many rows.")
@add_option("--no-trunc", "whole", is_flag=True, help="Do not cut text.")
@add_option("--follow", is_flag=True, help="Follow a session while its program writes it, until interrupted.")
@add_option("-o", "--output", type=PATH, metavar="FILE|-", help="The output; without it, stdout.")
@add_option(
    "--pager/--no-pager",
    "pager",
    default=None,
    help="Page output that is longer than the terminal with $PAGER. On a terminal this is the default.",
)
@add_option("--out-dir", type=PATH, metavar="DIR", help="With html: a page for each transcript, and an index.")
@add_option(
    "-t", "--to", "target", type=DIALECT, metavar="DIALECT", help="With html: mark what this dialect cannot store."
)
@add_option("--findings", is_flag=True, help="With html: mark the findings of validate.")
@add_option("--force", is_flag=True, help="Replace existing outputs.")
@add_option(
    "-O",
    "--output-format",
    "form",
    type=format_of(tables),
    help="The format; by default that of the suffix of -o, else a table.",
)
def command(screen: Screen, /, **values: Any) -> int:
    """Show the messages of a transcript, or a row for each of many.

    FILE is a file, FILE:LINE, a folder, a glob, or - for stdin. #1 links
    the first call to its result.
    """
    values["form"] = values["form"] or format_of_report(screen, values["output"], names(tables), "table")
    return Inspecting(screen, InspectArguments(**values)).run()


def _every_column() -> list[str]:
    from convcli.views.columns import SHOWN, known

    return [name for kind in SHOWN for name in known(kind)]
