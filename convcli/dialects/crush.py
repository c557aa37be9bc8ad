"""Crush: sessions of the terminal agent, from its database (`.crush/crush.db`); read-only.

Specification: none is published. Source: internal/db and internal/message of charmbracelet/crush at 37f36e93; read
2026-11-23. No database of the program itself was read.

Quirks
- The database has the columns of a session and of its messages. convcli reads a session as an object with the list
  `messages`, whose `parts` are read from their JSON.
- A part is an object of `type` and `data`. The end of an answer is a part, `finish`, with its reason and its time.
- A summary replaces all messages before it. The session names it, too.
- Times are in seconds; older versions stored milliseconds.
"""

from __future__ import annotations

from typing import Any

from convcli.families.chats import add_with_results
from convcli.families.openai.request import media_of_url
from convcli.kit import results
from convcli.kit.calls import arguments_of
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_object, as_text, make_extras, without_empty
from convcli.kit.settings import Setting
from convcli.kit.supported import fields
from convcli.kit.values import kind_of_type, pairs, paths, time_of_epoch, time_of_milliseconds
from convcli.model.dialect import Dialect, Program
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    Transcript,
)
from convcli.validation.rules import arguments, links

NAME = "crush"
FINISH = pairs(
    "end_turn=stop max_tokens=length tool_use=tool_calls canceled=aborted error=error content_filter=content_filter"
)
SIGNED = {"signature": "signature", "thought_signature": "thoughtSignature"}
"""Keys of a thought, and their names in metadata."""
MILLISECONDS = 100_000_000_000
"""The least number that is a time in milliseconds."""


def _time(value: Any) -> str | None:
    if type(value) is not int:
        return None
    return time_of_milliseconds(value) if value >= MILLISECONDS else time_of_epoch(value)


def _timed(name: str) -> Setting:
    return Setting(name, _time, lambda _: None)


SESSION = Envelope(
    "id=id parent_session_id title=title message_count created_at updated_at messages=",
    {"created_at": _timed("created_at"), "updated_at": _timed("updated_at")},
)
MESSAGE = Envelope(
    "id=id session_id role= parts= model=model provider=provider is_summary_message= created_at updated_at finished_at",
    {"created_at": _timed("created_at")},
)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    extra = SESSION.lift(document, transcript) or {}
    natives = document["messages"]
    repeats = {"message_count": len(natives)}
    transcript.extras = make_extras(NAME, {key: one for key, one in extra.items() if repeats.get(key) != one})
    for i, native in enumerate(natives):
        _lift_message(native, ("messages", i), document, context)
    return transcript


def _lift_message(native: Native, path: Path, session: Native, context: LiftContext) -> None:
    """Adds a message, with the reason for which it ended."""
    message = Message(native["role"], [])
    extra = MESSAGE.lift(native, message) or {}
    extra = {key: one for key, one in extra.items() if (key, one) != ("session_id", session.get("id"))}
    mark, is_named = native.get("is_summary_message"), message.id == session.get("summary_message_id") is not None
    message.replaces = "all" if is_named or mark in (True, 1) else None
    extra |= {} if mark in (None, 0, 1) else {"is_summary_message": mark}
    placed: list[tuple[Part, Path]] = []
    for k, part in enumerate(native["parts"]):
        is_end = part["type"] == "finish" and part.keys() == {"type", "data"}
        if is_end and message.stop_reason is None and "finish" not in extra:
            reason = as_text(as_object(part["data"]).get("reason"))
            message.stop_reason = FINISH.get(reason or "")
            rest = without_empty(part["data"], *["reason"] * (message.stop_reason is not None))
            extra |= {"finish": rest} if rest else {}
            context.origin.routes |= {(*path, "finish"): (*path, "parts", k, "data")}
        else:
            lifted = _lift_part(part, context)
            placed.append((lifted, ("parts", k) if isinstance(lifted, Opaque) else ("parts", k, "data")))
    message.extras = make_extras(NAME, extra)
    add_with_results(message, placed, path, context)


