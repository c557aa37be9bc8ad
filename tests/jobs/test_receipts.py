"""Receipts: files that change while they are read."""

from __future__ import annotations

from pathlib import Path

from convcli.jobs.converting import Summary
from convcli.jobs.receipts import Paths, Recorder


def test_an_input_that_changes_meanwhile_has_no_hash(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one", "utf-8")
    (tmp_path / "b").write_text("one", "utf-8")
    inputs = [str(tmp_path / name) for name in "ab"]
    recorder = Recorder(Paths(str(tmp_path / "r.json")), inputs)
    (tmp_path / "b").write_text("more", "utf-8")
    receipt = recorder.receipt([], is_masked=False, outputs=[], summary=Summary(["anthropic"], "gemini"))
    first, second = receipt.inputs
    assert (first.bytes, first.unchecked) == (3, None)
    assert (second.sha256, second.unchecked) == (None, "changed while it was read")
