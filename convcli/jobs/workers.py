"""Runs tasks in several processes and returns their results in order, as if one process had done everything.

Processes are started anew, not forked, which not every system supports; so everything exchanged is pickled. What a task
emits goes through an unnamed file: neither side keeps it in memory, and nothing is left behind however a process ends.
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
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol, TypeAlias

from convcli.model.libraries import load_libraries

load_libraries()  # a new process imports this module first

from convcli.files.outputs import cannot_write, write_all  # noqa: E402
from convcli.files.packed import Descriptor  # noqa: E402
from convcli.model.errors import OutputError  # noqa: E402

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnContext
    from multiprocessing.process import BaseProcess


class Emit(Protocol):
    """Emits an item; `size`: its bytes, if there may be many."""

    def __call__(self, item: Any, /, size: int = 0) -> None: ...


Work: TypeAlias = Callable[[Any, Emit], Any]
"""Does a task, emits items, and returns a value. Work, task and items must survive pickling."""

AHEAD = 4
"""Tasks per process that run, or are done before their turn; each has a file for what it emits."""
MOST_AHEAD = 128
"""The same limit for all processes together, because a process may have only so many files open."""
TOGETHER = 64
"""Emitted items that are pickled together."""
MOST_BYTES = 1 << 17
"""Bytes of emitted items from which they are pickled: until then, the caches of the processor hold them."""
PATIENCE = 1.0
"""Seconds between checks for a process that has died unnoticed."""
GRACE = 10.0
"""Seconds for a process to clean up after a signal to stop."""
STOPPING = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
_STOPPED = 128
"""The exit code of a process stopped by a signal, minus the number of the signal."""


class TaskResult(NamedTuple):
    """The result of one task, to be read before the next is requested."""

    spool: BinaryIO
    future: Future[Any]

    def emitted(self) -> Iterator[Any]:
        """Yields what the work has emitted, in order, even if it failed later."""
        with open(self.spool.fileno(), "rb", closefd=False) as file:
            file.seek(0)
            while file.peek(1):
                yield from pickle.load(file)

    @property
    def has_failed(self) -> bool:
        """True if the work raised an exception."""
        return self.future.exception() is not None

    def value(self) -> Any:
        """Returns the value of the work. Raises what it raised."""
        return self.future.result()


def can_start() -> bool:
    """True if processes can be started. False on systems without semaphores, as in some containers, and on Windows."""
    if not hasattr(signal, "pthread_sigmask"):
        return False
    try:
        from multiprocessing.resource_tracker import ensure_running

        with _starting():
            ensure_running()
        with _starting():  # again, because the started process let signals through
            _context().Lock()
    except (ImportError, OSError):
        return False
    return True


def _context() -> SpawnContext:
    """Uses spawn: macOS libraries do not survive a fork, and the server of `forkserver` may import another version."""
    from multiprocessing import get_context

    return get_context("spawn")


def cores() -> int:
    """Returns the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def can_read(path: str) -> bool:
    """True if another process can open the file too. Pipes and descriptors belong to this process."""
    return os.path.isfile(path) and not os.path.abspath(path).startswith(("/dev/", "/proc/"))


@contextmanager
def all_done(work: Work, tasks: Iterable[Any], processes: int) -> Iterator[Iterator[TaskResult]]:
    """Yields the results of the tasks, in order, done by this many processes; none outlives the block.

    Raises OutputError `worker-died` if one was killed. A signal that stops one of them stops all.
    """
    pool = _Pool(work, min(processes, MOST_AHEAD))
    try:
        yield pool.in_order(tasks)
        pool.finish()
    finally:
        pool.stop()


class _Pool:
    """Processes, one output file per running task, and a pipe that closes at the end."""

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

    def finish(self) -> None:
        """Waits for the processes to end. One that is killed now may hold the lock that another waits for, which the
        executor does not notice."""
        watch = Thread(target=self._end_waiting)
        watch.start()
        self.executor.shutdown()
        watch.join()

    def _end_waiting(self) -> None:
        """Stops processes that do not end by themselves."""
        from multiprocessing.connection import wait

        running = {worker.sentinel for worker in self._workers}
        while running and (ended := wait(running, PATIENCE)):
            running.difference_update(ended)
        if running:
            self._over.close()

    def stop(self) -> None:
        """Stops running tasks and waits for the processes to end."""
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
        """Waits for the task. The executor does not notice a process that dies while it starts another."""
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
        """Returns the error for a dead process; stops the others."""
        self.stop()
        stopped = _STOPPED + signal.SIGTERM
        codes = [worker.exitcode for worker in self._workers if worker.exitcode and worker.exitcode != stopped]
        code = min(codes, default=stopped)  # one that is still starting ends with 1 when the others are stopped
        if code - _STOPPED in STOPPING:
            signal.raise_signal(code - _STOPPED)
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return OutputError("worker-died", f"a worker process {how}", help="-j 1 needs less memory")


