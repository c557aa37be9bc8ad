"""Outputs that appear completely or not at all.

Bytes are collected in an unnamed file in the target's folder (`O_TMPFILE`; if the file system does not support it, in a
file with a hidden name). The file gets the target's name when it is complete and on disk. Standard output, pipes and
devices cannot be replaced: they get everything at once, at the end.

Windows opens no folders, and renames no open files: there, a file is closed before it gets its name.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import EINVAL, EISDIR, EOPNOTSUPP, EPERM
from typing import IO, TYPE_CHECKING, Protocol

from convcli.files.names import split_line, without_packing
from convcli.model.errors import ConvcliError, JobError, OutputError

if TYPE_CHECKING:
    from convcli.files.packing import Compressor

STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_CHUNK = 1 << 20
_IN_MEMORY = 4 << 20
UNNAMED = getattr(os, "O_TMPFILE", 0)
_FOLDER: int | None = getattr(os, "O_DIRECTORY", None)
"""The flag for opening a folder; None on Windows."""
_AS_BYTES = getattr(os, "O_BINARY", 0)
"""The flag for no other line ends; Windows only."""
_NO_UNNAMED = (EOPNOTSUPP, EISDIR, EINVAL)
_NO_LINKS = (EPERM, EOPNOTSUPP)


class WrittenOutputs:
    """Counts the outputs of this process that became visible; an interrupted job reports them."""

    def __init__(self) -> None:
        self.is_expected, self.count, self.last = False, 0, ""

    def add(self, name: str) -> None:
        """Counts an output that becomes visible now."""
        self.count, self.last = self.count + 1, name


WRITTEN = WrittenOutputs()


class Output(Protocol):
    """Bytes on their way to a target. Without `commit` nothing appears; `discard` may be called twice."""

    name: str

    def write(self, data: bytes) -> None:
        """Adds bytes. Raises OutputError."""

    def commit(self) -> None:
        """Makes the output appear. Raises OutputError, or JobError if the target was created meanwhile."""

    def discard(self) -> None:
        """Discards the uncommitted output and deletes its temporary file."""


class FileOutput(Output, Protocol):
    """An output of `open_output`."""

    def secure(self) -> None:
        """Passes all bytes to the system before another output is committed: if it fails, neither appears.

        Nothing is written afterwards. A pipe or a device gets the bytes now. Raises OutputError.
        """


def open_output(path: str, *, force: bool = False, inputs: Iterable[str] = ()) -> FileOutput:
    """Opens the output at a path, "-" for stdout; symbolic links are followed and kept. Nothing is created yet.

    It is compressed if the name ends like `x.gz`. A new file is as private as the most private of the `inputs`, which
    may be FILE:LINE. Raises JobError `output-is-input`, `zstd-missing`, or `output-exists` without `force`; OutputError
    if there can be no file with this name.
    """
    output = _opened(path, force, list(inputs))
    if without_packing(path) == path:
        return output
    from convcli.files.packing import compressor_for  # few outputs are compressed

    return _Packed(output, compressor_for(path))


def _opened(path: str, force: bool, inputs: list[str]) -> Replacement | _Through:
    WRITTEN.is_expected = True
    if path in STDOUT:
        _refuse_input("standard output", _status_of_stdout(), inputs)
        return _Through("standard output", "")
    real = os.path.realpath(path)
    try:
        target = _status(path, real)
    except FileNotFoundError:
        folder = os.path.dirname(path)
        raise OutputError("cannot-write", f"cannot write {path}: there is no folder {folder}") from None
    except OSError as error:
        raise cannot_write(path, error) from None
    _refuse_input(path, target, inputs)
    if path.endswith(("/", os.sep)) or (target is not None and stat.S_ISDIR(target.st_mode)):
        help_text = "name a file in it, or use --out-dir where the command has it"
        raise OutputError("cannot-write", f"cannot write {path}: it is a directory", help=help_text)
    if target is not None and not stat.S_ISREG(target.st_mode):
        return _Through(path, path)
    if target is not None and not force:
        raise _exists(path)
    return Replacement(path, real, _mode(target, inputs), target is not None, force)


def refuse_same(outputs: Mapping[str, str | None]) -> None:
    """Raises JobError if two options name the same file: the second output would replace the first.

    Links are followed; all outputs may be the null device.
    """
    names: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None or path == os.devnull:
            continue
        real = os.path.realpath("/dev/stdout" if path in STDOUT else path)
        other = names.setdefault(real, option)
        if other != option:
            raise JobError("usage", f"{other} and {option} name the same file")


def cannot_write(name: str, error: OSError) -> OutputError:
    """Returns the error for a system that refuses to write."""
    return OutputError("cannot-write", f"cannot write {name}: {error.strerror or 'the system gives no reason'}")


def make_folder(path: str) -> None:
    """Creates a folder and its parents, if missing. Raises OutputError."""
    try:
        os.makedirs(path or ".", exist_ok=True)
    except FileExistsError:
        raise OutputError("cannot-write", f"cannot write into {path}: it is not a directory") from None
    except OSError as error:
        raise cannot_write(path, error) from None


class NewFolders:
    """Creates folders for outputs; at the end, those that are still empty are deleted.

    `expected`: folders that other processes may create for this job.
    """

    def __init__(self, expected: Iterable[str] = ()) -> None:
        self._ready, self._created = set[str](), set[str]()
        for folder in expected:
            self._note(folder)

    def make(self, path: str) -> None:
        """Creates a folder and its parents, if missing. Raises OutputError."""
        if path not in self._ready:
            self._note(path)
            make_folder(path)
            self._ready.add(path)

    def discard(self) -> None:
        """Deletes the empty ones of the folders that did not exist before."""
        for folder in sorted(self._created, key=len, reverse=True):
            with suppress(OSError):
                os.rmdir(folder)

    def _note(self, folder: str) -> None:
        while folder and folder not in self._created and not os.path.lexists(folder):
            self._created.add(folder)
            folder = os.path.dirname(folder)


class Replacement:
    """A regular file, written next to its target; `_temporary` is set before a file with that name can exist.

    `commit` is `prepare`, `sync`, `publish` and `sync_folder`, which a batch of files does together (`batches`).
    """

    def __init__(self, name: str, target: str, mode: int, is_there: bool, force: bool) -> None:
        self.name, self._target, self._mode, self._is_there, self._force = name, target, mode, is_there, force
        self.directory = os.path.dirname(target)
        self._file = self._folder = -1
        self._temporary = ""
        self._gathered = bytearray()

    def write(self, data: bytes) -> None:
        """Copies small pieces into one: each kept piece can take a page of memory, however small it is."""
        if len(self._gathered) + len(data) < _CHUNK:
            self._gathered += data
        else:
            try:
                self._drain()
                write_all(self._file, data)
            except OSError as error:
                raise cannot_write(self.name, error) from None

    def commit(self) -> None:
        try:
            self.secure()
            self.publish()
            self.sync_folder()
        finally:
            self.discard()

    def secure(self) -> None:
        self.prepare()
        self.sync()

    def prepare(self) -> None:
        """Passes all bytes to the system. Raises OutputError."""
        with self._reporting_errors():
            self._drain()
            if self._is_there and hasattr(os, "fchmod"):  # Windows has no modes
                os.fchmod(self._file, self._mode)

    def sync(self) -> None:
        """Waits until all bytes are on disk. Raises OutputError."""
        with self._reporting_errors():
            os.fsync(self._file)

    def publish(self) -> None:
        """Makes the file appear. Raises OutputError, or JobError if the target was created meanwhile."""
        with self._reporting_errors():
            self._publish()
        WRITTEN.add(self.name)

    def sync_folder(self) -> None:
        """Waits until the name is on disk. Raises OutputError."""
        with self._reporting_errors():
            if self._folder >= 0:
                os.fsync(self._folder)

    @contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        try:
            yield
        except FileExistsError:
            raise _exists(self.name) from None
        except OSError as error:
            raise cannot_write(self.name, error) from None

    def discard(self) -> None:
        self._gathered = bytearray()
        for descriptor in (self._file, self._folder):
            with suppress(OSError):
                os.close(descriptor)
        self._file = self._folder = -1
        if self._temporary:
            with suppress(OSError):
                os.unlink(self._temporary)
            self._temporary = ""

    def _drain(self) -> None:
        if self._file < 0:
            self._open()
        data, self._gathered = self._gathered, bytearray()
        write_all(self._file, data)

    def _open(self) -> None:
        if _FOLDER is not None:
            self._folder = os.open(self.directory, os.O_RDONLY | _FOLDER)
        if UNNAMED and os.path.isdir("/proc/self/fd"):
            try:
                self._file = os.open(self.directory, os.O_WRONLY | UNNAMED, self._mode)
                return
            except OSError as error:
                if error.errno not in _NO_UNNAMED:
                    raise
        self._take_name()
        self._file = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _AS_BYTES, self._mode)

    def _take_name(self) -> None:
        """Chooses a name with random bits, so that it is ours: nothing else in this folder can be unlinked by it."""
        folder, name = os.path.split(self._target)
        self._temporary = os.path.join(folder, f".{name[:100]}.{os.urandom(8).hex()}.tmp")

    def _publish(self) -> None:
        """Links a new file; replaces an existing one by a file that had a temporary name."""
        if _FOLDER is None:
            return self._rename()
        if not self._is_there:
            try:
                return self._publish_new()
            except FileExistsError:
                if not self._force:
                    raise
        if not self._temporary:
            self._take_name()
            self._link(f"/proc/self/fd/{self._file}", self._temporary)
        os.replace(self._temporary, self._target)
        self._temporary = ""
        return None

    def _rename(self) -> None:
        """Renames the closed file. On Windows, `rename` never replaces a file."""
        descriptor, self._file = self._file, -1
        os.close(descriptor)
        (os.replace if self._force else os.rename)(self._temporary, self._target)
        self._temporary = ""

    def _publish_new(self) -> None:
        """Uses `link`, which never replaces a file; on file systems without links there is a short race."""
        try:
            self._link(self._temporary or f"/proc/self/fd/{self._file}", self._target)
        except OSError as error:
            if not self._temporary or error.errno not in _NO_LINKS or os.path.lexists(self._target):
                raise
            os.replace(self._temporary, self._target)

    def _link(self, source: str, name: str) -> None:
        """Names the folder by its descriptor: only then does Python follow the link in /proc."""
        os.link(source, os.path.basename(name), dst_dir_fd=self._folder, follow_symlinks=True)


class _Packed:
    """Compresses bytes on their way to another output."""

    def __init__(self, output: FileOutput, compressor: Compressor) -> None:
        self.name, self._output, self._compressor = output.name, output, compressor
        self._is_ended = False

    def write(self, data: bytes) -> None:
        self._output.write(self._compressor.compress(data))

    def commit(self) -> None:
        self._end()
        self._output.commit()

    def secure(self) -> None:
        self._end()
        self._output.secure()

    def _end(self) -> None:
        if not self._is_ended:
            self._is_ended = True
            self._output.write(self._compressor.flush())

    def discard(self) -> None:
        self._output.discard()


class _Through:
    """Standard output (no path), a pipe or a device: bytes are collected, in memory or an unnamed file, then copied."""

    def __init__(self, name: str, path: str) -> None:
        self.name, self._path = name, path
        self._rest = bytearray()
        self._spool: IO[bytes] | None = None
        self._is_delivered = False

    def write(self, data: bytes) -> None:
        if len(self._rest) + len(data) < _IN_MEMORY:
            self._rest += data
        else:
            try:
                self._drain(data)
            except OSError as error:
                raise cannot_write("a temporary file", error) from None

    def commit(self) -> None:
        WRITTEN.add(self.name)
        if not self._is_delivered:
            self.secure()

    def secure(self) -> None:
        self._is_delivered = True
        try:
            if self._path:
                with open(os.open(self._path, os.O_WRONLY | _AS_BYTES), "wb", buffering=0) as file:
                    self._copy(file)
            elif sys.stdout is None:
                raise OutputError("cannot-write", f"cannot write {self.name}: it is closed")
            else:
                self._copy(sys.stdout.buffer)
        except OSError as error:
            if isinstance(error, BrokenPipeError) and not self._path:
                raise  # the reader of stdout is gone: not an error
            raise cannot_write(self.name, error) from None
        finally:
            self.discard()

    def discard(self) -> None:
        self._rest = bytearray()
        if self._spool is not None:
            with suppress(OSError):
                self._spool.close()
            self._spool = None

    def _drain(self, data: bytes) -> None:
        if self._spool is None:
            from tempfile import TemporaryFile  # slow to import, and not needed for small output

            self._spool = TemporaryFile()  # noqa: SIM115
        self._spool.writelines((self._rest, data))
        self._rest = bytearray()

    def _copy(self, file: IO[bytes]) -> None:
        for piece in self._shown() if file.isatty() else self._all():
            view = memoryview(piece)
            while view:
                view = view[file.write(view) :]
        file.flush()

    def _shown(self) -> Iterator[bytes]:
        """Yields what a terminal may get."""
        from convcli.wire.terminal import shown

        return shown(self._all())

    def _all(self) -> Iterator[bytes | bytearray]:
        if self._spool is not None:
            self._spool.seek(0)
            spool = self._spool
            yield from iter(lambda: spool.read(_CHUNK), b"")
        yield self._rest


def write_all(descriptor: int, data: bytes | bytearray) -> None:
    """Writes all bytes; the system may accept fewer at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


