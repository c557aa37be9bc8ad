"""Claims on a folder of a store, which has no locks: objects with unique names, renewed while their run works.

A run writes its claim and then lists all of them, so that of two runs at least one sees the other. A claim of a killed
run stays behind. It counts no longer if its process on this machine has ended, if it is old, or if nobody renews it
while another run waits."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from threading import Event, Thread

import msgspec
from msgspec.structs import replace

from convcli.files.stores import OutputFolder, folder_at, join
from convcli.model.errors import ContentError, ConvcliError, JobError
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

CLAIMS = "_running/"
"""The folder of the claims, in the folder that they are for."""
RENEWAL, PATIENCE, OLD = 20.0, 60.0, 600.0
"""Seconds between two renewals; how long another run waits for one; the age of a claim that needs no wait. Clocks of
two machines may differ by less than the last."""
STEP = 2.0
"""Seconds between two looks at claims of others."""
STARTED = time.time()


class Claim(msgspec.Struct, frozen=True):
    """Who claims a folder: `machine` and `process` show whether it has ended, `renewals` whether it still works."""

    machine: str
    process: int
    begun: float
    renewed: float
    renewals: int = 0


class _Claims:
    """The claims on a folder, and the one of this run."""

    def __init__(self, url: str, is_shared: bool) -> None:
        self._url, self._is_shared = url, is_shared
        self._name = f"{'task' if is_shared else 'run'}-{token_hex(8)}.json"
        now = time.time()
        self._mine = Claim(_machine(), os.getpid(), now, now)
        self._end, self._is_lost = Event(), False

    def write(self) -> None:
        """Writes the claim, or renews it. Raises OutputError."""
        output = self._folder.output(self._name)
        try:
            output.write(exact_json.write_line(builtins(self._mine)))
            output.commit()
        finally:
            output.discard()
        self._mine = replace(self._mine, renewed=time.time(), renewals=self._mine.renewals + 1)

    def wait(self, announce: Callable[[str], object]) -> None:
        """Waits while other claims exclude this one, and removes them if nobody renews them.

        Raises JobError `output-in-use` as soon as one of them is renewed, or a new one appears."""
        first = others = self._others()
        if others:
            announce("note: waiting to see whether another run still writes into this folder\n")
        begin = time.monotonic()
        while others and time.monotonic() - begin < PATIENCE:
            time.sleep(STEP)
            others = self._others()
            if any(first.get(name) != raw for name, raw in others.items()):
                message = "another run of convcli is writing into this folder"
                raise JobError("output-in-use", message, file=self._url, help="wait until it has ended")
        for name in others:
            self._folder.remove(name)

    def renew(self) -> None:
        """Renews the claim until the run ends, or another one has removed it."""
        while not self._end.wait(RENEWAL):
            with suppress(ConvcliError):  # the store may answer the next time
                self._is_lost = self._folder.size(self._name) is None
                if self._is_lost:
                    return
                self.write()

    def end(self) -> None:
        """Ends the renewal, and removes the claim."""
        self._end.set()
        with suppress(ConvcliError):
            self._folder.remove(self._name)

    def check(self) -> None:
        """Raises JobError `output-in-use` if another run has removed the claim."""
        if self._is_lost:
            message = "another run of convcli has taken over this folder"
            help_text = "this run did not renew its claim for a minute"
            raise JobError("output-in-use", message, file=self._url, help=help_text)

    @property
    def _folder(self) -> OutputFolder:
        """The folder of the claims; fsspec has a file system for each thread."""
        return folder_at(join(self._url, CLAIMS.rstrip("/")))

    def _others(self) -> dict[str, bytes]:
        """Returns the claims that exclude this one. Those of runs that have certainly ended are removed."""
        names = [name for name in self._folder.sizes() if name != self._name]
        claims = dict[str, bytes]()
        for name in names:
            if self._is_shared and name.startswith("task-"):
                continue
            with suppress(ConvcliError):  # its run has ended meanwhile, and removed it
                raw = next(self._folder.read([name]))
                if _has_ended(raw):
                    self._folder.remove(name)
                else:
                    claims[name] = raw
        return claims


@contextmanager
def claimed(url: str, *, is_shared: bool, announce: Callable[[str], object]) -> Iterator[Callable[[], None]]:
    """Claims a folder of a store for one process, or for all that share the work; yields a check that it still does.

    `announce` is called if the run must wait. Raises JobError `output-in-use`, and OutputError."""
    claims = _Claims(url, is_shared)
    renewing = Thread(target=claims.renew, daemon=True)
    try:
        claims.write()
        renewing.start()
        claims.wait(announce)
        yield claims.check
    finally:
        claims.end()
        if renewing.is_alive():
            renewing.join(RENEWAL)
            claims.end()


def _has_ended(raw: bytes) -> bool:
    """True if the process of a claim was one of this machine and has ended, or has not renewed it for long."""
    try:
        claim = msgspec.convert(exact_json.parse(raw), Claim)
    except (ContentError, msgspec.ValidationError):
        return False
    if time.time() - claim.renewed > OLD:
        return True
    if not claim.machine or claim.machine != _machine():
        return False
    if claim.process == os.getpid():
        return claim.begun < STARTED
    try:
        os.kill(claim.process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _machine() -> str:
    """Returns what distinguishes the processes that this one can see; empty if the system does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""
