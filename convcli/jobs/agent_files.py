"""Runs of subagents that an agent program stores in files of their own, next to the session that started them.

Claude Code writes `agent-ID.jsonl` next to the session, and since 2.1 in its folder `subagents`. A file names its
session; the call that started it is the one whose result names its ID, else the one with its prompt.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from itertools import chain

from msgspec.structs import replace

from convcli.jobs.documents import Document
from convcli.jobs.inputs import Input
from convcli.model.errors import ConvcliError
from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript
from convcli.wire.patterns import pattern

PREFIX, SUFFIX, FOLDER = "agent-", ".jsonl", "subagents"
FILES = f"{PREFIX}*{SUFFIX}"
PROMPT = "prompt"
"""The argument of a call that is the first message of the run."""
BEGINNING = 1 << 16
"""Bytes of a file in which it names its session."""
MOST_FILES = 1_000
"""Files that are looked at."""
_SESSION = pattern(rb'"sessionId": ?"([\w-]{1,80})"')


def with_runs(
    transcript: Transcript,
    path: str,
    opened: Callable[[str], AbstractContextManager[Input]],
    may_read: Callable[[str], bool] = lambda path: True,
) -> Transcript:
    """Returns the session in a file with the runs that its calls started, at the end; the same if there are none.

    Each message of a run has the id of its call as `parent_call_id`. Links, and files that cannot be read, are left
    out.
    """
    calls = _calls_without_run(transcript)
    if not calls or not transcript.id:
        return transcript
    files = list(filter(may_read, _files(path, transcript.id)))
    if not files:
        return transcript
    results, messages = _results(transcript), list[Message]()
    for file in files:
        with suppress(ConvcliError), opened(file) as source:
            for run in (item.lift_leniently()[0] for item in source if isinstance(item, Document)):
                call = _call_of(run, os.path.basename(file), calls, results)
                if call is not None and run.id == transcript.id:
                    calls.remove(call)
                    messages += (replace(each, parent_call_id=each.parent_call_id or call.id) for each in run.messages)
    return replace(transcript, messages=[*transcript.messages, *messages]) if messages else transcript


def session_of(path: str) -> str | None:
    """Returns the file of the session whose subagent's run is in this file; None for any other file."""
    folder, name = os.path.split(path)
    if not (name.startswith(PREFIX) and name.endswith(SUFFIX)):
        return None
    before, inside, _ = f"{folder}{os.sep}".rpartition(f"{os.sep}{FOLDER}{os.sep}")
    if inside:
        return f"{before}{SUFFIX}"
    found = _SESSION.search(_beginning(path))
    return os.path.join(folder, f"{found[1].decode()}{SUFFIX}") if found is not None else None


def _calls_without_run(transcript: Transcript) -> list[ToolCall]:
    started = {message.parent_call_id for message in transcript.messages}
    parts = (part for message in transcript.messages for part in message.parts)
    calls = (part for part in parts if isinstance(part, ToolCall) and part.raw_arguments is None)
    return [call for call in calls if call.id not in started and isinstance(call.arguments.get(PROMPT), str)]


def _results(transcript: Transcript) -> dict[str, str]:
    """Returns the text of each result, with what its row adds, by the id of the call."""
    return {
        part.tool_call_id: f"{part.value} {message.extras}"
        for message in transcript.messages
        for part in message.parts
        if isinstance(part, ToolResult)
    }


def _files(path: str, session: str) -> Iterator[str]:
    """Yields the files of subagents that name a session: those next to it, and those in its folder."""
    folder, inner = os.path.dirname(path), os.path.join(path.removesuffix(SUFFIX), FOLDER)
    places = os.path.join(glob.escape(folder), FILES), os.path.join(glob.escape(inner), "**", FILES)
    named = {file for place in places for file in glob.iglob(place, recursive=True)} - {path}
    for file in sorted(named)[:MOST_FILES]:
        if _mentions(file, session):
            yield file


def _mentions(path: str, session: str) -> bool:
    return session.encode("utf-8", "replace") in _beginning(path)


def _beginning(path: str) -> bytes:
    """Returns the beginning of a regular file; nothing of a link, or of what cannot be read."""
    with suppress(OSError):
        if stat.S_ISREG(os.lstat(path).st_mode):
            with open(path, "rb") as file:
                return file.read(BEGINNING)
    return b""


def _call_of(run: Transcript, name: str, calls: list[ToolCall], results: dict[str, str]) -> ToolCall | None:
    """Returns the call that started a run: by its id in the result, else by its prompt."""
    first = next((message for message in run.messages if message.role == "user"), None)
    text = "\n".join(part.text for part in first.parts if isinstance(part, Text)).strip() if first is not None else ""
    identifier = name.removeprefix(PREFIX).removesuffix(SUFFIX)
    by_prompt = (call for call in calls if text and call.arguments[PROMPT].strip() == text)
    by_id = (call for call in calls if len(identifier) > 3 and identifier in results.get(call.id, ""))
    return next(chain(by_id, by_prompt), None)
