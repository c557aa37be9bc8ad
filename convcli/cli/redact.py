"""convcli redact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from convcli.cli import _redacting, _shared
from convcli.cli._commands import add_option, declare
from convcli.cli._diagnostics import DiagnosticPrinter, ExitCodes
from convcli.cli._output_names import LISTS, announce_other_format
from convcli.cli._types import PATH, format_of
from convcli.model.errors import UNACCEPTABLE, JobError
from convcli.report import tables
from convcli.report.screen import Screen
from convcli.report.text import safe_text

if TYPE_CHECKING:
    from convcli.files.layouts import DocumentWriter
    from convcli.files.outputs import Output
    from convcli.jobs.destinations import Folder, ValueFile
    from convcli.jobs.documents import Document
    from convcli.jobs.inputs import Input
    from convcli.jobs.paths import InputFile
    from convcli.jobs.reading import ReadingOptions
    from convcli.jobs.redacting import Redaction
    from convcli.views.rows import Row

EXAMPLES = """\
convcli samples session -o session.jsonl
convcli redact session.jsonl -o clean.jsonl            # the same dialect, without private data
convcli redact clean.jsonl --check                     # lists private data that is left; exits 1 if there is any
convcli redact session.jsonl -o masked.jsonl --mask "Project X" --mask weather
convcli redact ~/.claude/projects --out-dir clean
"""
COLUMNS = ["rule", "file", "line", "pointer", "length"]


@declare(EXAMPLES)
@_shared.inputs
@_redacting.word_options
@add_option("-o", "--output", type=PATH, metavar="FILE|-", help="The output for one input; without it, stdout.")
@add_option("--out-dir", type=PATH, metavar="DIR", help="Write a file for each input, in the same tree of folders.")
@add_option("--force", is_flag=True, help="Replace existing outputs.")
@add_option("--check", "checks", is_flag=True, help="Write nothing; list the private data, and exit 1 if there is any.")
@add_option(
    "--write-allow", "writes_allowed", is_flag=True, help="With --check: add what is found to the file of --allow."
)
@add_option(
    "--report",
    type=PATH,
    metavar="FILE",
    help="Write the rule, place and length of each masked value: a JSON array, or lines in FILE.jsonl.",
)
@add_option(
    "-O",
    "--output-format",
    "form",
    type=format_of(tables),
    default="table",
    help="With --check: the format of the list.",
)
def command(screen: Screen, /, **values: Any) -> int:
    """Mask keys, passwords and personal data in transcripts.

    The output has the dialect of the input. The same value becomes the same placeholder, such as <EMAIL-1>. No value
    is ever printed. convcli help redaction lists what is found, and what is not.
    """
    paths, reading, form = values.pop("paths"), values.pop("reading"), values.pop("form")
    words, allow = values.pop("words"), values.pop("allow")
    _check(allow=allow, **values)
    redaction = _redacting.redaction_of(words, allow, is_new=values["writes_allowed"])
    redacting = Redacting(screen, replace(reading, redaction=redaction), redaction)
    if not values["checks"]:
        return redacting.write(paths, values["output"], values["out_dir"], values["report"], force=values["force"])
    code = redacting.check(paths, form)
    if values["writes_allowed"]:
        _replace(allow, redaction.allowed.written(redaction.hits))
        return code if code != UNACCEPTABLE else 0
    return code


def _check(
    *, allow: str | None, checks: bool, writes_allowed: bool, output: str | None, out_dir: str | None,
    report: str | None, force: bool,
) -> None:  # fmt: skip
    if checks and (output or out_dir or report):
        raise JobError("usage", "--check writes nothing: leave out -o, --out-dir and --report")
    if writes_allowed and not (checks and allow):
        raise JobError("usage", "--write-allow needs --check and --allow FILE")
    if output is not None and out_dir is not None:
        raise JobError("usage", "-o and --out-dir exclude each other")


class Redacting:
    """A running `redact`."""

    def __init__(self, screen: Screen, reading: ReadingOptions, redaction: Redaction) -> None:
        self.screen, self.reading, self.redaction = screen, reading, redaction
        self.codes, self.printer = ExitCodes(screen), DiagnosticPrinter(screen, reading)

    def check(self, paths: tuple[str, ...], form: str) -> int:
        """Lists what is found in these files. Returns the exit code."""
        for _ in _shared.lifted(paths, self.reading, self.codes, self.printer):
            pass
        hits = self.redaction.hits
        if hits or form != "table":
            _shared.show_table(self.screen, form, COLUMNS, self._rows())
        self.codes.add(UNACCEPTABLE if hits else 0)
        return self._finished()

    def write(
        self, paths: tuple[str, ...], output: str | None, out_dir: str | None, report: str | None, *, force: bool
    ) -> int:
        """Writes masked files. Returns the exit code."""
        from convcli.files.outputs import NewFolders, refuse_same
        from convcli.jobs.destinations import Folder

        files = self.reading.find(paths)
        _shared.tell_others(self.screen, paths)
        if len(files) > 1 and out_dir is None:
            raise JobError("several-inputs", f"{len(files):,} inputs, and one output", help="use --out-dir DIR")
        refuse_same({"-o": output or "-" if out_dir is None else None, "--report": report})
        announce_other_format(self.screen, output)
        folder = None if out_dir is None else Folder(out_dir, files, force=force, others=[report])
        folders, hits = NewFolders(), None
        try:
            if out_dir is not None:
                folders.make(out_dir)  # the report may be in it
            hits = None if report is None else self._opened_report(report, files, force=force)
            for file in files:
                with self.codes.guard(file.path), self.reading.opened(file.path) as source:
                    self._one(source, file, folder, output or "-", force=force)
            if folder is not None:
                folder.batch.flush()
                for error in folder.batch.failed:
                    with self.codes.guard(""):
                        raise error
            if hits is not None:
                for row in self._rows():
                    hits.add(row)
                hits.commit()
        finally:
            for target in (folder, hits, folders):
                if target is not None:
                    target.discard()
        return self._finished()

    def _one(self, source: Input, file: InputFile, folder: Folder | None, output: str, *, force: bool) -> None:
        """Writes the documents of one input. Nothing is written if one of them cannot be read."""
        from convcli.engine.arguments import options
        from convcli.files.layouts import SUFFIXES, DocumentWriter
        from convcli.jobs.converting import Job, keeps_container, layout_for
        from convcli.jobs.destinations import output_at
        from convcli.jobs.documents import without_transcript
        from convcli.jobs.redacting import write

        target = source.dialect
        job = Job(target, options(target, None, "all", 0, "history", {}), False, None)
        outputs: list[Output] = []

        def open_writer(document: Document) -> DocumentWriter:
            layout = layout_for(document.value, job, source, several=source.may_be_several)
            named = folder.output(file, SUFFIXES[layout]) if folder is not None else None
            outputs.append(named or output_at(output, target, None, force=force, inputs=[file.path]))
            container = document.shell if keeps_container(source, job) else None
            if document.shell is not None and container is None:
                self.screen.announce(f"note: {safe_text(file.path)}: what surrounds the transcripts is not written\n")
            many = target.collected if container is None else target.many
            names_events = target.names_events
            return DocumentWriter(outputs[0], layout, many, names_events=names_events, container=container)

        try:
            writer = write(self._documents(source), open_writer)
            if writer is None:
                raise without_transcript(file.path)
            writer.commit()
        finally:
            for each in outputs:
                each.discard()

    def _documents(self, source: Input) -> Iterator[Document]:
        """Yields the masked documents; those of another dialect than their file are errors."""
        from convcli.jobs.documents import Skipped, torn_warning

        for item in source:
            if isinstance(item, Skipped) and item.torn:
                self.printer.finding(torn_warning(item))
            elif isinstance(item, Skipped):
                raise item.error
            else:
                yield item

    def _opened_report(self, path: str, files: list[InputFile], *, force: bool) -> ValueFile:
        from convcli.files.outputs import open_output
        from convcli.jobs.destinations import ValueFile

        announce_other_format(self.screen, path, fitting=LISTS)
        return ValueFile(open_output(path, force=force, inputs=[file.path for file in files]))

    def _rows(self) -> Iterator[Row]:
        for hit in self.redaction.hits:
            yield {
                "rule": hit.rule,
                "file": hit.file,
                "line": hit.line or None,
                "pointer": hit.where,
                "length": hit.length,
            }

    def _finished(self) -> int:
        self.printer.finish()
        self.codes.finish()
        if self.redaction.counts or not self.codes.worst:  # what could not be read was not searched
            _redacting.announce(self.screen, self.redaction)
        return self.codes.worst


def _replace(path: str, data: bytes) -> None:
    from convcli.files.outputs import open_output

    output = open_output(path, force=True)
    try:
        output.write(data)
        output.commit()
    finally:
        output.discard()
