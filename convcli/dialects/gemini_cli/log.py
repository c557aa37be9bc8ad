"""The append-only log of a Gemini CLI session: which of its rows a resumed session sees."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from convcli.families.google.keys import words
from convcli.kit.objects import Native
from convcli.model.transcript import Path

UPDATE, REWIND = "$set", "$rewindTo"
OF_A_LOG = words(
    "$set $rewindTo sessionId projectHash startTime lastUpdated kind directories messages summary memoryScratchpad"
)
"""Keys that mean something else in a log than in a record."""


class Replay(NamedTuple):
    """A log after its replay.

    `live` are the records that count, in their order, with their places; `dead` all rows and records that were
    replaced, rewound or never counted; `kept` the rows that hold only metadata, by index, without their messages;
    `lost` the rows that go back to a record that is not there, by index.
    """

    live: list[tuple[Path, Native]]
    dead: list[tuple[Path, Any]]
    kept: dict[int, Native]
    metadata: Native
    lost: list[int]


def replay(rows: list[Any]) -> Replay:
    """What `gemini --resume` sees: a record replaces the one with its id, in its place.

    `$set.messages` is a checkpoint that replaces all records; `$rewindTo` removes the record with that id and all
    behind it, and everything when no record has it.
    """
    live: dict[str, tuple[Path, Native]] = {}
    done = Replay([], [], {}, {}, [])
    for i, row in enumerate(rows):
        kind = kind_of(row)
        if kind == "record":
            done.dead.extend([live[row["id"]]] if row["id"] in live else [])
            live[row["id"]] = ((i,), row)
        elif kind == "rewind":
            done.lost.extend([] if row[REWIND] in live else [i])
            done.dead.extend([*_rewound(live, row[REWIND]), ((i,), row)])
        elif kind == "metadata":
            _update(row.get(UPDATE, row), i, row, live, done)
        else:
            done.dead.append(((i,), row))
    done.live.extend(live.values())
    return done


def _rewound(live: dict[str, tuple[Path, Native]], to: str) -> list[tuple[Path, Native]]:
    """The record with this id and all behind it, or all, taken away: each only once, however often a log goes back."""
    gone: list[tuple[Path, Native]] = []
    is_there = to in live
    while live and (not is_there or to in live):
        gone.append(live.popitem()[1])
    return gone[::-1]


def kind_of(row: Any) -> str:
    """How the program itself takes a row."""
    if not isinstance(row, dict):
        return "unknown"
    if isinstance(row.get(REWIND), str):
        return "rewind"
    if isinstance(row.get("id"), str):
        return "record"
    named = isinstance(row.get("sessionId"), str) and isinstance(row.get("projectHash"), str)
    return "metadata" if isinstance(row.get(UPDATE), dict) or named else "unknown"


def _update(said: Native, i: int, row: Native, live: dict[str, tuple[Path, Native]], done: Replay) -> None:
    """Metadata, of which a later value counts; the messages of a `$set` replace all records."""
    place: Path = (i, UPDATE, "messages") if UPDATE in row else (i, "messages")
    done.metadata.update((key, value) for key, value in said.items() if key != "messages" and value is not None)
    messages = said.get("messages")
    if not isinstance(messages, list):
        done.kept[i] = row
        return
    if UPDATE in row:
        done.dead.extend(live.values())
        live.clear()
    for k, record in enumerate(messages):
        id_ = record.get("id")
        if isinstance(id_, str):
            done.dead.extend([live[id_]] if id_ in live else [])
            live[id_] = ((*place, k), record)
        else:
            done.dead.append(((*place, k), record))
    emptied = {**said, "messages": []}
    done.kept[i] = {**row, UPDATE: emptied} if UPDATE in row else emptied


def in_order(done: Replay) -> list[tuple[Path, Any, bool]]:
    """All records with their places, and whether they count: the dead ones where they stand among the others."""
    dead = deque(sorted(done.dead, key=lambda pair: [step for step in pair[0] if isinstance(step, int)]))
    placed: list[tuple[Path, Any, bool]] = []
    for path, record in done.live:
        while dead and dead[0][0][0] < path[0]:  # type: ignore[operator]
            placed.append((*dead.popleft(), False))
        placed.append((path, record, True))
    return placed + [(path, record, False) for path, record in dead]


def rebuild(count: int, kept: dict[int, Native], records: dict[Path, Any]) -> list[Any]:
    """The rows of a log from its metadata and from the records by their places."""
    rows: dict[Any, Any] = dict(kept)
    inner: dict[Any, list[Any]] = {}
    for path in sorted(records, key=lambda path: [step for step in path if isinstance(step, int)]):
        if len(path) == 1:
            rows[path[0]] = records[path]
        else:
            inner.setdefault(path[0], []).append(records[path])
    for i, messages in inner.items():
        row = rows[i]
        is_update = UPDATE in row
        said = row[UPDATE] if is_update else row
        said = {**said, "messages": [*said["messages"], *messages]}
        rows[i] = {**row, UPDATE: said} if is_update else said
    return [rows[i] for i in range(count) if i in rows]
