"""convcli share: one page or Markdown without private values and events."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli_cases import run
from tests.support import SAMPLES

pytest.importorskip("phonenumbers")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    text = (SAMPLES / "claude-code" / "example.jsonl").read_text()
    event = '{"type":"system","subtype":"info","content":"an event","uuid":"e","cwd":"/home/annlee"}\n'
    path.write_text(text.replace("/home/dan", "/home/annlee") + event)
    assert "annlee" in path.read_text()
    return path


@pytest.mark.parametrize("form", ["html", "md"])
def test_a_shared_session_has_no_private_value_and_no_event(session: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / f"out.{form}"
    done = run("share", session, "-o", out, *(["--markdown"] if form == "md" else []))
    assert done.returncode == 0, done.stderr
    written = out.read_text()
    assert "annlee" not in written
    assert "an event" not in written
    assert "Please fix it." in written
    assert "home-directory" in written.split("Masked")[-1]


def test_the_output_has_a_name_of_its_own_and_is_not_replaced(session: Path, tmp_path: Path) -> None:
    assert run("share", session, cwd=tmp_path).returncode == 0
    assert [path.name for path in tmp_path.glob("share-*.html")] == ["share-2f6b1c1e-5d0a.html"]
    assert run("share", session, cwd=tmp_path).returncode == 2


def test_inspect_writes_a_page_without_events_if_they_are_hidden(session: Path, tmp_path: Path) -> None:
    pages = {choice: tmp_path / f"{choice}.html" for choice in ("show", "hide")}
    for choice, page in pages.items():
        assert run("inspect", session, "--events", choice, "-o", page).returncode == 0
    assert "an event" in pages["show"].read_text()
    assert "an event" not in pages["hide"].read_text()
