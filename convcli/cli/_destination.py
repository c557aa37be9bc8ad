"""Where the transcripts of a conversion go: into one output, a folder, or outputs that several inputs share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from convcli.cli._output_names import layout_of
from convcli.model.errors import JobError

if TYPE_CHECKING:
    from convcli.cli._convert_arguments import ConvertArguments
    from convcli.files.framing import Framing
    from convcli.files.outputs import NewFolders, Output
    from convcli.jobs.arranging import Arranged
    from convcli.jobs.converting import Job
    from convcli.jobs.destinations import Folder, Joined
    from convcli.jobs.paths import InputFile


class Destination(msgspec.Struct):
    """The job with its layout, and one of: the output of one input, a folder, or what the inputs share.

    `arranged`: the same as `joined`, if the rows are split or shuffled · `tables`: outputs that are tables.
    """

    job: Job
    output: Output | None = None
    folder: Folder | None = None
    joined: Joined | Arranged | None = None
    arranged: Arranged | None = None
    tables: list[Any] = []


def destination(
    arguments: ConvertArguments, files: list[InputFile], paths: list[str], job: Job, folders: NewFolders
) -> Destination:
    """Returns where the transcripts of these files go. Raises JobError for options that exclude each other."""
    if arguments.out_dir is not None and arguments.output is not None:
        raise JobError("usage", "-o and --out-dir exclude each other")
    if arguments.split is not None or arguments.shuffle is not None:
        return _arranged(arguments, paths, job, folders)
    if arguments.out_dir is not None:
        from convcli.jobs.destinations import Folder

        is_of_one = paths == list(arguments.paths) and len(paths) == 1
        others = arguments.losses, arguments.restore_file, arguments.receipt
        folder = Folder(arguments.out_dir, files, force=arguments.force, is_of_one=is_of_one, others=others)
        return Destination(job, folder=folder)
    return _single(arguments, paths, job)


def _single(arguments: ConvertArguments, paths: list[str], job: Job) -> Destination:
    """Opens the one output of one or more inputs."""
    from convcli.files.names import is_table
    from convcli.files.outputs import STDOUT
    from convcli.jobs.destinations import Joined, output_at

    if arguments.restore_file is not None and arguments.reading.redaction is not None and arguments.reading.at:
        message = "--restore-file keeps what --at leaves out, which --redact does not mask"
        raise JobError("usage", message, help="leave out one of the three")
    if arguments.restore_file is not None and len(paths) > 1:
        raise JobError("several-inputs", "--restore-file is for one input")
    layout = layout_of(arguments.output)
    if len(paths) > 1 and layout is None:
        if arguments.output not in (None, *STDOUT):
            message = f"{len(paths):,} inputs, and {arguments.output} is no file for several transcripts"
            raise JobError("several-inputs", message, help="use -o FILE.jsonl, FILE.json or --out-dir DIR")
        layout = "jsonl"
    name = arguments.output or "-"
    output = output_at(name, job.target, job.framing, force=arguments.force, inputs=paths)
    tables = [output] if is_table(output.name) else []
    if tables and arguments.restore_file is not None:
        message = "--restore-file needs an output that keeps the order of keys; a table does not"
        raise JobError("usage", message, help="write to a FILE.jsonl")
    if len(paths) == 1:
        return Destination(replace(job, layout=layout), output, tables=tables)
    joined = Joined(output, "array" if layout == "json" else "jsonl", job.target.collected)
    return Destination(replace(job, layout="jsonl", is_joined=True), joined=joined, tables=tables)


def _arranged(arguments: ConvertArguments, paths: list[str], job: Job, folders: NewFolders) -> Destination:
    """Opens the outputs of a job that shuffles or splits."""
    from convcli.files.names import is_table
    from convcli.jobs.arranging import PLACEHOLDER, Arranged, Splits, shares
    from convcli.jobs.destinations import output_at

    if arguments.restore_file is not None:
        raise JobError("usage", "--restore-file excludes --split and --shuffle, which change the order")
    name = os.path.join(arguments.out_dir, f"{PLACEHOLDER}.jsonl") if arguments.out_dir else arguments.output or "-"
    parts = {"": 1.0} if arguments.split is None else shares(arguments.split)
    if (arguments.split is not None) is not (PLACEHOLDER in name):
        message = f"--split needs --out-dir, or {PLACEHOLDER} in the name of -o"
        message = message if arguments.split is not None else "--out-dir with --shuffle needs --split"
        raise JobError("usage", message, help=f"write --out-dir DIR, or -o data-{PLACEHOLDER}.jsonl")
    if arguments.out_dir:
        folders.make(arguments.out_dir)
    outputs: dict[str, tuple[Output, Framing]] = {}
    for part in parts:
        path = name.replace(PLACEHOLDER, part)
        output = output_at(path, job.target, job.framing, force=arguments.force, inputs=paths)
        outputs[part] = output, "array" if layout_of(path) == "json" else "jsonl"
    tables = [output for output, _ in outputs.values() if is_table(output.name)]
    splits = None if arguments.split is None else Splits(parts)
    arranged = Arranged(outputs, job.target.collected, splits, arguments.shuffle)
    return Destination(replace(job, layout="jsonl", is_joined=True), joined=arranged, arranged=arranged, tables=tables)
