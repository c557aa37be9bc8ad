"""Fits transcripts to goose: measured with `goose session import` of 1.52 on 2026-11-23."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.goose.lifting import MESSAGE, NAME, lift, seconds_of
from convcli.dialects.goose.writing import continues, is_contents, write_session
from convcli.kit import custom, sessions
from convcli.kit.fitting import drop_other_opaque, refusals_as_texts, settle_by_reading_back
from convcli.kit.grouping import begins, drop_subagent_runs, on_rows
from convcli.kit.ids import set_session_id
from convcli.kit.objects import get_extras, omit, set_extras
from convcli.kit.passes import on_each_message, on_messages, on_parts, shared
from convcli.kit.renaming import Alphabet, make_ids_distinct
from convcli.kit.results import apply_convention, in_words, result_of, separate_results, with_parts
from convcli.kit.texts import only_text
from convcli.kit.values import milliseconds_of_time
from convcli.model.dialect import Convention
from convcli.model.transcript import Media, Message, Part, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules.turns import INSTRUCTIONS

IMAGE_TYPE = "image/png"
"""The default media type of images: goose requires one."""
IDS = Alphabet("characters", "", 0)
"""Call ids may be any string. If two calls share an id, goose sends their results together."""


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns kind and value of data, or of a list of one text, as read back; None if unchanged."""
    if result.kind == "data":
        return None if is_contents(result.value) else ("error" if result.is_error else "text", in_words(result))
    text = only_text(result.value) if result.kind == "multimodal" else None
    return None if text is None else ("error" if result.is_error else "text", text)


RESULTS = Convention(
    _express,
    {
        **dict.fromkeys(
            ("data", "error"), ("encoded", "a goose result is a list of contents: data is written as JSON")
        ),
        "multimodal": ("changed", "in goose, a result of one text equals that text"),
    },
)


def _is_turn(row: Any) -> bool:
    return lift({"conversation": [row]}).messages[0].role != "event"


def _fit_role(message: Message) -> Message | None:
    """Drops instructions (the program supplies its own); a tool message without a result becomes a user message."""
    if message.role in INSTRUCTIONS:
        return None
    is_answer = message.role != "tool" or result_of(message) is not None
    return message if is_answer else replace(message, role="user")


def _fit_part(part: Part, message: Message) -> Part | None:
    if isinstance(part, ToolResult):
        return with_parts(part, _fit_content) if message.role == "tool" else None
    if isinstance(part, Media):
        return _fit_media(part)
    return part if not isinstance(part, ToolCall) or message.role == "assistant" else None


def _fit_content(part: Part) -> Part | None:
    """Keeps texts and images of a result."""
    return _fit_media(part) if isinstance(part, Media) else part if isinstance(part, Text) else None


def _fit_media(media: Media) -> Media | None:
    """Returns an image with data and a media type, or None for other media."""
    if media.type != "image" or media.data is None:
        return None
    return media if media.media_type else replace(media, media_type=IMAGE_TYPE)


def _mark_visibility(messages: list[Message]) -> list[Message]:
    """Hides the messages before a summary from the model, and the summary from the user."""
    at = max((k for k, message in enumerate(messages) if message.replaces is not None), default=0)
    hidden = [_mark(message, is_seen=False) for message in messages[:at]]
    fitted = [*hidden, *messages[at:]]
    if at:
        fitted[at] = _mark(messages[at], is_seen=True)
    return shared(messages, fitted)


def _mark(message: Message, *, is_seen: bool) -> Message:
    if message.role == "event" or (not is_seen and message == Message(message.role, message.parts)):
        return message
    metadata = get_extras(message.extras, NAME).get("metadata", {})
    marks = {} if is_seen else {"agentVisible": False}
    marks |= {"userVisible": False} if message.replaces is not None else {}
    same = all(metadata.get(key) == value for key, value in marks.items())
    if same and not (is_seen and metadata.get("agentVisible") is False):
        return message
    return set_extras(message, NAME, "metadata", {**omit(metadata, "agentVisible", "userVisible"), **marks})


def _set_times(transcript: Transcript) -> Transcript:
    """Gives each row and the session a time, in ascending order, since goose sorts rows by time."""
    starts = begins(transcript.messages, continues)
    timed = on_rows(transcript, starts, sessions.set_times, on_messages(_sort_times))
    times = [message.created_at for message in timed.messages if message.created_at is not None]
    updated = transcript.updated_at or max([timed.created_at or sessions.EPOCH, *times])
    return replace(timed, updated_at=updated)


def _sort_times(messages: list[Message]) -> list[Message]:
    fitted: list[Message] = []
    for message in messages:
        latest = (fitted[-1].created_at if fitted else None) or sessions.EPOCH
        is_usable = milliseconds_of_time(message.created_at) is not None  # not without a time zone
        is_in_order = is_usable and seconds_of(latest) <= seconds_of(message.created_at)
        fitted.append(message if is_in_order else replace(message, created_at=latest))
    return shared(messages, fitted)


FIT = (
    drop_subagent_runs,
    custom.as_functions,
    refusals_as_texts,
    drop_other_opaque(NAME),
    sessions.keep_active_branch,
    sessions.keep_own_events(NAME, _is_turn),
    separate_results,
    on_each_message(_fit_role),
    sessions.put_results_before_events,
    make_ids_distinct(IDS),
    sessions.set_models_of_answers,
    on_parts(_fit_part),
    apply_convention(RESULTS),
    _set_times,
    on_messages(_mark_visibility),
    sessions.with_rows(lambda message: sessions.row_of_event(message, NAME, MESSAGE)),
    set_session_id(write_session),
    settle_by_reading_back(lift, lambda transcript, _: write_session(transcript), "export"),
)
