"""OpenAI Chat Completions streams: chunks with deltas, as SSE or one chunk per line.

Specification: `chat.completion.chunk` in the API reference of Chat Completions, as typed by the Python SDK `openai`
3.51.0; read 2026-11-20.

Quirks
- A choice grows by its `index`, a call by the index inside `tool_calls`; parallel calls may interleave.
- The first delta of a call has its id and name. Compatible servers send them late, twice, or with index 0 for every
  call. Another id together with a name begins another call, unless the previous one has no name yet: no call is
  complete without one. A call without an index is whole, or continues the last one.
- Usage comes in a last chunk without choices, an error in an object of its own, and `[DONE]` ends the stream.
- A stream without an end was cut off: what arrived is kept, and its turn has the stop reason `error`.
- A key that comes again with another value keeps the earlier values under `former`. Padding is no fact.
- Mistral streams thinking as blocks in a list of contents. It is read as `reasoning_content`.
- Compatible servers stream thinking as `reasoning_content` (or `reasoning`); it is written the same way.
- A stream has one answer: the last assistant turn, or all choices of a response.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.openai_chat_stream.assembling import SIBLING, Answer, ChunkBoundaries
from convcli.dialects.openai_chat_stream.rules import RULES
from convcli.dialects.openai_chat_stream.writing import chunks
from convcli.families.openai import request as common
from convcli.families.openai import tables
from convcli.families.openai.messages import lift_message, write_message
from convcli.families.openai.parts import write_answer_audio
from convcli.families.openai.response import (
    Answers,
    created_in_seconds,
    keep_known_finish,
    lift_response,
    usage_of_response,
    write_response,
)
from convcli.families.openai.tables import PLACES
from convcli.kit import custom, streams
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import is_response, keep_parts_of_roles, sort_parts, without
from convcli.kit.objects import Native, add_extras, get_extras, make_extras
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts
from convcli.kit.supported import SENT, fields, lacking
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import (
    Extras,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    Transcript,
)

NAME = "openai-chat-stream"


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Reads the response that the chunks add up to."""
    answer = Answer()
    for at, row in enumerate(document):
        answer.take(row, at)
    response = answer.whole()
    context = LiftContext(NAME, response, owner=SIBLING)
    transcript = lift_response(response, context, ANSWERS)
    _lift_end(answer, transcript.messages)
    context.origin.routes, context.origin.pieces = answer.routes(), answer.first.pieces
    return transcript


def _lift_end(answer: Answer, messages: list[Message]) -> None:
    """Marks choices without an end as failed; an error belongs to the first of them."""
    broken = [message for message in messages if message.stop_reason is None]
    for message in broken if answer.error is not None or not answer.is_done else ():
        message.stop_reason = "error"
    if answer.error is not None:
        message = (broken or messages)[0]
        rest = dict(answer.error)
        message.error = rest.pop("message") if isinstance(rest.get("message"), str) else None
        if rest:
            add_extras(message, SIBLING, None, error=rest)


# ---------------------------------------------------------------- fit


def _drop_request_keys(transcript: Transcript) -> Transcript:
    """Drops what an answer to a request lacks: the author of a turn, and the keys kept as extras."""
    if is_response(transcript):
        return transcript
    messages = [
        replace(message, name=None, extras=_keep_keys(message.extras, ("annotations", "choice", "usage", "error")))
        for message in transcript.messages
    ]
    return replace(transcript, messages=messages, extras=_keep_keys(transcript.extras, ANSWERED))


ANSWERED = ("object", "created", "usage", "service_tier", "system_fingerprint")


def _keep_keys(extras: Extras | None, keys: tuple[str, ...]) -> Extras | None:
    extra = get_extras(extras, SIBLING)
    return make_extras(SIBLING, {key: extra[key] for key in keys if key in extra})


def _keep_answer_parts(part: Part, message: Message) -> Part | None:
    """Drops media other than audio answers, and unknown blocks: a delta has only calls of functions and tools."""
    if isinstance(part, Media):
        return part if part.type == "audio" and write_answer_audio(part, SIBLING) is not None else None
    return None if isinstance(part, Opaque) else part


