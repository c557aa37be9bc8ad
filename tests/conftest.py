"""The tier of the tests, and hypothesis: the same examples every time.

The usual tier has few examples. `HYPOTHESIS_PROFILE=thorough` has ten times as many as all tests have.
"""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

from tests import tiers

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
EXAMPLES = {"usual": 5, "all": 100, "thorough": 1000}
for name, count in EXAMPLES.items():
    settings.register_profile(name, max_examples=count, deadline=None, derandomize=True, suppress_health_check=QUIET)

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""The tests start the program hundreds of times: it is compiled once, not each time."""


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until all tests are collected: nothing becomes garbage before
    tiers.choose(config.option.markexpr)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "all" if tiers.is_exhaustive() else "usual"))


def pytest_collection_finish() -> None:
    """The tests themselves, tens of thousands of objects that stay, are not visited at each collection."""
    gc.collect()
    gc.freeze()
    gc.enable()
