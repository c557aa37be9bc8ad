"""Hypothesis: the same examples every time in CI, ten times more of them with `HYPOTHESIS_PROFILE=thorough`."""

from __future__ import annotations

import gc
import os

from hypothesis import HealthCheck, settings

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("usual", max_examples=100, deadline=None, derandomize=True, suppress_health_check=QUIET)
settings.register_profile("thorough", max_examples=1000, deadline=None, derandomize=True, suppress_health_check=QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""The tests start the program hundreds of times: it is compiled once, not each time."""


def pytest_collection_finish() -> None:
    """The tests themselves, tens of thousands of objects that stay, are not visited at each collection."""
    gc.collect()
    gc.freeze()
