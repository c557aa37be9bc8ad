"""The calls of a Gemini CLI record: they are in `toolCalls`, with their results, and perhaps in the content too."""

from __future__ import annotations

from typing import Any, NamedTuple

from convcli.families.google.keys import Service, Writer, names
from convcli.families.google.parts import lift_part, read_part
from convcli.families.google.results import lift_result, write_result
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, add_extras, get_extras, has_content, without_nulls
from convcli.kit.results import fail, has_failed, result_of
from convcli.model.transcript import Media, Message, Part, Text, ToolCall, ToolResult
from convcli.wire import exact_json

NAME = "gemini-cli"
SERVICE = Service(NAME, "google", "", names(64))
WRITER = Writer(SERVICE)
"""Writes contents of the Gemini API, with every id."""

_DISPLAY = "resultDisplay agentId displayName description renderOutputAsMarkdown"
ENTRY = Keys(f"id= name= args= result= status= timestamp= {_DISPLAY}")

UNFINISHED = {"executing": "running", "validating": "pending", "scheduled": "pending", "awaiting_approval": "pending"}
"""States of a call without a final result → status of the intermediate format."""
STATES = {"cancelled": "cancelled", "running": "executing", "pending": "scheduled"}
NOT_RUN = "scheduled"
"""The default state of a call without a result."""


class Reading(NamedTuple):
    """The state of lifting one file; `states` are those of calls whose result is in a later record."""

    context: LiftContext
    states: dict[str, tuple[Any, ToolCall]]


class Answers(NamedTuple):
    """The results that later records repeat: by id, and the names of those without an id."""

    by_id: dict[str, Native]
    names: set[str]

    def contain(self, call: ToolCall) -> bool:
        """True if the result of this call is in a later record."""
        return call.id in self.by_id or call.name in self.names


# ---------------------------------------------------------------- lift


def lift_entry(
    entry: Native, twin: ToolCall | None, time: Any, answers: Answers, reading: Reading
) -> tuple[ToolCall, Message | None]:
    """Returns the call of an entry, and its result if no later record has it.

    `twin` is the same call in the content, if there is one.
    """
    extra = ENTRY.extra(entry) or {}
    call = _lift_call(entry, reading) if twin is None else _adopt(entry, twin, extra, reading)
    status = entry.get("status")
    is_later = answers.contain(call)
    result = None if is_later else lift_entry_result(entry.get("result"), call, status, reading)
    if is_later and has_content(entry.get("result")) and entry["result"] != [answers.by_id.get(call.id)]:
        extra["result"] = entry["result"]
    if is_later:
        reading.states[call.id] = (status, call)
    elif status and status != (NOT_RUN if result is None else status_of(result)):
        extra["status"] = status
    message = None if result is None else Message("tool", [result])
    stamp = entry.get("timestamp")
    if stamp and stamp != time and message is not None:
        message.created_at = stamp
    elif stamp and stamp != time:
        extra["timestamp"] = stamp
    if extra:
        add_extras(call, NAME, extra)
    return call, message


def _lift_call(entry: Native, reading: Reading) -> ToolCall:
    name = entry["name"]
    return ToolCall(reading.context.pairing.call(entry.get("id") or None, name), name, entry.get("args") or {})


def _adopt(entry: Native, call: ToolCall, extra: Native, reading: Reading) -> ToolCall:
    """Returns the call of the content, the model's output; values of the entry that differ become extras."""
    pairing = reading.context.pairing
    id_ = entry.get("id")
    if id_ and call.id in pairing.invented:
        pairing.result(call.id, call.name)
        pairing.invented.discard(call.id)
        call.id = pairing.call(id_, call.name)
    if entry["name"] != call.name:
        extra["name"] = entry["name"]
    if has_content(entry.get("args")) and not exact_json.exact(entry["args"], call.arguments):
        extra["args"] = entry["args"]
    return call