# --- what stands at the target ---------------------------------------------------------------------------------------


def _status(path: str, real: str) -> os.stat_result | None:
    """Returns the status of a path, None if it does not exist. Raises OSError if nothing can exist there."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        if not os.path.isdir(os.path.dirname(real)):
            raise
        return None


def _status_of_stdout() -> os.stat_result | None:
    with suppress(OSError, ValueError, AttributeError):
        return os.fstat(sys.stdout.fileno())
    return None


def _status_of_input(path: str) -> os.stat_result | None:
    file, _ = split_line(path)
    with suppress(OSError, ValueError):
        return os.fstat(0) if file == "-" else os.stat(file)
    return None


def _refuse_input(name: str, target: os.stat_result | None, inputs: Iterable[str]) -> None:
    if target is None or not stat.S_ISREG(target.st_mode):
        return
    for path in inputs:
        status = _status_of_input(path)
        if status is not None and os.path.samestat(target, status):
            raise JobError("output-is-input", f"{name} is also the input", help="write to another file")


def _exists(name: str) -> ConvcliError:
    return JobError("output-exists", f"{name} already exists", help="--force replaces it")


def _mode(target: os.stat_result | None, inputs: Iterable[str]) -> int:
    """Returns a mode that is never more open than an input's; the owner can always read and write."""
    mode = 0o666 if target is None else stat.S_IMODE(target.st_mode) & 0o777
    for path in inputs:
        status = _status_of_input(path)
        if status is not None and stat.S_ISREG(status.st_mode):
            mode &= stat.S_IMODE(status.st_mode) | 0o600
    return mode
