"""Objects of remote stores by URL, and output folders, local or remote, with the same four methods.

A store is accessed by fsspec and the package that it names for the store (https://filesystem-spec.readthedocs.io). An
object appears completely or not at all: it is written with `autocommit=False`, since an exception inside of
`with fs.open(…, "wb")` would leave a partial object under the final name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from convcli.files.outputs import Output, cannot_write, open_output
from convcli.model.errors import ConvcliError, JobError, OutputError
from convcli.wire.patterns import pattern

if TYPE_CHECKING:
    from convcli.files.uploads import Unfinished

_URL = pattern(r"[A-Za-z][A-Za-z0-9+.-]*://")
_CODE = pattern(r"[A-Za-z0-9_.-]{1,64}")
_BLOCK = 8 << 20
"""Bytes requested from a store at a time."""
_TOGETHER = 256
"""Small objects that are read together."""


def is_url(path: str) -> bool:
    """True if the path is the URL of an object in a store."""
    return _URL.match(path) is not None


def join(folder: str, name: str) -> str:
    """Joins a folder, by path or URL, and a name."""
    return f"{folder.rstrip('/')}/{name}" if is_url(folder) else os.path.join(folder, name)


# --- reading ---------------------------------------------------------------------------------------------------------


class StoredObject:
    """An object of a store as a readable file. `size` is None if the store does not report it."""

    def __init__(self, url: str) -> None:
        system, path = _system(url)
        with _reading(url):
            self._file = system.open(path, "rb", block_size=_BLOCK)
        self._url, self.size = url, getattr(self._file, "size", None)

    def read(self, size: int) -> bytes:
        """Reads the next bytes. Raises JobError `unreadable-input`."""
        with _reading(self._url):
            data: bytes = self._file.read(size)
            return data

    def read_at(self, size: int, at: int) -> bytes:
        """Reads bytes at an offset. Raises as `read`."""
        with _reading(self._url):
            self._file.seek(at)
            data: bytes = self._file.read(size)
            return data

    def close(self) -> None:
        """Closes the object."""
        self._file.close()


def find(url: str) -> list[tuple[str, str]]:
    """Returns the objects that a URL means: itself, those below it, or those matching it as a glob.

    Each has its path below the folder. Raises JobError `no-such-file`.
    """
    system, path = _system(url)
    system.invalidate_cache()
    with _reading(url):
        if system.isdir(path):
            matches, above = system.find(path), path.rstrip("/") + "/"
        else:
            matches = system.glob(path) if re.search(r"[*?[]", path) else [path] if system.exists(path) else []
            above = ""
    if not matches:
        raise JobError("no-such-file", "there is no such object", file=url)
    return [
        (system.unstrip_protocol(one), one.removeprefix(above).rsplit("/", 0 if above else 1)[-1]) for one in matches
    ]


def facts(path: str) -> tuple[int, str]:
    """Returns the size of a file or object, and a string that changes when it does. Raises JobError."""
    if not is_url(path):
        try:
            status = os.stat(path)
        except OSError as error:
            raise JobError("no-such-file", error.strerror or "the file cannot be read", file=path) from None
        return status.st_size, f"{status.st_size}-{status.st_mtime_ns}"
    system, inside = _system(path)
    with _reading(path):
        info = system.info(inside)
    names = ("ETag", "etag", "md5", "LastModified", "last_modified", "mtime", "created")
    word = next((str(info[name]).strip('"') for name in names if info.get(name)), "")
    return info.get("size") or 0, f"{info.get('size')}-{word}"


@contextmanager
def _reading(url: str) -> Iterator[None]:
    """Turns exceptions into JobErrors: store packages raise many kinds."""
    try:
        yield
    except FileNotFoundError:
        raise JobError("no-such-file", "there is no such object", file=url) from None
    except ConvcliError:
        raise
    except Exception as error:
        raise JobError(
            "unreadable-input", f"the store does not return it ({failure_reason(error)})", file=url
        ) from error


def failure_reason(error: BaseException) -> str:
    """Returns status and code of a store's answer, as "503 SlowDown", otherwise the class of the exception.

    Other texts of an answer are left out: they may have parts of the content or of the credentials.
    """
    causes = list[BaseException]()
    while error not in causes:
        causes.append(error)
        error = error.__cause__ or error.__context__ or error
    for each in causes:
        words = _status_and_code(each)
        if words:
            return " ".join(words)
    return type(causes[0]).__name__


def _status_and_code(error: BaseException) -> list[str]:
    """Returns what an exception of botocore, aiohttp, gcsfs or Azure has of its store's answer."""
    answer: Any = getattr(error, "response", None)
    if isinstance(answer, dict):  # https://docs.aws.amazon.com/boto3/latest/guide/error-handling.html
        status, code = answer.get("ResponseMetadata", {}).get("HTTPStatusCode"), answer.get("Error", {}).get("Code")
    else:
        status = next((getattr(error, name, None) for name in ("status", "status_code", "code")), None)
        code = getattr(error, "error_code", None)
    words = [str(word) for word in (status, code) if isinstance(word, int | str)]
    return list(dict.fromkeys(word for word in words if _CODE.fullmatch(word)))


