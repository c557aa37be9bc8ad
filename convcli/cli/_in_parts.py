"""Runs convert, validate and stats in parts, and reports them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast, get_args

import msgspec

from convcli.cli import _judged, _selecting, _shaping, _shared
from convcli.cli._diagnostics import DiagnosticPrinter, ExitCodes
from convcli.cli._parts import Engine, Share
from convcli.cli._types import LEVELS, key_and_value, model_names
from convcli.cli._unread import Allowance, allowance
from convcli.model.errors import CANNOT_WRITE, DONE, UNACCEPTABLE, JobError, OutputError
from convcli.model.findings import Severity
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.cli._convert_arguments import ConvertArguments
    from convcli.jobs.reading import ReadingOptions
    from convcli.parts import Part, Report, Task
    from convcli.parts.planning import Kept

Check: TypeAlias = Callable[[], None]
"""Raises an error if another run has taken over the folder."""
KEPT = ("all", "first", "none")
"""Which losses of a part are written."""


class _PartsJob(msgspec.Struct, frozen=True):
    """The arguments of a job in parts. `allowed`: how much may be unreadable."""

    screen: Screen
    paths: tuple[str, ...]
    reading: ReadingOptions
    engine: Engine
    out: str | None
    force: bool
    processes: int
    allowed: Allowance = Allowance(0, 0)

    def run(self, task: Task, announce: Callable[[Report], None]) -> int:
        """Runs the parts that are not done yet and returns the exit code; `announce` prints the report."""
        from convcli.files.locks import locked
        from convcli.parts import plan

        out = self._folder()
        parts = plan(self.paths, out, task, size=self.engine.size, reading=self.reading)
        self.screen.if_stopped = "finished parts are kept, and the same command continues"
        share = self.engine.share
        with locked(out, is_shared=share is not None, announce=self.screen.announce) as check:
            if share is None:
                return self._run_all(parts, announce, check)
            return self._run_share(parts, share, check)

    def _run_all(self, parts: Sequence[Part], announce: Callable[[Report], None], check: Check) -> int:
        from convcli.parts import begin, finish, unfinished

        codes, printer = ExitCodes(self.screen), DiagnosticPrinter(self.screen, self.reading)
        begin(parts, force=self.force)
        waiting = unfinished(parts)
        failed = self._run_parts(waiting, len(parts), codes, check)
        report = finish(parts)
        totals, summary = report.totals, report.totals.summary
        for finding in (finding for group in totals.findings for finding in group.first):
            printer.finding(finding)
        self._report_rest(report)
        codes.finish()
        _shared.announce_joined(self.screen, summary.calls, summary.conversations)
        announce(report)
        is_acceptable = self.allowed.accepts(totals.refused, summary.transcripts + totals.refused)
        codes.add(0 if is_acceptable and not summary.failing else UNACCEPTABLE)
        self._report_lost(len(set(report.missing) - failed), codes)
        return codes.worst

    def _run_share(self, parts: Sequence[Part], share: Share, check: Check) -> int:
        """Runs the parts of one task of an array job. It lists no folder and writes no report."""
        from convcli.parts import begin, finished, unfinished
        from convcli.validation.wording import counted

        codes, mine = ExitCodes(self.screen), share.of(parts)
        waiting = unfinished(mine, is_listed=False)
        if waiting:
            begin(parts, force=self.force, is_shared=True)
        failed = self._run_parts(waiting, len(mine), codes, check)
        marks = list(finished(mine, is_listed=False, asks=True))
        codes.finish()
        lost = {part.number for part in mine} - {mark.part.number for mark in marks} - failed
        self._report_lost(len(lost), codes)
        bad = sum(mark.refused + mark.totals.summary.failing for mark in marks)
        codes.add(UNACCEPTABLE if bad else 0)
        done = f"task {share.task:,} of {share.tasks:,}: {len(marks):,} of its {counted(len(mine), 'part')} finished"
        total = f"{counted(sum(mark.transcripts for mark in marks), 'transcript')}, {bad:,} not accepted"
        self.screen.announce(f"{done}; {total}\n")
        return codes.worst

    def _run_parts(self, waiting: Sequence[Part], total: int, codes: ExitCodes, check: Check) -> set[int]:
        """Runs these parts, prints their errors, and returns the numbers of those that failed.

        Raises JobError if another run has taken over the folder, as `check` does."""
        failed = set[int]()
        if len(waiting) < total:
            self.screen.announce(f"note: {total - len(waiting):,} of {total:,} parts were finished before\n")
        with self.screen.progress(sum(part.size for part in waiting)) as progress:
            for part, error in self._done(waiting):
                with codes.guard(part.pieces[0].file):
                    if error is not None:
                        failed.add(part.number)
                        raise error
                progress.pass_by(part.size)
                check()
        check()
        return failed

    def _report_lost(self, lost: int, codes: ExitCodes) -> None:
        """Reports parts that were finished and have no mark."""
        if lost:
            from convcli.validation.wording import counted

            codes.add(CANNOT_WRITE)
            message = f"{counted(lost, 'finished part')} cannot be found in the folder of the outputs"
            self.screen.error(OutputError("parts-missing", message, help="run the same command again"))

    def _report_rest(self, report: Report) -> None:
        """Prints how many findings are not printed: parts keep the first findings of each code only."""
        from convcli.validation.wording import counted

        for group in report.totals.findings:
            is_hidden = all(map(self.reading.hides, group.first))
            if group.count > len(group.first) and not is_hidden:
                self.screen.announce(f"{counted(group.count, group.severity)} in all with the code {group.code}\n")
        if report.missing:
            self.screen.announce(f"{counted(len(report.missing), 'part')} missing; the same command again adds them\n")

    def _folder(self) -> str:
        reading = self.reading
        if self.out is None:
            raise JobError("usage", "a job in parts needs --out-dir, the folder of the parts")
        if reading.line is not None or reading.at or reading.selection is not None:
            raise JobError("usage", "a job in parts excludes --line, --at and the options that choose transcripts")
        return self.out

    def _done(self, parts: Sequence[Part]) -> Iterator[tuple[Part, Exception | None]]:
        from convcli.jobs import workers
        from convcli.parts import engines
        from convcli.parts.limits import has_timers

        trying = engines.Trying(self.engine.retries, self.engine.seconds)
        if self.engine.name == "ray":
            return engines.on_ray(parts, self.engine.address, trying)
        asked, is_limited = self.processes or workers.cores(), trying.seconds is not None
        if is_limited and not (has_timers() and workers.can_start()):
            raise JobError("usage", "--part-timeout needs timers and further processes, which this system lacks")
        processes = asked if asked > 1 and len(parts) > 1 and (is_limited or workers.can_start()) else 1
        return engines.on_processes(parts, processes, trying)


def _job(screen: Screen, arguments: Any) -> _PartsJob:
    force, processes = arguments.force, arguments.jobs
    reading = msgspec.structs.replace(arguments.reading, out_dir=arguments.out_dir)
    return _PartsJob(screen, arguments.paths, reading, arguments.engine, arguments.out_dir, force, processes)


def convert(screen: Screen, arguments: ConvertArguments) -> int:
    """Runs `convert` in parts and returns the exit code."""
    from convcli.parts import Task
    from convcli.report.losses import summary

    _refuse_options(arguments)
    task = Task(
        "convert",
        arguments.reading.dialect,
        arguments.target.name,
        keep_going=arguments.keep_going or arguments.allow_bad is not None,
        losses=_kept(arguments.losses),
        restores=arguments.restore_file is not None,
        **_how_to_read(arguments.reading),
        fail_on=LEVELS[arguments.fail_on_loss],
        form=arguments.form,
        branch=arguments.branch,
        view=arguments.view,
        chunk=arguments.chunk or 0,
        program_turns=arguments.program_turns,
        tools=arguments.tools,
        tools_of=arguments.tools_of,
        columns=arguments.columns,
        splitting=_shaping.splitting(arguments),
        set_keys=dict(map(key_and_value, arguments.set_keys)),
        defaults=dict(key_and_value(word, "--default") for word in arguments.default_keys),
        models=model_names(arguments.models),
        lenient=arguments.lenient,
        text_columns=arguments.text_columns,
        arguments=arguments.arguments,
    )

    def announce(report: Report) -> None:
        listing = "the folder _losses lists them" if arguments.losses == "all" else "--losses all lists them"
        total = report.totals.summary
        if total.transcripts or total.refused:
            _judged.announce_forms(screen, total.forms)
            screen.announce(summary(total, screen.err, width=_shared.width(sys.stderr), listing=listing))

    job = msgspec.structs.replace(_job(screen, arguments), allowed=allowance(arguments.allow_bad))
    return job.run(task, announce)


def _how_to_read(reading: ReadingOptions) -> dict[str, Any]:
    """Returns the fields of a task that say how each file is read."""
    keys, nulls, most, calls = reading.keys, reading.nulls, reading.max_line, reading.calls
    return {"duplicate_keys": keys, "nulls": nulls, "max_line": most, "calls": calls}


def _refuse_options(arguments: ConvertArguments) -> None:
    """Raises JobError for options of `convert` that a job in parts cannot have."""
    if arguments.output or arguments.framing:
        raise JobError("usage", "a job in parts excludes -o and --framing")
    if arguments.restore_file not in (None, "all"):
        help_text = "all records are written to DIR/_restore"
        raise JobError("usage", "--restore-file with --engine is all", help=help_text)
    if arguments.restore_file is not None and arguments.reading.calls == "join":
        raise JobError("usage", "--join and --restore-file exclude each other")
    if arguments.allow_bad is not None and arguments.engine is not None and arguments.engine.share is not None:
        help_text = "the same command with --engine local instead of --part counts what all tasks could not read"
        raise JobError("usage", "--part and --allow-bad exclude each other", help=help_text)
    if arguments.split is not None or arguments.shuffle is not None:
        raise JobError("usage", "a job in parts excludes --split and --shuffle", help="use a second job for them")


def _kept(word: str | None) -> Kept:
    """Returns which losses and findings are written. Raises JobError for the name of a file."""
    if word is not None and word not in KEPT:
        raise JobError("usage", "--losses with --engine is all, first or none", help="all are written to DIR/_losses")
    return cast("Kept", word or "first")


def validate(screen: Screen, arguments: Any) -> int:
    """Runs `validate` in parts and returns the exit code."""
    from convcli.parts import Task
    from convcli.report.formats.full import tally

    every = arguments.with_defaults(screen)
    if arguments.output or arguments.form or arguments.statistics or every.baseline or arguments.transcripts_only:
        message = "-o, --output-format, --statistics, --baseline and --transcripts-only are not for a job with --engine"
        raise JobError("usage", message, help="DIR/part-*.jsonl has the findings, DIR/_report.json counts them")
    arguments = every
    severities = Counter[Severity]()

    select, ignore = (tuple(code for codes in some for code in codes) for some in (arguments.select, arguments.ignore))
    task = Task(
        "validate",
        arguments.reading.dialect,
        "" if arguments.target is None else arguments.target.name,
        **_how_to_read(arguments.reading),
        strict=arguments.strict,
        check_arguments=arguments.check_arguments,
        select=select,
        ignore=ignore,
    )

    def announce(report: Report) -> None:
        severities.update({severity: report.severe(severity) for severity in get_args(Severity)})
        totals, transcripts = report.totals, report.totals.summary.transcripts
        _judged.announce_skipped(screen, totals.skipped, transcripts)
        if transcripts:
            screen.announce(tally(severities, transcripts - totals.clean, transcripts, screen.err))
        _judged.announce_forms(screen, totals.summary.forms)
        _judged.announce_converted(screen, arguments.target, totals.converted)

    job = _job(screen, arguments)
    code = job.run(task, announce)
    is_bad = severities["error"] or (severities["warning"] and arguments.strict)
    return UNACCEPTABLE if code == DONE and is_bad and not arguments.exit_zero else code


def stats(screen: Screen, arguments: Any, columns: list[str], prices: Any) -> int:
    """Runs `stats` in parts and returns the exit code."""
    from convcli.parts import Task
    from convcli.report import totals
    from convcli.views.costs import Prices
    from convcli.views.statistics import Statistics

    def announce(report: Report) -> None:
        statistics = Statistics(Prices(prices))
        statistics.add_counted(report.counts)
        _shared.show_table(screen, arguments.form, columns, statistics.rows())
        _selecting.announce_notes(screen, totals.notes(statistics))

    task = Task("stats", arguments.reading.dialect, **_how_to_read(arguments.reading), prices=prices)
    return _job(screen, arguments).run(task, announce)
