"""The documents of the Gemini API and Vertex AI: requests, responses, and bare lists of contents."""

from __future__ import annotations

from typing import Any

from convcli.families.google import config
from convcli.families.google.contents import (
    adopt,
    lift_contents,
    lift_system,
    lift_whole,
    lower_contents,
    lower_system,
    lower_whole,
)
from convcli.families.google.keys import CHOICE, FAMILY, Flavor, Reader, Shape, Writer, extras_of_family, words
from convcli.kit.fitting import is_response
from convcli.kit.objects import Native, Spelling, carried_by
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Origin, Transcript
from convcli.wire import exact_json

ASIDE = "safetySettings cachedContent labels serviceTier continuationToken store modelArmorConfig outputConfig"
REQUEST = Shape("request", f"model systemInstruction contents tools toolConfig generationConfig {ASIDE}", carried=ASIDE)
RESPONSE = Shape(
    "response",
    "candidates promptFeedback usageMetadata modelVersion createTime responseId modelStatus",
    carried="promptFeedback modelStatus",
    odd="usageMetadata",
)
JUDGED = (
    "finishMessage safetyRatings citationMetadata tokenCount groundingMetadata avgLogprobs logprobsResult "
    "urlContextMetadata continuationToken"
)
CANDIDATE = Shape("candidates", f"content finishReason index {JUDGED}", carried=JUDGED, odd="finishReason index")

FINISH = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"}
FILTERED = words(
    "RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION "
    "MODEL_ARMOR"
)
"""Other reasons for which the service withholds an answer; which one it was is carried."""
REASONS = FILTERED | words(
    "FINISH_REASON_UNSPECIFIED OTHER MALFORMED_FUNCTION_CALL IMAGE_OTHER NO_IMAGE UNEXPECTED_TOOL_CALL "
    "TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE MALFORMED_RESPONSE ESCALATION PUP_LIMITED_DISABLED CONTINUATION"
)
REASON_OF = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
    "refusal": "SAFETY",
}


# ---------------------------------------------------------------- lift


def lift(document: Any, flavor: Flavor) -> Transcript:
    """The transcript of a request, a response or a list of contents."""
    reader = Reader(flavor, Origin(flavor.name), document)
    if isinstance(document, list):
        reader.origin.document = {"form": "list"}
        transcript = Transcript(lift_contents(document, (), reader), origin=reader.origin)
    else:
        transcript = (_lift_request if "contents" in document else _lift_response)(document, reader)
    adopt(transcript.messages, reader)
    return transcript


def _lift_request(document: Native, reader: Reader) -> Transcript:
    native, carried, spelling = reader.take(REQUEST, document)
    origin = reader.origin
    origin.document = {"form": "request", **({"request": spelling} if spelling else {})}
    transcript = Transcript([], origin=origin)
    if native.get("systemInstruction"):
        key = origin.renamed.get("systemInstruction", "systemInstruction")
        transcript.messages.append(lift_system(native["systemInstruction"], (key,), reader))
    transcript.messages += lift_contents(native["contents"], ("contents",), reader)
    transcript.model = _lift_model(native.get("model"), reader)
    transcript.tools = config.lift_tools(native.get("tools"), ("tools",), reader)
    rest: Native = {}
    if native.get("toolConfig"):
        transcript.tool_choice, rest["toolConfig"] = config.lift_choice(native["toolConfig"], reader)
    if native.get("generationConfig"):
        settings, rest["generationConfig"] = config.lift_settings(native["generationConfig"], reader)
        transcript.settings = settings or None
    transcript.extras = extras_of_family(carried, {key: value for key, value in rest.items() if value})
    return transcript


def _lift_model(name: str | None, reader: Reader) -> str | None:
    """The name of the model without the path that leads to it."""
    if name is None:
        return None
    model = read_model(name, reader.flavor)
    config.keep("model", name, write_model(model, reader.flavor), reader)
    return model


def read_model(name: str, flavor: Flavor) -> str:
    bare = name.removeprefix(flavor.models)
    return bare if bare and "/" not in bare else name


def write_model(model: str, flavor: Flavor) -> str:
    return flavor.models + model if model and "/" not in model else model


def _lift_response(document: Native, reader: Reader) -> Transcript:
    native, carried, spelling = reader.take(RESPONSE, document, whole=("candidates",))
    origin = reader.origin
    origin.document = {"form": "response", **({"response": spelling} if spelling else {})}
    candidates = native.get("candidates") or []
    transcript = Transcript([_lift_candidate(item, i, len(candidates), reader) for i, item in enumerate(candidates)])
    transcript.origin = origin
    origin.renamed["model"] = origin.renamed.get("modelVersion", "modelVersion")
    transcript.id = native.get("responseId") or None
    transcript.model = native.get("modelVersion") or None
    transcript.created_at = native.get("createTime") or None
    usage = native.get("usageMetadata")
    if usage and transcript.messages:
        _lift_usage(usage, transcript.messages[0], origin)
    elif usage:
        carried = RESPONSE.ordered({**carried, "usageMetadata": usage})
    transcript.extras = extras_of_family({"response": carried} if carried else {})
    if len(candidates) > 1:
        transcript.head = f"{CHOICE}1"
    return transcript


def _lift_usage(native: Native, message: Message, origin: Origin) -> None:
    usage, rest = config.read_usage(native)
    message.usage = usage or None
    if rest:
        message.extras = extras_of_family(carried_by(message.extras, FAMILY), {"usageMetadata": rest})
    origin.spell(message, {**origin.spellings.get(id(message), {}), "usage": native})


