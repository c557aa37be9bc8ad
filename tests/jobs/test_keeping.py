"""The lines of a restore file: one for each document that was written, and behind them what stood around them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from convcli import dialects
from convcli.jobs import inputs
from convcli.jobs.documents import Document
from convcli.jobs.envelopes import patterns
from convcli.jobs.keeping import kept, kept_around

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}


def test_what_stood_around_comes_behind_the_documents_and_holds_those_that_were_not_written(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    rows: list[Any] = [{"input": REQUEST, "n": 1}, {"input": REQUEST, "n": 2}, {"n": 3}]
    path.write_text("\n".join(map(json.dumps, rows)))
    target = dialects.get("openai-chat")
    with inputs.opened(str(path), at=patterns(["/input"]), restores=True) as source:
        first, *_ = [item for item in source if isinstance(item, Document)]
        lines = kept(first.value, first, source, target) + kept_around(source)
    record, *around = map(json.loads, lines.splitlines())
    assert (record["at"], record["patch"]) == ("/input", [])
    assert [line["shell"] for line in around] == [{"input": None, "n": 1}, *rows[1:]]
    assert not source.outer
