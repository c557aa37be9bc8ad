"""Recognizes files without a transcript: folders and hooks also name settings of other programs."""

from __future__ import annotations

from convcli.engine.known_formats import LOOKS_LIKE
from convcli.files.names import split_line
from convcli.files.packed import may_wait
from convcli.jobs.logs import TURN
from convcli.model.errors import ContentError
from convcli.wire.patterns import pattern

LOOK_AT = 1 << 20
"""Bytes of a file that are searched for a message."""
_HOLES = pattern(rb"[\x00-\x08\x80-\xff]")


def is_no_transcript(path: str, error: ContentError) -> bool:
    """True if a file that could not be read was never a transcript.

    It must be complete: a file that ends in the middle may be a transcript that was cut off. A file in a known but
    unsupported format is a transcript.
    """
    if error.code not in ("not-json", "unknown-dialect") or error.message.startswith(LOOKS_LIKE):
        return False
    if may_wait(path):
        return False
    try:
        with open(split_line(path)[0], "rb") as file:
            content = file.read(LOOK_AT)
            is_all = not file.read(1)
    except OSError:
        return False
    is_complete = not is_all or content.rstrip().endswith((b"}", b"]"))
    return is_complete and not _HOLES.search(content[:512]) and not TURN.search(content)
