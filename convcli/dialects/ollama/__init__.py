"""Ollama's native chat (`/api/chat`): requests, responses and bare message lists.

Specification: api/types.go of the server, August 2026, and the Python package `ollama` 0.6.3; read 2026-11-20.

Quirks
- A message has one text. The texts of a user message are written as several messages, which is the same to the server;
  those of the assistant are joined by a blank line, since the server keeps the calls of the first of two only.
- Arguments are objects. Call ids are optional and unknown to older servers: results name their tool.
- Images are base64 without a type: the type is read from their first bytes. Other media are unsupported.
- There is no tool choice and no strict mode. The server silently ignores unknown keys, so they are not written.
- `options` are settings under llama.cpp's names. A negative `num_predict` means no limit, and is kept as an extra.
- `think` is a boolean or a level; `true` has no level, and is kept as an extra.
- `format` is `"json"` or a JSON Schema.
- An answer with calls ends with the reason `stop`. Durations are in nanoseconds.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.ollama.messages import (
    CALL,
    NAME,
    RESULT,
    as_pictures,
    express,
    lift_message,
    one_text,
    one_thought,
    read_again,
    write_message,
)
from convcli.families.openai import request as common
from convcli.families.openai.calls import AS_TEXT
from convcli.families.openai.tables import OF_CALLS, REASONS
from convcli.kit import fitting
from convcli.kit.contexts import LiftContext, lift_forms
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, on_results, on_tools
from convcli.kit.results import one_result_each, results_behind_calls
from convcli.kit.settings import Setting, Settings, in_snake_case
from convcli.kit.supported import CALLS, TEXTS, TOOLS, counted, fields, lacking, media
from convcli.kit.values import paths, usage_places
from convcli.model.dialect import Convention, Dialect, Options
from convcli.model.transcript import ToolDefinition, Transcript
from convcli.validation.rules import keys, links, models, tools, turns
from convcli.validation.survey import for_outputs

REQUEST = Keys(
    "model= messages= tools= format= options= think= stream= keep_alive truncate shift logprobs= top_logprobs="
)
RESPONSE = Keys(
    "model= remote_model remote_host created_at= message= done= done_reason= total_duration load_duration "
    "prompt_eval_count= prompt_eval_duration eval_count= eval_duration logprobs"
)
THINK: dict[str, Any] = {
    "none": False, "minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "max", "max": "max"
}  # fmt: skip
"""`think` for a reasoning effort: the nearest level."""


def _lift_think(think: Any) -> str | None:
    """Reads a boolean or a known level; anything else becomes an extra."""
    return "none" if think is False else think if isinstance(think, str) and think in THINK.values() else None


def _lift_format(format_: Any) -> Native | None:
    if format_ == "json":
        return {"type": "json"}
    return {"type": "json_schema", "schema": format_} if isinstance(format_, dict) else None


def _write_format(format_: Native) -> Any:
    schema = format_.get("schema")
    if format_.get("type") == "json_schema" and schema and isinstance(schema, dict):
        return schema
    return "json" if format_.get("type") in ("json", "json_schema") else None


OPTIONS = Settings(
    {
        **in_snake_case("temperature top_p top_k"),
        "num_predict": Setting("maxOutputTokens", lambda limit: limit if limit >= 0 else None, lambda limit: limit),
        **in_snake_case("stop seed presence_penalty frequency_penalty"),
    }
)
"""The settings in `options`."""
SETTINGS = Settings(
    {
        "think": Setting("reasoningEffort", _lift_think, THINK.get, partial=True),
        "format": Setting("responseFormat", _lift_format, _write_format, partial=True),
        "stream": "stream",
        **in_snake_case("logprobs top_logprobs"),
    }
)
OPTION_KEYS = Keys(OPTIONS.keys())
COUNTS = {"prompt_eval_count": "inputTokens", "eval_count": "outputTokens"}
FINISH = {reason: reason for reason in ("stop", "length", "load", "unload")}
RESULTS = Convention(
    express, {**AS_TEXT, "multimodal": ("changed", "a tool message has one text, with its images in `images`")}
)


# ---------------------------------------------------------------- document


def _lift_request(native: Native, context: LiftContext) -> Transcript:
    settings, extra = SETTINGS.lift(native)
    options = native.get("options") or {}
    options_settings, carried_options = OPTIONS.lift(options)
    carried_options |= OPTION_KEYS.extra(options) or {}
    extras = {**(REQUEST.extra(native) or {}), **({"options": carried_options} if carried_options else {}), **extra}
    return context.transcript(
        model=native.get("model"),
        tools=common.lift_tools({"tools": native.get("tools")}, context),
        settings={**options_settings, **settings} or None,
        extras=make_extras(NAME, extras),
    )


def _lift_response(native: Native, context: LiftContext) -> Transcript:
    context.origin.form = "response"
    message, part_paths = lift_message(native["message"], context)
    context.add(message, ("message",), part_paths)
    message.stop_reason = native.get("done_reason") or None
    message.usage = {ours: native[key] for key, ours in COUNTS.items() if native.get(key) is not None} or None
    extra = {**(RESPONSE.extra(native) or {}), **({"done": False} if native.get("done") is False else {})}
    return context.transcript(
        model=native.get("model"), created_at=native.get("created_at") or None, extras=make_extras(NAME, extra)
    )


lift = lift_forms(NAME, lift_message, _lift_request, _lift_response)


# ---------------------------------------------------------------- fit


def _drop_strict(tool: ToolDefinition) -> ToolDefinition:
    return tool if tool.strict is None else replace(tool, strict=None)


TURNS = (
    one_result_each,
    on_results(read_again),
    fitting.keep_parts_of_roles({"tool_call": ("assistant",), "reasoning": ("assistant",), "opaque": ()}),
    on_parts(as_pictures, "refusal", *MEDIA),
    on_messages(one_text),
    on_each_message(one_thought),
    fitting.sort_parts("reasoning", "text", "image", "tool_call", of=("system", "user", "assistant")),
)
MESSAGES = fused(
    fitting.add_parameters(),
    fitting.keep_active_conversation,
    results_behind_calls,
    fitting.roles({"developer": "system"}),
    *TURNS,
    fitting.keep_functions(NAME),
    on_tools(_drop_strict),
    lambda transcript: OPTIONS.fits(transcript, SETTINGS),
)
ANSWER = fused(
    fitting.keep_last_answer,
    fitting.keep_parts_of_roles({"tool_result": ()}),
    *TURNS,
    fitting.keep_known_finish({}, FINISH, "stop"),
)
FIT = {"request": MESSAGES, "list": MESSAGES, "response": ANSWER}


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Writes a request, a response or a message list."""
    if options.form == "response":
        return _write_response(transcript)
    messages = [write_message(message) for message in transcript.messages]
    return messages if options.form == "list" else _write_request(transcript, messages)


