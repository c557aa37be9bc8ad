"""convcli validate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from convcli.cli import _work
from convcli.cli._commands import Command
from convcli.cli._types import DIALECT, format_of
from convcli.dialect import Dialect
from convcli.errors import DONE, UNACCEPTABLE, ContentError
from convcli.report import formats
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.judge import Verdict

EXAMPLES = """\
convcli validate chats.jsonl
convcli validate train/ --dialect openai-chat --output-format concise
convcli validate chat.json --as openai-chat             # would that API accept it?
"""


@click.command(cls=Command, examples=EXAMPLES)
@_work.inputs
@click.option("--as", "target", type=DIALECT, metavar="DIALECT", help="Judge what this dialect would get of it.")
@click.option("--output-format", "form", type=format_of(formats), default="full", help="How findings are written.")
@click.option("--strict", is_flag=True, help="Unknown keys are findings too, and warnings exit 1.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 in spite of findings.")
@click.pass_obj
def command(screen: Screen, /, **given: Any) -> int:
    """Judge transcripts by the schema and the rules of their dialect: 0 when they are acceptable, else 1.

    FILE is a file, a folder, a glob, or - for stdin. Findings go to stdout, the summary to stderr.
    """
    return _Validating(screen, Wish(**given)).run()


class Wish(NamedTuple):
    """What the command line says."""

    paths: tuple[str, ...]
    source: Dialect | None
    target: Dialect | None
    form: str
    strict: bool
    exit_zero: bool
    duplicate_keys: Any


class _Validating:
    """One call of the command, and what was counted."""

    def __init__(self, screen: Screen, wish: Wish) -> None:
        self.screen, self.wish, self.codes = screen, wish, _work.Codes(screen)
        self.errors = self.warnings = self.bad = self.total = 0

    def run(self) -> int:
        from convcli import files
        from convcli.report import choice
        from convcli.report.formats.full import tally

        verdicts = self._counted(self._verdicts(files.find(self.wish.paths)))
        self.screen.show(choice.renderer(formats, self.wish.form)(verdicts, self.screen.out))
        if self.total:
            self.screen.tell(tally(self.errors, self.warnings, self.bad, self.total, self.screen.err))
        if self.errors or (self.warnings and self.wish.strict):
            self.codes.add(UNACCEPTABLE)
        return DONE if self.wish.exit_zero and self.codes.worst == UNACCEPTABLE else self.codes.worst

    def _verdicts(self, found: Iterable[Any]) -> Iterator[Verdict]:
        from convcli import files
        from convcli.judge import Terms, Verdict, finding_of, judge

        wish = self.wish
        source_name = None if wish.source is None else wish.source.name
        for path, _ in found:
            with self.codes.guard(path):
                try:
                    with files.opened(path, source_name, duplicate_keys=wish.duplicate_keys) as source:
                        yield from judge(source, Terms(wish.strict, wish.target))
                except ContentError as error:
                    yield Verdict(error.file, error.line, "", [finding_of(error)])

    def _counted(self, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
        for verdict in verdicts:
            severities = [finding.severity for finding in verdict.findings]
            self.errors += severities.count("error")
            self.warnings += severities.count("warning")
            self.bad += bool(severities)
            self.total += 1
            yield verdict
