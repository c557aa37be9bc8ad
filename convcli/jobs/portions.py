"""The rows that one transcript becomes."""

from __future__ import annotations

import msgspec

from convcli.model.transcript import Transcript


class Portion(msgspec.Struct, frozen=True):
    """What one row has of a transcript.

    `id`: its own, None for that of the transcript · `parent`: the id of the session that started it · `part`: its
    number among `parts`, 0 if the conversation is whole.
    """

    transcript: Transcript
    id: str | None = None
    parent: str | None = None
    part: int = 0
    parts: int = 0
