"""What Codex accepts of any transcript, as passes: measured with `codex app-server` 0.169.0 on 2026-11-22."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

import convcli.dialects.codex.rows as rows
from convcli.dialects.codex.lifting import PROVIDER
from convcli.dialects.codex.rows import NAME, in_compaction, own_row
from convcli.dialects.codex.writing import gone, write_rows
from convcli.families.responses import fitting as service
from convcli.families.responses.parts import RESULTS
from convcli.kit import custom, sessions
from convcli.kit.definitions import described
from convcli.kit.fitting import add_parameters, keep_functions, refusals_as_texts
from convcli.kit.ids import is_uuid, set_session_id
from convcli.kit.objects import get_extras, omit, set_extras
from convcli.kit.passes import on_each_message, on_messages, on_results, shared
from convcli.kit.renaming import make_ids_distinct, rename_tools_and_ids
from convcli.kit.results import has_failed, separate_results
from convcli.model.transcript import Media, Message, Text, ToolCall, ToolResult, Transcript


def _keep_sound_events(messages: list[Message]) -> list[Message]:
    """Keeps only events whose rows are read as events again: those of rolled-back turns, and those of no turn."""
    rolled_back = gone(messages)
    is_sound = all(own_row(messages[index]) is not None for index in rolled_back)

    def is_kept(index: int, message: Message) -> bool:
        native = own_row(message)
        if native is None:
            return True
        row = rows.rows_of([{}, native])[1]
        return (is_sound and index in rolled_back) or not rows.is_message(row)

    return shared(messages, [one if is_kept(index, one) else None for index, one in enumerate(messages)])


# ---------------------------------------------------------------- roles and parts


def _fit_roles(messages: list[Message]) -> list[Message]:
    """Moves leading instructions to the header, as one text; Codex skips any other system message."""
    return shared(messages, [_fit_role(message, is_first=index == 0) for index, message in enumerate(messages)])


def _fit_role(message: Message, *, is_first: bool) -> Message:
    if message.role == "tool" and not any(isinstance(part, ToolResult) for part in message.parts):
        return replace(message, role="user")
    if message.role != "system":
        return message
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    if not is_first or len(texts) < len(message.parts) or not any(texts) or message.replaces is not None:
        return replace(message, role="developer")
    return message if len(texts) == 1 else replace(message, parts=[Text("\n\n".join(texts))])


def _keep_image(media: Media) -> Media | None:
    """Returns an image with its data or a URL, else None: Codex skips a message with a file."""
    return (
        service.keep_response_media(media) if media.type == "image" and (media.data is not None or media.url) else None
    )


def _fit_failures(transcript: Transcript) -> Transcript:
    """Keeps failures that an event row or the value states, and writes any other failure into the text."""
    failed = rows.failed_ids(rows.event_of(own_row(message)) for message in transcript.messages)

    def fit_failure(result: ToolResult) -> ToolResult:
        bare = replace(result, kind="text" if result.kind == "error" else result.kind, is_error=None)
        is_stated = result.kind != "text" and has_failed(rows.as_stated(bare, failed))
        return rows.as_stated(result if is_stated else _write_failure_in_text(result), failed)

    return on_results(fit_failure)(transcript)


def _write_failure_in_text(result: ToolResult) -> ToolResult:
    kind, value = RESULTS.express(result) or (result.kind, result.value)
    same = kind == result.kind and not result.is_error
    return result if same else replace(result, kind=kind, value=value, is_error=None)


def _make_call_ids_distinct(transcript: Transcript) -> Transcript:
    """Makes call ids unique within an answer; calls of two answers may share one."""
    answers = ([part.id for part in message.parts if isinstance(part, ToolCall)] for message in transcript.messages)
    return (
        transcript if all(len(set(ids)) == len(ids) for ids in answers) else make_ids_distinct(service.IDS)(transcript)
    )


# ---------------------------------------------------------------- answers


def _fit_answers(transcript: Transcript) -> Transcript:
    """Gives every answer the header's provider and the last stated model, and only Codex's counts.

    No other message gets a model or a provider.
    """
    messages, model = transcript.messages, None
    provider = (get_extras(transcript.extras, NAME).get("header") or {}).get(PROVIDER) or None
    rolled_back = gone(messages)
    fitted: list[Message] = []
    for index, message in enumerate(messages):
        model = (None if index in rolled_back else rows.model_of(own_row(message))) or model
        is_answer, is_turn = message.role == "assistant", not in_compaction(message)
        model = message.model or model if is_answer and is_turn else model
        counts = {name: count for name, count in (message.usage or {}).items() if count and name in rows.USAGE.values()}
        facts = (model, provider) if is_answer else (None, None)
        usage = (counts or None) if is_answer and is_turn else None
        same = (*facts, usage) == (message.model, message.provider, message.usage)
        fitted.append(message if same else replace(message, model=facts[0], provider=facts[1], usage=usage))
    return replace(transcript, messages=shared(messages, fitted))


def _join_answers(messages: list[Message]) -> list[Message]:
    """Joins answers between which nothing marks an end."""
    fitted: list[Message] = []
    answer: int | None = None
    for message in messages:
        native = own_row(message)
        last = None if answer is None else fitted[answer]
        if native is not None and not rows.closes(native):
            fitted.append(message)
        elif last is not None and message.role == "assistant" and _is_one(last, message):
            parts = [*last.parts, *message.parts]
            fitted[answer] = replace(last, parts=parts, usage=message.usage)  # type: ignore[index]
        else:
            answer = len(fitted) if message.role == "assistant" else None
            fitted.append(message)
        answer = None if message.role == "assistant" and message.usage else answer
    return shared(messages, fitted)


def _is_one(last: Message, message: Message) -> bool:
    same = message.model == last.model or in_compaction(message)
    return message.replaces is None and in_compaction(last) == in_compaction(message) and same


def _drop_replacement_history(message: Message) -> Message:
    """Drops the kept list of a compaction, which Codex would read differently: its messages are written instead."""
    row_extras = rows.row_extras_of(message)
    facts = row_extras.get("compacted") if message.replaces is not None else None
    if not isinstance(facts, dict) or "replacement_history" not in facts:
        return message
    kept = {**row_extras, "compacted": omit(facts, "replacement_history")}
    return set_extras(message, NAME, "row", {key: value for key, value in kept.items() if value})


# ---------------------------------------------------------------- the session


def _date_instructions(transcript: Transcript) -> Transcript:
    """Gives the leading instructions the time of the session."""
    first = transcript.messages[0] if transcript.messages else None
    if first is None or first.role != "system" or first.created_at == transcript.created_at:
        return transcript
    return replace(transcript, messages=[replace(first, created_at=transcript.created_at), *transcript.messages[1:]])


def _content(transcript: Transcript) -> Any:
    messages = [message for index, message in enumerate(transcript.messages) if index or message.role != "system"]
    return write_rows(messages, get_extras(transcript.extras, NAME).get("header") or {})


FIT = (
    sessions.keep_active_branch,
    sessions.events(lambda message: own_row(message) is not None),
    separate_results,
    on_messages(_fit_roles),
    rename_tools_and_ids(service.NAMES, service.IDS),
    _make_call_ids_distinct,
    refusals_as_texts,
    service.keep_response_parts(NAME, _keep_image),
    custom.calls,
    service.keep_output_parts(NAME, _keep_image),
    _fit_failures,
    service.drop_emptied(service.keep_own_items(NAME, is_input=True), service.drop_unfollowed_reasoning),
    sessions.set_models_of_answers,
    on_each_message(sessions.replacing_all),
    on_each_message(_drop_replacement_history),
    _fit_answers,
    on_messages(_join_answers),
    on_messages(_keep_sound_events),
    keep_functions(NAME),
    described,
    add_parameters(),
    sessions.set_times,
    _date_instructions,
    sessions.with_rows(lambda message: sessions.row_of_event(message, NAME, rows.ROW)),
    sessions.set_directory,
    set_session_id(_content, is_uuid),
)
