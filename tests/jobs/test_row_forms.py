"""Notes on training rows that no trainer reads as one data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import convcli
from convcli import dialects
from convcli.jobs.row_forms import columns_of, note_on_forms
from tests.cli_cases import run, write

HF = dialects.get("hf-chat")
ASKED, GOOD, BAD = (
    [{"role": role, "content": text}] for role, text in (("user", "q"), ("assistant", "a"), ("assistant", "b"))
)
TEXT: Any = {"messages": [*ASKED, *GOOD]}
SPLIT: Any = {"prompt": ASKED, "completion": GOOD}
JUDGED: Any = {**SPLIT, "label": True}
PAIR: Any = {"prompt": ASKED, "chosen": GOOD, "rejected": BAD}
WHOLE_PAIR: Any = {"chosen": [*ASKED, *GOOD], "rejected": [*ASKED, *BAD]}
TOOLS: Any = {**TEXT, "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]}
IMAGES: Any = {"messages": [{"role": "user", "content": [{"type": "image"}]}, *GOOD], "images": ["a.png"]}
SEVERAL, UNLABELLED, UNREAD = "rows of several forms", "some rows have no label", "rows with a label"
MIXTURES: list[tuple[list[Any], str]] = [
    ([TEXT, SPLIT], SEVERAL),
    ([TEXT, PAIR], SEVERAL),
    ([SPLIT, PAIR], SEVERAL),
    ([JUDGED, PAIR], SEVERAL),
    ([PAIR, WHOLE_PAIR], SEVERAL),
    ([SPLIT, JUDGED], UNLABELLED),
    ([{**TEXT, "label": True}], UNREAD),
    ([JUDGED, JUDGED], ""),
    ([PAIR, PAIR], ""),
    ([TEXT, TOOLS, IMAGES], ""),
    ([TEXT, {**TEXT, "prompt": None, "label": None}], ""),
]
"""Rows, and what TRL 1.16 does with them: `_prepare_dataset` of its SFT, DPO and KTO trainers fails or not."""


def forms_of(rows: list[Any]) -> dict[str, int]:
    """The numbers of rows by their columns."""
    columns = [columns_of(row, HF) for row in rows]
    return {each: columns.count(each) for each in columns}


@pytest.mark.parametrize(("rows", "note"), MIXTURES)
def test_a_note_says_what_a_trainer_cannot_read(rows: list[Any], note: str) -> None:
    found = note_on_forms(forms_of(rows), HF)
    assert found.startswith(note)
    assert bool(found) == bool(note)


@pytest.mark.parametrize("name", [name for name in dialects.names() if "preference" in dialects.get(name).forms])
def test_the_forms_of_every_training_dialect_are_told_apart(name: str) -> None:
    target = dialects.get(name)
    usual, pair = (
        convcli.convert(PAIR, name, source="hf-chat", form=form).document for form in (target.forms[0], "preference")
    )
    assert "" not in (columns_of(usual, target), columns_of(pair, target))
    assert columns_of(usual, target) != columns_of(pair, target)
    assert target.label_form in ("", *target.forms)


def test_rows_of_several_inputs_and_jobs_are_counted_together(tmp_path: Path) -> None:
    inputs = [write(tmp_path / "a.jsonl", TEXT), write(tmp_path / "b.jsonl", SPLIT, SPLIT)]
    note = "note: rows of several forms: prompt, completion ×2; messages ×1; a trainer".encode()
    for more in (["-o", "o.jsonl"], ["--out-dir", "o"], ["--out-dir", "p", "--engine", "local"]):
        assert note in run("convert", *inputs, "--to", "hf-chat", *more, cwd=tmp_path).stderr
    assert note not in run("convert", *inputs, "--to", "hf-chat", "--form", "messages").stderr
    for more in ([], ["--out-dir", "q", "--engine", "local"]):
        assert note in run("validate", *inputs, "--from", "hf-chat", *more, cwd=tmp_path).stderr
    assert b"note:" not in run("validate", inputs[0], "--from", "hf-chat").stderr
