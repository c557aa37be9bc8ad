"""Attempts at a part: repeated after an error that may pass, and recorded if all of them fail."""

from __future__ import annotations

import time

import msgspec

from convcli.files.stores import OutputFolder, folder_at
from convcli.jobs.workers import Emit
from convcli.model.errors import ContentError, ConvcliError, JobError, OutputError
from convcli.parts.limits import limited
from convcli.parts.planning import Part
from convcli.parts.work import run_part
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before the second attempt, doubled before each further one, and their limit."""


class Failure(msgspec.Struct, frozen=True):
    """The last error of a part that could not be done."""

    part: int
    code: str
    message: str
    attempts: int
    seconds: float


def attempt(part: Part, _: Emit | None = None, *, retries: int = 0, seconds: float | None = None) -> Exception | None:
    """Does a part and returns its exception, if any; repeats it if the storage refuses it, or it took too long.

    `seconds`: the limit for one attempt."""
    begin, number = time.monotonic(), 1
    while True:
        try:
            with limited(seconds):
                run_part(part, number)
            return None
        except Exception as error:
            if number > retries or not _may_pass(error):
                _record(part, error, number, time.monotonic() - begin)
                return error
        time.sleep(min(PAUSE * 2 ** (number - 1), LONGEST_PAUSE))
        number += 1


def failure_of(part: Part, folder: OutputFolder) -> Failure | None:
    """Returns why a part failed, None if it was not recorded."""
    name = failure_name(part)
    if folder.size(name) is None:
        return None
    try:
        return msgspec.convert(exact_json.parse(next(folder.read([name]))), Failure)
    except (ContentError, msgspec.ValidationError):
        return None


def failure_name(part: Part) -> str:
    """Returns the name of the file that records why a part failed."""
    return f"_failed/{part.number:05}.json"


def _may_pass(error: Exception) -> bool:
    """True for errors of the storage. Other errors occur again."""
    is_input = isinstance(error, JobError) and error.code == "unreadable-input"
    return is_input or isinstance(error, OutputError | OSError)


def _record(part: Part, error: Exception, attempts: int, seconds: float) -> None:
    code, message = (error.code, error.message) if isinstance(error, ConvcliError) else ("bug", type(error).__name__)
    failure = Failure(part.number, code, message, attempts, round(seconds, 3))
    output = folder_at(part.out).output(failure_name(part))
    try:
        output.write(exact_json.write_line(builtins(failure)))
        output.commit()
    except ConvcliError:
        pass  # the error itself is reported; the folder cannot be written either
    finally:
        output.discard()
