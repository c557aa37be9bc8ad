"""Reads the output of `opencode run --format json`, rows with one answer part each, as the session they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.opencode.messages import lift_session
from convcli.dialects.opencode.parts import ASIDE, NAME
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, except_keys, get_extras, make_extras
from convcli.kit.sessions import add_event
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Path, Transcript
from convcli.validation.survey import Survey, for_requests

PRINTED = {"tool": "tool_use"}
"""The row types that differ from the types of their parts."""
STEP_END = {"finish": "reason", "tokens": "tokens", "cost": "cost"}
"""What the end of a step gives for its answer, by session key."""
ROW_KEYS = ("part", "sessionID", "type")


def is_row(row: Any) -> bool:
    """True if the row has a part that names its answer."""
    part = row.get("part") if isinstance(row, dict) and isinstance(row.get("sessionID"), str) else None
    return isinstance(part, dict) and all(isinstance(part.get(key), str) for key in ("id", "messageID", "type"))


def lift_events(rows: list[Any], context: LiftContext) -> Transcript:
    """Reads a run: only answers, since user messages are not printed.

    Rows of steps, and those without a part, are events.
    """
    at = [i for i, row in enumerate(rows) if is_row(row) and row["part"]["type"] not in ASIDE]
    transcript = lift_session(_session(rows, at, context.origin.routes), context) if at else context.transcript()
    for i in sorted({*range(len(rows))} - {*at}):
        add_event(context, rows[i], (i,))
    context.origin.form = "run"
    return transcript


def _session(rows: list[Any], at: list[int], routes: dict[Path, Path]) -> Native:
    """Returns the session as it would be exported, and routes its pieces to the rows."""
    id_ = rows[at[0]]["sessionID"]
    times = {key: i for key, i in (("created", at[0]), ("updated", at[-1])) if _time(rows[i]) is not None}
    routes["info", "id"] = (at[0], "sessionID")
    routes |= {("info", "time", key): (i, "timestamp") for key, i in times.items()}
    messages: dict[str, Native] = {}
    for i in at:
        part = rows[i]["part"]
        number = [*messages, part["messageID"]].index(part["messageID"])
        if number == len(messages):
            messages[part["messageID"]] = _answer(rows[i])
            routes |= {("messages", number): (i,), ("messages", number, "info"): (i, "part")}
            routes[("messages", number, "info", "id")] = (i, "part", "messageID")
            routes[("messages", number, "info", "time", "created")] = (i, "timestamp")
        place = ("messages", number, "parts", len(messages[part["messageID"]]["parts"]))
        routes |= {place: (i, "part"), (*place, "row"): (i,)}
        messages[part["messageID"]]["parts"].append(_part(rows[i], id_))
    for i, row in enumerate(rows):
        if is_row(row) and row["part"]["type"] == "step-finish" and row["part"]["messageID"] in messages:
            number = list(messages).index(row["part"]["messageID"])
            stated = {key: name for key, name in STEP_END.items() if row["part"].get(name) is not None}
            messages[row["part"]["messageID"]]["info"] |= {key: row["part"][name] for key, name in stated.items()}
            routes |= {("messages", number, "info", key): (i, "part", name) for key, name in stated.items()}
    return {
        "info": {"id": id_, "time": {key: _time(rows[i]) for key, i in times.items()}},
        "messages": [*messages.values()],
    }


def _time(row: Native) -> Any:
    return row.get("timestamp")


def _answer(row: Native) -> Native:
    time = {} if _time(row) is None else {"created": _time(row)}
    info = {"id": row["part"]["messageID"], "sessionID": row["sessionID"], "role": "assistant", "time": time}
    return {"info": info, "parts": []}


def _part(row: Native, session: str) -> Native:
    """Returns the part, with the row's other keys under `row`."""
    part = row["part"]
    row_keys = except_keys(row, *ROW_KEYS)
    row_keys |= {} if row["sessionID"] == session else {"sessionID": row["sessionID"]}
    row_keys |= {} if row.get("type") == PRINTED.get(part["type"], part["type"]) else {"type": row.get("type")}
    return get_extras(make_extras(NAME, part, row=row_keys), NAME)


def _is_run(survey: Survey) -> Iterator[Breach]:
    if survey.form == "run":
        yield Breach("missing-key", NodeRef(), "rows of a run are not a session: only sessions can be imported")


IMPORTED = for_requests(Rule(("missing-key",), _is_run))
"""Reports what `opencode import` rejects."""
