"""Small outputs that appear in batches: waiting for the disk once for all takes as long as for one.

Each is complete and on disk before it appears, as if it were alone. Only the waiting is shared, and a folder is synced
once for all its names."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from convcli.files.outputs import Output, Replacement, open_output
from convcli.model.errors import ConvcliError

TOGETHER = 64
"""Outputs in a batch; each has two descriptors open."""
THREADS = 16
"""Files synced at the same time: the system then writes its journal once for them."""


class OutputBatch:
    """Outputs that were committed but have not appeared yet.

    `shown` has the names of those that appeared, `failed` the errors of those that could not.

    Errors name their output in the message.
    """

    def __init__(self) -> None:
        self._ready: list[Replacement] = []
        self.failed: list[ConvcliError] = []
        self.shown: list[str] = []

    def output(self, path: str, *, force: bool = False, inputs: Iterable[str] = ()) -> Output:
        """Opens the output at a path, as `open_output` does; once committed it appears at the next `flush`."""
        opened = open_output(path, force=force, inputs=inputs)
        return _Later(opened, self) if isinstance(opened, Replacement) else opened

    def add(self, output: Replacement) -> None:
        """Adds a prepared output to the batch."""
        self._ready.append(output)
        if len(self._ready) >= TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Makes all committed outputs appear."""
        try:
            errors = _synced(self._ready)
            synced = [output for output, error in zip(self._ready, errors, strict=True) if not self._fails(error)]
            shown = [output for output in synced if not self._fails(_attempt(output.publish))]
            self.shown += (output.name for output in shown)
            for output in {output.directory: output for output in shown}.values():
                self._fails(_attempt(output.sync_folder))
        finally:
            self.discard()

    def _fails(self, error: ConvcliError | None) -> bool:
        if error is not None:
            self.failed.append(error)
        return error is not None

    def discard(self) -> None:
        """Discards outputs that have not appeared."""
        for output in self._ready:
            output.discard()
        self._ready.clear()


class _Later:
    """An output whose commit waits for others."""

    def __init__(self, output: Replacement, batch: OutputBatch) -> None:
        self.name, self.write = output.name, output.write
        self._output: Replacement | None = output
        self._batch = batch

    def commit(self) -> None:
        """Passes all bytes to the system; the batch does the rest."""
        assert self._output is not None
        self._output.prepare()
        output, self._output = self._output, None
        self._batch.add(output)

    def discard(self) -> None:
        """Discards an uncommitted output."""
        if self._output is not None:
            self._output.discard()


def _synced(outputs: list[Replacement]) -> list[ConvcliError | None]:
    """Waits until the bytes of all outputs are on disk; returns the error of each."""
    if len(outputs) < 2:
        return [_attempt(output.sync) for output in outputs]
    from concurrent.futures import ThreadPoolExecutor  # slow to import, and not needed for one file

    with ThreadPoolExecutor(min(THREADS, len(outputs))) as threads:
        return list(threads.map(lambda output: _attempt(output.sync), outputs))


def _attempt(action: Callable[[], None]) -> ConvcliError | None:
    try:
        action()
    except ConvcliError as error:
        return error
    return None
