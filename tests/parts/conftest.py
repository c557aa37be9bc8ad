"""What the tests of jobs in parts share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs of tests are small, and so are parts of them. A slow machine prints no progress."""
    monkeypatch.setattr("convcli.cli._parts.LEAST", 1)
    monkeypatch.setattr("convcli.report.progress.EVERY_LINE", 1e6)