def _system(url: str) -> tuple[Any, str]:
    """Returns the file system of a URL, and the path in it. Raises JobError `remote-missing` for a missing package."""
    try:
        fsspec = import_module("fsspec")
    except ImportError:
        help_text = "pip install 'convcli[remote]', and the package for the store, such as s3fs"
        raise JobError("remote-missing", "URLs need the package fsspec", file=url, help=help_text) from None
    try:
        system, path = fsspec.core.url_to_fs(url)
    except ImportError as error:
        package = re.search(r"[Ii]nstall (\w+)", str(error))
        help_text = f"pip install {package[1]}" if package else "pip install the package that fsspec names for it"
        message = f"{url.partition('://')[0]}:// needs an additional package"
        raise JobError("remote-missing", message, file=url, help=help_text) from None
    except ValueError:
        raise JobError("usage", f"there is no store for {url.partition('://')[0]}://") from None
    return system, path


# --- folders of outputs ----------------------------------------------------------------------------------------------


class OutputFolder(Protocol):
    """A folder in which outputs appear completely or not at all. Names are relative to it, with "/"."""

    def sizes(self) -> dict[str, int]:
        """Returns the files in the folder and its subfolders, with their sizes in bytes."""

    def size(self, name: str) -> int | None:
        """Returns the size of one output, None if it does not exist. No listing is asked, which may lag."""

    def read(self, names: Iterable[str]) -> Iterator[bytes]:
        """Yields the content of these outputs, in order. Raises JobError."""

    def remove(self, name: str) -> None:
        """Deletes an output, if it exists. Raises OutputError."""

    def output(self, name: str, inputs: Iterable[str] = ()) -> Output:
        """Opens an output, which replaces one with the same name; a file is as private as the most private input."""

    def unfinished(self) -> Iterator[Unfinished]:
        """Yields what killed processes left of outputs, and what running ones are writing."""


def folder_at(path: str) -> OutputFolder:
    """Returns the folder at a path or URL; it need not exist yet."""
    return _RemoteFolder(path) if is_url(path) else _LocalFolder(path)


