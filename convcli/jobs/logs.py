"""Recognizes transcripts in files whose suffix says nothing, such as `.txt` and `.log`, by their beginning."""

from __future__ import annotations

import re
from contextlib import closing

from convcli.files.framing import open_stored
from convcli.files.lines import SSE_FIELDS, TEXT_MARK
from convcli.files.packed import unpacked
from convcli.model.errors import ConvcliError
from convcli.wire.encodings import BOM
from convcli.wire.patterns import pattern

LOGS = (".txt", ".log", ".out", ".responses")
"""Suffixes of transcripts and of anything else."""
HEAD = 1 << 16
"""Bytes of a file that are searched for a message."""
BEGINS = (b"{", b"[", TEXT_MARK, *SSE_FIELDS)
TURN = pattern(
    rb'"(?:role|from|sender|author|speaker)"\s*:\s*"(?:user|assistant|system|developer|tool|model|function|human|gpt|ai|bot)"'
    rb'|"(?:messages|contents|conversations?|turns|history|chat_messages|tool_calls|toolCalls|parts|choices|candidates)"'
    rb"\s*:\s*[\[{]",
    re.IGNORECASE,
)
"""Found in transcripts of any format, but not in settings: a role, or a list of messages."""


def begins_like_transcript(path: str) -> bool:
    """True if a file, compressed or not, begins as JSON, a stream or text between the marks of a chat template, and has
    a message near its beginning. False if it cannot be read."""
    head = b""
    try:
        with closing(open_stored(path)) as stored:
            for chunk in unpacked(stored):
                head += chunk
                if len(head) >= HEAD:
                    break
    except ConvcliError:
        return False
    head = head[:HEAD].removeprefix(BOM).lstrip()
    return head.startswith(BEGINS) and (head.startswith(TEXT_MARK) or TURN.search(head) is not None)
