"""What is no transcript of any kind, and what may be one that is broken or unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from convcli.jobs import inputs
from convcli.jobs.unsupported import is_no_transcript
from convcli.model.errors import ContentError


@pytest.mark.parametrize(
    ("content", "is_none"),
    [
        ('{"name": "x", "version": "1.0.0", "type": "module", "author": "A"}', True),
        ('// settings\n{"compilerOptions": {"strict": true,},}\n', True),
        ('{"rules": {"semi": "off"},}', True),
        ('{"users": [{"name": "x", "role": "admin"}]}', True),
        ('{"messages": {"greeting": "Hello"}}', False),
        ("{}", True),
        ("[1, 2]", True),
        ('{"a": 1}\n{"a": 2}\n', True),
        ('{"messages": [{"role": "user", "content": "hi"}, {"role": "assist', False),
        ('{"mes', False),
        ('{"name": "x", "ver', False),
        ('{"messages": [{"role": "user" "content": "hi"}]}', False),
        ('{"turns": [{"speaker": "Human", "text": "hi"}]}', False),
        ('{"log": [{"role": "Assistant", "said": "hi"}]}', False),
        ('{"indexedDB": {"topics": 1, "message_blocks": 1}}', False),
        ("", False),
        ("{\x00\x00}", False),
    ],
)
def test_only_complete_files_without_a_turn_are_no_transcripts(tmp_path: Path, content: str, is_none: bool) -> None:
    path = tmp_path / "a.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ContentError) as caught, inputs.opened(str(path)):
        pass
    assert is_no_transcript(str(path), caught.value) is is_none


def test_a_file_that_is_gone_is_not_passed_over(tmp_path: Path) -> None:
    assert not is_no_transcript(str(tmp_path / "a.json"), ContentError("not-json", ""))
