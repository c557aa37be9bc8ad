"""Responses of the Responses API: the answer, its usage, its end, and the copy of the request.

Specification: `Response` of the [API reference](https://platform.openai.com/docs/api-reference/responses/object),
Python SDK `openai` 3.51.0; read 2026-11-20.
"""

from __future__ import annotations

from itertools import dropwhile, takewhile

from convcli.families.openai import request as common
from convcli.families.responses.parts import object_in
from convcli.families.responses.turns import ItemReader, ItemWriter
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, get_extras, make_extras, omit, without_nulls
from convcli.kit.settings import Setting
from convcli.kit.supported import fields
from convcli.kit.values import counts, epoch_of_time, time_of_epoch
from convcli.model.transcript import Message, Part, ToolCall, Transcript
from convcli.wire import exact_json

SECONDS = Setting("created_at", lambda at: time_of_epoch(at) if isinstance(at, int) else None, epoch_of_time)
RESPONSE = Envelope(
    "id=id object= created_at status= background billing completed_at error= frequency_penalty incomplete_details= "
    "instructions max_output_tokens max_tool_calls model=model moderation output= parallel_tool_calls presence_penalty "
    "previous_response_id conversation prompt prompt_cache_key prompt_cache_retention reasoning safety_identifier "
    "service_tier store temperature text tool_choice tools tool_usage top_logprobs top_p truncation usage= user "
    "metadata output_text",
    {"created_at": SECONDS},
)
ECHO = fields(
    "frequency_penalty instructions max_output_tokens max_tool_calls parallel_tool_calls presence_penalty "
    "previous_response_id conversation prompt reasoning request temperature text tool_choice tools top_logprobs top_p "
    "truncation"
)
"""The keys of a request that a response repeats; kept together in extras, under `request`."""
DEFAULTS = {"parallel_tool_calls": True, "tool_choice": "auto"}
"""The values in a response to a request without these keys."""
NOTHING: Native = {"error": None, "incomplete_details": None, "instructions": None, "tools": []}
"""Keys that the service always writes."""


# ---------------------------------------------------------------- lift


def lift_response(native: Native, context: LiftContext) -> Transcript:
    """Lifts a model's response; its end is stored on the last answer."""
    context.origin.form = "response"
    ItemReader(context).all(native["output"], ("output",))
    transcript = context.transcript()
    extra = RESPONSE.lift(native, transcript) or {}
    extra = {key: value for key, value in extra.items() if not exact_json.exact(value, DEFAULTS.get(key))}
    request = {key: extra.pop(key) for key in list(extra) if key in ECHO}
    extra |= {**_lift_end(native, context), **({"request": request} if request else {})}
    transcript.extras = make_extras(context.dialect, extra)
    return transcript


def _lift_end(native: Native, context: LiftContext) -> Native:
    """Sets stop reason, error and usage of the last answer. Returns the extras."""
    end = {key: native[key] for key in END if native.get(key)}
    if not end.keys() - {"incomplete_details"} and not native.get("usage"):
        return end
    answer = keep_last_answer(context.messages)
    if answer is None:
        answer = Message("assistant", [])
        context.add(answer, ("output",), [])
    answer.stop_reason = read_stop_reason(native, answer.parts)
    answer.error = (native.get("error") or {}).get("message") or None
    if native.get("usage"):
        common.lift_usage(native["usage"], answer, context.dialect, USAGE)
    written = end_of(answer, {})
    return {key: value for key, value in end.items() if not exact_json.exact(value, written.get(key))}


END = ("status", "error", "incomplete_details")


def read_stop_reason(native: Native, parts: list[Part]) -> str | None:
    """Returns why a response with an answer of these parts ended."""
    status = native.get("status")
    if status == "completed":
        return "tool_calls" if any(isinstance(part, ToolCall) for part in parts) else "stop"
    if status != "incomplete":
        return STOPPED.get(status or "")
    reason: str | None = (native.get("incomplete_details") or {}).get("reason")
    return {theirs: ours for ours, theirs in REASON.items()}.get(reason or "", reason or status)


# ---------------------------------------------------------------- write


def write_response(transcript: Transcript, dialect: str) -> Native:
    """Writes a response with every answer, and the results in between."""
    native: Native = {**NOTHING, **DEFAULTS, "object": "response"}
    native["output"] = ItemWriter(dialect, answered=True).all(transcript.messages)
    extra = get_extras(transcript.extras, dialect)
    answer = keep_last_answer(transcript.messages)
    native |= {key: extra[key] for key in END if key in extra} if answer is None else end_of(answer, extra)
    if answer is not None and (answer.usage or get_extras(answer.extras, dialect).get("usage")):
        native["usage"] = common.write_usage(answer, dialect, USAGE)
    other_extras = omit(extra, "request", *END)
    return RESPONSE.write(transcript, {**native, **object_in(extra, "request"), **other_extras})


def keep_last_answer(messages: list[Message]) -> Message | None:
    """Returns the message with the end of the response: the first of those that together are the last answer."""
    answer = _last_answer(messages)
    return answer[-1] if answer else None


def parts_of_last_answer(messages: list[Message]) -> list[Part]:
    """Returns the parts of these messages, which are one when they are read back."""
    return [part for message in _last_answer(messages)[::-1] for part in message.parts]


def _last_answer(messages: list[Message]) -> list[Message]:
    up_to_it = dropwhile(lambda message: message.role != "assistant", reversed(messages))
    return list(takewhile(lambda message: message.role == "assistant", up_to_it))


def end_of(answer: Message, extra: Native) -> Native:
    """Returns `status`, `incomplete_details` and `error` of a response that ended in this answer.

    Their extra form is used if it still means the same.
    """
    native: Native = {}
    if answer.stop_reason is not None:
        native["status"] = STATUS.get(answer.stop_reason, "completed")
    if native.get("status") == "incomplete" and answer.stop_reason != "incomplete":
        native["incomplete_details"] = {"reason": REASON.get(answer.stop_reason or "", answer.stop_reason)}
    if answer.error is not None:
        native["error"] = {"code": "server_error", "message": answer.error}
    exact = {**native, **{key: extra[key] for key in END if key in extra}}
    if (object_in(exact, "error").get("message") or None) != answer.error:
        exact |= {"error": native.get("error")}
    if read_stop_reason(exact, answer.parts) != answer.stop_reason:
        exact |= {"status": native.get("status"), "incomplete_details": native.get("incomplete_details")}
    return without_nulls(exact)


STOPPED = {"failed": "error", "cancelled": "aborted"}
STATUS = {
    **{ours: theirs for theirs, ours in STOPPED.items()},
    **dict.fromkeys(("length", "content_filter", "max_messages", "steered", "incomplete"), "incomplete"),
}
"""`status` of a response by the stop reason of its answer; any other means completed."""
REASON = {"length": "max_output_tokens"}
"""`incomplete_details.reason` by the stop reason; any other word is the same on both sides."""

USAGE = counts(
    "input_tokens=inputTokens input_tokens_details/cached_tokens=cacheReadTokens "
    "input_tokens_details/cache_write_tokens=cacheWriteTokens output_tokens=outputTokens "
    "output_tokens_details/reasoning_tokens=reasoningTokens total_tokens=totalTokens"
)
