"""Passes that fit a transcript to OpenCode, tested with `opencode import` of 1.18.33 on 2026-11-22."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from convcli.dialects.opencode.messages import (
    FINISH_OF,
    SESSION,
    UNKNOWN,
    lift_session,
    read_tokens,
    write_messages,
    write_session,
    write_tokens,
)
from convcli.dialects.opencode.parts import NAME, file_of
from convcli.kit import sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import keep_active_conversation, keep_parts_of_roles, refusals_as_texts
from convcli.kit.ids import uuid_of
from convcli.kit.objects import drop_extras, get_extras, make_extras, omit
from convcli.kit.passes import fused, on_each_message, on_messages, on_parts, shared
from convcli.kit.results import (
    TEXT_AND_FILES,
    answers_of,
    apply_convention,
    one_result_each,
    result_of,
    results_behind_calls,
    with_parts,
)
from convcli.kit.values import milliseconds_of_time, time_of_milliseconds
from convcli.model.transcript import Media, Message, Opaque, Part, ToolCall, ToolResult, Transcript

ANSWER_FIELDS = ("model", "stop_reason", "usage", "error", "cost", "provider", "replaces")
ROLES = {
    **dict.fromkeys(("reasoning", "tool_call"), ("assistant",)),
    **dict.fromkeys(("image", "audio", "video", "document"), ("user",)),
}


def _keep_supported_part(part: Part, message: Message) -> Part | None:
    """Turns media into files, and drops parts of other formats."""
    if isinstance(part, Media):
        return file_of(part)
    if isinstance(part, Opaque):
        return part if part.dialect == NAME and isinstance(part.value, dict) and message.role != "tool" else None
    if isinstance(part, ToolResult):
        return with_parts(part, lambda item: file_of(item, inside=True) if isinstance(item, Media) else item)
    return part


def _put_results_after_answers(messages: list[Message]) -> list[Message]:
    """Puts one result of each call after its answer, in call order."""
    fitted: list[Message] = []
    results: list[Message] = []
    calls: list[ToolCall] = []
    for message in [*messages, None]:
        if message is not None and result_of(message) is not None:
            results.append(message)
            continue
        pairs = zip(calls, answers_of(calls, results), strict=True)
        fitted += [_name_result(answer, call) for call, answer in pairs if answer is not None]
        results, calls = [], []
        if message is not None:
            calls = [part for part in message.parts if isinstance(part, ToolCall)]
            fitted.append(message)
    return shared(messages, fitted)


def _name_result(message: Message, call: ToolCall) -> Message:
    """Names a result after its call."""
    part = message.parts[0]
    is_unchanged = not isinstance(part, ToolResult) or part.name == call.name
    return message if is_unchanged else replace(message, parts=[replace(part, name=call.name)])


def _keep_answer_fields(message: Message) -> Message | None:
    """Keeps model, counts, cost and stop reason of answers only; a result keeps only its call's end time."""
    if message.role not in ("user", "assistant", "tool"):
        return None
    dropped: tuple[str, ...] = () if message.role == "assistant" else ANSWER_FIELDS
    dropped += ("id", "extras") if message.role == "tool" else ()
    stated: dict[str, Any] = {name: None for name in dropped if getattr(message, name) is not None}
    if message.role == "assistant":
        usage = read_tokens(write_tokens(message.usage, {}))[0]
        stated |= {} if usage == message.usage else {"usage": usage}
        stated |= {"stop_reason": None} if message.stop_reason not in FINISH_OF and message.stop_reason else {}
        stated |= {"replaces": "all"} if message.replaces not in (None, "all") else {}
        blank = {"cost": (0,), "error": ("",), "model": ("", UNKNOWN), "provider": ("", UNKNOWN)}
        stated |= {name: None for name, values in blank.items() if getattr(message, name) in values}
    return replace(message, **stated) if stated else message


def _round_times(transcript: Transcript) -> Transcript:
    """Rounds times to milliseconds since 1970, and gives the session the time of its last message."""
    whole = replace(
        transcript,
        created_at=_round_to_milliseconds(transcript.created_at),
        updated_at=_round_to_milliseconds(transcript.updated_at),
    )
    timed = sessions.set_times_unless(_states_time)(on_each_message(_round_time)(whole))
    if timed.updated_at is None and "updated" not in _stated_times(timed):
        times = [
            time for time in (timed.created_at, *(message.created_at for message in timed.messages)) if time is not None
        ]
        timed = replace(timed, updated_at=max(times, default=None))
    is_unchanged = (timed.created_at, timed.updated_at) == (transcript.created_at, transcript.updated_at)
    return transcript if is_unchanged and timed.messages is transcript.messages else timed


