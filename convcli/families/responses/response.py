"""Responses of the Responses API: the answer, what it cost, why it ended, and what is repeated of the request."""

from __future__ import annotations

from msgspec.structs import replace

from convcli.families.openai import request as common
from convcli.families.responses.parts import inner, take
from convcli.families.responses.turns import Reader, Writer
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.renaming import Alphabet, distinct, identifiers, renamed
from convcli.kit.values import epoch_of_time, time_of_epoch
from convcli.model.branches import active
from convcli.model.transcript import Message, Origin, ToolCall, Transcript
from convcli.wire import exact_json

RESPONSE = Keys(
    "id object created_at status background billing completed_at error frequency_penalty incomplete_details "
    "instructions max_output_tokens max_tool_calls model moderation output parallel_tool_calls presence_penalty "
    "previous_response_id conversation prompt prompt_cache_key prompt_cache_retention reasoning safety_identifier "
    "service_tier store temperature text tool_choice tools tool_usage top_logprobs top_p truncation usage user "
    "metadata output_text",
    carried="background billing completed_at frequency_penalty instructions max_output_tokens max_tool_calls "
    "moderation parallel_tool_calls presence_penalty previous_response_id conversation prompt prompt_cache_key "
    "prompt_cache_retention reasoning safety_identifier service_tier store temperature text tool_choice tools "
    "tool_usage top_logprobs top_p truncation user metadata output_text",
)
ECHO = frozenset(
    (
        "frequency_penalty", "instructions", "max_output_tokens", "max_tool_calls", "parallel_tool_calls",
        "presence_penalty", "previous_response_id", "conversation", "prompt", "reasoning", "request", "temperature",
        "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation",
    )
)  # fmt: skip
"""What a response repeats of its request; carried together, under `request`."""
DEFAULTS = {"parallel_tool_calls": True, "tool_choice": "auto"}
"""What a response says of a request that said nothing."""
NOTHING: Native = {"error": None, "incomplete_details": None, "instructions": None, "tools": []}
"""Keys that the service always writes."""


def lift_response(native: Native, reader: Reader, origin: Origin) -> Transcript:
    """The transcript of what a model answered; why it ended is on the last answer."""
    carried, spelling = take(RESPONSE, native, DEFAULTS)
    origin.document = {"form": "response", **({"response": spelling} if spelling else {})}
    transcript = Transcript(reader.all(native["output"], ("output",)), origin=origin)
    transcript.id = native.get("id") or None
    transcript.model = native.get("model") or None
    if native.get("object") is None:
        origin.document["object"] = False
    created = native.get("created_at")
    transcript.created_at = time_of_epoch(created) if isinstance(created, int) else None
    if created is not None and transcript.created_at is None:
        carried["created_at"] = created
    echo = {key: carried[key] for key in RESPONSE.sorted(carried) if key in ECHO}
    carried = {key: value for key, value in carried.items() if key not in ECHO} | _lift_end(native, reader, origin)
    transcript.extras = extras_of(origin.dialect, {**carried, **({"request": echo} if echo else {})})
    return transcript


NAMES, IDS = identifiers(128), Alphabet("", "", 64)
"""Of tools and of calls."""


def as_allowed(transcript: Transcript) -> Transcript:
    """The active messages of a foreign transcript, with names and ids that the service takes."""
    transcript = renamed(transcript, NAMES, IDS)
    return replace(transcript, messages=distinct(active(transcript), IDS), head=None)


def lower_response(transcript: Transcript, messages: list[Message], writer: Writer) -> Native:
    """The response with every answer in it, and the results between them."""
    spelling = transcript.document_spelling(writer.dialect)
    native: Native = {} if transcript.id is None else {"id": transcript.id}
    if spelling.get("object", True):
        native["object"] = "response"
    created = None if transcript.created_at is None else epoch_of_time(transcript.created_at)
    if created is not None:
        native["created_at"] = created
    native |= {} if transcript.model is None else {"model": transcript.model}
    whole = writer.own and spelling.get("form") == "response"
    answers = [message for message in messages if message.role in ("assistant", "tool")]
    native["output"] = writer.all(messages if whole else answers)
    native |= _lower_end(transcript, answers, writer)
    if not writer.own:
        native = {**NOTHING, **native, **DEFAULTS}
    carried = carried_by(transcript.extras, writer.dialect)
    rest = {key: value for key, value in carried.items() if key != "request"}
    native = {key: native[key] for key in RESPONSE.sorted(native)}
    return RESPONSE.put(native, {**inner(carried, "request"), **rest}, spelling.get("response"))