def _spool() -> BinaryIO:
    from tempfile import TemporaryFile

    try:
        return TemporaryFile(buffering=0)
    except OSError as error:
        raise cannot_write("a temporary file", error) from None


@contextmanager
def _starting() -> Iterator[None]:
    """Blocks signals until the new process can handle them, and keeps modules in the working directory out."""
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
    """The work of a process, and its output files."""

    def __init__(self, work: Work, spools: Sequence[Descriptor]) -> None:
        self._work, self._spools, self._is_busy = work, spools, False

    def do(self, slot: int, task: Any) -> Any:
        """Does a task and returns its value. Raises what the work raises, or OutputError if emitting fails."""
        try:
            self._is_busy = True
            spool = _Batches(self._spools[slot].number)
            try:
                value = self._work(task, spool.emit)
            finally:
                spool.end()
            self._is_busy = False
            return value
        except SystemExit as stopped:
            os._exit(stopped.args[0])
        except BaseException:
            self._is_busy = False
            raise

    def obey_signals(self) -> None:
        """Handles signals, except those that the program ignores, as after nohup; SIGTERM always ends the work."""
        for number in STOPPING:
            if number == signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)

    def _stop(self, number: int, _: object) -> None:
        if not self._is_busy:
            os._exit(_STOPPED + number)
        for other in STOPPING:  # nothing may interrupt the cleanup
            signal.signal(other, _unheard)
        sys.exit(_STOPPED + number)


def _unheard(number: int, _: object) -> None:
    """Used instead of SIG_IGN: Python would complain of a signal that arrives together with the one being handled."""


class _Batches:
    """Emits items in batches: a pickle stores shared structure only once.

    The file is written over what the task before has left: the system then needs no new memory for it.
    """

    def __init__(self, spool: int) -> None:
        self._spool, self._items, self._size = spool, list[Any](), 0
        self._end = os.lseek(spool, 0, os.SEEK_SET)
        self._failure: OutputError | None = None

    def emit(self, item: Any, /, size: int = 0) -> None:
        if self._failure is not None:  # otherwise later items would be read as the first
            raise self._failure
        self._items.append(item)
        self._size += size
        if len(self._items) == TOGETHER or self._size >= MOST_BYTES:
            self._flush()

    def end(self) -> None:
        """Writes the last batch; nothing after a failure, which `emit` has raised. Nobody can read half a batch."""
        try:
            if self._failure is None:
                self._flush()
        finally:
            os.ftruncate(self._spool, self._end)

    def _flush(self) -> None:
        items, self._items, self._size = self._items, [], 0
        batch = pickle.dumps(items, pickle.HIGHEST_PROTOCOL)
        try:
            write_all(self._spool, batch)
        except OSError as error:
            self._failure = cannot_write("a temporary file", error)
            raise self._failure from None
        self._end += len(batch)


_workers: list[_Worker] = []
"""The worker of this process, if it belongs to a pool."""


def _begin(work: Work, spools: Sequence[Descriptor], over: Connection, threshold: tuple[int, int, int]) -> None:
    """Runs first in a new process, which starts with signals blocked."""
    from multiprocessing.util import Finalize

    gc.set_threshold(*threshold)
    worker = _Worker(work, spools)
    _workers[:] = [worker]
    worker.obey_signals()
    Finalize(None, _leave, exitpriority=0)
    Thread(target=_watch, args=[over], daemon=True).start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)


def _do(slot: int, task: Any) -> Any:
    return _workers[0].do(slot, task)


def _leave() -> None:
    """Ends the process when its work is done. Python would first free each object, which takes 0.05 s."""
    if sys.exc_info() == (None, None, None):
        with suppress(AttributeError, OSError, ValueError):  # it may be closed
            sys.stdout.flush()
        os._exit(0)


def _watch(over: Connection) -> None:
    """Ends the process when the pipe breaks, because the main process stopped or was killed.

    The limit is for a signal that arrives just before a blocking call, which then never ends.
    """
    with suppress(EOFError, OSError):
        over.recv_bytes()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)
