"""convcli explain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from convcli.cli import _shared
from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._types import Near
from convcli.model.errors import JobError
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.model.codes import Code
    from convcli.report.text import Paint

EXAMPLES = """\
convcli explain missing-tool-result
convcli explain --list
"""


OF_SENT = (
    "Some services require this only of a request: for them, validate reports it, or reports it as an error, only "
    "with --as."
)
WIDEST = 100
"""The widest lines of prose, in cells."""


def _names() -> list[str]:
    from convcli.model import codes

    return list(codes.table())


@declare(EXAMPLES)
@add_argument(
    "code", type=Near("code", _names, "convcli explain --list lists them all"), required=False, metavar="CODE"
)
@add_option("--list", "lists", is_flag=True, help="List all codes with their titles.")
def command(screen: Screen, code: str | None, lists: bool) -> int:
    """Explain a code: what it means, how to fix it, examples."""
    from convcli.model import codes

    if lists:
        wide = max(map(len, codes.table()))
        screen.show(f"{one.name:{wide}}  {one.title}\n" for one in codes.table().values())
    elif code is None:
        raise JobError("usage", 'missing argument "CODE"', help="convcli explain --list lists them")
    else:
        screen.show(_explained(codes.table()[code], screen.out, _shared.width()))
    return 0


def _explained(code: Code, paint: Paint, width: int | None) -> Iterator[str]:
    yield f"{paint.bold(code.name)}: {code.title}\n\n{_wrapped(code.why, width)}\n"
    for name, example in (("bad", code.bad), ("good", code.good)):
        yield f"\n{paint.dim(name)}\n" + "".join(f"    {line}\n" for line in example.splitlines())
    yield f"\n{paint.dim('fix')}\n{_wrapped(code.fix, width, '    ')}\n"
    concerned = _concerned(code.name)
    if concerned:
        yield f"\n{paint.dim('rule of')}\n{_wrapped(', '.join(concerned), width, '    ')}\n"
    if _is_of_sent(code.name):
        yield f"\n{_wrapped(OF_SENT, width)}\n"


def _wrapped(text: str, width: int | None, indent: str = "") -> str:
    """Wraps prose to the width of a terminal; elsewhere a paragraph is one line."""
    from textwrap import fill

    if width is None:
        return indent + text
    return fill(text, min(width, WIDEST), initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _is_of_sent(code: str) -> bool:
    """True if some service judges it only, or more severely, of what is sent."""
    from convcli import dialects
    from convcli.validation.verdict import rules_of

    return any(code in rule.of_sent for one in dialects.builtin() for rule in rules_of(one))


def _concerned(code: str) -> list[str]:
    """Returns the dialects that have a rule with this code, or a phrase for all schemas."""
    from convcli import dialects
    from convcli.jobs.judging import SHAPE
    from convcli.validation.verdict import rules_of

    ruled = [one.name for one in dialects.builtin() if any(code in rule.codes for rule in rules_of(one))]
    return ["the schema of every dialect"] if code in SHAPE else ruled
