"""Interactions: the answer of a model or an agent, its usage, its end, and the copy of the request.

Specification: `Interaction` of the Python SDK `google-genai` 3.6.1; read 2026-11-27.
"""

from __future__ import annotations

from convcli.families.google.config import with_thoughts, without_thoughts
from convcli.families.interactions.steps import INPUT, StepReader, StepWriter
from convcli.families.openai import request as common
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_object, get_extras, make_extras, objects_in, omit
from convcli.kit.supported import fields
from convcli.kit.values import counts, pairs, put_counts
from convcli.model.transcript import Message, Transcript
from convcli.wire import exact_json

RESPONSE = Envelope(
    "id=id model=model agent agent_config object= status= created=created_at updated=updated_at "
    "previous_interaction_id environment_id service_tier system_instruction tools generation_config "
    "response_format response_modalities input= steps= outputs= usage= errors= continuation_ids "
    "continuation_token"
)
ECHO = fields(
    "agent_config cached_content environment generation_config input labels response_format response_mime_type "
    "response_modalities safety_settings service_tier system_instruction tools webhook_config background store stream"
)
"""The keys of a request that a response may repeat; kept together in extras, under `request`."""
END = ("status", "errors")
REASONS = pairs("completed=stop requires_action=tool_calls failed=error cancelled=aborted incomplete=length")
STATUS = {ours: theirs for theirs, ours in REASONS.items()} | {"budget_exceeded": "budget_exceeded"}
RUNNING = fields("in_progress queued requires_continuation")
"""Statuses of an interaction that has not ended."""
USAGE = counts(
    "total_input_tokens=inputTokens total_cached_tokens=cacheReadTokens total_output_tokens=outputTokens "
    "total_thought_tokens=reasoningTokens total_tokens=totalTokens"
)
"""Counts by their key. Tokens read from a cache are part of the input; thoughts are not part of the output."""


# ---------------------------------------------------------------- lift


def lift_response(native: Native, context: LiftContext) -> Transcript:
    """Lifts an interaction; its end is stored on the last answer. Older ones have contents in place of steps."""
    context.origin.form = "response"
    reader, extra = StepReader(context), {}
    steps = native.get("steps") or []
    if native.get("input") and not any(step["type"] == INPUT for step in steps):
        reader.input(native["input"], ("input",))
    elif native.get("input"):
        extra["input"] = native["input"]
    reader.all(steps, ("steps",))
    reader.all(native.get("outputs") or [], ("outputs",), is_model=True)
    transcript = context.transcript()
    extra |= RESPONSE.lift(native, transcript) or {}
    request = {key: extra.pop(key) for key in list(extra) if key in ECHO}
    extra |= _lift_end(native, context)
    transcript.extras = make_extras(context.dialect, extra, request=request)
    return transcript


def _lift_end(native: Native, context: LiftContext) -> Native:
    """Sets stop reason, error and usage of the last answer. Returns the extras."""
    end = {key: native[key] for key in END if native.get(key)}
    answer = last_answer(context.messages)
    if answer is None and (native.get("usage") or end.keys() - {"status"} or end.get("status") not in {None, *RUNNING}):
        answer = Message("assistant", [])
        context.add(answer, ("steps",), [])
    if answer is None:
        return end
    answer.stop_reason, answer.error = read_stop_reason(end), _read_error(end)
    if native.get("usage"):
        common.lift_usage(native["usage"], answer, context.dialect, USAGE)
        answer.usage = answer.usage and with_thoughts(answer.usage)
    written = end_of(answer, {})
    return {key: value for key, value in end.items() if not exact_json.exact(value, written.get(key))}


def read_stop_reason(end: Native) -> str | None:
    """Returns why an interaction with this status ended."""
    status: str = end.get("status", "")
    return None if status in RUNNING else REASONS.get(status, status or None)


def _read_error(end: Native) -> str | None:
    first = next(iter(objects_in(end.get("errors"))), {})
    return as_object(first).get("message") or None


# ---------------------------------------------------------------- write


def write_response(transcript: Transcript, dialect: str) -> Native:
    """Writes an interaction with all steps."""
    extra, answer = get_extras(transcript.extras, dialect), last_answer(transcript.messages)
    native: Native = {"object": "interaction"}
    native["steps"] = StepWriter(dialect, answered=True).all(transcript.messages)
    native |= {key: extra[key] for key in END if key in extra} if answer is None else end_of(answer, extra)
    if answer is not None:
        usage = put_counts(
            without_thoughts(answer.usage or {}), get_extras(answer.extras, dialect).get("usage", {}), USAGE
        )
        native |= {"usage": usage} if usage else {}
    native |= {**as_object(extra.get("request")), **omit(extra, "request", *ECHO, *END)}
    return RESPONSE.write(transcript, native)


def last_answer(messages: list[Message]) -> Message | None:
    """Returns the message with the end of the interaction."""
    return next((message for message in reversed(messages) if message.role == "assistant"), None)


def end_of(answer: Message, extra: Native) -> Native:
    """Returns `status` and `errors` of an interaction that ended in this answer. Their extra form is used if it still
    means the same."""
    native: Native = {}
    if answer.stop_reason is not None:
        native["status"] = STATUS.get(answer.stop_reason, "completed")
    if answer.error is not None:
        native["errors"] = [{"message": answer.error}]
    if "status" in extra and read_stop_reason(extra) == answer.stop_reason:
        native["status"] = extra["status"]
    if "errors" in extra and _read_error(extra) == answer.error:
        native["errors"] = extra["errors"]
    return native