def lift_entry_result(native: Any, call: ToolCall, status: Any, reading: Reading) -> ToolResult | None:
    """Returns the result inside a call, or None.

    It is a string, a part, or a list of them. Media parts may follow the function response.
    """
    if not has_content(native):
        return None
    context = reading.context
    items = native if isinstance(native, list) else [native]
    pieces = [read_part({"text": item} if isinstance(item, str) else item, context) for item in items]
    answers = [piece for piece in pieces if piece.kind == "functionResponse"]
    others = [piece for piece in pieces if piece.kind != "functionResponse"] if len(answers) < len(pieces) else []
    other_parts: list[Part] = [lift_part(piece, context) for piece in others]
    context.pairing.result(call.id, call.name)
    if len(answers) == 1:
        answer = answers[0].native["functionResponse"]
        result = lift_result(answers[0], call.id, answer["name"], context)
        if answer.get("id") not in (None, "", call.id):
            add_extras(result, NAME, {"id": answer["id"]})
    elif not answers and all(isinstance(part, (Text, Media)) for part in other_parts):
        result = ToolResult(call.id, call.name, "multimodal", [])
    else:
        result = ToolResult(call.id, call.name, "data", native)
        other_parts = []
    if other_parts:
        _add_parts(result, other_parts, native)
    settle(result, status)
    return result


def _add_parts(result: ToolResult, other_parts: list[Part], native: Any) -> None:
    """Adds the parts that accompany a function response, at least one, to the result's value."""
    first = other_parts[0] if len(other_parts) == 1 else None
    if result.kind == "multimodal" and not result.value and isinstance(first, Text) and first == Text(first.text):
        result.kind, result.value = "text", first.text
    elif all(isinstance(part, (Text, Media)) for part in other_parts):
        if result.kind != "multimodal":
            text = result.value if isinstance(result.value, str) else exact_json.write_text(result.value)
            result.is_error = True if result.kind == "error" or result.is_error else None
            result.kind, result.value = "multimodal", [] if text in ("", "{}") else [Text(text)]
        result.value += other_parts
    else:
        result.kind, result.value = "data", native


def settle(result: ToolResult, status: Any) -> None:
    """Sets the status or error of a result from the state of its call."""
    if status == "error" and not has_failed(result):
        fail(result)
    elif status == "cancelled":
        result.status = status
    elif status in UNFINISHED:
        result.status = UNFINISHED[status]


def status_of(result: ToolResult) -> str:
    """Returns the state of a call with this result."""
    if result.status in STATES:
        return STATES[result.status]
    return "error" if result.kind == "error" or result.is_error else "success"


# ---------------------------------------------------------------- write


def write_entry(call: ToolCall, answer: Message | None, later: ToolResult | None, time: str | None) -> Native:
    """Returns the entry of a call, with its result unless that is in a `later` record."""
    extra = dict(get_extras(call.extras, NAME))
    state, stamp = extra.pop("status", None), extra.pop("timestamp", None)
    result = None if answer is None else result_of(answer)
    own_time = (stamp if isinstance(stamp, str) else None) or (None if answer is None else answer.created_at)
    native = {
        "id": call.id,
        "name": call.name,
        "args": call.arguments,
        "result": None if result is None else [write_answer(result)],
        "status": _state(state, later if result is None else result),
        "timestamp": own_time or time,
    }
    return ENTRY.put(without_nulls(native), extra)


def _state(extra: Any, result: ToolResult | None) -> str:
    """Returns the state of a call: the extra, if it still agrees with the result."""
    if result is None:
        return extra if isinstance(extra, str) else NOT_RUN
    same = isinstance(extra, str) and extra not in ("error", "cancelled")
    same = same and UNFINISHED.get(extra, result.status) == result.status
    return extra if same else status_of(result)


def write_answer(result: ToolResult) -> Native:
    """Returns the function response part of a result, with its own id if it had one."""
    native = write_result(result, WRITER)
    id_ = get_extras(result.extras, NAME).get("id")
    return {**native, "functionResponse": {**native["functionResponse"], "id": id_}} if isinstance(id_, str) else native
