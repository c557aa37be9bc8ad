"""Sessions of Strands Agents as documents: `agent.json` stands for its folder, and for the session around it.

The files of a session are `session.json` and, for each agent, `agents/agent_ID/agent.json` and
`agents/agent_ID/messages/message_N.json`. Together they are one document with the keys `session`, `agent` and
`messages`, in the order of N. `convcli resume` writes these files. Format: strands/session/file_session_manager.py of
strands-agents 1.62; read 2026-11-28."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from convcli.files.framing import Framing, Range, Record
from convcli.files.json_values import JsonValues
from convcli.files.packed import CountedFile, may_wait
from convcli.model.errors import ContentError
from convcli.wire.patterns import pattern
from convcli.wire.strict_json import DuplicateKeys

AGENT, SESSION, AGENTS, MESSAGES = "agent.json", "session.json", "agents", "messages"
_MESSAGE = pattern(r"message_([0-9]{1,18})\.json")


def stands_for_folder(path: str) -> bool:
    """True for the file of an agent that has a folder of messages next to it."""
    folder, name = os.path.split(path)
    return name == AGENT and os.path.isdir(os.path.join(folder, MESSAGES))


def session_of(path: str) -> str:
    """Returns the folder of the session to which the file of an agent belongs."""
    return os.path.normpath(os.path.join(os.path.dirname(path), "..", ".."))


def is_piece(path: str) -> bool:
    """True for a file of a session that is read with the file of its agent."""
    folder, name = os.path.split(path)
    if _MESSAGE.fullmatch(name):
        above, last = os.path.split(folder)
        return last == MESSAGES and os.path.isfile(os.path.join(above, AGENT))
    return name == SESSION and os.path.isdir(os.path.join(folder, AGENTS))


class FolderSource:
    """An opened session of an agent: one record, whose value is the document."""

    framing: Framing = "jsonl"
    unpacked_size = 0
    grew = False
    blank = 0

    def __init__(self, stored: CountedFile, keys: DuplicateKeys) -> None:
        self.name, self._stored, self._json, self.lines = stored.name, stored, JsonValues(keys), 0
        self._folder = os.path.dirname(self.name)

    def __enter__(self) -> FolderSource:
        return self

    def __exit__(self, *_: object) -> None:
        self._stored.close()

    @property
    def bytes_read(self) -> int:
        """The bytes of the agent's file, once the record is read."""
        return os.path.getsize(self.name) if self.lines else 0

    def each(self) -> Iterator[Record]:
        """Yields the record."""
        return self.records()

    def records(self, start: int = 0, stop: int | None = None, before: int = 0) -> Iterator[Record]:
        """Yields the record, whatever the range. If a file cannot be read, the record has an error that names it."""
        record, self.lines = Record(before + 1, 0, 0, b""), 1
        try:
            record.value = self._document()
            record.warning = self._json.take_warning()
        except ContentError as error:
            record.error = error
        yield record

    def ranges(self, size: int) -> Iterator[Range]:
        """Yields one range."""
        yield Range(0, 1, 0)

    def _document(self) -> dict[str, Any]:
        session = os.path.join(session_of(self.name), SESSION)
        document = {"session": self._read(session)} if os.path.isfile(session) else {}
        document["agent"] = self._read(self.name)
        folder = os.path.join(self._folder, MESSAGES)
        matches = sorted(
            (int(match[1]), match[0]) for name in os.listdir(folder) if (match := _MESSAGE.fullmatch(name))
        )
        document["messages"] = [self._read(os.path.join(folder, name)) for _, name in matches]
        return document

    def _read(self, path: str) -> Any:
        try:
            if may_wait(path):
                raise ContentError("not-json", "this is not a regular file", file=path)
            with open(path, "rb") as file:
                return self._json.parse(file.read(), path)
        except OSError as error:
            raise ContentError("not-json", f"cannot be read: {error.strerror}", file=path) from error
        except ContentError as error:
            error.file = path
            raise
