"""PydanticAI: the messages of a run (`ModelMessage`), as `ModelMessagesTypeAdapter` writes them, old and new.

Specification: pydantic_ai 2.68.0 (messages); read 2026-11-22.

Quirks
- A request has prompts and tool returns, each a part with a time of its own: each is a message here. The keys of the
  request itself are kept with the first of them. Consecutive parts are written as one request.
- `instructions` repeat on every request, and those of the last one count. System prompts are parts.
- A tool that asks the model to try again `retried`; older files have a `retry-prompt` for that.
- A tool returns any value, with media objects inside; a string is text.
- A thought names its provider, which owns its signature.
- Older files count `request_tokens` and `response_tokens`, and call the response id `vendor_id`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.pydantic_ai.parts import (
    CONTENT,
    NAME,
    RESPONSE,
    express,
    lift_content,
    lift_return,
    write_content,
    write_return,
)
from convcli.kit import custom, fitting, passes, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys, Native, add_extras, get_extras, make_extras
from convcli.kit.settings import Setting
from convcli.kit.supported import CALLS, TEXTS, fields, media
from convcli.kit.texts import text_of
from convcli.kit.usage import Usage
from convcli.kit.values import pairs, paths, usage_places
from convcli.model.dialect import Convention, Dialect, Options
from convcli.model.transcript import MEDIA_KINDS, Message, Opaque, Part, Path, Text, ToolResult, Transcript
from convcli.validation.rules import arguments, links, turns

FINISH = pairs("stop=stop length=length content_filter=content_filter tool_call=tool_calls error=error")
FINISH_OF = {ours: theirs for theirs, ours in FINISH.items()} | {"refusal": "content_filter"}
USAGE: dict[tuple[str, ...], str] = {
    ("input_tokens",): "inputTokens",
    ("cache_write_tokens",): "cacheWriteTokens",
    ("cache_read_tokens",): "cacheReadTokens",
    ("output_tokens",): "outputTokens",
    ("output_reasoning_tokens",): "reasoningTokens",
    ("total_tokens",): "totalTokens",
}
OLDER: dict[tuple[str, ...], str] = {
    ("request_tokens",): "inputTokens",
    ("response_tokens",): "outputTokens",
    ("total_tokens",): "totalTokens",
}
"""Usage counts by their names in older files."""
REQUEST = Keys("parts= timestamp instructions= kind= run_id conversation_id metadata state")
ANSWER = Envelope(
    "parts= usage= model_name=model model_id timestamp=created_at kind= provider_name=provider "
    "provider_url canonical_system provider_details provider_response_id=id finish_reason run_id "
    "conversation_id metadata state",
    {"finish_reason": Setting("stop_reason", FINISH.get, FINISH_OF.get)},
)
PROMPT = Envelope("content= timestamp=created_at dynamic_ref context_id scope metadata part_kind=")
ROLE_OF_PROMPT = {"system-prompt": "system", "user-prompt": "user"}
DEFAULTS = {"state": "complete"}
"""Default values, which are not kept."""
INSTRUCTIONS = "instructions"


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Reads a list of requests and responses."""
    context = LiftContext(NAME, document)
    requests = ((i, native) for i, native in enumerate(document) if native["kind"] == "request")
    instructions_found = [(i, native[INSTRUCTIONS]) for i, native in requests if native.get(INSTRUCTIONS)]
    if instructions_found:
        at, text = instructions_found[-1]
        message = Message("system", [Text(text)], extras={NAME: {"part_kind": INSTRUCTIONS}})
        context.add(message, (at,), [(INSTRUCTIONS,)])
    for i, native in enumerate(document):
        if native["kind"] == "response":
            _lift_response(native, (i,), context)
        else:
            _lift_request(native, (i,), instructions_found[-1][1] if instructions_found else None, context)
    return context.transcript()


