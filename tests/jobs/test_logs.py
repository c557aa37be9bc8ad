"""Files whose suffix says nothing."""

from __future__ import annotations

import gzip
from pathlib import Path

from convcli.jobs import paths


def test_a_text_or_a_log_of_a_folder_is_read_if_it_begins_like_a_transcript(tmp_path: Path) -> None:
    said = '{"messages": [{"role": "user", "content": "hi"}]}'
    contents = {
        "a.json": said,
        "b.log": said,
        "c.txt": "<|start|>user<|message|>hi<|end|>",
        "d.out": 'data: {"object": "chat.completion.chunk", "choices": []}',
        "notes.txt": "The role is user.",
        "service.log": '{"level": "info", "message": "started"}',
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "e.log.gz").write_bytes(gzip.compress(said.encode()))
    (tmp_path / "f.log.gz").write_bytes(b"\x1f\x8bbroken")
    assert [file.relative for file in paths.find([str(tmp_path)])] == ["a.json", "b.log", "c.txt", "d.out", "e.log.gz"]
    assert paths.count_others([str(tmp_path)]) == {".txt": 1, ".log": 2}