def _join_same_parts(message: Message) -> Message:
    """Joins texts, refusals and thoughts into one each, since a stream has no parts; drops empty ones."""
    parts: list[Part] = []
    for part in message.parts:
        same_type = next((item for item in parts if item.type == part.type), None)
        if not isinstance(part, (Text, Refusal, Reasoning)):
            parts.append(part)
        elif isinstance(same_type, (Text, Refusal, Reasoning)):
            parts[parts.index(same_type)] = replace(same_type, text=same_type.text + part.text, extras=None)
        else:
            parts.append(replace(part, extras=None) if part.extras else part)
    parts = [part for part in parts if not isinstance(part, (Text, Refusal, Reasoning)) or part.text]
    return message if parts == message.parts else replace(message, parts=parts)


def _add_finish_reason(message: Message) -> Message:
    """Adds a finish reason to a choice without one."""
    if message.stop_reason is not None:
        return message
    has_calls = any(isinstance(part, ToolCall) for part in message.parts)
    return replace(message, stop_reason="tool_calls" if has_calls else "stop")


def _keep_first_error(messages: list[Message]) -> list[Message]:
    """Keeps the first error only: it ends the stream."""
    failed = [message for message in messages if message.error is not None]
    if len(failed) < 2:
        return messages
    return [replace(message, error=None) if message in failed[1:] else message for message in messages]


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Rows:
    """Writes the chunks of the answer."""
    return Rows(list(chunks(write_response(transcript, ANSWERS), transcript.messages, options.chunk)))


def _write_message(message: Message, dialect: str) -> Native:
    native = write_message(message, dialect)
    native.pop("error", None)  # an error has a row of its own
    return native


ANSWERS = Answers(SIBLING, lift_message, _write_message, common.FINISH, common.FINISH_OF, common.USAGE)


FIT = fused(
    streams.one_answer,
    without("tools", "tool_choice", "settings"),
    _drop_request_keys,
    keep_parts_of_roles({"tool_result": ()}),
    on_parts(_keep_answer_parts, "opaque", *MEDIA),
    custom.calls,
    on_each_message(_join_same_parts),
    sort_parts("reasoning", "text", "refusal", "audio", "tool_call"),
    on_each_message(_add_finish_reason),
    keep_known_finish(ANSWERS, kept=("error",)),
    on_messages(_keep_first_error),
    usage_of_response,
    created_in_seconds,
)


REPEATED = fields(
    "/*/id /*/object /*/created /*/model /*/obfuscation /*/p "
    "/*/choices/*/delta/tool_calls/*/index /*/choices/*/delta/tool_calls/*/function/name"
)
"""What every chunk repeats."""

SUPPORTS = lacking(tables.COMMON, f"opaque {SENT}") | tables.OF_ANSWERS | tables.ANSWERED
SUPPORTS |= fields("message.error tool_call.custom")

DIALECT = Dialect(
    name=NAME,
    family=SIBLING,
    title="OpenAI Chat Completions streams",
    specification="chat.completion.chunk of the API reference; Python SDK openai 3.51.0; read 2026-11-20",
    framings=("sse", "events", "document"),
    forms=("stream",),
    lift=lift,
    fit=FIT,
    write=write,
    supports=SUPPORTS,
    repeats=REPEATED,
    answer_boundaries=ChunkBoundaries,
    rules=RULES,
    reasons={
        **dict.fromkeys((*streams.OTHER_MESSAGES, *MEDIA), "a stream has one answer: the last assistant turn"),
        "createdAt": "a stream has times in whole seconds",
        **dict.fromkeys(streams.OF_REQUEST, "a stream has the answer, not the request"),
        "text": "the text of an answer is one stream: part boundaries are lost",
        "message.name": "a streamed answer has no name",
        "message.model": "only the whole stream names a model",
        "message.stopReason": "every choice ends with a finish reason",
        "video": "Chat Completions does not answer with video",
    },
    places=PLACES,
    envelope=frozenset(("object", "system_fingerprint", "service_tier", "choice", "created", "usage", "logprobs")),
)
