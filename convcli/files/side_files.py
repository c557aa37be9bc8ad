"""Reads files that are not inputs: lists, tables, receipts and values that an option names."""

from __future__ import annotations

import errno
import os
import stat
from functools import partial
from io import BytesIO, FileIO, TextIOWrapper

from convcli.files.packed import packer_of, unpacked_value, unreadable
from convcli.model.errors import ContentError, JobError


def read_side_file(path: str, what: str = "file", help: str = "") -> bytes:
    """Returns the content of a file, or of a pipe that a program writes to, such as `<(command)` of a shell.

    A compressed file is unpacked. `what`: what the file is, for the error · `help`: how to get one. Raises JobError
    `no-such-file` or `unreadable-input`, also for a pipe without a writer, which would make the command wait forever.
    """
    try:
        content = _content(path)
        packer = packer_of(content[:6])
        return unpacked_value(content, packer, path) if packer else content
    except ContentError as error:
        raise unreadable(path, ValueError(error.message)) from None
    except FileNotFoundError:
        raise JobError("no-such-file", f"there is no such {what}", file=path, help=help) from None
    except OSError as error:
        raise unreadable(path, error) from None


def read_side_text(path: str, what: str = "file", help: str = "") -> str:
    """Returns the text of such a file, with `\\n` at the end of each line. Raises JobError, also if it is not UTF-8."""
    content = TextIOWrapper(BytesIO(read_side_file(path, what, help)), encoding="utf-8")
    try:
        return content.read()
    except UnicodeDecodeError:
        raise unreadable(path, ValueError("it is not UTF-8")) from None


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0, opener=_open_at_once) as file:
        assert isinstance(file, FileIO)
        if not stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            return file.readall()
        begin = file.read(1 << 16)
        if begin == b"":
            raise OSError(errno.ENXIO, "no program writes to this pipe", path)
        os.set_blocking(file.fileno(), True)
        return (begin or b"") + b"".join(iter(partial(file.read, 1 << 16), b""))


def _open_at_once(path: str, flags: int) -> int:
    """Opens without waiting for the writer of a pipe. Windows has neither the flag nor such pipes."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
