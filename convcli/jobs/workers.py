"""The same work in several processes, and what comes of it in order, as if one process had done it all.

Processes begin anew and are no copies of this one, which not every system bears; so everything that crosses is pickled.
What a task tells goes through a file without a name: neither side keeps it in memory, and nothing is left behind,
however a process ends.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from traceback import format_exc
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from convcli.files.outputs import cannot_write
from convcli.files.packed import Descriptor
from convcli.model.errors import ConvcliError, OutputError

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnContext
    from multiprocessing.process import BaseProcess

Emit: TypeAlias = Callable[[Any], None]
Work: TypeAlias = Callable[[Any, Emit], Any]
"""Does a task, tells things on the way, and gives a value. It, the task and all that it tells must survive pickling."""

AHEAD = 4
"""Tasks for each process that are under way, or done before their turn: what came of them is kept in a file each."""
MOST_AHEAD = 128
"""And for all of them, since a process may have so many files open."""
TOGETHER = 64
"""Things told that are pickled together."""
PATIENCE = 1.0
"""Seconds after which a process that has died is missed, even if nobody has told of it."""
GRACE = 10.0
"""Seconds for a process to clean up what it was doing when it had to stop."""
STOPPING = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
_STOPPED = 128
"""The exit code of a process that a signal has stopped, less the number of the signal."""


class WorkerError(Exception):
    """A work has failed with what is no ConvcliError; the text is its traceback."""


class TaskResult(NamedTuple):
    """What came of one task, to be read before the next is asked for: what it told, and from `end` on its value."""

    spool: BinaryIO
    end: int

    def emitted(self) -> Iterator[Any]:
        """What the work has told, in order, also where it failed later."""
        self.spool.seek(0)
        while self.spool.tell() < self.end:
            yield from pickle.load(self.spool)

    def value(self) -> Any:
        """What the work gave. Raises what it raised, WorkerError for what is no ConvcliError and no MemoryError."""
        self.spool.seek(self.end)
        value = pickle.load(self.spool)
        if isinstance(value, Exception):
            raise value
        return value


def can_start() -> bool:
    """Can processes be started here? Not where the system has no semaphores, as in some containers."""
    try:
        from multiprocessing.resource_tracker import ensure_running

        with _starting():
            ensure_running()
        with _starting():  # again, since what was started has let signals through
            _context().Lock()
    except (ImportError, OSError):
        return False
    return True


def _context() -> SpawnContext:
    """Every process begins with an interpreter of its own: the libraries of macOS do not bear to be forked, and the
    server of `forkserver` imports what it finds, which need not be this version of the program."""
    from multiprocessing import get_context

    return get_context("spawn")


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def can_read(path: str) -> bool:
    """Can another process open it as well? Pipes and descriptors are here only."""
    return os.path.isfile(path) and not os.path.abspath(path).startswith(("/dev/", "/proc/"))


@contextmanager
def all_done(work: Work, tasks: Iterable[Any], processes: int) -> Iterator[Iterator[TaskResult]]:
    """What comes of the tasks, in order, done by so many processes; none of them outlives the block.

    Raises OutputError `worker-died` when one was killed; a signal that asks one of them to stop is meant for all.
    """
    pool = _Pool(work, min(processes, MOST_AHEAD))
    try:
        yield pool.in_order(tasks)
        pool.finish()
    finally:
        pool.stop()


class _Pool:
    """Processes, the files into which tasks tell, one for each that is under way, and a pipe that closes at the end."""

    def __init__(self, work: Work, processes: int) -> None:
        from concurrent.futures import ProcessPoolExecutor

        context = _context()
        self._spools = [_spool() for _ in range(min(AHEAD * processes, MOST_AHEAD))]
        self._workers: set[BaseProcess] = set()
        with _starting():
            over, self._over = context.Pipe(duplex=False)
            begin = work, [Descriptor(spool.fileno()) for spool in self._spools], over, gc.get_threshold()
            self._executor = ProcessPoolExecutor(processes, context, _begin, begin)

    def in_order(self, tasks: Iterable[Any]) -> Iterator[TaskResult]:
        running: deque[tuple[Future[int], BinaryIO]] = deque()
        for number, task in enumerate(tasks):
            if len(running) == len(self._spools):
                yield self._done(*running.popleft())
            slot = number % len(self._spools)
            running.append((self._submitted(slot, task), self._spools[slot]))
        while running:
            yield self._done(*running.popleft())

    def finish(self) -> None:
        """Let the processes end when nothing is left to do."""
        self._executor.shutdown()

    def stop(self) -> None:
        """Stop what is still being done, and wait until nothing of it is left."""
        self._over.close()
        self._executor.shutdown(cancel_futures=True)
        for spool in self._spools:
            spool.close()

    def _submitted(self, slot: int, task: Any) -> Future[int]:
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import active_children

        try:
            with _starting():
                future = self._executor.submit(_do, slot, task)
        except BrokenProcessPool:
            raise self._died() from None
        self._workers.update(active_children())
        return future

    def _done(self, future: Future[int], spool: BinaryIO) -> TaskResult:
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing.connection import wait

        while True:
            try:
                return TaskResult(open(spool.fileno(), "rb", closefd=False), future.result(PATIENCE))
            except BrokenProcessPool:
                raise self._died() from None
            except TimeoutError:
                if wait([worker.sentinel for worker in self._workers], 0):
                    raise self._died() from None

    def _died(self) -> OutputError:
        """Why there is no result: the others were stopped when the first was missed."""
        self._executor.shutdown()
        stopped = _STOPPED + signal.SIGTERM
        codes = [worker.exitcode for worker in self._workers if worker.exitcode]
        code = next((code for code in codes if code != stopped), stopped)
        if code - _STOPPED in STOPPING:
            signal.raise_signal(code - _STOPPED)
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return OutputError("worker-died", f"a process that worked for this one {how}", help="-j 1 needs less memory")


def _spool() -> BinaryIO:
    from tempfile import TemporaryFile

    try:
        return TemporaryFile(buffering=0)
    except OSError as error:
        raise cannot_write("a temporary file", error) from None


@contextmanager
def _starting() -> Iterator[None]:
    """What starts now hears no signal until it can obey it, and takes no module from the folder where we are."""
    before = os.environ.get("PYTHONSAFEPATH")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


# --- in another process ----------------------------------------------------------------------------------------------


class _StoppedError(BaseException):
    """A signal asked the process to stop; it is its argument."""


class _FullError(BaseException):
    """The spool cannot be written, so there is no way to tell anything; its argument is why."""


class _Worker:
    """What a process does, and where it tells."""

    def __init__(self, work: Work, spools: Sequence[Descriptor]) -> None:
        self._work, self._spools = work, spools
        self._is_busy = self._is_stopped = False

    def do(self, slot: int, task: Any) -> int:
        """Do a task; where in its spool the value begins. Raises OutputError when that cannot be written."""
        try:
            self._is_busy = True
            end = self._written(self._spools[slot].number, task)
            self._is_busy = False
            return end
        except _StoppedError as stopped:
            os._exit(_STOPPED + stopped.args[0])
        except (_FullError, OSError) as error:
            self._is_busy = False
            raise cannot_write("a temporary file", error.args[0] if isinstance(error, _FullError) else error) from None

    def _written(self, spool: int, task: Any) -> int:
        os.ftruncate(spool, 0)
        os.lseek(spool, 0, os.SEEK_SET)
        with open(spool, "wb", closefd=False) as file:
            telling = _Telling(file)
            value = self._outcome(task, telling.tell)
            telling.flush()
            end = file.tell()
            pickle.dump(value, file, pickle.HIGHEST_PROTOCOL)
        return end

    def _outcome(self, task: Any, emit: Emit) -> Any:
        try:
            return self._work(task, emit)
        except (ConvcliError, MemoryError) as error:
            return error.with_traceback(None)
        except Exception:
            return WorkerError(format_exc())

    def obey_signals(self) -> None:
        """What the program ignores, as after nohup, is ignored; but SIGTERM always ends the work."""
        for number in STOPPING:
            if number == signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)

    def _stop(self, number: int, _: object) -> None:
        if not self._is_busy:
            os._exit(_STOPPED + number)
        if not self._is_stopped:  # let nothing disturb the cleaning up
            self._is_stopped = True
            raise _StoppedError(number)


class _Telling:
    """What a task tells, some at a time: a pickle says of equal things only once what they are."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._items = file, list[Any]()

    def tell(self, item: Any) -> None:
        self._items.append(item)
        if len(self._items) == TOGETHER:
            self.flush()

    def flush(self) -> None:
        try:
            pickle.dump(self._items, self._file, pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise _FullError(error) from None
        self._items = []


_workers: list[_Worker] = []
"""What this process is, where it is one of a pool."""


def _begin(work: Work, spools: Sequence[Descriptor], over: Connection, threshold: tuple[int, int, int]) -> None:
    """In a new process, which has heard no signal so far."""
    gc.set_threshold(*threshold)
    worker = _Worker(work, spools)
    _workers[:] = [worker]
    worker.obey_signals()
    Thread(target=_watch, args=[over], daemon=True).start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


def _do(slot: int, task: Any) -> int:
    return _workers[0].do(slot, task)


def _watch(over: Connection) -> None:
    """Only the program holds the other end of the pipe, so it breaks when the program gives up, or was killed. A signal
    can come just before a call that blocks, which then never ends: so there is a limit."""
    with suppress(EOFError, OSError):
        over.recv_bytes()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)