def _round_time(message: Message) -> Message:
    time = _round_to_milliseconds(message.created_at)
    return message if message.created_at == time else replace(message, created_at=time)


def _round_to_milliseconds(time: str | None) -> str | None:
    return time_of_milliseconds(milliseconds_of_time(time))


def _stated_times(record: Any) -> Any:
    """Returns numeric times outside the years 1 to 9999, which are kept as extras."""
    extra = get_extras(record.extras, NAME)
    return (extra.get("session", {}) if isinstance(record, Transcript) else extra).get("time", {})


def _states_time(record: Transcript | Message) -> bool:
    part = record.parts[0] if isinstance(record, Message) and record.role == "tool" else record
    return record.created_at is None and ("end" if isinstance(part, ToolResult) else "created") in _stated_times(part)


def _number_messages(transcript: Transcript) -> Transcript:
    """Numbers all messages and parts unless their ids ascend, which gives their order."""
    messages = transcript.messages
    ids = [message.id for message in messages if message.role != "tool"]
    known = [id_ for id_ in ids if id_ is not None and id_.startswith("msg")]
    if len(known) < len(ids) or any(id_ >= following for id_, following in pairwise(known)):
        numbers = iter(range(1, len(ids) + 1))
        messages = [
            message if message.role == "tool" else replace(message, id=f"msg_{next(numbers):012}")
            for message in messages
        ]
    transcript = transcript if messages is transcript.messages else replace(transcript, messages=messages)
    natives = iter(write_messages(transcript))
    fitted = [
        message if message.role == "tool" else _number_parts(message, next(natives)["parts"]) for message in messages
    ]
    return replace(transcript, messages=shared(messages, fitted))


def _number_parts(message: Message, natives: list[Any]) -> Message:
    ids = [str(native["id"]) for native in natives]
    if ids == sorted(ids) and all(id_.startswith("prt") for id_ in ids):
        return message
    parts = [_without(part, "id") for part in message.parts]
    aside = get_extras(message.extras, NAME).get("aside", [])
    bare = [omit(native, "id") for native in aside]
    extra = {**get_extras(message.extras, NAME), **({"aside": bare} if aside else {})}
    return replace(message, parts=parts, extras=make_extras(NAME, extra))


def _without(part: Part, *keys: str) -> Part:
    if isinstance(part, Opaque):
        return replace(part, value=omit(part.value, *keys))
    return drop_extras(part, NAME, *keys)


def _drop_placeholders(transcript: Transcript) -> Transcript:
    """Drops OpenCode's placeholders for a missing title or directory."""
    if transcript.title != "" and transcript.cwd not in ("", SESSION["directory"]):
        return transcript
    cwd = None if transcript.cwd in ("", SESSION["directory"]) else transcript.cwd
    return replace(transcript, title=transcript.title or None, cwd=cwd)


def _add_session_id(transcript: Transcript) -> Transcript:
    """Gives the session an id that begins with `ses`."""
    if transcript.id is not None and transcript.id.startswith("ses"):
        return transcript
    digits = uuid_of(write_messages(replace(transcript, id=None))).replace("-", "")
    return replace(transcript, id=f"ses_{digits}")


def _read_back(transcript: Transcript) -> Transcript:
    document = write_session(transcript)
    return lift_session(document, LiftContext(NAME, document))


FIT = fused(
    keep_active_conversation,
    sessions.set_models_of_answers,
    one_result_each,
    refusals_as_texts,
    keep_parts_of_roles(ROLES),
    on_parts(_keep_supported_part, "image", "audio", "video", "document", "opaque", "tool_result"),
    apply_convention(TEXT_AND_FILES),
    results_behind_calls,
    on_messages(_put_results_after_answers),
    on_each_message(_keep_answer_fields),
    _round_times,
    _number_messages,
    _drop_placeholders,
    _add_session_id,
    sessions.settle_extras(_read_back),
)