def _lift_candidate(document: Native, index: int, count: int, reader: Reader) -> Message:
    """One answer; several are alternatives: siblings of a tree of which the first is the head."""
    native, carried, spelling = reader.take(CANDIDATE, document)
    content = native.get("content")
    message = lift_whole(content or {}, "assistant", ("candidates", index, "content"), reader)
    origin = reader.origin
    finish = native.get("finishReason")
    if finish:
        message.stop_reason = read_reason(finish, message)
        if write_reason(message.stop_reason, reader.flavor, own=True) != finish:
            carried["finishReason"] = finish
    if native.get("index") is not None and not exact_json.exact(native["index"], index):
        carried["index"] = native["index"]
    odd: Spelling = {} if content else {"content": False}
    if (native.get("index") is not None) != (count > 1):
        odd["index"] = native.get("index") is not None
    if carried:
        message.extras = extras_of_family(carried_by(message.extras, FAMILY), {"candidate": CANDIDATE.ordered(carried)})
    if spelling or odd:
        origin.spell(message, {**origin.spellings.get(id(message), {}), "candidate": {**spelling, **odd}})
    if count > 1:
        message.id = f"{CHOICE}{index + 1}"
        origin.invented.add(message.id)
    return message


def read_reason(finish: str, message: Message) -> str:
    """The stop reason; an answer that calls stopped for its calls, which Google does not say."""
    if finish == "STOP" and any(part.type == "tool_call" for part in message.parts):
        return "tool_calls"
    return "content_filter" if finish in FILTERED else FINISH.get(finish, finish)


def write_reason(stop: str, flavor: Flavor, *, own: bool) -> str:
    """The finish reason; one of another vendor is `OTHER`."""
    if stop in REASON_OF:
        return REASON_OF[stop]
    return stop if own or (stop in REASONS and f"finishReason.{stop}" not in flavor.lacks) else "OTHER"


# ---------------------------------------------------------------- lower


def lower(transcript: Transcript, options: Options, flavor: Flavor) -> Any:
    """A request, or what the source was; a response when the transcript holds only what a model answered."""
    writer = Writer(flavor, transcript)
    form = options.form or transcript.document_spelling(flavor.name).get("form")
    if form is None:
        answered = is_response(transcript) or "response" in carried_by(transcript.extras, FAMILY)
        form = "response" if answered else "request"
    if form == "response":
        return _lower_response(transcript, writer)
    return lower_contents(transcript, writer) if form == "list" else _lower_request(transcript, writer)


def _lower_request(transcript: Transcript, writer: Writer) -> Native:
    document = transcript.document_spelling(writer.flavor.name)
    native: Native = {}
    if transcript.model is not None:
        written = config.kept("model", document, transcript.model, lambda name: read_model(name, writer.flavor))
        native["model"] = write_model(transcript.model, writer.flavor) if written is None else written
    system = lower_system(transcript, writer)
    if system is not None:
        native["systemInstruction"] = system
    native["contents"] = lower_contents(transcript, writer)
    tools = config.lower_tools(transcript, writer)
    if tools or transcript.tools == []:
        native["tools"] = tools
    for key, value in (
        ("toolConfig", config.lower_choice(transcript, writer)),
        ("generationConfig", config.lower_settings(transcript, writer)),
    ):
        if value:
            native[key] = value
    carried = writer.carried(transcript.extras, REQUEST)
    aside = {key: value for key, value in carried.items() if key not in ("toolConfig", "generationConfig")}
    return REQUEST.put(native, aside, document.get("request", {}))


def _lower_response(transcript: Transcript, writer: Writer) -> Native:
    answers = [message for message in transcript.messages if message.role == "assistant"]
    natives = [_lower_candidate(message, i, len(answers), writer) for i, message in enumerate(answers)]
    native: Native = {"candidates": natives}
    counted = (
        message for message in answers if message.usage or _counted(message) or writer.spelling(message).get("usage")
    )
    usage = next(counted, None)
    if usage is not None:
        native["usageMetadata"] = _lower_usage(usage, writer)
    for key, value in (
        ("modelVersion", transcript.model),
        ("createTime", transcript.created_at),
        ("responseId", transcript.id),
    ):
        if value is not None:
            native[key] = value
    spelling = transcript.document_spelling(writer.flavor.name).get("response", {})
    return RESPONSE.put(native, writer.carried(transcript.extras, RESPONSE, "response"), spelling)


def _counted(message: Message) -> Any:
    return carried_by(message.extras, FAMILY).get("usageMetadata")


def _lower_usage(message: Message, writer: Writer) -> Native:
    """The usage, as its source wrote it where that still says the same."""
    rest = writer.carried(message.extras, config.USAGE, "usageMetadata")
    now = message.usage or {}, rest
    written = config.kept("usage", writer.spelling(message), now, config.read_usage)
    return config.write_usage(*now) if written is None else dict(written)


def _lower_candidate(message: Message, index: int, count: int, writer: Writer) -> Native:
    spelling = writer.spelling(message).get("candidate", {})
    native: Native = {}
    if message.parts or spelling.get("content", True):
        native["content"] = lower_whole(message, writer)
    if message.stop_reason is not None:
        native["finishReason"] = write_reason(message.stop_reason, writer.flavor, own=writer.own)
    if spelling.get("index", count > 1):
        native["index"] = index
    carried = writer.carried(message.extras, CANDIDATE, "candidate")
    if f"finishReason.{carried.get('finishReason')}" in writer.flavor.lacks:
        carried = {key: value for key, value in carried.items() if key != "finishReason"}
    return CANDIDATE.put(native, carried, spelling)
