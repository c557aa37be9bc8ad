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
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from convcli.files.outputs import cannot_write, write_all
from convcli.files.packed import Descriptor
from convcli.model.errors import OutputError

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


class TaskResult(NamedTuple):
    """What came of one task, to be read before the next is asked for."""

    spool: BinaryIO
    future: Future[Any]

    def emitted(self) -> Iterator[Any]:
        """What the work has told, in order, also where it failed later."""
        with open(self.spool.fileno(), "rb", closefd=False) as file:
            file.seek(0)
            while file.peek(1):
                yield from pickle.load(file)

    @property
    def has_failed(self) -> bool:
        """Has the work raised anything?"""
        return self.future.exception() is not None

    def value(self) -> Any:
        """What the work gave. Raises what it raised."""
        return self.future.result()


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
        pool.executor.shutdown()
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
            self.executor = ProcessPoolExecutor(processes, context, _begin, begin)

    def in_order(self, tasks: Iterable[Any]) -> Iterator[TaskResult]:
        running: deque[TaskResult] = deque()
        for number, task in enumerate(tasks):
            if len(running) == len(self._spools):
                yield self._done(running.popleft())
            slot = number % len(self._spools)
            running.append(TaskResult(self._spools[slot], self._submitted(slot, task)))
        while running:
            yield self._done(running.popleft())

    def stop(self) -> None:
        """Stop what is still being done, and wait until nothing of it is left."""
        self._over.close()
        self.executor.shutdown(cancel_futures=True)
        for spool in self._spools:
            spool.close()

    def _submitted(self, slot: int, task: Any) -> Future[Any]:
        from concurrent.futures import BrokenExecutor
        from multiprocessing import active_children

        try:
            with _starting():
                future = self.executor.submit(_do, slot, task)
        except BrokenExecutor:
            raise self._died() from None
        self._workers.update(active_children())
        return future

    def _done(self, result: TaskResult) -> TaskResult:
        """The same when the task is done. The executor does not see that a process dies while it starts another."""
        from concurrent.futures import BrokenExecutor
        from multiprocessing.connection import wait

        while True:
            try:
                error = result.future.exception(PATIENCE)
            except TimeoutError:
                if wait([worker.sentinel for worker in self._workers], 0):
                    raise self._died() from None
            else:
                if isinstance(error, BrokenExecutor):
                    raise self._died()
                return result

    def _died(self) -> OutputError:
        """Why there is no result: the others were stopped when the first was missed."""
        self.stop()
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


class _Worker:
    """What a process does, and where it emits."""

    def __init__(self, work: Work, spools: Sequence[Descriptor]) -> None:
        self._work, self._spools, self._is_busy = work, spools, False

    def do(self, slot: int, task: Any) -> Any:
        """Do a task and give its value. Raises what the work raises, or OutputError when it cannot be heard."""
        try:
            self._is_busy = True
            spool = _Batches(self._spools[slot].number)
            try:
                value = self._work(task, spool.emit)
            finally:
                spool.flush()
            self._is_busy = False
            return value
        except SystemExit as stopped:
            os._exit(stopped.args[0])
        except BaseException:
            self._is_busy = False
            raise

    def obey_signals(self) -> None:
        """What the program ignores, as after nohup, is ignored; but SIGTERM always ends the work."""
        for number in STOPPING:
            if number == signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)

    def _stop(self, number: int, _: object) -> None:
        if not self._is_busy:
            os._exit(_STOPPED + number)
        for other in STOPPING:  # let nothing disturb the cleaning up
            signal.signal(other, _unheard)
        sys.exit(_STOPPED + number)


def _unheard(number: int, _: object) -> None:
    """Not SIG_IGN: Python would complain of a signal that came together with the one being obeyed."""


class _Batches:
    """What a task emits, some at a time: a pickle says of equal things only once what they are."""

    def __init__(self, spool: int) -> None:
        self._spool, self._items = spool, list[Any]()
        self._failure: OutputError | None = None
        os.ftruncate(spool, 0)
        os.lseek(spool, 0, os.SEEK_SET)

    def emit(self, item: Any) -> None:
        if self._failure is not None:  # else what came later would be read as what came first
            raise self._failure
        self._items.append(item)
        if len(self._items) == TOGETHER:
            self.flush()

    def flush(self) -> None:
        items, self._items = self._items, []
        try:
            write_all(self._spool, pickle.dumps(items, pickle.HIGHEST_PROTOCOL))
        except OSError as error:
            os.ftruncate(self._spool, 0)  # half a batch cannot be read
            self._failure = cannot_write("a temporary file", error)
            raise self._failure from None


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


def _do(slot: int, task: Any) -> Any:
    return _workers[0].do(slot, task)


def _watch(over: Connection) -> None:
    """Only the program holds the other end of the pipe, so it breaks when the program gives up, or was killed. A signal
    can come just before a call that blocks, which then never ends: so there is a limit."""
    with suppress(EOFError, OSError):
        over.recv_bytes()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)
