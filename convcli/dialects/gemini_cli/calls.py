"""The calls of a Gemini CLI record: they stand in `toolCalls`, with their results, and perhaps in the content too."""

from __future__ import annotations

from typing import Any, NamedTuple

from convcli.families.google.keys import Flavor, Reader, Writer, names
from convcli.families.google.parts import lift_part, take_part
from convcli.families.google.results import lift_result, lower_result
from convcli.kit.objects import Keys, Native, Spelling, carried_by, says_something
from convcli.model.transcript import Media, Message, Part, Text, ToolCall, ToolResult, Transcript
from convcli.wire import exact_json

NAME = "gemini-cli"
FLAVOR = Flavor(name=NAME, models="", names=names(64), subset=False, has={}, lacks={})

_DISPLAY = "resultDisplay agentId displayName description renderOutputAsMarkdown"
ENTRY = Keys(f"id name args result status timestamp {_DISPLAY}", carried=_DISPLAY)

UNFINISHED = {"executing": "running", "validating": "pending", "scheduled": "pending", "awaiting_approval": "pending"}
"""States of a call that has no final result, as the intermediate format names them."""
STATES = {"cancelled": "cancelled", "running": "executing", "pending": "scheduled"}
NOT_RUN = "scheduled"
KNOWN_STATES = {"success", "error", "cancelled", *UNFINISHED}
"""The state of a call without a result, of which nothing more is known."""


class Context(NamedTuple):
    """What the lift of one file needs: how parts are read, and how they would be written again."""

    reader: Reader
    writer: Writer
    states: dict[str, Any]
    """The states of calls whose result a later record holds."""

    @staticmethod
    def of(transcript: Transcript, document: Any) -> Context:
        assert transcript.origin is not None
        reader = Reader(FLAVOR, transcript.origin, document)
        return Context(reader, Writer(FLAVOR, transcript), {})

    def spell(self, record: Any, spelling: Spelling) -> None:
        """Add to what is remembered of a record."""
        origin = self.reader.origin
        origin.spell(record, {**origin.spellings.get(id(record), {}), **spelling})


class Answers(NamedTuple):
    """The results that the records behind a call hold again: ids, and names of those without an id."""

    ids: set[str]
    names: set[str]

    def hold(self, call: ToolCall) -> bool:
        return call.id in self.ids or call.name in self.names


def carry(record: Any, carried: Native) -> None:
    """Add to the extras of a record."""
    if carried:
        record.extras = {**(record.extras or {}), NAME: {**carried_by(record.extras, NAME), **carried}}


# ---------------------------------------------------------------- lift


def lift_entry(
    entry: Native, twin: ToolCall | None, time: Any, answers: Answers, context: Context
) -> tuple[ToolCall, Message | None]:
    """The call of an entry, which may stand in the content already, and its result where no later record has it."""
    carried, spelling = ENTRY.take(entry)
    odd: Spelling = {**(spelling or {}), **({} if entry.get("id") else {"id": False})}
    call = _adopt(entry, twin, odd, context) if twin is not None else _lift_call(entry, context)
    status = entry.get("status")
    result = None if answers.hold(call) else lift_entry_result(entry.get("result"), call, status, context)
    if result is None and says_something(entry.get("result")):
        odd["result"] = entry["result"]
    message = None if result is None else Message("tool", [result])
    extras = dict(carried or {})
    if status != _usual_state(result, odd):
        (extras if result is None and status and not answers.hold(call) else odd)["status"] = status
    if status and status not in KNOWN_STATES:
        extras["status"] = status
    extras |= {key: odd[key] for key in ("name", "args") if says_something(odd.get(key))}
    _lift_time(entry, time, message, extras, odd)
    for key in ("args", "name", "id"):
        if key not in entry:
            odd.setdefault("keys", list(entry))
    carry(call, extras)
    context.spell(call, {"entry": odd})
    return call, message


def _usual_state(result: ToolResult | None, spelling: Spelling) -> str:
    return status_of(result) if result is not None or "result" in spelling else NOT_RUN


def _lift_call(entry: Native, context: Context) -> ToolCall:
    name = entry["name"]
    return ToolCall(context.reader.pairing.call(entry.get("id") or None, name), name, entry.get("args") or {})


def _adopt(entry: Native, call: ToolCall, odd: Spelling, context: Context) -> ToolCall:
    """The content is what the model said; the entry keeps what it says otherwise."""
    pairing = context.reader.pairing
    id_ = entry.get("id")
    if id_ and call.id in pairing.invented:
        pairing.result(call.id, call.name)
        pairing.invented.discard(call.id)
        call.id = pairing.call(id_, call.name)
        context.spell(call, {"id": False})
    if entry["name"] != call.name:
        odd["name"] = entry["name"]
    if not exact_json.exact(entry.get("args") or {}, call.arguments):
        odd["args"] = entry.get("args")
    return call