def _lift_request(native: Native, path: Path, instructions: Any, context: LiftContext) -> None:
    extra = {key: value for key, value in (REQUEST.extra(native) or {}).items() if DEFAULTS.get(key) != value}
    if native.get(INSTRUCTIONS) and native[INSTRUCTIONS] != instructions:
        extra[INSTRUCTIONS] = native[INSTRUCTIONS]
    for j, part in enumerate(native["parts"]):
        message, part_paths = _lift_part(part, context)
        if not j:
            add_extras(message, NAME, None, request=extra)
        context.add(message, (*path, "parts", j), part_paths)
    if extra and not native["parts"]:
        sessions.add_event(context, native, path)


def _lift_part(native: Native, context: LiftContext) -> tuple[Message, list[Path]]:
    """Reads a prompt, or a tool return; parts of other kinds become opaque."""
    kind, content = native["part_kind"], native.get("content")
    if kind == "tool-return" or (kind == "retry-prompt" and native.get("tool_name")):
        return Message("tool", [lift_return(native, context)], created_at=native.get("timestamp") or None), [()]
    if kind not in ROLE_OF_PROMPT and (kind != "retry-prompt" or not isinstance(content, str)):
        return Message("user", [Opaque(NAME, native)]), [()]
    message = Message(ROLE_OF_PROMPT.get(kind, "user"), lift_content(content, context))
    extra = {**(PROMPT.lift(native, message) or {}), **({} if kind in ROLE_OF_PROMPT else {"part_kind": kind})}
    message.extras = make_extras(NAME, extra, request=None)
    return message, [("content", k) if isinstance(content, list) else ("content",) for k in range(len(message.parts))]


