"""`convcli.rows`: converted transcripts of many files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import convcli
from convcli.wire import exact_json
from tests.cli_cases import CLEAN, OTHER, ROOT, WRONG, run, write


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


SESSIONS = str(ROOT / "samples" / "claude-code" / "*.jsonl")


def test_rows_of_sessions_have_the_columns_of_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    run("convert", SESSIONS, "--to", "hf-chat", "-o", out)
    printed = [json.loads(line) for line in out.read_bytes().splitlines()]
    documents = [row.document for row in convcli.rows(SESSIONS, "hf-chat")]
    assert exact_json.write(documents) == exact_json.write(printed)
    assert {"file", "line", "parent"} <= documents[0].keys()
    assert [row.keys() & {"file", "id"} for row in bare(SESSIONS, columns="none")] == [set()] * len(documents)
    assert all({"program", "turns"} <= row.keys() for row in bare(SESSIONS, columns=["turns"]))


def bare(paths: Any, **options: Any) -> list[dict[str, Any]]:
    return [row.document for row in convcli.rows(paths, "hf-chat", **options)]


def test_rows_of_long_conversations_are_parts(tmp_path: Path) -> None:
    talk = [{"role": role, "content": text} for text in "xyz" for role in ("user", "assistant")]
    source = write(tmp_path / "a.jsonl", {"messages": talk})
    rows = bare(source, max_turns=2, source=OTHER)
    assert [(row["part"], len(row["messages"])) for row in rows] == [(1, 4), (2, 2)]


def test_mistakes_raise_at_once(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", CLEAN)
    wrong: list[dict[str, Any]] = [
        *({"where": "modl=x"}, {"since": "soon"}, {"source": "nothing"}, {"form": "nothing"}, {"columns": "all"}),
        *({"split_at": "noon"}, {"max_turns": 0}, {"max_tokens": 5}, {"tools": "some"}),
    ]
    for words in wrong:
        with pytest.raises(convcli.JobError):
            convcli.rows(source, OTHER, **words)
