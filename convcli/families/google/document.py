"""The documents of the Gemini API and Vertex AI: requests, responses, and content lists."""

from __future__ import annotations

from typing import Any

from convcli.families.google import config, contents
from convcli.families.google.keys import CHOICE, Service, Shape, Writer, owned
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import is_response
from convcli.kit.objects import Native, get_extras, omit, without_nulls
from convcli.kit.supported import fields
from convcli.kit.values import pairs
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Transcript
from convcli.wire import exact_json

ASIDE = "safetySettings cachedContent labels serviceTier continuationToken store modelArmorConfig outputConfig"
REQUEST = Shape(
    "request",
    f"model systemInstruction contents tools toolConfig generationConfig {ASIDE}",
    extra=ASIDE,
    partly="toolConfig generationConfig",
    groups="response",
)
RESPONSE = Shape(
    "response",
    "candidates promptFeedback usageMetadata modelVersion createTime responseId modelStatus",
    extra="promptFeedback modelStatus",
    partly="usageMetadata",
)
JUDGED = (
    "finishMessage safetyRatings citationMetadata tokenCount groundingMetadata avgLogprobs logprobsResult "
    "urlContextMetadata continuationToken"
)
CANDIDATE = Shape("candidates", f"content finishReason index {JUDGED}", extra=JUDGED, partly="finishReason index")

TIER = "serviceTier"

FINISH = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"}
FILTERED = fields(
    "RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION "
    "MODEL_ARMOR"
)
"""Other reasons for which the service withholds an answer; the exact one is kept in extras."""
REASONS = FILTERED | fields(
    "FINISH_REASON_UNSPECIFIED OTHER MALFORMED_FUNCTION_CALL IMAGE_OTHER NO_IMAGE UNEXPECTED_TOOL_CALL "
    "TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE MALFORMED_RESPONSE ESCALATION PUP_LIMITED_DISABLED CONTINUATION"
)
NUMBERS = ("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER")
"""Finish reasons by number, as clients with the REST transport write them. The two services agree on these."""
WITHHELD = (6, 7, 8)
"""Other reasons to withhold an answer in both services, which number them differently. The number is kept in extras."""
REASON_OF = pairs("stop=STOP tool_calls=STOP length=MAX_TOKENS content_filter=SAFETY refusal=SAFETY")


# ---------------------------------------------------------------- lift


def lift(document: Any, service: Service) -> Transcript:
    """Lifts a request, a response or a list of contents."""
    context = LiftContext(service.name, document, owner=service.owner)
    if isinstance(document, list):
        context.origin.form = "list"
        contents.lift_contents(document, (), context)
        transcript = context.transcript()
    elif "contents" in document:
        transcript = _lift_request(document, service, context)
    else:
        transcript = _lift_response(document, context)
    contents.adopt(context)
    return transcript


def _lift_request(document: Native, service: Service, context: LiftContext) -> Transcript:
    native, extra = REQUEST.read(document, context.origin)
    context.origin.form = "request"
    if native.get("systemInstruction"):
        key = context.origin.aliases.get("systemInstruction", "systemInstruction")
        contents.lift_system(native["systemInstruction"], (key,), context)
    contents.lift_contents(native["contents"], ("contents",), context)
    transcript = context.transcript(model=native.get("model"))
    if transcript.model is not None:
        transcript.model = _bare(transcript.model, service)
    transcript.tools = config.lift_tools(native.get("tools"), ("tools",), context)
    if native.get("toolConfig"):
        transcript.tool_choice, extra["toolConfig"] = config.lift_choice(native["toolConfig"])
    settings: Native = {}
    if native.get("generationConfig"):
        settings, extra["generationConfig"] = config.lift_settings(native["generationConfig"], context.origin)
    if extra.get(TIER) in config.TIERS:
        settings["serviceTier"] = config.TIERS[extra.pop(TIER)]
    transcript.settings = settings or None
    other_extras = {
        key: value for key, value in extra.items() if key not in ("toolConfig", "generationConfig") or value
    }
    transcript.extras = owned(context.dialect, other_extras)
    return transcript


def _bare(name: str, service: Service) -> str:
    """Returns the model name without its path."""
    bare = name.removeprefix(service.models)
    return bare if bare and "/" not in bare else name


def _lift_response(document: Native, context: LiftContext) -> Transcript:
    native, extra = RESPONSE.read(document, context.origin)
    context.origin.form = "response"
    context.origin.aliases["model"] = context.origin.aliases.get("modelVersion", "modelVersion")
    candidates = native.get("candidates") or []
    for i, candidate in enumerate(candidates):
        _lift_candidate(candidate, i, len(candidates), context)
    transcript = context.transcript(
        id=native.get("responseId") or None,
        model=native.get("modelVersion") or None,
        created_at=native.get("createTime") or None,
        head=f"{CHOICE}1" if len(candidates) > 1 else None,
    )
    usage = native.get("usageMetadata")
    if usage and context.messages:
        _lift_usage(usage, context.messages[0], context)
    elif usage:
        extra = RESPONSE.ordered({**extra, "usageMetadata": usage})
    transcript.extras = owned(context.dialect, {"response": extra} if extra else {})
    return transcript