def _lift_response(native: Native, path: Path, context: LiftContext) -> None:
    older = native.get("vendor_id") if not native.get("provider_response_id") else None
    if older:
        native = {"provider_response_id": older, **{key: native[key] for key in native if key != "vendor_id"}}
        context.origin.routes[(*path, "provider_response_id")] = (*path, "vendor_id")
    message = Message("assistant", [RESPONSE.lift(part, context) for part in native["parts"]])
    extra = ANSWER.lift(native, message) or {}
    counts = native.get("usage") or {}
    table = OLDER if "request_tokens" in counts and "input_tokens" not in counts else USAGE
    rest = {key: value for key, value in Usage(table).lift(counts, message).items() if value != 0}
    extra = {key: value for key, value in extra.items() if DEFAULTS.get(key) != value}
    message.extras = make_extras(NAME, {**extra, **({"usage": rest} if rest else {})})
    context.add(message, path, [("parts", j) for j in range(len(message.parts))])


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Writes requests and responses: messages between two responses are one request, unless there were several."""
    natives: list[Any] = []
    request: Native | None = None
    instructions = ""
    for message in transcript.messages:
        extra = dict(get_extras(message.extras, NAME))
        if extra.get("part_kind") == INSTRUCTIONS:
            instructions = _text(message)
        elif message.role in ("assistant", "event"):
            row = sessions.row_of_event(message, NAME)
            natives.append(_write_response(message, extra) if message.role == "assistant" else row)
            request = None
        else:
            request_keys = extra.pop("request", None)
            if request is None or request_keys is not None:
                request = {"parts": [], "kind": "request", **(request_keys or {})}
                natives.append(request)
            request["parts"] += _write_parts(message, extra)
    if instructions and not any(native["kind"] == "request" for native in natives):
        natives.append({"parts": [], "kind": "request"})
    return [_add_instructions(native, instructions) for native in natives]


def _add_instructions(native: Native, instructions: str) -> Native:
    if native["kind"] == "response":
        return native
    return REQUEST.put({INSTRUCTIONS: instructions, **native} if instructions else native, None, sort=True)


def _text(message: Message) -> str:
    return text_of(message.parts, JOINT)


JOINT = "\n\n"


def _write_parts(message: Message, extra: Native) -> Iterator[Native]:
    """Yields a prompt or a result, and the parts that only PydanticAI has."""
    if message.role == "tool":
        for part in message.parts:
            if isinstance(part, ToolResult):
                stamp = {} if message.created_at is None else {"timestamp": message.created_at}
                yield write_return(part, stamp)
        return
    yield from (part.value for part in message.parts if isinstance(part, Opaque) and _is_part(part))
    parts = [part for part in message.parts if not _is_part(part)]
    if parts or not message.parts:
        kind = extra.pop("part_kind", "system-prompt" if message.role == "system" else "user-prompt")
        content = _text(message) if message.role == "system" else write_content(parts)
        yield PROMPT.write(message, extra, content=content, part_kind=kind)


def _is_part(part: Part) -> bool:
    """True for a request part of an unknown kind."""
    return isinstance(part, Opaque) and part.dialect == NAME and "part_kind" in part.value


def _write_response(message: Message, extra: Native) -> Native:
    parts = [native for part in message.parts if (native := RESPONSE.write(part)) is not None]
    usage = Usage(USAGE).write(message, extra.pop("usage", {}))
    content = {"parts": parts, "kind": "response", **({"usage": usage} if usage else {})}
    return ANSWER.write(message, extra, **content)


# ---------------------------------------------------------------- fit


def _join_system_text(message: Message) -> Message:
    """Joins a system prompt into one text."""
    if message.role != "system" or (len(message.parts) == 1 and isinstance(message.parts[0], Text)):
        return message
    return replace(message, parts=[Text(_text(message))])


RESULTS = Convention(
    express,
    {
        "data": ("changed", "a string that a tool returns is always text"),
        "error": ("changed", "a string that a tool returns is always text"),
        "multimodal": ("changed", "texts without media between them are one text"),
    },
)
FIT = (
    sessions.keep_active_branch,
    sessions.keep_own_events(NAME),
    sessions.set_models_of_answers,
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    results.separate_results,
    results.one_result_each,
    results.apply_convention(RESULTS),
    passes.on_each_message(_join_system_text),
    custom.as_functions,
    fitting.settle_by_reading_back(lift, write, "list"),
)


SUPPORTS = (
    TEXTS
    | CALLS
    | CONTENT.supports()
    | RESPONSE.supports()
    | ANSWER.supports("message")
    | media(names="data url mediaType")
)
SUPPORTS |= fields(
    "message.usage message.cost reasoning.text reasoning.metadata tool_result.name tool_result.isError "
    "tool_result.status"
)

DIALECT = Dialect(
    name=NAME,
    title="PydanticAI",
    aliases=("pydanticai",),
    specification="pydantic_ai 2.68.0; read 2026-11-22",
    framings=("document", "records"),
    forms=("list",),
    lift=lift,
    write=write,
    fit=FIT,
    rules=(links.paired(links.PairingRules(where="later")), arguments.readable(), turns.decodable()),
    conventions=(RESULTS,),
    supports=SUPPORTS,
    reasons={
        "message.role": "PydanticAI has only one role for instructions",
        "message.name": "request parts have no name",
        "message.stopReason": "PydanticAI has the finish reasons stop, length, content_filter, tool_call and error",
        "message.id": "only a response has an id, that of its provider",
        "text": "a system prompt is one text",
        "refusal": "PydanticAI has no refusal part: the refusal is written as text",
        "metadata": "only a thought has a signature",
        "model": "each response names its model",
        "message.model": "each response names its model",
        **dict.fromkeys(MEDIA_KINDS, "media need bytes of a known type, or a URL"),
    },
    places={
        **RESPONSE.places(),
        **ANSWER.places("message"),
        **paths(
            "message.cost=usage/cost tool_result.toolCallId=tool_call_id tool_result.name=tool_name "
            "tool_result.value=content tool_result.kind=content tool_result.isError=outcome tool_result.status=outcome "
            "text.text=content reasoning.text=content extras.request=../.."
        ),
        **usage_places(USAGE, "usage"),
    },
    envelope=fields("request usage part_kind run_id conversation_id state timestamp"),
)
