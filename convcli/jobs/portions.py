"""The rows that one transcript becomes: the session, the runs of its subagents, and parts of long conversations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from convcli.model.branches import handed_on, nearest_left
from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Origin, ToolCall, Transcript

if TYPE_CHECKING:
    from convcli.jobs.splitting import Splitting

PARENTS = (
    ("session", "parentID"),
    ("header", "parent_thread_id"),
    ("header", "source", "subagent", "thread_spawn", "parent_thread_id"),
)
"""Where the dialects of agent programs name the session that started this one, within their extras."""
ASIDE, AGENT = "isSidechain", "agentId"
"""The keys in the row of a message that mark the run of a subagent, and name it."""

RUN = "run"
"""The name of a run whose messages have no id, within its session."""


class Portion(msgspec.Struct, frozen=True):
    """What one row has of a transcript.

    `id`: its own, None for that of the transcript · `parent`: the id of the session that started it · `part`: its
    number among `parts`, 0 if the conversation is whole · `tokens`: counted by the tokenizer of the user ·
    `linked`: its messages with the links that they have in the whole transcript.
    """

    transcript: Transcript
    id: str | None = None
    parent: str | None = None
    part: int = 0
    parts: int = 0
    tokens: int | None = None
    linked: Sequence[Message] = ()


@cache
def may_have_runs(dialect: Dialect) -> bool:
    """True if a document of this dialect can contain the run of a subagent, or be one."""
    if dialect.bodies or dialect.keeps_form:
        return bool(dialect.programs)
    return bool(dialect.programs) or "message.parentCallId" in dialect.supports_in()


def portions(
    transcript: Transcript, dialect: Dialect, splitting: Splitting | None, left_out: frozenset[int] = frozenset()
) -> list[Portion]:
    """Returns the rows of a transcript; a session without runs and parts is one portion with the same transcript.

    `left_out`: ids of message objects that are not written.
    """
    whole = list(_runs(transcript, dialect.family or dialect.name))
    if splitting is None:
        return whole
    return [part for portion in whole for part in _parts(portion, splitting, left_out)]


def _parts(portion: Portion, splitting: Splitting, left_out: frozenset[int]) -> Iterator[Portion]:
    from convcli.jobs.splitting import parts_of

    parts = parts_of(portion.transcript, splitting, left_out)
    for number, (places, tokens) in enumerate(parts, 1):
        if len(parts) == 1:
            yield replace(portion, tokens=tokens)
        else:
            transcript = replace(portion.transcript, messages=handed_on(portion.transcript, _others(portion, places)))
            part = replace(portion, transcript=transcript, part=number, parts=len(parts), tokens=tokens)
            yield _reduced(part, places, portion.linked or portion.transcript.messages)


def _others(portion: Portion, places: Sequence[int]) -> set[int]:
    return set(range(len(portion.transcript.messages))).difference(places)


# ---------------------------------------------------------------- runs of subagents


def _runs(transcript: Transcript, owner: str) -> Iterator[Portion]:
    """Yields the session itself without the runs in it, then each run."""
    extra = (transcript.extras or {}).get(owner, {})
    parent = _parent(extra)
    is_run = _at(extra, ("session", ASIDE)) is True
    runs: dict[str, list[int]] = {}
    roots: dict[str, str] = {}
    key = ""
    for i, message in enumerate(transcript.messages):
        if not _is_of_same_record(transcript, i):
            key = _run_of(message, owner, roots, is_run=is_run)
        if key:
            runs.setdefault(key, []).append(i)
    if not runs:
        yield Portion(transcript, parent=parent)
        return
    starts = {key: transcript.messages[of_run[0]].parent_call_id for key, of_run in runs.items()}
    places = set(range(len(transcript.messages))).difference(*runs.values())
    if any(transcript.messages[i].role != "event" for i in places):
        yield _reduced(Portion(transcript, parent=parent), sorted(places), transcript.messages)
    else:
        runs = _with_events(runs, len(transcript.messages))
    callers = {call: key for key, of_run in runs.items() for call in _calls(transcript, of_run)}
    for key, of_run in runs.items():
        started_by = callers.get(starts[key] or "")
        name = f"{transcript.id}/{RUN}" if key == RUN and transcript.id else key
        run = Portion(transcript, id=name, parent=started_by or transcript.id)
        yield _reduced(run, of_run, transcript.messages)


def _with_events(runs: dict[str, list[int]], count: int) -> dict[str, list[int]]:
    """Returns the runs of a file that has nothing else, with the events before and between their messages."""
    run_of = {i: key for key, of_run in runs.items() for i in of_run}
    whole: dict[str, list[int]] = {key: [] for key in runs}
    key = next(iter(runs))
    for i in range(count):
        key = run_of.get(i, key)
        whole[key].append(i)
    return whole


def _run_of(message: Message, owner: str, roots: dict[str, str], *, is_run: bool) -> str:
    """Returns the name of the run that a message belongs to: of its agent, its call, or its first message."""
    row = (message.extras or {}).get(owner, {}).get("row")
    row = row if isinstance(row, dict) else {}
    if message.role == "event" or not (is_run or message.parent_call_id or row.get(ASIDE) is True):
        return ""
    root = roots.get(message.parent_id or "") or message.id or message.parent_id or RUN
    if message.id is not None:
        roots[message.id] = root
    agent = row.get(AGENT)
    return agent if isinstance(agent, str) and agent else message.parent_call_id or root


def _is_of_same_record(transcript: Transcript, i: int) -> bool:
    """True if a message comes from the same record as the one before it, which has the id and the mark of the run."""
    places = [] if transcript.origin is None else transcript.origin.places
    is_rest = transcript.messages[i].id is None and 0 < i < len(places)
    return is_rest and places[i][0] == places[i - 1][0]


def _calls(transcript: Transcript, places: Sequence[int]) -> Iterator[str]:
    for i in places:
        yield from (part.id for part in transcript.messages[i].parts if isinstance(part, ToolCall))


def _parent(extra: dict[str, Any]) -> str | None:
    found = (_at(extra, steps) for steps in PARENTS)
    return next((value for value in found if isinstance(value, str) and value), None)


def _at(extra: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        extra = extra.get(step) if isinstance(extra, dict) else None
    return extra


# ---------------------------------------------------------------- some messages of a transcript


def _reduced(portion: Portion, places: Sequence[int], linked: Sequence[Message]) -> Portion:
    """Returns the portion with only these messages of its transcript."""
    return replace(portion, transcript=taken(portion.transcript, places), linked=[linked[i] for i in places])


def taken(transcript: Transcript, places: Sequence[int]) -> Transcript:
    """Returns the transcript with only these messages. Each follows the nearest message before it that is left."""
    kept = [transcript.messages[i] for i in places]
    ids = {message.id for message in kept if message.id is not None}
    removed = dict[str | None, str | None]()
    removed.update((message.id, message.parent_id) for message in transcript.messages if message.id not in ids)
    removed.pop(None, None)
    messages: list[Message] = []
    last: str | None = None
    for message in kept:
        parent = nearest_left(message.parent_id, removed)
        if parent not in ids and message.parent_id is not None:
            parent = last
        messages.append(message if parent == message.parent_id else replace(message, parent_id=parent))
        last = message.id or last
    head = nearest_left(transcript.head, removed)
    has_links = any(message.parent_id is not None for message in messages)
    head = head if head in ids else last if has_links else None
    return replace(transcript, messages=messages, head=head, origin=_origin(transcript, places))


def _origin(transcript: Transcript, places: Sequence[int]) -> Origin | None:
    """Returns the paths of the messages that are left."""
    origin = transcript.origin
    if origin is None or len(origin.places) != len(transcript.messages):
        return origin
    rolled_back = {new for new, old in enumerate(places) if old in origin.rolled_back}
    return replace(origin, places=[origin.places[i] for i in places], rolled_back=rolled_back)
