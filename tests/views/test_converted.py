"""`convcli.rows`: converted transcripts of many files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import convcli
from tests.cli_cases import CLEAN, OTHER, WRONG, write


def chat(text: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], **more}


def test_rows_have_documents_places_and_losses(tmp_path: Path) -> None:
    one = write(tmp_path / "a.jsonl", chat("x", seed=7), chat("y"))
    two = write(tmp_path / "b.json", CLEAN)
    rows = list(convcli.rows([one, str(two)], "anthropic", source=OTHER))
    assert [(row.file, row.line) for row in rows] == [(str(one), 1), (str(one), 2), (str(two), None)]
    assert rows[0].document["messages"] == [{"role": "user", "content": "x"}]
    assert [loss.where for loss in rows[0].losses] == ["/seed"]
    assert rows[0].transcript.messages[0].role == "user"


def test_rows_are_selected_and_options_apply(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", chat("x", model="m"), chat("x", model="n"), chat("y", model="n"))
    rows = convcli.rows(tmp_path, OTHER, where="model=n,m", dedupe="exact", map_model={"n": "k"}, default={"seed": 1})
    assert [(row.document["model"], row.document["seed"]) for row in rows] == [("m", 1), ("k", 1)]
    (row,) = convcli.rows(source, OTHER, where=["model=n", "text~x"])
    assert row.line == 2


def test_an_unreadable_document_raises_unless_told_to_keep_going(tmp_path: Path) -> None:
    for bad, error in (("{", convcli.ContentError), (WRONG, convcli.RefusedError)):
        source = write(tmp_path / "a.jsonl", CLEAN, bad, CLEAN)
        with pytest.raises(error):
            list(convcli.rows(source, OTHER, source=OTHER))
        assert len(list(convcli.rows(source, OTHER, source=OTHER, keep_going=True))) == 2


def test_mistakes_raise_at_once(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", CLEAN)
    for words in ({"where": "modl=x"}, {"since": "soon"}, {"source": "nothing"}, {"form": "nothing"}):
        with pytest.raises(convcli.JobError):
            convcli.rows(source, OTHER, **words)  # type: ignore[arg-type]
