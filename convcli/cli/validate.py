"""convcli validate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from convcli.cli import _judged, _parts, _selecting, _shared
from convcli.cli._commands import add_option, declare
from convcli.cli._diagnostics import ExitCodes
from convcli.cli._output_names import format_of_report
from convcli.cli._types import DIALECT, PATH, CodeList, format_of
from convcli.model.dialect import Dialect
from convcli.model.errors import DONE, UNACCEPTABLE, JobError
from convcli.model.located import number_of
from convcli.report import formats
from convcli.report.choice import names
from convcli.report.screen import Screen
from convcli.report.tables import View
from convcli.report.text import Paint

if TYPE_CHECKING:
    from convcli.jobs.baseline import Baseline
    from convcli.jobs.inputs import Input
    from convcli.jobs.judging import JudgingOptions, Verdict
    from convcli.jobs.paths import InputFile
    from convcli.jobs.reading import ReadingOptions
    from convcli.jobs.row_forms import RowForms
    from convcli.model.findings import Finding, Severity

EXAMPLES = """\
convcli samples broken -o rows.jsonl; convcli samples chat -o chat.json
convcli validate rows.jsonl --exit-zero                         # by schema and rules; exits 1 without --exit-zero
convcli validate rows.jsonl --exit-zero -O concise
convcli validate rows.jsonl --exit-zero --statistics
convcli validate chat.json --as openai-responses                # would that service accept it?
"""

STATISTICS = ["findings", "severity", "code", "first"]
TABLES = {"json": "json", "jsonl": "jsonl"}


@declare(EXAMPLES)
@_selecting.options
@_shared.inputs
@add_option(
    "--as",
    "target",
    type=DIALECT,
    metavar="DIALECT",
    help="Check the transcripts as requests to this service; those of another dialect are converted first.",
)
@add_option(
    "-O",
    "--output-format",
    "form",
    type=format_of(formats),
    help="The format of findings.  [default: by the suffix of -o, else full]",
)
@add_option("--select", type=CodeList(), multiple=True, metavar="CODE,…", help="Show only findings with these codes.")
@add_option("--ignore", type=CodeList(), multiple=True, metavar="CODE,…", help="Hide findings with these codes.")
@add_option("--statistics", is_flag=True, help="Count the findings by code instead of listing them.")
@add_option("--check-arguments", is_flag=True, help="Check tool arguments against the schemas of the tools.")
@add_option("--strict", is_flag=True, help="Report unknown keys too, and exit 1 for warnings.")
@add_option("-o", "--output", type=PATH, metavar="FILE|-", help="The output; without it, stdout.")
@add_option("--force", is_flag=True, help="Replace an existing output.")
@add_option("--baseline", type=PATH, metavar="FILE", help="Ignore the findings in this file; only new ones fail.")
@add_option("--write-baseline", is_flag=True, help="Write the findings to the file of --baseline and exit 0.")
@add_option("--transcripts-only", is_flag=True, help="Skip files that are no transcripts, even if they are named.")
@add_option("--exit-zero", is_flag=True, help="Exit 0 in spite of findings.")
@_parts.folder_option
@_shared.jobs
@_parts.options
def command(screen: Screen, /, **values: Any) -> int:
    """Check transcripts against the schema and rules of their dialect.

    FILE is a file, FILE:LINE, a folder, a glob, or - for stdin. Findings go to stdout, the summary to stderr. Exits 1
    if there are errors.
    """
    arguments = ValidateArguments(**values)
    if arguments.engine is not None:
        from convcli.cli import _in_parts

        return _in_parts.validate(screen, arguments)
    return _Validating(screen, arguments).run()


class ValidateArguments(msgspec.Struct, frozen=True):
    """The arguments of the command."""

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
    output: str | None
    force: bool
    baseline: str | None
    write_baseline: bool
    transcripts_only: bool
    out_dir: str | None
    jobs: int
    engine: _parts.Engine | None

    def with_defaults(self, screen: Screen) -> ValidateArguments:
        """Returns the arguments, completed from the configuration."""
        settings = self.reading.configuration.settings
        target = self.target or (DIALECT.convert(settings["as"]) if "as" in settings else None)
        form = self.form or settings.get("output-format")
        can = tuple(TABLES) if self.statistics else names(formats)
        form = format_of(formats).convert(form or format_of_report(screen, self.output, can, "full"))
        return replace(
            self,
            target=target,
            form=form,
            select=self.select or (tuple(settings.get("select", ())),),
            ignore=self.ignore or (tuple(settings.get("ignore", ())),),
            baseline=self.baseline or self.reading.configuration.path("baseline") or None,
            strict=self.strict or settings.get("strict", False),
            check_arguments=self.check_arguments or settings.get("check-arguments", False),
        )


class _Validating:
    """One call of the command, and what was counted."""

    def __init__(self, screen: Screen, arguments: ValidateArguments) -> None:
        self.screen, self.arguments = screen, arguments.with_defaults(screen)
        self.reading = replace(arguments.reading, otherwise=self.arguments.target)
        self.codes = ExitCodes(screen)
        self.bad = self.total = self.known = self.skipped = 0
        self.severities: Counter[Severity] = Counter()
        self.converted: Counter[str] = Counter()
        self.forms: RowForms = {}

    def run(self) -> int:
        from convcli.files.outputs import open_output
        from convcli.jobs.baseline import Baseline

        arguments, paths = self.arguments, self.arguments.paths
        if arguments.write_baseline and arguments.baseline is None:
            raise JobError("usage", "--write-baseline: to which file?", help="name it with --baseline FILE")
        files = self.reading.find(paths, may_be_none=arguments.transcripts_only)
        reads_baseline = arguments.baseline is not None and not arguments.write_baseline
        self.baseline = Baseline(arguments.baseline).load() if reads_baseline and arguments.baseline else None
        verdicts = self._counted(self._verdicts(files))
        if arguments.write_baseline and arguments.baseline:
            baseline = Baseline(arguments.baseline)
            if not arguments.force:
                baseline.refuse_other()
            self._write_baseline(baseline, [file.path for file in files], verdicts)
            return self.codes.worst
        if arguments.output is None:
            self.screen.show(self._report(verdicts, View(_shared.width(), self.screen.out)))
        else:
            output = open_output(arguments.output, force=arguments.force, inputs=[file.path for file in files])
            with self.screen.into(output):
                self.screen.show(self._report(verdicts, View(None, Paint())))
        return self._finish()

    def _report(self, verdicts: Iterator[Verdict], view: View) -> Iterator[str]:
        from convcli.report import choice, tables

        form = self.arguments.form or "full"
        if self.arguments.statistics:
            render = choice.renderer(tables, TABLES.get(form, "table"))
            yield from render(STATISTICS, _statistics(verdicts), view)
        else:
            yield from choice.renderer(formats, form)(verdicts, view)

    def _write_baseline(self, baseline: Baseline, inputs: list[str], verdicts: Iterator[Verdict]) -> None:
        from convcli.files.outputs import open_output
        from convcli.report.text import safe_text
        from convcli.validation.wording import counted

        findings = [finding for verdict in verdicts for finding in verdict.findings]
        with self.screen.into(open_output(baseline.path, force=True, inputs=inputs)):
            self.screen.show([baseline.written(findings).decode()])
        self.screen.announce(f"{counted(len(findings), 'finding')} written to {safe_text(baseline.path)}\n")

    def _finish(self) -> int:
        """The last lines, and the exit code."""
        from convcli.report.formats.full import tally
        from convcli.validation.wording import counted

        _selecting.announce_unused(self.screen, self.reading.selection)
        _judged.announce_skipped(self.screen, self.skipped, self.total, may_be_none=self.arguments.transcripts_only)
        if self.total:
            self.screen.announce(tally(self.severities, self.bad, self.total, self.screen.err, known=self.known))
        _judged.announce_forms(self.screen, self.forms)
        _judged.announce_converted(self.screen, self.arguments.target, self.converted)
        if self.known or (self.baseline is not None and self.baseline.gone):
            gone = self.baseline.gone if self.baseline is not None else 0
            fixed = f", and {gone:,} of the baseline gone: --write-baseline takes them out" if gone else ""
            self.screen.announce(f"{counted(self.known, 'known finding')} not shown{fixed}\n")
        if self.severities["error"] or (self.severities["warning"] and self.arguments.strict):
            self.codes.add(UNACCEPTABLE)
        return DONE if self.arguments.exit_zero and self.codes.worst == UNACCEPTABLE else self.codes.worst

    def _verdicts(self, files: Sequence[InputFile]) -> Iterator[Verdict]:
        """The verdicts on one file after the other, or on many side by side."""
        asked = self.arguments.jobs if self.reading.selection is None else 1  # it counts over all inputs
        processes = _shared.processes(asked, (path for path, _ in files), self.screen)
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
        tasks = [(path, self._options(path)) for path, _ in files if path in apart]
        with parallel.judge_files(tasks, self.reading.opened, processes) as each:
            for path, _ in files:
                yield path, next(each) if path in apart else self._judged(path)

    def _judged(self, path: str, processes: int = 1) -> Iterator[Verdict]:
        from convcli.jobs.running import judge_file

        return judge_file(path, self.reading.opened, self._options(path), partial(self._watched, processes))

    def _watched(self, processes: int, source: Input, options: JudgingOptions) -> Iterator[Verdict]:
        self.progress.watch(partial(getattr, source, "bytes_read"))
        if processes == 1:
            from convcli.jobs.judging import judge

            yield from judge(source, options)
            _shared.announce_passed(self.screen, source)
            return
        from convcli.jobs import parallel

        yield from parallel.judge(source, options, processes)
        _shared.announce_passed(self.screen, source)

    def _options(self, path: str) -> JudgingOptions:
        from convcli.files.names import split_line
        from convcli.jobs.judging import JudgingOptions
        from convcli.validation.rules.conformance import arguments_match

        arguments, (file, _) = self.arguments, split_line(path)
        return JudgingOptions(
            arguments.strict,
            arguments.target,
            (arguments_match(),) if arguments.check_arguments else (),
            frozenset(code for codes in arguments.select for code in codes),
            frozenset(code for codes in arguments.ignore for code in codes) | self.reading.configuration.ignored(file),
            self.reading.configuration.ignored_places(file),
            (arguments.transcripts_only or path not in arguments.paths) and self.reading.dialect_of(path) is None,
        )

    def _counted(self, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
        from convcli.jobs.row_forms import count_form

        for verdict in verdicts:
            if verdict.is_skipped:
                self.skipped += 1
                continue
            if self.baseline is not None and verdict.findings:
                new = [finding for finding in verdict.findings if not self.baseline.knows(finding)]
                self.known += len(verdict.findings) - len(new)
                verdict = verdict._replace(findings=new)
            self.severities.update(finding.severity for finding in verdict.findings)
            self.bad += bool(verdict.findings) and not verdict.is_of_file
            self.total += not verdict.is_of_file
            self.converted[verdict.dialect] += verdict.is_converted
            if verdict.columns:
                count_form(self.forms, verdict.dialect, verdict.columns)
            yield verdict


def _statistics(verdicts: Iterator[Verdict]) -> Iterator[dict[str, Any]]:
    """Yields a row for each code, the most frequent first."""
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
        where = place(finding.file, number_of(finding), finding.column, finding.where)
        yield {"findings": number, "severity": severity, "code": code, "first": where}