def _lift_end(native: Native, reader: Reader, origin: Origin) -> Native:
    """Set on the last answer why it ended, how it failed and what it cost; what of that must be carried."""
    if not any(native.get(key) for key in ("status", "error", "usage")):
        return _carry_end(native, {}, origin)
    answer = next((message for message in reversed(reader.messages) if message.role == "assistant"), None)
    if answer is None:
        answer = Message("assistant", [])
        reader.append(answer, ("output",), [])
    answer.stop_reason = _stop_reason(native, answer)
    said = (native.get("error") or {}).get("message")
    answer.error = said or None
    if native.get("usage"):
        common.lift_usage(native["usage"], answer, origin.dialect, origin, USAGE)
    return _carry_end(native, _end_of(answer), origin)


def _carry_end(native: Native, expected: Native, origin: Origin) -> Native:
    """What the last answer does not say of the end; keys that it would add are remembered as absent."""
    absent = [key for key in expected if not native.get(key)]
    if absent:
        origin.document["absent"] = absent
    given = {key: native[key] for key in ("status", "error", "incomplete_details") if native.get(key)}
    return {key: value for key, value in given.items() if not exact_json.exact(value, expected.get(key))}


def _lower_end(transcript: Transcript, answers: list[Message], writer: Writer) -> Native:
    answers = [message for message in answers if message.role == "assistant"]
    if not answers:
        return {}
    absent = transcript.document_spelling(writer.dialect).get("absent", ())
    native = {key: value for key, value in _end_of(answers[-1]).items() if key not in absent}
    spelled = "usage" in writer.spellings.get(id(answers[-1]), {})
    if spelled or answers[-1].usage or carried_by(answers[-1].extras, writer.dialect).get("usage"):
        native["usage"] = common.lower_usage(answers[-1], writer.dialect, writer.spellings, USAGE)
    return native


def _end_of(answer: Message) -> Native:
    """`status`, `incomplete_details` and `error` of a response that ended in this answer."""
    native: Native = {}
    if answer.stop_reason is not None:
        native["status"] = STATUS.get(answer.stop_reason, "completed")
    if native.get("status") == "incomplete" and answer.stop_reason != "incomplete":
        native["incomplete_details"] = {"reason": REASON.get(answer.stop_reason or "", answer.stop_reason)}
    if answer.error is not None:
        native["error"] = {"code": "server_error", "message": answer.error}
    return native


def _stop_reason(native: Native, answer: Message) -> str | None:
    status = native.get("status")
    if status == "completed":
        return "tool_calls" if any(isinstance(part, ToolCall) for part in answer.parts) else "stop"
    if status != "incomplete":
        return STOPPED.get(status or "")
    reason: str | None = (native.get("incomplete_details") or {}).get("reason")
    return {theirs: ours for ours, theirs in REASON.items()}.get(reason or "", reason or status)


STOPPED = {"failed": "error", "cancelled": "aborted"}
STATUS = {
    **{ours: theirs for theirs, ours in STOPPED.items()},
    **dict.fromkeys(("length", "content_filter", "max_messages", "steered", "incomplete"), "incomplete"),
}
"""`status` of a response by the stop reason of its answer; what is not here is completed."""
REASON = {"length": "max_output_tokens"}
"""`incomplete_details.reason` by the stop reason; what is not here is the same word on both sides."""

USAGE = {
    ("input_tokens",): "inputTokens",
    ("input_tokens_details", "cached_tokens"): "cacheReadTokens",
    ("input_tokens_details", "cache_write_tokens"): "cacheWriteTokens",
    ("output_tokens",): "outputTokens",
    ("output_tokens_details", "reasoning_tokens"): "reasoningTokens",
    ("total_tokens",): "totalTokens",
}