def _lift_time(entry: Native, time: Any, message: Message | None, extras: Native, odd: Spelling) -> None:
    """The time of an entry is that of its result, unless it only repeats that of the record."""
    said = entry.get("timestamp")
    if not said:
        odd["time"] = False
    elif said != time and message is not None:
        message.created_at = said
    elif said != time:
        extras["timestamp"] = said


def lift_entry_result(native: Any, call: ToolCall, status: Any, context: Context) -> ToolResult | None:
    """The result inside a call: a string, a part or a list of them; media may stand beside the answer."""
    if not says_something(native):
        return None
    items = native if isinstance(native, list) else [native]
    pieces = [take_part({"text": item} if isinstance(item, str) else item, context.reader) for item in items]
    answers = [piece for piece in pieces if piece.kind == "functionResponse"]
    rest: list[Part] = [lift_part(piece, context.reader) for piece in pieces if piece.kind != "functionResponse"]
    context.reader.pairing.result(call.id, call.name)
    if len(answers) == 1:
        result = lift_result(answers[0], call.id, answers[0].native["functionResponse"]["name"], context.reader)
    elif not answers and all(isinstance(part, (Text, Media)) for part in rest):
        result = ToolResult(call.id, call.name, "multimodal", [])
    else:
        result = ToolResult(call.id, call.name, "data", native)
        rest = []
    _add_parts(result, rest, native)
    settle(result, status)
    if not exact_json.exact(write_result(result, context.writer), native):
        context.spell(result, {"native": native})
    return result


def _add_parts(result: ToolResult, rest: list[Part], native: Any) -> None:
    """Put what stands beside an answer into its value."""
    plain = rest[0] if len(rest) == 1 and rest[0] == Text(getattr(rest[0], "text", "")) else None
    if result.kind == "multimodal" and not result.value and isinstance(plain, Text):
        result.kind, result.value = "text", plain.text
    elif rest and all(isinstance(part, (Text, Media)) for part in rest):
        if result.kind != "multimodal":
            said = result.value if isinstance(result.value, str) else exact_json.write_text(result.value)
            failed = result.kind == "error" or result.is_error
            empty = said in ("", "{}")
            result.kind, result.value = "multimodal", [] if empty else [Text(said)]
            result.is_error = True if failed else None
        result.value += rest
    elif rest:
        result.kind, result.value = "data", native


def settle(result: ToolResult, status: Any) -> None:
    """What the state of the call says about its result."""
    failed = result.kind == "error" or result.is_error
    if status == "error" and not failed and result.kind == "text":
        result.kind = "error"
    elif status == "error" and not failed:
        result.is_error = True
    elif status == "cancelled":
        result.status = status
    elif status in UNFINISHED:
        result.status = UNFINISHED[status]


def status_of(result: ToolResult | None) -> str:
    """The state of a call with this result."""
    if result is None:
        return "success"
    if result.status in STATES:
        return STATES[result.status]
    return "error" if result.kind == "error" or result.is_error else "success"


# ---------------------------------------------------------------- lower


def lower_entry(call: ToolCall, answer: Message | None, time: str | None, writer: Writer) -> Native:
    """The entry of a call, with its result where that stands directly behind it."""
    spelling: Spelling = writer.spelling(call).get("entry", {})
    carried = dict(carried_by(call.extras, NAME))
    result = answer.parts[0] if answer is not None else None
    native: Native = {} if spelling.get("id") is False else {"id": call.id}
    native["name"] = spelling["name"] if "name" in spelling else writer.rename(call.name)
    native["args"] = spelling.get("args", call.arguments)
    if isinstance(result, ToolResult):
        native["result"] = write_result(result, writer)
    elif "result" in spelling:
        native["result"] = spelling["result"]
    state, said = carried.pop("status", None), carried.pop("timestamp", None)
    usual = _usual_state(result if isinstance(result, ToolResult) else None, spelling)
    native["status"] = spelling.get("status", state if usual == NOT_RUN and isinstance(state, str) else usual)
    if spelling.get("time", True):
        said = said if isinstance(said, str) else None
        native["timestamp"] = said or (answer.created_at if answer is not None else None) or time
    native = {key: native[key] for key in ENTRY.sorted(native) if native[key] is not None}
    return ENTRY.put(native, carried, spelling)


def write_result(result: ToolResult, writer: Writer) -> Any:
    spelling = writer.spelling(result)
    return spelling["native"] if "native" in spelling else [lower_result(result, writer)]
