"""Receipts: files that change while they are read."""

from __future__ import annotations

from pathlib import Path

from convcli.jobs.receipts import Paths, Recorder
from convcli.jobs.summaries import Summary


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


def test_the_log_of_a_database_is_an_input_too_also_if_its_program_removes_it(tmp_path: Path) -> None:
    for name in ("kept.db", "kept.db-wal", "gone.db", "gone.db-wal"):
        (tmp_path / name).write_text(name, "utf-8")
    inputs = [str(tmp_path / name) for name in ("kept.db", "gone.db")]
    recorder = Recorder(Paths(str(tmp_path / "r.json")), inputs)
    (tmp_path / "gone.db-wal").unlink()
    receipt = recorder.receipt([], is_masked=False, outputs=[], summary=Summary(["opencode"], "gemini"))
    found = {Path(each.path).name: (each.sha256 is not None, each.unchecked) for each in receipt.inputs}
    assert found == {
        "kept.db": (True, None), "kept.db-wal": (True, None), "gone.db": (True, None),
        "gone.db-wal": (False, "changed while it was read"),
    }  # fmt: skip
