"""What the tests of jobs in parts share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs of tests are small, and so are parts of them."""
    monkeypatch.setattr("convcli.cli._parts.LEAST", 1)
