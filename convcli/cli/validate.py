"""convcli validate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from convcli.cli import _shared
from convcli.cli._commands import Command
from convcli.cli._types import DIALECT, CodeList, format_of
from convcli.model.dialect import Dialect
from convcli.model.errors import DONE, UNACCEPTABLE
from convcli.report import formats
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.jobs.inputs import Input, InputFile
    from convcli.jobs.judging import JudgingOptions, Verdict
    from convcli.jobs.reading import ReadingOptions
    from convcli.model.findings import Finding

EXAMPLES = """\
convcli validate samples/openai-chat/fine-tuning.jsonl
convcli validate samples/openclaw/*.jsonl --from openclaw --output-format concise
convcli validate samples/ollama/request-all-settings.json --as ollama   # would that service take it?
convcli validate samples/openai-chat/ --statistics --exit-zero
"""

STATISTICS = ["findings", "severity", "code", "first"]
TABLES = {"json": "json", "jsonl": "jsonl"}


@click.command(cls=Command, examples=EXAMPLES)
@_shared.inputs
@click.option("--as", "target", type=DIALECT, metavar="DIALECT", help="Would this service take it as a request?")
@click.option("--output-format", "form", type=format_of(formats), help="How findings are written.  [default: full]")
@click.option("--select", type=CodeList(), multiple=True, metavar="CODE,…", help="Show only findings with these codes.")
@click.option("--ignore", type=CodeList(), multiple=True, metavar="CODE,…", help="Hide findings with these codes.")
@click.option("--statistics", is_flag=True, help="Count the findings by code instead of listing them.")
@click.option("--check-arguments", is_flag=True, help="Check arguments of calls by the schemas of the tools.")
@click.option("--strict", is_flag=True, help="Unknown keys are findings too, and warnings exit 1.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 even if there are findings.")
@_shared.jobs
@click.pass_obj
def command(screen: Screen, /, **values: Any) -> int:
    """Check transcripts by the schema and rules of their dialect.

    Exits 0 if they are acceptable, 1 if not.
    FILE is a file, FILE:LINE, a folder, a glob, or - for stdin. Findings go to stdout, the summary to stderr.
    """
    return _Validating(screen, ValidateArguments(**values)).run()


class ValidateArguments(NamedTuple):
    """What the command line says."""

    paths: tuple[str, ...]
    reading: ReadingOptions
    target: Dialect | None
    form: str | None
    select: tuple[tuple[str, ...], ...]
    ignore: tuple[tuple[str, ...], ...]
    statistics: bool
    check_arguments: bool
    strict: bool
    exit_zero: bool
    jobs: int

    def with_defaults(self) -> ValidateArguments:
        """The same, and from the configuration what the command line leaves open."""
        settings = self.reading.configuration.settings
        target = self.target or (DIALECT.convert(settings["as"], None, None) if "as" in settings else None)
        form = format_of(formats).convert(self.form or settings.get("output-format", "full"), None, None)
        return self._replace(
            target=target,
            form=form,
            select=self.select or (tuple(settings.get("select", ())),),
            ignore=self.ignore or (tuple(settings.get("ignore", ())),),
            strict=self.strict or settings.get("strict", False),
            check_arguments=self.check_arguments or settings.get("check-arguments", False),
        )


class _Validating:
    """One call of the command, and what was counted."""

    def __init__(self, screen: Screen, arguments: ValidateArguments) -> None:
        self.screen, self.arguments = screen, arguments.with_defaults()
        self.reading, self.codes = arguments.reading, _shared.ExitCodes(screen)
        self.errors = self.warnings = self.bad = self.total = 0

    def run(self) -> int:
        from convcli.report.formats.full import tally

        verdicts = self._counted(self._verdicts(self.reading.find(self.arguments.paths)))
        if self.arguments.statistics:
            _shared.show_table(
                self.screen, TABLES.get(self.arguments.form or "", "table"), STATISTICS, _statistics(verdicts)
            )
        else:
            self._show(verdicts)
        if self.total:
            self.screen.tell(tally(self.errors, self.warnings, self.bad, self.total, self.screen.err))
        if self.errors or (self.warnings and self.arguments.strict):
            self.codes.add(UNACCEPTABLE)
        return DONE if self.arguments.exit_zero and self.codes.worst == UNACCEPTABLE else self.codes.worst

    def _show(self, verdicts: Iterator[Verdict]) -> None:
        from convcli.report import choice
        from convcli.report.tables import View

        render = choice.renderer(formats, self.arguments.form or "full")
        self.screen.show(render(verdicts, View(_shared.width(), self.screen.out)))

    def _verdicts(self, files: Sequence[InputFile]) -> Iterator[Verdict]:
        """The verdicts on one file after the other, or on many side by side."""
        processes = _shared.processes(self.arguments.jobs, (path for path, _ in files), self.screen)
        judged = self._side_by_side if processes > 1 and len(files) > 1 else self._each
        with self.screen.progress(sum(_shared.size_of(path) for path, _ in files)) as self.progress:
            for path, verdicts in judged(files, processes):
                with self.codes.guard(path):
                    yield from verdicts
                self.progress.pass_by(_shared.size_of(path))

    def _each(self, files: Sequence[InputFile], processes: int) -> Iterator[tuple[str, Iterator[Verdict]]]:
        return ((path, self._judged(path, processes)) for path, _ in files)

    def _side_by_side(self, files: Sequence[InputFile], processes: int) -> Iterator[tuple[str, Iterator[Verdict]]]:
        """Only this process can read pipes, and what the caller has opened for it."""
        from convcli.jobs import parallel, workers

        apart = {path for path, _ in files if workers.can_read(path)}
        tasks = [self._task(path) for path, _ in files if path in apart]
        with parallel.judge_files(tasks, processes) as each:
            for path, _ in files:
                yield path, parallel.verdicts(next(each)) if path in apart else self._judged(path)

    def _judged(self, path: str, processes: int = 1) -> Iterator[Verdict]:
        from convcli.jobs.judging import judge_file

        return judge_file(*self._task(path), partial(self._watched, processes))

    def _watched(self, processes: int, source: Input, options: JudgingOptions) -> Iterator[Verdict]:
        self.progress.watch(partial(getattr, source, "bytes_read"))
        if processes == 1:
            from convcli.jobs.judging import judge

            yield from judge(source, options)
            _shared.tell_passed(self.screen, source)
            return
        from convcli.jobs import parallel

        yield from parallel.judge(source, options, processes)
        _shared.tell_passed(self.screen, source)

    def _task(self, path: str) -> tuple[str, str | None, Any, JudgingOptions]:
        return path, self.reading.dialect_of(path), self.reading.keys, self._options(path)

    def _options(self, path: str) -> JudgingOptions:
        from convcli.jobs.judging import JudgingOptions
        from convcli.validation.rules.conformance import arguments_match

        arguments = self.arguments
        return JudgingOptions(
            arguments.strict,
            arguments.target,
            (arguments_match(),) if arguments.check_arguments else (),
            frozenset(code for codes in arguments.select for code in codes),
            frozenset(code for codes in arguments.ignore for code in codes) | self.reading.configuration.ignored(path),
            self.reading.at,
            self.reading.configuration.ignored_places(path),
        )

    def _counted(self, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
        for verdict in verdicts:
            severities = [finding.severity for finding in verdict.findings]
            self.errors += severities.count("error")
            self.warnings += severities.count("warning")
            self.bad += bool(severities)
            self.total += 1
            yield verdict


def _statistics(verdicts: Iterator[Verdict]) -> Iterator[dict[str, Any]]:
    """A row for each code, the most frequent first."""
    from convcli.report.text import place

    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], Finding] = {}
    for verdict in verdicts:
        for finding in verdict.findings:
            key = finding.severity, finding.code
            counts[key] += 1
            first.setdefault(key, finding)
    for (severity, code), number in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        finding = first[severity, code]
        where = place(finding.file, finding.line, finding.column, finding.where)
        yield {"findings": number, "severity": severity, "code": code, "first": where}
