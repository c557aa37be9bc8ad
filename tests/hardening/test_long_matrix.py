"""A share of the complete matrix of long texts (`python -m tests.long_texts_long`), by the criterion of the whole."""

from __future__ import annotations

import time
from typing import Any

import pytest

from convcli.engine import detection
from tests import long_texts_long
from tests.hardening.test_long_texts import KINDS, places

pytestmark = [pytest.mark.hardening, pytest.mark.exhaustive]


def test_no_string_of_a_share_takes_far_longer_than_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert long_texts_long.main(["--share", "7/400"]) == 0, capsys.readouterr().out


def test_each_string_of_a_dialect_has_each_kind() -> None:
    every = list(long_texts_long.cases(1000, (1, 1), "cline"))
    expected = {(str(sample), path, kind) for sample, path in places() if sample.dialect == "cline" for kind in KINDS}
    assert {(str(case.sample), path, case.kind) for case in every for path in case.paths} == expected
    assert len(every) < len(expected) / 3


def test_a_step_that_is_slow_for_a_kind_of_text_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(long_texts_long, "FEW_SECONDS", 0.005)
    detect = detection.detect

    def slow(document: Any) -> Any:
        begin = time.process_time()
        while "exit code" in str(document) and time.process_time() < begin + 0.03:
            pass
        return detect(document)

    monkeypatch.setattr(detection, "detect", slow)
    assert long_texts_long.main(["--size", "2000", "--only", "cline", "--share", "1/6"]) == 1
    assert "times the median: exits in " in capsys.readouterr().out
