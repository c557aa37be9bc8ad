"""One call of `convcli convert`: its arguments, its outputs and its reports."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from convcli.cli import _judged, _shaping, _shared
from convcli.cli._convert_arguments import ConvertArguments
from convcli.cli._destination import destination
from convcli.cli._diagnostics import DiagnosticPrinter, ExitCodes
from convcli.cli._output_names import LISTS, announce_other_format
from convcli.cli._types import LEVELS, key_and_value, model_names
from convcli.cli._unread import Unread, allowance
from convcli.model.errors import DONE, UNACCEPTABLE, JobError, OutputError
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.cli._recording import Recording
    from convcli.files.outputs import FileOutput, NewFolders, Output
    from convcli.jobs.arranging import Arranged
    from convcli.jobs.converting import InputConversion, Job, Sinks, SplitConversion
    from convcli.jobs.destinations import Folder, Joined, ValueFile
    from convcli.jobs.inputs import Input
    from convcli.jobs.paths import InputFile
    from convcli.jobs.reading import ReadingOptions
    from convcli.jobs.receipts import Role
    from convcli.jobs.summaries import Summary
    from convcli.model.errors import ConvcliError
    from convcli.model.findings import Finding
    from convcli.proof.reasons import Loss

    Result: TypeAlias = tuple[Summary, bool]
    """The summary of an input, and whether the file has grown meanwhile."""


class Converting:
    """A running conversion."""

    def __init__(self, screen: Screen, arguments: ConvertArguments) -> None:
        self.screen, self.arguments = screen, arguments
        self.codes, self.printer = ExitCodes(screen), DiagnosticPrinter(screen, arguments.reading)
        self.total: Summary | None = None
        self.allowed = allowance(arguments.allow_bad)
        self.keep_going = bool(arguments.keep_going or arguments.allow_bad)
        self.unread = Unread()
        self.losses: ValueFile | None = None
        self.records: FileOutput | None = None
        self.recording: Recording | None = None
        self.folder: Folder | None = None
        self.joined: Joined | Arranged | None = None
        self.arranged: Arranged | None = None

    def run(self) -> int:
        """Converts all inputs and returns the exit code. Errors of the job are found before the first input is read."""
        from convcli.files.names import split_line
        from convcli.files.outputs import NewFolders, refuse_same

        job = self._job()
        arguments = self.arguments
        output_path = arguments.output if arguments.out_dir is not None else arguments.output or "-"
        others = {"--restore-file": arguments.restore_file, "--receipt": arguments.receipt}
        refuse_same({"-o": output_path, "--losses": arguments.losses, **others})
        self.files = arguments.reading.find(arguments.paths, reads_ahead=False)
        _shared.tell_others(self.screen, self.arguments.paths)
        paths = [split_line(file.path)[0] for file in self.files]
        reading = self.arguments.reading
        is_selected = reading.selection is not None or reading.redaction is not None
        is_in_turn = is_selected or arguments.split is not None or arguments.card
        asked = 1 if is_in_turn else self.arguments.jobs  # a selection and a redaction count over all inputs
        self.processes = _shared.processes(asked, paths, self.screen)
        self._opened = self._reading().opened
        folders = NewFolders()
        try:
            job, output = self._open(job, paths, folders)
            _shared.read_ahead(self.screen, reading, self.files)
            with self.screen.progress(sum(map(_shared.size_of, paths))) as self.progress:
                self._all(job, output)
            self._finish()
        finally:
            for target in (self.losses, self.records, self.joined, self.folder, self.recording, folders):
                if target is not None:
                    target.discard()
        return self.codes.worst

    def _open(self, job: Job, paths: list[str], folders: NewFolders) -> tuple[Job, Output | None]:
        """Opens the outputs. Returns the job with its layout, and the output if there is one for one input."""
        from convcli.files.outputs import open_output
        from convcli.jobs.destinations import ValueFile

        arguments = self.arguments
        self.recording = self._recording(paths, folders)
        goal = destination(arguments, self.files, paths, job, folders)
        self.folder, self.joined, self.arranged, self.tables = goal.folder, goal.joined, goal.arranged, goal.tables
        announce_other_format(self.screen, arguments.output)
        announce_other_format(self.screen, arguments.losses, fitting=LISTS)
        if arguments.losses is not None:
            self.losses = ValueFile(open_output(arguments.losses, force=arguments.force, inputs=paths))
        if arguments.restore_file is not None:
            self.records = open_output(arguments.restore_file, force=arguments.force, inputs=paths)
        return goal.job, goal.output

    def _reading(self) -> ReadingOptions:
        """A restore file keeps each value as the input has it, so calls stay as they are."""
        reading = self.arguments.reading
        if self.arguments.restore_file is None:
            return reading
        if reading.calls == "join":
            raise JobError("usage", "--join and --restore-file exclude each other")
        return replace(reading, restores=True, calls="apart")

    def _recording(self, paths: list[str], folders: NewFolders) -> Recording | None:
        """Opens the card and the receipt, if requested. Raises JobError."""
        if not self.arguments.card and self.arguments.receipt is None:
            return None
        from convcli.cli._recording import Recording

        return Recording(self.arguments, paths, folders)

    def _job(self) -> Job:
        from convcli.engine.arguments import options, with_row_choices
        from convcli.jobs.converting import Job

        arguments = self.arguments
        chosen = options(
            arguments.target,
            arguments.form,
            arguments.branch,
            arguments.chunk or 0,
            arguments.view,
            dict(map(key_and_value, arguments.set_keys)),
            defaults=dict(key_and_value(word, "--default") for word in arguments.default_keys),
            models=model_names(arguments.models),
            lenient=arguments.lenient,
        )
        chosen = with_row_choices(chosen, arguments.program_turns, arguments.tools, arguments.tools_of)
        self._check_stream()
        return Job(
            arguments.target,
            chosen,
            self.keep_going,
            LEVELS[arguments.fail_on_loss],
            framing=arguments.framing,
            text_columns=arguments.text_columns,
            arguments=arguments.arguments,
            shape=_shaping.shape(arguments),
        )

    def _check_stream(self) -> None:
        from convcli.files.layouts import row_layouts

        target = self.arguments.target
        ways = row_layouts(target.framings)
        if self.arguments.framing is not None and self.arguments.framing not in ways:
            written = f"only as {ways[0]}" if ways else "as no stream"
            raise JobError("usage", f"--framing {self.arguments.framing}: {target.title} is written {written}")
        if self.arguments.chunk is not None and "stream" not in target.forms:
            raise JobError("usage", f"--chunk: {target.title} is not written in fragments")
        if self.arguments.text_columns and "records" not in target.framings:
            raise JobError("usage", f"--text-columns: {target.title} is not written as rows of a data set")

    def _all(self, job: Job, output: Output | None) -> None:
        """Converts the inputs one after the other, or in parallel those that share no output."""
        from convcli.jobs.converting import Sinks

        apart, restore = self._apart(), None if self.records is None else self.records.write
        route = None if self.arranged is None else self.arranged.route
        taken = None if self.recording is None else self.recording.taken
        loss = self._loss if self._asks_for_losses() else None
        secure_records = None if self.records is None else self.records.secure
        sinks = Sinks(loss, self._finding, restore, None, route, taken, secure_records)
        self.job, self.sinks = job, sinks
        if len(apart) < 2:
            for file in self.files:
                self._one(file, partial(self._converted, file, job, output, sinks, self.processes))
            return
        from convcli.jobs import parallel

        chosen, write = set(apart), None if self.joined is None else self.joined.part("").write
        with parallel.convert_files(apart, self._opened, self.folder, job, sinks, self.processes) as each:
            for file in self.files:
                if file in chosen:
                    self._one(file, partial(parallel.replayed, next(each), sinks, write))
                else:
                    self._one(file, partial(self._converted, file, job, None, sinks))
            next(each, None)  # reports the last of them

    def _asks_for_losses(self) -> bool:
        return self.losses is not None or self.arguments.fail_on_loss is not None

    def _apart(self) -> list[InputFile]:
        """Returns the files that other processes can convert; into a folder, those with unique names."""
        if self.processes == 1 or self.arguments.reading.at or (self.folder is None and self.joined is None):
            return []
        from convcli.jobs.destinations import stem
        from convcli.jobs.workers import can_read

        names = Counter(map(stem, self.files)) if self.folder is not None else Counter[str]()
        return [file for file in self.files if names[stem(file)] <= 1 and can_read(file.path)]

    def _one(self, file: InputFile, result: Callable[[], Result]) -> None:
        """Adds the result of an input to the summary."""
        with self.codes.guard(file.path, self.unread.error if self.keep_going else None):
            try:
                summary, grew = result()
            finally:
                self.progress.pass_by(_shared.size_of(file.path))
            if grew:
                self.screen.announce("note: the file has grown while it was read; the added part is not converted\n")
            self.codes.add(UNACCEPTABLE if summary.failing else DONE if self.keep_going else summary.exit_code)
            if self.total is None:
                self.total = summary
            else:
                self.total.add(summary)
        self._tell_failed()

    def _tell_failed(self) -> None:
        """Reports complete outputs that could not be published."""
        failed: list[ConvcliError] = []
        if self.folder is not None:
            failed, self.folder.batch.failed = self.folder.batch.failed, []
        for error in failed:
            with self.codes.guard(""):
                if self.total is not None:
                    self.total.outputs -= 1
                raise error

    def _converted(self, file: InputFile, job: Job, output: Output | None, sinks: Sinks, processes: int = 1) -> Result:
        with self._opened(file.path) as source:
            self.progress.watch(partial(getattr, source, "bytes_read"))
            done = self._completed(self._conversion(source, file, job, output, sinks), processes)
            _shared.announce_passed(self.screen, source)
            return done, source.grew

    def _conversion(
        self, source: Input, file: InputFile, job: Job, output: Output | None, sinks: Sinks
    ) -> InputConversion | SplitConversion:
        from convcli.jobs.converting import InputConversion, into_folder

        if self.folder is not None:
            return into_folder(source, file, job, self.folder, sinks)

        def output_for(suffix: str) -> Output:
            part = output if self.joined is None else self.joined.part(suffix)
            assert part is not None
            return part

        return InputConversion(source, job, output_for, sinks)

    def _completed(self, run: InputConversion | SplitConversion, processes: int) -> Summary:
        if processes == 1:
            from convcli.jobs.converting import completed

            return completed(run)
        from convcli.jobs import parallel

        return parallel.completed(run, processes)

    def _commit(self) -> None:
        """Publishes the outputs that wait for the last input."""
        if self.folder is not None:
            self.folder.batch.flush()
            self._tell_failed()
        from convcli.jobs.converting import count_stored

        total, joined = self.total, self.joined
        if total is None or joined is None:
            return
        total.outputs = 0
        if total.rows and not total.failing and (self.keep_going or not self.codes.worst):
            with self.codes.guard(""):
                joined.complete()
                for file in joined.files:
                    count_stored(total, file, self.job, self.sinks)
                self.codes.add(UNACCEPTABLE if total.failing else DONE)
                if not total.failing:
                    joined.commit()
                    total.outputs = len(joined.files)

    def _finding(self, finding: Finding) -> None:
        self.printer.finding(finding)
        self.unread.finding(finding)

    def _loss(self, loss: Loss) -> None:
        if self.losses is not None:
            self.losses.add(loss)
        if self.arguments.fail_on_loss is not None:
            self.printer.loss(loss, is_error=self.job.fails_on(loss))

    def _finish(self) -> None:
        """Writes losses, even those that prevent the output, and restore records; then prints the summary."""
        from convcli.report.losses import summary
        from convcli.report.text import safe_text

        self._commit()
        self.printer.finish()
        self.codes.finish()
        written = self.total is not None and self.total.outputs
        for target in (self.losses, self.records if written else None):
            try:
                if target is not None:
                    target.commit()
            except OutputError as error:
                self.screen.error(error)
                self.codes.add(error.exit_code)
        self._record()
        self._tell_columns()
        self._tell_splits()
        self._judge_unread()
        if self.total is not None:
            _shared.announce_joined(self.screen, self.total.calls, self.total.conversations)
            listing = f"{safe_text(self.arguments.losses or '--losses FILE')} lists them"
            if self.total.outputs:
                _judged.announce_forms(self.screen, self.total.forms)
            self.screen.announce(summary(self.total, self.screen.err, width=_shared.width(sys.stderr), listing=listing))

    def _record(self) -> None:
        """Writes the card and the receipt, if there are outputs."""
        total = self.total
        if self.recording is None or total is None or not total.outputs:
            return
        rows = {"": total.rows} if self.arranged is None else self.arranged.rows
        with self.codes.guard(""):
            self.recording.finish(self._outputs(), rows, total, self._left_out())

    def _outputs(self) -> list[tuple[Role, str]]:
        """Returns the files that were written, with what each is."""
        arguments = self.arguments
        if self.folder is not None:
            names = sorted(self.folder.batch.shown)
        elif self.joined is not None:
            names = [file.output.name for file in self.joined.files]
        else:
            names = [arguments.output or "-"]
        others: list[tuple[Role, str | None]] = [("losses", arguments.losses), ("restore-file", arguments.restore_file)]
        written: list[tuple[Role, str]] = [("output", name) for name in names]
        return written + [(role, name) for role, name in others if name is not None]

    def _left_out(self) -> list[str]:
        """Returns what is not in the output, and why, in sentences."""
        from convcli.cli._redacting import summary
        from convcli.cli._selecting import sentences

        reading = self.arguments.reading
        records = self.total.refused if self.total is not None else 0
        masked = [] if reading.redaction is None else [summary(reading.redaction)]
        return [*self.unread.sentences(records), *sentences(reading.selection), *masked]

    def _tell_splits(self) -> None:
        """Reports how many rows are in each split."""
        if self.arguments.split is not None and self.arranged is not None and self.total and self.total.outputs:
            counts = ", ".join(f"{name} {count:,}" for name, count in self.arranged.rows.items())
            empty = "; datasets loads no split without rows" if 0 in self.arranged.rows.values() else ""
            self.screen.announce(f"note: rows by split: {counts}{empty}\n")

    def _judge_unread(self) -> None:
        """Lists what was skipped, and decides whether that is acceptable."""
        if not self.keep_going:
            return
        records, transcripts = (0, 0) if self.total is None else (self.total.refused, self.total.transcripts)
        unread = records + self.unread.inputs
        self.screen.announce("".join(self.unread.listed(records)))
        if not self.allowed.accepts(unread, transcripts + unread):
            self.codes.add(UNACCEPTABLE)

    def _tell_columns(self) -> None:
        """Reports which columns of a table contain JSON strings."""
        from convcli.report.text import safe_text

        columns = dict.fromkeys(name for table in self.tables for name in table.texts)
        if columns:
            self.screen.announce(f"note: columns of the table with JSON strings: {safe_text(', '.join(columns))}\n")
