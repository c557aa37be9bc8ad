"""Inspect: the samples of an evaluation log (`.json`, `.eval`), and lists of its messages.

Specification: inspect_ai 0.3.285 (EvalLog of versions 2 and 3, EvalSample, ChatMessage); read 2026-11-22.

Quirks
- A log has samples, each a conversation; an archive (`.eval`) has a file for each, or a folder of pieces in version 3
  (`files.chunked`). Data about the whole evaluation belongs to no sample.
- Long strings and images are in `attachments`, referenced by hash (`attachment://`). convcli resolves the references.
- Tools, and token counts and stop reasons of answers, are only in `events` and in the last output.
- The text of a failed call is in `error`; its content is then empty.
- Calls of tools that a service ran itself (`tool_use`), and data, are kept as they are.
- convcli writes messages, not logs: a transcript does not know what was run and how. Other keys of a sample are extras.
  A log that is converted to its own dialect as a whole keeps its header.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.inspect_ai.blocks import BLOCKS, NAME, resolved
from convcli.dialects.inspect_ai.messages import CALL, lift_message, write_message
from convcli.kit import custom, fitting, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, get_extras, make_extras
from convcli.kit.supported import CALLS, TEXTS, fields, media
from convcli.kit.texts import only_text
from convcli.kit.usage import Usage
from convcli.kit.values import paths
from convcli.model.dialect import Convention, Dialect, Options
from convcli.model.transcript import MEDIA_KINDS, Message, ToolChoice, ToolDefinition, ToolResult, Transcript
from convcli.validation.rules import links
from convcli.wire import exact_json

SAMPLE = Envelope(
    "id epoch input target messages= output", {"uuid": "id", "started_at": "created_at", "completed_at": "updated_at"}
)
USAGE: dict[tuple[str, ...], str] = {
    ("input_tokens",): "inputTokens",
    ("output_tokens",): "outputTokens",
    ("total_tokens",): "totalTokens",
    ("input_tokens_cache_read",): "cacheReadTokens",
    ("input_tokens_cache_write",): "cacheWriteTokens",
    ("reasoning_tokens",): "reasoningTokens",
}
FINISH = {"max_tokens": "length", "model_length": "length"}
CHOICES = {"auto": "auto", "none": "none", "any": "required"}
SAMPLE_DEFAULTS: Native = {"id": 1, "epoch": 1, "input": "", "target": ""}
"""Default values of required sample keys that a transcript does not have."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a sample, or of a list of messages."""
    context = LiftContext(NAME, document)
    if isinstance(document, list):
        context.origin.form = "messages"
        for i, native in enumerate(document):
            lift_message(native, (i,), context)
        return context.transcript()
    context.origin.form = "sample"
    attachments = document.get("attachments") or {}
    for i, native in enumerate(document["messages"]):
        lift_message(resolved(native, attachments) if attachments else native, ("messages", i), context)
    transcript = context.transcript()
    transcript.extras = make_extras(NAME, SAMPLE.lift(document, transcript))
    _lift_answers(document, context.messages)
    _lift_tools(document, attachments, transcript)
    return transcript


def _lift_answers(native: Native, messages: list[Message]) -> None:
    """Lifts the outputs recorded for answers, matched by id; the last output also matches an answer without an id."""
    answers = [message for message in messages if message.role == "assistant"]
    known: dict[str | None, Message] = {message.id: message for message in answers if message.id is not None}
    outputs = [event.get("output") for _, event in _model_events(native)]
    last = native.get("output")
    for output in outputs:
        _lift_output(output, known.get(_answer_of(output).get("id")))
    if answers and messages[-1] is answers[-1] and answers[-1].id == _answer_of(last).get("id"):
        _lift_output(last, answers[-1])


def _model_events(native: Native) -> Iterator[tuple[int, Native]]:
    for i, event in enumerate(native.get("events") or ()):
        if isinstance(event, dict) and event.get("event") == "model":
            yield i, event


def _answer_of(output: Any) -> Native:
    """Returns the message of an output, or a placeholder that matches no answer."""
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    answer = first.get("message") if isinstance(first, dict) else None
    return answer if isinstance(answer, dict) and isinstance(answer.get("id"), (str, type(None))) else {"id": ""}


def _lift_output(output: Any, message: Message | None) -> None:
    if message is None:
        return
    reason, counts = output["choices"][0].get("stop_reason"), output.get("usage")
    if isinstance(reason, str) and reason:
        message.stop_reason = FINISH.get(reason, reason)
    if isinstance(counts, dict):
        Usage(USAGE, "total_cost").lift(counts, message)
    if message.model is None and isinstance(output.get("model"), str):
        message.model = output["model"] or None


