"""Runs `run_part` for each part: in processes of this machine, or on Ray. A failed part does not stop the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any

import msgspec

from convcli.jobs.workers import all_done
from convcli.model.errors import JobError, OutputError
from convcli.parts.attempts import attempt
from convcli.parts.planning import Part

AHEAD = 4
"""Pending tasks per processor of a cluster."""


class Trying(msgspec.Struct, frozen=True):
    """How often a part is repeated after an error of the storage, and the seconds that an attempt may take."""

    retries: int = 0
    seconds: float | None = None

    @property
    def attempt(self) -> Callable[..., Exception | None]:
        """The function that does a part."""
        return partial(attempt, retries=self.retries, seconds=self.seconds)


def on_processes(
    parts: Sequence[Part],
    processes: int,
    trying: Trying = Trying(),  # noqa: B008  (frozen)
) -> Iterator[tuple[Part, Exception | None]]:
    """Yields the result of each part, done by processes of this machine.

    This process does them if only one is wanted and there is no limit of time, which needs the timer of a process."""
    if processes == 1 and trying.seconds is None:
        yield from ((part, trying.attempt(part)) for part in parts)
        return
    with all_done(trying.attempt, parts, processes) as each:
        for part, done in zip(parts, each, strict=True):
            yield part, done.value()


def on_ray(
    parts: Sequence[Part],
    address: str | None = None,
    trying: Trying = Trying(),  # noqa: B008  (frozen)
) -> Iterator[tuple[Part, Exception | None]]:
    """Yields the result of each part as it completes, done by Ray tasks.

    Uses the cluster at `address`, otherwise a local one that it starts. A task whose process or machine dies is retried
    three times.

    https://docs.ray.io/en/latest/ray-core/tasks.html. Raises JobError `engine-missing` if Ray is not installed."""
    try:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # disables Ray's usage reports
        ray = import_module("ray")
    except ImportError:
        help_text = "pip install 'convcli[ray]'"
        raise JobError("engine-missing", "--engine ray needs the package ray", help=help_text) from None
    is_mine = not ray.is_initialized()
    address = address or os.environ.get("RAY_ADDRESS", "local")  # else it might be the cluster of a killed driver
    if is_mine:
        include = False if address == "local" else None
        _start(ray, address=address, include_dashboard=include, log_to_driver=False, logging_level=40)
    try:
        yield from _in_window(ray, parts, trying)
    finally:
        if is_mine:
            ray.shutdown()


def _start(ray: Any, **how: Any) -> None:
    try:
        ray.init(**how)
    except Exception as error:  # Ray raises plain exceptions if its processes do not start in time
        message = f"Ray cannot be started or reached ({type(error).__name__})"
        raise OutputError("worker-died", message, help="--debug shows Ray's reason") from error


def _in_window(ray: Any, parts: Sequence[Part], trying: Trying) -> Iterator[tuple[Part, Exception | None]]:
    """Submits a few tasks per processor at a time: the driver would keep millions of pending tasks in memory."""
    task, how = ray.remote(max_retries=3)(attempt), {"retries": trying.retries, "seconds": trying.seconds}
    most = AHEAD * max(int(ray.cluster_resources().get("CPU", 1)), 1)
    waiting = iter(parts)
    running = {task.remote(part, **how): part for part in islice(waiting, most)}
    while running:
        for done in ray.wait(list(running), num_returns=1)[0]:
            part = running.pop(done)
            yield part, _value(ray, done)
            running |= {task.remote(more, **how): more for more in islice(waiting, 1)}


def _value(ray: Any, done: Any) -> Exception | None:
    try:
        error: Exception | None = ray.get(done)
    except ray.exceptions.RayError as failure:
        return OutputError("worker-died", f"Ray could not do a part of the job ({type(failure).__name__})")
    return error
