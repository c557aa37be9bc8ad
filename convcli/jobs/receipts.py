"""Receipts of conversions: what was read and written, by hash, with versions, the command and the losses by level.

A receipt contains no value of a transcript. Its paths are relative to its folder if the user gave relative ones;
otherwise they are absolute, with `~` for the home directory.
"""

from __future__ import annotations

import errno
import os
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from hashlib import file_digest
from typing import Literal, TypeAlias

import msgspec

from convcli.files.packed import may_wait, unreadable
from convcli.files.side_files import read_side_file
from convcli.files.sqlite import JOURNAL, LOG
from convcli.jobs.summaries import Summary
from convcli.model.errors import JobError
from convcli.model.version import __version__
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

VERSION = 1
Role: TypeAlias = Literal["output", "losses", "restore-file", "card"]
PACKAGES = {
    "msgspec": "msgspec", "orjson": "orjson", "jsonschema": "jsonschema", "jsonschema_rs": "jsonschema-rs",
    "pyarrow": "pyarrow", "zstandard": "zstandard", "fsspec": "fsspec", "dateparser": "dateparser",
    "phonenumbers": "phonenumbers",
}  # fmt: skip
"""The modules that can decide what an output contains, and the packages that have them."""


class FileRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file with its size and hash. Without a hash, `unchecked` says why there is none."""

    path: str
    role: Role | None = None
    bytes: int | None = None
    sha256: str | None = None
    unchecked: str | None = None


class LossRecord(msgspec.Struct, frozen=True):
    """The number of losses of one level, kind and field."""

    level: str
    kind: str
    field: str
    count: int


class Receipt(msgspec.Struct, frozen=True):
    """The receipt of one conversion; `schemas/receipt.schema.json` describes its JSON form.

    `command`: the words after `convcli convert` · `is_masked`: some of them are masked, so it cannot be run again ·
    `directory`: where it ran · `left_out`: turns of the agent program that are no losses, by their kind.
    """

    receipt: int
    versions: dict[str, str]
    begin: str
    end: str
    directory: str
    command: list[str]
    is_masked: bool
    sources: list[str]
    target: str
    inputs: list[FileRecord]
    outputs: list[FileRecord]
    transcripts: int
    rows: int
    refused: int
    left_out: dict[str, int]
    losses: dict[str, int]
    fields: list[LossRecord]

    def written(self) -> bytes:
        """Returns the file."""
        return exact_json.write(builtins(self), indent=True) + b"\n"


class FileDifference(msgspec.Struct, frozen=True):
    """A file that is not as the receipt has it."""

    file: str
    problem: str


# --- paths -----------------------------------------------------------------------------------------------------------


def with_tilde(text: str) -> str:
    """Returns a text with `~` for the home directory, wherever it occurs."""
    home = os.path.expanduser("~").rstrip(os.sep)
    if not home or home == "~":
        return text
    return "~" if text == home else text.replace(home + os.sep, "~" + os.sep)


class Paths:
    """The paths of a receipt: as it has them, and where they are.

    `masked` masks what the user wants to be masked.
    """

    def __init__(self, receipt: str, masked: Callable[[str], str] = str) -> None:
        self._is_relative, self._masked = not os.path.isabs(receipt), masked
        self._folder = os.path.dirname(os.path.abspath(receipt))

    def stored(self, path: str) -> str:
        """Returns a path as the receipt has it."""
        if self._is_relative and not os.path.isabs(path):
            return self._masked(os.path.relpath(path, self._folder).replace(os.sep, "/"))
        return self._masked(with_tilde(os.path.abspath(path)))

    def found(self, path: str) -> str:
        """Returns where a path of the receipt is."""
        return os.path.normpath(os.path.join(self._folder, os.path.expanduser(path)))


# --- writing ---------------------------------------------------------------------------------------------------------


class Recorder:
    """Records one conversion. It is made before the first input is read, and notes which inputs change meanwhile."""

    def __init__(self, paths: Paths, inputs: Iterable[str]) -> None:
        self._paths, self._begin = paths, _now()
        self._inputs = {path: _state(path) for each in inputs for path in (each, *_logs_of(each))}

    def receipt(
        self, command: list[str], *, is_masked: bool, outputs: Iterable[tuple[Role, str]], summary: Summary
    ) -> Receipt:
        """Returns the receipt. Reads all inputs and outputs; raises JobError if one cannot be read."""
        groups = [group for group in summary.groups.values() if not group.is_chosen]
        levels = Counter({"content": 0, "context": 0, "envelope": 0})
        for group in groups:
            levels[group.level] += group.count
        return Receipt(
            receipt=VERSION,
            versions=_versions(),
            begin=self._begin,
            directory=self._paths.stored("."),
            command=command,
            is_masked=is_masked,
            sources=sorted(summary.sources),
            target=summary.target,
            inputs=[self._input(path, state) for path, state in self._inputs.items()],
            outputs=[self._output(role, path) for role, path in outputs],
            transcripts=summary.transcripts,
            rows=summary.rows,
            refused=summary.refused,
            left_out=summary.left_out_turns,
            losses=dict(levels),
            fields=[LossRecord(group.level, group.kind, group.label, group.count) for group in groups],
            end=_now(),
        )

    def _input(self, path: str, state: _State | None) -> FileRecord:
        if path == "-":
            return FileRecord("-", unchecked="standard input")
        name = self._paths.stored(path)
        if state is None:
            return FileRecord(name, unchecked="not a file of this machine")
        changed = FileRecord(name, unchecked="changed while it was read")
        if _state(path) != state:
            return changed
        record = _recorded(path, name)
        return record if _state(path) == state else changed

    def _output(self, role: Role, path: str) -> FileRecord:
        name = self._paths.stored(path)
        return FileRecord(name, role, unchecked="not a regular file") if may_wait(path) else _recorded(path, name, role)


def _logs_of(path: str) -> list[str]:
    """Returns the files beside a SQLite database that contain its last changes."""
    return [path + suffix for suffix in (LOG, JOURNAL) if os.path.isfile(path + suffix)]


_State: TypeAlias = tuple[int, int]
"""Size and time of a file: another pair means another content."""


def _state(path: str) -> _State | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if os.path.isfile(path) else None


def _recorded(path: str, name: str, role: Role | None = None) -> FileRecord:
    try:
        if may_wait(path):
            raise OSError(errno.EINVAL, "it is not a regular file")
        with open(path, "rb") as file:
            return FileRecord(name, role, os.fstat(file.fileno()).st_size, file_digest(file, "sha256").hexdigest())
    except OSError as error:
        raise unreadable(path, error) from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    versions = {"convcli": __version__, "python": platform.python_version()}
    for module, package in PACKAGES.items():
        if sys.modules.get(module) is not None:
            try:
                versions[package] = version(package)
            except PackageNotFoundError:
                continue
    return versions


# --- verifying -------------------------------------------------------------------------------------------------------


def load(path: str) -> Receipt:
    """Returns the receipt in a file. Raises JobError if it is missing, unreadable or no receipt."""
    content = read_side_file(path, "receipt", "convcli convert … --receipt FILE writes it")
    try:
        receipt = msgspec.json.decode(content, type=Receipt)
    except msgspec.MsgspecError:
        raise JobError("not-a-receipt", "this is not a receipt of a conversion", file=path) from None
    if receipt.receipt != VERSION:
        raise JobError("not-a-receipt", f"this receipt has the version {receipt.receipt}, not {VERSION}", file=path)
    return receipt


def differences(records: Iterable[FileRecord], paths: Paths) -> Iterator[FileDifference]:
    """Yields what is not as it was. Files without a hash are passed over."""
    for record in records:
        if record.sha256 is None:
            continue
        path = paths.found(record.path)
        try:
            now = _recorded(path, record.path)
        except JobError as error:
            yield FileDifference(record.path, "is missing" if not os.path.lexists(path) else error.message)
            continue
        if now.bytes != record.bytes:
            yield FileDifference(record.path, f"has {now.bytes:,} bytes instead of {record.bytes:,}")
        elif now.sha256 != record.sha256:
            yield FileDifference(record.path, "has another content (SHA-256)")