def _lift_part(part: Native, context: LiftContext) -> Part:
    kind, data = part["type"], part["data"]
    extra = without_empty(part, "type", "data")
    read = READERS.get(kind)
    lifted: Part | None = read(data, context) if read is not None else None
    if lifted is None:
        return Opaque(NAME, part)
    inner = (lifted.extras or {}).get(NAME)
    lifted.extras = make_extras(NAME, inner, part=extra)
    return lifted


def _text(data: Native, _: LiftContext) -> Part | None:
    return Text(data["text"], extras=make_extras(NAME, without_empty(data, "text"))) if "text" in data else None


def _reasoning(data: Native, _: LiftContext) -> Part:
    metadata = {ours: data[key] for key, ours in SIGNED.items() if as_text(data.get(key)) is not None}
    used = ("thinking", *(key for key, ours in SIGNED.items() if ours in metadata))
    extras = make_extras(NAME, without_empty(data, *used))
    return Reasoning(data.get("thinking") or "", metadata=metadata or None, extras=extras)


def _image(data: Native, _: LiftContext) -> Part | None:
    url = as_text(data.get("url"))
    extras = make_extras(NAME, without_empty(data, "url", "detail"))
    return None if url is None else media_of_url("image", url, detail=as_text(data.get("detail")), extras=extras)


def _binary(data: Native, _: LiftContext) -> Part | None:
    """Returns a file with its content; its path is its name."""
    content, typed = as_text(data.get("Data")), as_text(data.get("MIMEType"))
    if content is None:
        return None
    extras = make_extras(NAME, without_empty(data, "Path", "MIMEType", "Data"))
    return Media(kind_of_type(typed), data=content, media_type=typed, name=as_text(data.get("Path")), extras=extras)


def _call(data: Native, context: LiftContext) -> Part:
    call = ToolCall(context.pairing.call(as_text(data.get("id")), data["name"]), data["name"], {})
    call.arguments, call.raw_arguments = arguments_of(data.get("input") or None)
    used = ("id", "name", "input", *["finished"] * (data.get("finished") is True))
    rest = {key: one for key, one in without_empty(data, *used).items() if (key, one) != ("provider_executed", False)}
    call.extras = make_extras(NAME, rest)
    return call


def _result(data: Native, context: LiftContext) -> Part:
    """Returns a result: its text, and the image that it may have."""
    ids = context.pairing.result(as_text(data.get("tool_call_id")), as_text(data.get("name")))
    parts: list[Part] = [Text(data["content"])] if as_text(data.get("content")) is not None else []
    used = ["tool_call_id", "name", "content", "is_error"]
    content, typed = as_text(data.get("data")), as_text(data.get("mime_type"))
    if content is not None and typed is not None:
        parts.append(Media(kind_of_type(typed), data=content, media_type=typed))
        used += ["data", "mime_type"]
    result = results.result_of_parts(*ids, parts or [Text("")], failed=data.get("is_error") is True)
    result.extras = make_extras(NAME, without_empty(data, *used))
    return result


READERS: dict[str, Any] = {
    "text": _text,
    "reasoning": _reasoning,
    "image_url": _image,
    "binary": _binary,
    "tool_call": _call,
    "tool_result": _result,
}

DIALECT = Dialect(
    name=NAME,
    title="Crush",
    specification="database of charmbracelet/crush at 37f36e93; read 2026-11-23",
    framings=("document", "records"),
    forms=("session",),
    programs=(Program(NAME, ".", ".crush/crush.db .local/share/crush/crush.db"),),
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    places={
        **SESSION.places(),
        **MESSAGE.places("message"),
        **paths(
            "message.replaces=is_summary_message message.stopReason=finish/reason extras.finish=finish extras.part=.. "
            "reasoning.text=thinking tool_call.id=id tool_call.arguments=input tool_call.rawArguments=input "
            "tool_result.toolCallId=tool_call_id tool_result.value=content tool_result.kind=content"
        ),
    },
    metadata=fields("responses_data metadata todos"),
    envelope=fields(
        "parent_session_id message_count prompt_tokens completion_tokens cost summary_message_id todos session_id "
        "updated_at finished_at finish part metadata responses_data tool_id provider_executed finished"
    ),
)
