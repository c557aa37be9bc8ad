"""The measure of what must take linear time: one input, and one that is sixteen times as large, in one run.

No test asserts a time. That the ratio is far from what a square gives is what one asserts, with `growth(…) < MOST`.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence

TIMES = 16
MOST = 4.0
"""How much longer one big input may take than `TIMES` small ones. A square takes `TIMES` times longer; what is linear
takes up to twice as long on a busy machine, for large things are slower to reach."""

Steps = Sequence[Callable[[], object]]
"""What is done with an input. Each step has a measure of its own, for in their sum a dear one hides the others."""


def growth(work: Callable[[int], Steps], size: int) -> float:
    """Returns how many times longer the worst step takes for one input than for `TIMES` inputs, as large together.

    `work` makes an input of a size and returns its steps. A size is large enough if a square would take longer than
    what is done once for each input.
    """
    gc.collect()
    gc.freeze()  # what earlier tests have left is not visited again and again
    try:
        return max(map(_growth, work(size), work(TIMES * size)))
    finally:
        gc.unfreeze()


def _growth(small: Callable[[], object], big: Callable[[], object]) -> float:
    """The best of a few tries, for a machine has other things to do."""
    found = float("inf")
    for _ in range(6):
        found = min(found, _seconds(big) / _seconds(lambda: [small() for _ in range(TIMES)]))
        if found < MOST:
            break
    return found


def _seconds(action: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    start = time.process_time()
    try:
        action()
    finally:
        gc.enable()
    return max(time.process_time() - start, 0.005)
