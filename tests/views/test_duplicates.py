"""Which conversations are the same, and which of them stay."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from convcli.jobs import inputs
from convcli.jobs.documents import Document
from convcli.jobs.selection import Selection
from convcli.views.conditions import of_transcripts
from convcli.views.duplicates import Duplicates, Way
from tests.cli_cases import OTHER, run, write

OPENED = partial(inputs.opened, dialect=OTHER)


def chat(*texts: str, **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)], **more}


@pytest.mark.parametrize(
    ("way", "kept", "notes"),
    [
        ("exact", ["a", "abc", "x", "abd"], ["2 repeated conversations left out"]),
        (
            "prefix",
            ["abc", "x", "abd"],
            ["1 repeated conversation left out", "2 conversations left out, with which a longer one begins"],
        ),
    ],
)
def test_duplicates_and_beginnings_are_left_out(tmp_path: Path, way: Way, kept: list[str], notes: list[str]) -> None:
    texts = ["a", "abc", "x", "a", "abd", "x"]
    path = str(write(tmp_path / "a.jsonl", *(chat(*text, model=f"m{i}") for i, text in enumerate(texts))))
    duplicates = Duplicates(way)
    selection = Selection([duplicates])
    selection.scan([path], OPENED)
    with OPENED(path, selection=selection) as source:
        found = [item.value["messages"] for item in source if isinstance(item, Document)]
    assert ["".join(message["content"] for message in messages) for messages in found] == kept
    assert list(duplicates.notes()) == notes


def test_the_command_line_leaves_out_duplicates_of_all_inputs(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a.jsonl", chat("a"), chat("b")), write(tmp_path / "b.jsonl", chat("b"), chat("c"))
    done = run("convert", one, two, "--to", OTHER, "--dedupe")
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 3)
    assert b"note: 1 repeated conversation left out" in done.stderr
    assert b"2 transcripts" in run("validate", one, one, two, "--dedupe", "--limit", 2).stderr
    done = run("convert", "-", "--to", OTHER, "--dedupe=prefix", input=one.read_bytes())
    assert (done.returncode, b"standard input can be read only once" in done.stderr) == (2, True)


def test_conditions_and_duplicates_lift_a_document_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lifted: list[Document] = []
    lift = Document.lift_leniently
    monkeypatch.setattr(Document, "lift_leniently", lambda self: lifted.append(self) or lift(self))
    path = str(write(tmp_path / "a.jsonl", chat("a"), chat("b"), chat("a")))
    condition = of_transcripts(["messages=1 and user=1"], None, None)
    assert condition is not None
    with OPENED(path, selection=Selection([condition, Duplicates("exact")])) as source:
        assert sum(1 for _ in source) == 2
    assert len(lifted) == 3


def test_a_document_with_metadata_of_a_wrong_type_is_no_duplicate(tmp_path: Path) -> None:
    path = str(write(tmp_path / "a.jsonl", chat("a", seed="x"), chat("a")))
    with OPENED(path, selection=Selection([Duplicates("exact")])) as source:
        assert sum(1 for _ in source) == 2


def test_a_wrong_option_is_reported_before_inputs_are_read_ahead() -> None:
    done = run("convert", "-", "--to", OTHER, "--dedupe=prefix", "--split", "train=1,val=1", input=b"")
    assert (done.returncode, b"--split needs --out-dir" in done.stderr, b"read only once" in done.stderr) == (2, 1, 0)
