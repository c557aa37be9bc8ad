"""Responses with choices, as from Chat Completions and its relatives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import msgspec
from msgspec.structs import replace

from convcli.families.openai import request as common
from convcli.families.openai.messages import CONTENT_TYPES
from convcli.kit import fitting
from convcli.kit.contexts import LiftContext, LiftOne
from convcli.kit.objects import Keys, Native, add_extras, get_extras, make_extras
from convcli.kit.values import epoch_of_time, time_of_epoch, with_total
from convcli.model.dialect import Pass
from convcli.model.transcript import Message, Text, Transcript
from convcli.wire import exact_json

RESPONSE = Keys("id= object= created= model= choices= usage= service_tier system_fingerprint")
CHOICE = Keys("index= message= logprobs finish_reason=")
OBJECT = "chat.completion"
WITHOUT_ANSWER = "response"
"""The extras key for keys of a response without choices that are also keys of a request."""


class Answers(msgspec.Struct, frozen=True):
    """The words of one dialect's responses; `dialect` is the owner of its extras."""

    dialect: str
    lift_message: LiftOne
    write_message: Callable[[Message, str], Native]
    finish: Mapping[str, str]
    """Our stop reason for a `finish_reason`; any other word is the same."""
    finish_of: Mapping[str, str]
    """The `finish_reason` for a stop reason; any other word is the same."""
    usage: common.Counts


# ---------------------------------------------------------------- lift


def lift_response(native: Native, context: LiftContext, answers: Answers) -> Transcript:
    """Lifts a response; several choices are alternatives."""
    context.origin.form = "response"
    for index, choice in enumerate(native["choices"]):
        _lift_choice(choice, index, context, answers)
    extras = dict(RESPONSE.extra(native) or {})
    head = _name_siblings(context)
    if context.messages and native.get("usage"):
        common.lift_usage(native["usage"], context.messages[0], context.dialect, answers.usage)
    elif native.get("usage"):
        extras["usage"] = native["usage"]
    unanswered = {}
    if not context.messages and "service_tier" in extras:  # it looks like a request, which has its own tier
        unanswered["service_tier"] = extras.pop("service_tier")
    if native.get("object") not in (None, OBJECT):
        extras["object"] = native["object"]
    created = native.get("created")
    created_at = time_of_epoch(created) if isinstance(created, int) else None
    if created is not None and created_at is None:
        extras["created"] = created
    return context.transcript(
        id=native.get("id"),
        model=native.get("model"),
        created_at=created_at,
        head=head,
        extras=make_extras(context.dialect, extras, **{WITHOUT_ANSWER: unanswered}),
    )


def _name_siblings(context: LiftContext) -> str | None:
    """Links several choices as alternatives: siblings of a tree with the first as head."""
    if len(context.messages) < 2:
        return None
    for i, message in enumerate(context.messages):
        message.id = f"choice_{i + 1}"
        context.origin.generated_ids.add(message.id)
    return "choice_1"


def _lift_choice(native: Native, index: int, context: LiftContext, answers: Answers) -> None:
    message, part_paths = answers.lift_message(native["message"], context)
    context.add(message, ("choices", index, "message"), part_paths)
    extra = dict(CHOICE.extra(native) or {})
    if not exact_json.exact(native.get("index", index), index):
        extra["index"] = native["index"]
    finish = native.get("finish_reason")
    if finish:
        message.stop_reason = answers.finish.get(finish, finish)
        if answers.finish_of.get(message.stop_reason, finish) != finish:
            extra["finish_reason"] = finish
    add_extras(message, context.dialect, None, choice=extra)


# ---------------------------------------------------------------- write


def write_response(transcript: Transcript, answers: Answers) -> Native:
    """Writes a response with one choice for each message."""
    counted = next((message for message in transcript.messages if _has_usage(message, answers)), None)
    native = {
        "id": transcript.id,
        "object": OBJECT,
        "created": None if transcript.created_at is None else epoch_of_time(transcript.created_at),
        "model": transcript.model,
        "choices": [_write_choice(message, i, answers) for i, message in enumerate(transcript.messages)],
        "usage": None if counted is None else common.write_usage(counted, answers.dialect, answers.usage),
    }
    extra = dict(get_extras(transcript.extras, answers.dialect))
    extra |= extra.pop(WITHOUT_ANSWER, {})
    return RESPONSE.write(native, extra)


def _has_usage(message: Message, answers: Answers) -> bool:
    return bool(message.usage or get_extras(message.extras, answers.dialect).get("usage"))


def _write_choice(message: Message, index: int, answers: Answers) -> Native:
    reason = message.stop_reason and answers.finish_of.get(message.stop_reason, message.stop_reason)
    native = {"index": index, "message": answers.write_message(message, answers.dialect), "finish_reason": reason}
    return CHOICE.write(native, get_extras(message.extras, answers.dialect).get("choice"))


# ---------------------------------------------------------------- fit


def created_in_seconds(transcript: Transcript) -> Transcript:
    """Rounds the time of a response to seconds."""
    created = transcript.created_at
    if created is None or epoch_of_time(created) is not None:
        return transcript
    return replace(transcript, created_at=None)


def keep_known_finish(answers: Answers, kept: Collection[str] = ()) -> Pass:
    """Replaces a stop reason that the vendor does not have by an ordinary stop, unless it is `kept` or its word is in
    extras."""

    def is_kept(message: Message) -> bool:
        choice = get_extras(message.extras, answers.dialect).get("choice", {})
        return message.stop_reason in kept or "finish_reason" in choice

    return fitting.keep_known_finish(answers.finish, answers.finish_of, "stop", is_kept)


def joined_text(message: Message) -> Message:
    """Joins the content of an answer into one text: unlike a request, a response has no list of texts."""
    texts = [part for part in message.parts if isinstance(part, Text)]
    if len(texts) < 2 or len(texts) < sum(part.type in CONTENT_TYPES for part in message.parts):
        return message
    joined = Text("".join(text.text for text in texts))
    others = [part for part in message.parts if part is texts[0] or not isinstance(part, Text)]
    return replace(message, parts=[joined if part is texts[0] else part for part in others])


def usage_of_response(transcript: Transcript) -> Transcript:
    """Moves the usage to the first choice, because a response has it once, and adds the required total."""
    counted = next((message.usage for message in transcript.messages if message.usage), None)
    if counted is None:
        return transcript
    usage = with_total(counted)
    messages = [_with_usage(message, None if i else usage) for i, message in enumerate(transcript.messages)]
    same = all(a is b for a, b in zip(messages, transcript.messages, strict=True))
    return transcript if same else replace(transcript, messages=messages)


def _with_usage(message: Message, usage: dict[str, int] | None) -> Message:
    return message if message.usage == usage else replace(message, usage=usage)