def _write_request(transcript: Transcript, messages: list[Native]) -> Native:
    extra = dict(get_extras(transcript.extras, NAME))
    settings = transcript.settings or {}
    carried_options = extra.pop("options", {})
    options = OPTION_KEYS.put(OPTIONS.write(settings, carried_options), OPTIONS.rest(carried_options))
    native = {
        "model": transcript.model,
        "messages": messages,
        **common.write_tools(transcript, NAME),
        **SETTINGS.write(settings, extra),
        "options": options or None,
    }
    return REQUEST.write(native, SETTINGS.rest(extra))


def _write_response(transcript: Transcript) -> Native:
    message = transcript.messages[0]
    native = {
        "model": transcript.model,
        "created_at": transcript.created_at,
        "message": write_message(message),
        "done": True,
        "done_reason": message.stop_reason,
        **{key: (message.usage or {}).get(ours) for key, ours in COUNTS.items()},
    }
    return RESPONSE.write(native, get_extras(transcript.extras, NAME))


RULES = (
    models.of("Mistral", "Cohere"),
    keys.complete("model"),
    for_outputs(turns.some_message()),
    turns.decodable(),
    links.paired(links.PairingRules(where="later", severity="warning", missing=None)),
    tools.unique("warning"),
    tools.schemas(tools.SchemaDemands(bare=True)),
)

SUPPORTS = TEXTS | CALLS | media("image", "data mediaType") | fields("reasoning.text tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="Ollama",
    specification="api/types.go of the server, August 2026; Python package ollama 0.6.3; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=fitting.response_if_answered(single=True),
    rules=RULES,
    conventions=(RESULTS,),
    supports={
        "request": SUPPORTS | TOOLS | SETTINGS.supports() | OPTIONS.supports() | {"model"},
        "list": SUPPORTS,
        "response": lacking(SUPPORTS, "tool_result") | counted(COUNTS) | fields("model createdAt message.stopReason"),
    },
    repeats=frozenset(("/messages/*/tool_calls/*/function/index", "/message/tool_calls/*/function/index")),
    reasons={
        **REASONS,
        "message.role": "Ollama has no developer role: it becomes a system message",
        "message.createdAt": "only a response has a time",
        "message.model": "only a request and a response name a model",
        "message.usage": "only a response has token counts, of the prompt and the answer",
        "message.stopReason": "only a response has a finish reason: stop or length",
        "text": "an Ollama message has one text: several assistant texts are joined by a blank line",
        "reasoning": "an Ollama message has one `thinking`: several are joined by a blank line",
        "refusal": "Ollama has no refusal field: the refusal is written as text",
        "metadata": "Ollama cannot use provider metadata",
        "image": "Ollama supports images only as base64",
        "image.mediaType": "Ollama images have no media type: it is read from their first bytes",
        **dict.fromkeys(("audio", "video", "document"), "Ollama supports no media but images"),
        "settings.reasoningEffort": "Ollama has other thinking levels",
        "settings.responseFormat": "Ollama supports JSON mode or the bare schema only",
        "toolChoice": "Ollama has no tool choice",
        "tool.strict": "Ollama has no strict mode",
        "tool.parameters": "Ollama reads `parameters`: an empty object schema is written",
        "tool_call.rawArguments": "arguments must be an object",
    },
    places={
        **OF_CALLS,
        **CALL.places,
        "message.stopReason": ("..", "done_reason"),
        **usage_places(COUNTS, ".."),
        **OPTIONS.places("options"),
        **SETTINGS.places(),
        **RESULT.places("tool_result"),
        **paths("tool_result.value=content tool_result.kind=content createdAt=created_at"),
    },
    envelope=fields(
        "total_duration load_duration prompt_eval_duration eval_duration logprobs done remote_model remote_host "
        "function"
    ),
)