def _lift_tools(native: Native, attachments: Native, transcript: Transcript) -> None:
    """Lifts tools and tool choice of the last model call that had tools."""
    for i, event in _model_events(native):
        tools = resolved(event.get("tools"), attachments)
        if not isinstance(tools, list) or not tools or not all(map(_is_tool, tools)):
            continue
        transcript.tools = [
            ToolDefinition(tool["name"], tool.get("description") or None, tool.get("parameters")) for tool in tools
        ]
        transcript.tool_choice = _choice(event.get("tool_choice"))
        if transcript.origin is not None:
            transcript.origin.tools = [("events", i, "tools", j) for j in range(len(tools))]


def _is_tool(native: Any) -> bool:
    if not isinstance(native, dict) or not isinstance(native.get("name"), str):
        return False
    return isinstance(native.get("description") or "", str) and isinstance(native.get("parameters") or {}, dict)


def _choice(native: Any) -> ToolChoice | None:
    if isinstance(native, dict) and isinstance(native.get("name"), str):
        return {"name": native["name"]}
    return CHOICES.get(native) if isinstance(native, str) else None


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns the messages, as a list or in a sample."""
    natives = [write_message(message) for message in transcript.messages]
    if options.form != "sample":
        return natives
    extra = get_extras(transcript.extras, NAME)
    return SAMPLE.write(transcript, {**SAMPLE_DEFAULTS, **extra}, messages=natives)


def form_of(transcript: Transcript) -> str:
    """Returns "sample" if the transcript has extras of one, else "messages"."""
    return "sample" if get_extras(transcript.extras, NAME) else "messages"


# ---------------------------------------------------------------- fit


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns kind and value of a result as read back; None if unchanged."""
    if result.kind == "data":
        return ("error" if result.is_error else "text"), exact_json.write_text(result.value)
    if result.kind != "multimodal":
        return None
    if result.is_error:
        return "error", results.in_words(result)
    text = only_text(result.value)
    return None if text is None else ("text", text)


RESULTS = Convention(
    _express,
    {
        "data": ("changed", "an Inspect tool message is text: data is written as JSON"),
        "error": ("changed", "an Inspect error is a string: data is written as JSON"),
        "multimodal": ("changed", "an Inspect error is a string, and content of one text equals that text"),
    },
)
COMMON = (
    fitting.keep_active_conversation,
    sessions.set_models_of_answers,
    fitting.roles({"developer": "system"}),
    results.separate_results,
    results.one_result_each,
    results.apply_convention(RESULTS),
    custom.as_functions,
    fitting.keep_parts_of_roles({"tool_call": ("assistant",)}),
)
FIT = {form: (*COMMON, fitting.settle_by_reading_back(lift, write, form)) for form in ("messages", "sample")}

SUPPORTS = TEXTS | CALLS | BLOCKS.supports() | media(names="data url path mediaType")
SUPPORTS |= fields("message.id message.model tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="Inspect",
    aliases=("inspect", "inspect-log", "eval-log"),
    specification="inspect_ai 0.3.285, logs of versions 2 and 3; read 2026-11-22",
    framings=("document", "records"),
    forms=("messages", "sample"),
    many="samples/*",
    around=fields("version status eval plan results stats error invalidated log_updates reductions location etag"),
    is_collected=False,
    lift=lift,
    write=write,
    fit=FIT,
    form_of=form_of,
    rules=(links.paired(links.PairingRules(where="later")),),
    conventions=(RESULTS,),
    supports={"messages": SUPPORTS, "sample": SUPPORTS | SAMPLE.supports()},
    reasons={
        "message.role": "Inspect has only the roles system, user, assistant and tool",
        "tool_call": "in Inspect only assistant messages have calls",
        "tool_call.rawArguments": "Inspect arguments are an object",
        "model": "Inspect names the model on each answer",
        "message.model": "Inspect names the model on each answer",
        "metadata": "Inspect stores signatures of thoughts, and no other metadata",
        "moved": "in Inspect, calls follow the content",
        **dict.fromkeys(MEDIA_KINDS, "Inspect media are a URL, a path or data of a known format"),
    },
    places=CALL.places
    | SAMPLE.places()
    | paths(
        "tool_result.toolCallId=tool_call_id tool_result.name=function tool_result.value=content "
        "tool_result.kind=content tool_result.isError=error"
    ),
    metadata=fields("events events_data input message_pool output scores transcript"),
    envelope=fields(
        "epoch input target output scores metadata store events attachments model_usage role_usage total_time "
        "working_time uuid error_retries events_data message_pool turn_count transcript id"
    ),
)
