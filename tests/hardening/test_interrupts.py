"""Ctrl-C at random moments after the start. `python -m tests.hardening_long` tries more of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli_cases import CLEAN, write
from tests.hardening.interrupts import defects

SEED = "20261127"
COUNT = 25


@pytest.mark.hardening
@pytest.mark.exhaustive
def test_ctrl_c_at_any_moment_prints_no_traceback(tmp_path: Path) -> None:
    assert list(defects(write(tmp_path / "a.json", CLEAN), COUNT, SEED)) == []
