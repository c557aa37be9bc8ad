"""The append-only log of a Gemini CLI session: which of its rows a resumed session sees."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from convcli.kit.objects import Native, except_keys
from convcli.model.transcript import Path

UPDATE, REWIND = "$set", "$rewindTo"


class Replay(NamedTuple):
    """A log after its replay.

    `live` are the current records in order, with their paths. `dead` are all rows and records that were replaced,
    rewound or never current, and a mark for each checkpoint. `metadata` is the metadata of each row, with its path.
    `lost` are the indexes of rows that rewind to a missing record.
    """

    live: list[tuple[Path, Native]]
    dead: list[tuple[Path, Any]]
    metadata: list[tuple[Path, Native]]
    lost: list[int]


def replay(rows: Sequence[Any]) -> Replay:
    """Returns what `gemini --resume` sees: a record replaces the one with its id, in its place.

    `$set.messages` is a checkpoint that replaces all records. `$rewindTo` removes the record with that id and all
    later ones, or every record if none has the id.
    """
    live: dict[str, tuple[Path, Native]] = {}
    done = Replay([], [], [], [])
    for i, row in enumerate(rows):
        kind = kind_of(row)
        if kind == "record":
            _replace(row, (i,), live, done)
        elif kind == "rewind":
            done.lost.extend([] if row[REWIND] in live else [i])
            done.dead.extend([*_rewound(live, row[REWIND]), ((i,), row)])
        elif kind == "metadata":
            _update(row, i, live, done)
        else:
            done.dead.append(((i,), row))
    done.live.extend(live.values())
    return done


def _replace(record: Native, path: Path, live: dict[str, tuple[Path, Native]], done: Replay) -> None:
    id_ = record.get("id")
    if not isinstance(id_, str):
        done.dead.append((path, record))
        return
    done.dead.extend([live[id_]] if id_ in live else [])
    live[id_] = (path, record)


def _rewound(live: dict[str, tuple[Path, Native]], to: str) -> list[tuple[Path, Native]]:
    """Removes and returns the record with this id and all later ones, or all records if none has the id."""
    gone: list[tuple[Path, Native]] = []
    is_there = to in live
    while live and (not is_there or to in live):
        gone.append(live.popitem()[1])
    return gone[::-1]


def kind_of(row: Any) -> str:
    """Returns how the program classifies a row."""
    if not isinstance(row, dict):
        return "unknown"
    if isinstance(row.get(REWIND), str):
        return "rewind"
    if isinstance(row.get("id"), str):
        return "record"
    return "metadata" if isinstance(row.get(UPDATE), dict) or is_header(row) else "unknown"


def is_header(row: Native) -> bool:
    """True if the row begins a session. Forks and older versions omit the project hash."""
    if not isinstance(row.get("sessionId"), str) or "uuid" in row or isinstance(row.get("history"), list):
        return False
    has_times = "type" not in row and not row.keys().isdisjoint(("startTime", "lastUpdated"))
    return isinstance(row.get("projectHash"), str) or has_times


def _update(row: Native, i: int, live: dict[str, tuple[Path, Native]], done: Replay) -> None:
    """Records metadata, where later values count; the messages of a `$set` replace all records."""
    is_update = isinstance(row.get(UPDATE), dict)
    native, place = (row[UPDATE], (i, UPDATE)) if is_update else (row, (i,))
    for origin, stated in (((i,), row), (place, native))[not is_update :]:
        done.metadata.append((origin, except_keys(stated, "messages", *[UPDATE] * (is_update and stated is row))))
    messages = native.get("messages")
    if not isinstance(messages, list):
        return
    if is_update:
        done.dead.extend([*live.values(), ((i,), {UPDATE: {"messages": []}})])
        live.clear()
    for k, record in enumerate(messages):
        _replace(record, (*place, "messages", k), live, done)


def in_order(done: Replay) -> list[tuple[Path, Any, bool]]:
    """Returns all records with their paths, and whether they are current; dead ones keep their position."""
    dead = deque(sorted(done.dead, key=lambda pair: _position(pair[0])))
    placed: list[tuple[Path, Any, bool]] = []
    for path, record in done.live:
        while dead and _position(dead[0][0]) < _position(path):
            placed.append((*dead.popleft(), False))
        placed.append((path, record, True))
    return placed + [(path, record, False) for path, record in dead]


def _position(path: Path) -> list[int]:
    return [step for step in path if isinstance(step, int)]