def _lift_usage(native: Native, message: Message, context: LiftContext) -> None:
    usage, usage_extras = config.lift_usage(native)
    message.usage = usage or None
    _carry(message, {"usageMetadata": usage_extras} if usage_extras else {}, context)


def _carry(message: Message, extra: Native, context: LiftContext) -> None:
    if extra:
        message.extras = owned(context.dialect, get_extras(message.extras, context.dialect), extra)


def _lift_candidate(document: Native, index: int, count: int, context: LiftContext) -> None:
    """Lifts one answer. Several are alternatives: siblings of a tree with the first as head."""
    native, extra = CANDIDATE.read(document, context.origin)
    message = contents.lift_whole(native.get("content") or {}, "assistant", ("candidates", index, "content"), context)
    finish = native.get("finishReason")
    if finish not in (None, ""):
        finish = _named_reason(finish)
        message.stop_reason = read_reason(finish, message)
        if write_reason(message.stop_reason) != finish:
            extra["finishReason"] = finish
    if native.get("index") is not None and not exact_json.exact(native["index"], index):
        extra["index"] = native["index"]
    _carry(message, {"candidate": CANDIDATE.ordered(extra)} if extra else {}, context)
    if count > 1:
        message.id = f"{CHOICE}{index + 1}"
        context.origin.generated_ids.add(message.id)


def _named_reason(finish: str | int) -> str | int:
    """Returns the name of a finish reason that is a number, or the number if the services differ."""
    is_number = not isinstance(finish, str)
    return NUMBERS[int(finish)] if is_number and 0 <= int(finish) < len(NUMBERS) else finish


def read_reason(finish: str | int, message: Message) -> str:
    """Returns the stop reason; an answer with calls stopped for them, which Google does not state."""
    if not isinstance(finish, str):
        return "content_filter" if finish in WITHHELD else "OTHER"
    if finish == "STOP" and any(part.type == "tool_call" for part in message.parts):
        return "tool_calls"
    return "content_filter" if finish in FILTERED else FINISH.get(finish, finish)


def write_reason(stop: str) -> str:
    """Returns the finish reason."""
    return REASON_OF.get(stop, stop)


# ---------------------------------------------------------------- write


def form_of(transcript: Transcript, owner: str) -> str:
    """Returns "response" for a transcript that is only a model's response, else "request"."""
    answered = is_response(transcript) or "response" in get_extras(transcript.extras, owner)
    return "response" if answered else "request"


def write(transcript: Transcript, options: Options, service: Service) -> Any:
    """Writes a request, a response or a list of contents."""
    writer = Writer.of(transcript, service)
    if options.form == "response":
        return _write_response(transcript, writer)
    if options.form == "list":
        return contents.write_contents(transcript.messages, writer)
    return _write_request(transcript, writer)


def _write_request(transcript: Transcript, writer: Writer) -> Native:
    model, tools, tier = transcript.model, transcript.tools, (transcript.settings or {}).get("serviceTier")
    system = [message for message in transcript.messages if message.role == "system"]
    native = {
        "model": writer.service.models + model if model and "/" not in model else model,
        "systemInstruction": contents.write_message(system[0], writer) if system else None,
        "contents": contents.write_contents([one for one in transcript.messages if one.role != "system"], writer),
        "tools": None if tools is None else config.write_tools(tools, writer),
        "toolConfig": config.write_choice(transcript, writer) or None,
        "generationConfig": config.write_settings(transcript, writer) or None,
        TIER: None if tier is None else config.TIER_OF[tier],
    }
    extra = omit(writer.extra(transcript.extras), "toolConfig", "generationConfig", "response")
    return REQUEST.put(without_nulls(native), extra)


def _write_response(transcript: Transcript, writer: Writer) -> Native:
    messages = transcript.messages
    usage_extras = writer.extra(messages[0].extras, "usageMetadata") if messages else {}
    usage = messages[0].usage if messages else None
    native = {
        "candidates": [_write_candidate(one, i, len(messages), writer) for i, one in enumerate(messages)],
        "usageMetadata": config.write_usage(usage or {}, usage_extras) or None,
        "modelVersion": transcript.model,
        "createTime": transcript.created_at,
        "responseId": transcript.id,
    }
    return RESPONSE.put(without_nulls(native), writer.extra(transcript.extras, "response"))


def _write_candidate(message: Message, index: int, count: int, writer: Writer) -> Native:
    reason = None if message.stop_reason is None else write_reason(message.stop_reason)
    content = contents.write_message(message, writer)
    native = without_nulls({"content": content, "finishReason": reason, "index": index if count > 1 else None})
    extra = writer.extra(message.extras, "candidate")
    if "finishReason" in extra and read_reason(extra["finishReason"], message) != message.stop_reason:
        extra = omit(extra, "finishReason")
    return CANDIDATE.put(native, extra)
