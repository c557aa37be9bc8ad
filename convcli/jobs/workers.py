"""The same work in several processes, and what comes of it in order, as if one process had done it all.

Processes are forked, so a work may be any function. What it tells on the way goes through a file without a name:
neither side keeps it in memory, and nothing is left behind, however a process ends.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from selectors import EVENT_READ, DefaultSelector
from struct import Struct
from threading import Thread
from traceback import format_exc
from types import FrameType
from typing import Any, NamedTuple, NoReturn, TypeAlias

from convcli.files.outputs import Spool
from convcli.model.errors import ConvcliError, OutputError

Emit: TypeAlias = Callable[[Any], None]
Work: TypeAlias = Callable[[int, Emit], Any]
"""Does the task of a number, tells things on the way, and gives a value. All of them must survive pickling."""

AHEAD = 32
"""Tasks for each process that may be done before their turn: what came of them is kept, but not without bound."""
GRACE = 10.0
"""Seconds for a worker to clean up what it was doing when it had to stop."""
STOPPING = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
_STOPPED = 128
"""The exit code of a worker that a signal has stopped, less the number of the signal."""
_TASK, _DONE, _SIZE = Struct(">Q"), Struct(">QQQ"), Struct(">Q")


class WorkerError(Exception):
    """A work has failed with what is no ConvcliError; the text is its traceback."""


class TaskResult(NamedTuple):
    """What came of one task: bytes `begin` to `end` of a file are what it told, and then comes its value or error."""

    spool: Spool
    begin: int
    end: int

    def emitted(self) -> Iterator[Any]:
        """What the work has told, in order, also where it failed later."""
        at = self.begin
        while at < self.end:
            item, at = self._read(at)
            yield item

    def value(self) -> Any:
        """What the work gave. Raises what it raised, WorkerError for what is no ConvcliError and no MemoryError."""
        value, _ = self._read(self.end)
        if isinstance(value, Exception):
            raise value
        return value

    def _read(self, at: int) -> tuple[Any, int]:
        (size,) = _SIZE.unpack(self.spool.read(at, _SIZE.size))
        at += _SIZE.size
        return pickle.loads(self.spool.read(at, size)), at + size


def available() -> bool:
    """Can processes be forked here? The libraries of macOS do not bear it."""
    return hasattr(os, "fork") and sys.platform != "darwin"


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def forked(work: Work, count: int, processes: int) -> Iterator[Iterator[TaskResult]]:
    """What comes of the tasks from 0 to below `count`, in order, done by so many processes; none outlives the block.

    Raises OutputError `worker-died` when one was killed; a signal that asks one of them to stop is meant for all.
    """
    tasks, task_writer = os.pipe()
    workers: list[_Worker] = []
    try:
        for _ in range(min(processes, count)):
            _start(workers, work, tasks, task_writer)
        yield _in_order(workers, count, task_writer)
    finally:
        os.close(task_writer)  # for the workers the sign that it is over
        os.close(tasks)
        for worker in workers:
            worker.end()


# --- in the parent ---------------------------------------------------------------------------------------------------


class _Worker:
    """A process, the file that it tells into, and the pipe on which it says what is done."""

    def __init__(self, process: int, results: int, spool: Spool) -> None:
        self.process, self.results, self.spool = process, results, spool

    def done(self) -> tuple[int, TaskResult]:
        """The number of a task that is done, and what came of it. Raises OutputError when the process is no more."""
        message = os.read(self.results, _DONE.size)
        if not message:
            raise self._died()
        number, begin, end = _DONE.unpack(message)
        return number, TaskResult(self.spool, begin, end)

    def _died(self) -> OutputError:
        code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        self.process = 0
        if code - _STOPPED in STOPPING:
            signal.raise_signal(code - _STOPPED)
        if code == OutputError.exit_code:
            return OutputError("cannot-write", f"cannot write {self.spool.name}")
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return OutputError("worker-died", f"a process that worked for this one {how}", help="-j 1 needs less memory")

    def end(self) -> None:
        """Wait until nothing of it is left; it knows that it is over."""
        if self.process:
            os.waitpid(self.process, 0)
            self.process = 0
        os.close(self.results)
        self.spool.discard()


def _in_order(workers: list[_Worker], count: int, task_writer: int) -> Iterator[TaskResult]:
    assigned, early = 0, dict[int, TaskResult]()
    with DefaultSelector() as selector:
        for worker in workers:
            selector.register(worker.results, EVENT_READ, worker)
        for wanted in range(count):
            while assigned < min(count, wanted + AHEAD * len(workers)):
                os.write(task_writer, _TASK.pack(assigned))
                assigned += 1
            while wanted not in early:
                early.update(key.data.done() for key, _ in selector.select())
            yield early.pop(wanted)


def _start(workers: list[_Worker], work: Work, tasks: int, task_writer: int) -> None:
    """Signals wait until the process is known to those who must end it."""
    spool = Spool()
    results, result_writer = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        process = os.fork()
        if not process:
            os.close(task_writer)
            os.close(results)
            _live(work, tasks, result_writer, spool)
        workers.append(_Worker(process, results, spool))
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
        os.close(result_writer)


# --- in the child ----------------------------------------------------------------------------------------------------


class _StoppedError(BaseException):
    """A signal asked the process to stop; it is its argument."""


class _FullError(BaseException):
    """The spool cannot be written, so there is no way to tell anything."""


def _live(work: Work, tasks: int, result_writer: int, spool: Spool) -> NoReturn:
    """The life of a worker: it ends when its parent does, and after a signal when all is cleaned up."""
    try:
        _obey_signals()
        Thread(target=_watch_parent, args=[tasks], daemon=True).start()
        while task := os.read(tasks, _TASK.size):
            (number,) = _TASK.unpack(task)
            begin = spool.size
            value = _outcome(work, number, spool)
            end = spool.size
            _write(spool, value)
            spool.commit()
            os.write(result_writer, _DONE.pack(number, begin, end))
    except _StoppedError as stopped:
        os._exit(_STOPPED + stopped.args[0])
    except _FullError:
        os._exit(OutputError.exit_code)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _obey_signals() -> None:
    """What the parent ignores, as after nohup, is ignored; but SIGTERM ends the work when the parent has."""
    stopped: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        if not stopped:  # let nothing disturb the cleaning up
            stopped.append(number)
            raise _StoppedError(number)

    for number in STOPPING:
        if number == signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


def _watch_parent(tasks: int) -> None:
    """Only the parent holds the other end of the pipe, so it breaks when the parent is through, or was killed. A signal
    can come just before a call that blocks, which then never ends: so there is a limit."""
    from select import poll  # not everywhere, and neither is fork

    pipe = poll()
    pipe.register(tasks, 0)
    pipe.poll()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)


def _outcome(work: Work, number: int, spool: Spool) -> Any:
    try:
        return work(number, lambda item: _write(spool, item))
    except (ConvcliError, MemoryError) as error:
        return error.with_traceback(None)
    except Exception:
        return WorkerError(format_exc())


def _write(spool: Spool, item: Any) -> None:
    data = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
    try:
        spool.write(_SIZE.pack(len(data)) + data)
    except OutputError:
        raise _FullError from None