class _LocalFolder:
    def __init__(self, path: str) -> None:
        self._path = path

    def sizes(self) -> dict[str, int]:
        from convcli.files.uploads import UNFINISHED  # only jobs in parts need it

        walk = os.walk(self._path, onerror=_refuse_unreadable)
        every = (os.path.join(place, name) for place, _, names in walk for name in names)
        found = {}
        for path in every:
            if not UNFINISHED.fullmatch(path) and (size := _size(path)) is not None:
                found[os.path.relpath(path, self._path).replace(os.sep, "/")] = size
        return found

    def size(self, name: str) -> int | None:
        return _size(os.path.join(self._path, name))

    def read(self, names: Iterable[str]) -> Iterator[bytes]:
        for name in names:
            path = os.path.join(self._path, name)
            try:
                with open(path, "rb") as file:
                    content = file.read()
            except OSError as error:
                raise _unreadable(path, error) from None
            yield content

    def remove(self, name: str) -> None:
        path = os.path.join(self._path, name)
        try:
            with suppress(FileNotFoundError):
                os.unlink(path)
        except OSError as error:
            raise cannot_write(path, error) from None

    def output(self, name: str, inputs: Iterable[str] = ()) -> Output:
        path = os.path.join(self._path, name)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except OSError as error:
            raise cannot_write(path, error) from None
        return open_output(path, force=True, inputs=inputs)

    def unfinished(self) -> Iterator[Unfinished]:
        from convcli.files.uploads import in_folder

        return in_folder(self._path)


def _size(path: str) -> int | None:
    """Returns the size of a file; None if it does not exist, as after another process has replaced it."""
    try:
        return os.path.getsize(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error) from None


def _refuse_unreadable(error: OSError) -> None:
    """Raises JobError for a folder that cannot be listed; one that does not exist has no files."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise _unreadable(error.filename, error)


def _unreadable(path: str, error: OSError) -> JobError:
    code = "no-such-file" if isinstance(error, FileNotFoundError) else "unreadable-input"
    return JobError(code, f"cannot read the file: {error.strerror}", file=path)


class _RemoteFolder:
    def __init__(self, url: str) -> None:
        self._url = url
        self._system, self._path = _system(url)

    def sizes(self) -> dict[str, int]:
        above = self._path.rstrip("/") + "/"
        self._system.invalidate_cache()
        with _reading(self._url):
            details = self._system.find(self._path, detail=True)
        return {name.removeprefix(above): info["size"] for name, info in details.items() if name.startswith(above)}

    def size(self, name: str) -> int | None:
        try:
            self._system.invalidate_cache()
            with _reading(join(self._url, name)):
                size: int = self._system.info(join(self._path, name))["size"]
                return size
        except JobError as error:
            if error.code == "no-such-file":
                return None
            raise

    def read(self, names: Iterable[str]) -> Iterator[bytes]:
        paths = [join(self._path, name) for name in names]
        for begin in range(0, len(paths), _TOGETHER):
            some = paths[begin : begin + _TOGETHER]
            with _reading(self._url):
                contents = self._system.cat(some)
            yield from (contents.get(path) or contents[path.lstrip("/")] for path in some)

    def remove(self, name: str) -> None:
        path = join(self._path, name)
        with _writing(join(self._url, name)), suppress(FileNotFoundError):
            self._system.rm_file(path)

    def output(self, name: str, inputs: Iterable[str] = ()) -> Output:
        return _RemoteOutput(self._system, join(self._path, name), join(self._url, name))

    def unfinished(self) -> Iterator[Unfinished]:
        from convcli.files.uploads import in_store

        return in_store(self._system, self._path)


class _RemoteOutput:
    """An object that is uploaded in parts, which are not visible until they are committed."""

    def __init__(self, system: Any, path: str, url: str) -> None:
        self.name, self._system, self._path = url, system, path
        self._file: Any = None

    def write(self, data: bytes) -> None:
        with _writing(self.name):
            if self._file is None:
                self._file = self._system.open(self._path, "wb", block_size=_BLOCK, autocommit=False)
            self._file.write(data)

    def commit(self) -> None:
        self.write(b"")
        try:
            with _writing(self.name):
                self._file.close()
                self._file.commit()
            self._file = None
        finally:
            self.discard()

    def discard(self) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        try:
            with suppress(Exception):
                file.discard()
        finally:
            file.closed = True  # otherwise garbage collection would write it


@contextmanager
def _writing(url: str) -> Iterator[None]:
    try:
        yield
    except (ConvcliError, FileNotFoundError):
        raise
    except Exception as error:
        raise OutputError("cannot-write", f"cannot write {url}: {failure_reason(error)}") from error
