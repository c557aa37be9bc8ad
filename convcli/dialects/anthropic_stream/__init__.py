"""Anthropic Messages streams: events that begin, grow and end the blocks of one message.

Specification: `RawMessageStreamEvent` in the Messages API reference, as typed by the Python SDK `anthropic` 2.10.0;
read 2026-11-20.

Quirks
- A block grows by its `index`. The input of a tool comes as pieces of JSON, and may break off in the middle.
- The stop reason and the last token counts come in `message_delta`; counts are totals, not differences.
- `ping` may come anywhere. Events of unknown kinds are kept with the message, deltas of unknown kinds with their block.
- An `error` event ends the stream. A stream without `message_stop` broke off: its stop reason is `error`.
- convcli writes one answer: the last assistant message. It omits thinking that Anthropic did not sign, as in requests:
  a client would send it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.anthropic_stream.answer import Answer
from convcli.dialects.anthropic_stream.rules import RULES
from convcli.families.anthropic import policy
from convcli.families.anthropic.blocks import REASONS, Blocks, usual_blocks
from convcli.families.anthropic.response import ENVELOPE, PLACES, lift_response, responses, write_response
from convcli.families.anthropic.usage import USAGE
from convcli.kit import streams
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import without
from convcli.kit.objects import Native, add_extras, as_object, drop_extras, get_extras, omit
from convcli.kit.passes import fused, on_each_message, on_parts
from convcli.kit.streams import fragments
from convcli.kit.supported import SENT, TEXTS, counted, fields, lacking
from convcli.kit.values import write_arguments
from convcli.model.dialect import Dialect, Options, Pass
from convcli.model.document import Rows
from convcli.model.transcript import MEDIA_KINDS, Message, Origin, Part, ToolCall, Transcript

NAME, SIBLING = "anthropic-stream", "anthropic"
BLOCKS = Blocks(SIBLING, *usual_blocks(SIBLING))
RESPONSES = responses(BLOCKS)

FAILURE = "api_error"
"""The type of an error that has none."""


def _mark(event: Any) -> streams.Limits:
    """Returns the limits of messages: `message_start` begins one, `message_stop` or an error ends it."""
    kind = event.get("type") if isinstance(event, dict) else None
    begun = as_object(event.get("message")) if kind == "message_start" else {}
    return streams.Limits(kind == "message_start", kind in ("message_stop", "error"), begun.get("id"))


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of the answer in the events."""
    answer = Answer()
    for at, event in enumerate(document):
        answer.take(event, at)
    context = LiftContext(NAME, document, owner=SIBLING)
    transcript = lift_response(answer.whole(), context, RESPONSES)
    context.origin.form, context.origin.routes = "", answer.places()
    context.origin.pieces = answer.pieces()
    _lift_raw(answer, transcript.messages, context.origin)
    _lift_end(answer, transcript.messages[0])
    return transcript


def _lift_raw(answer: Answer, messages: list[Message], origin: Origin) -> None:
    """Sets the raw arguments of calls whose streamed input was not a JSON object."""
    raw = answer.raw()
    for message, (_, part_paths) in zip(messages, origin.places, strict=True):
        for part, node_path in zip(message.parts, part_paths or (), strict=False):
            if isinstance(part, ToolCall):
                part.raw_arguments = raw[int(node_path[1])]


def _lift_end(answer: Answer, message: Message) -> None:
    """Marks a message that did not end as failed."""
    if message.stop_reason is None and (answer.error is not None or not answer.is_done):
        message.stop_reason = "error"
    if answer.error is not None:
        rest = dict(answer.error)
        message.error = rest.pop("message", None)
        if rest.get("type") == FAILURE:
            del rest["type"]
        add_extras(message, SIBLING, None, error=rest)


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Rows:
    """Returns the events of the answer."""
    message = transcript.messages[0] if transcript.messages else Message("assistant", [])
    return Rows(list(_events(write_response(transcript, RESPONSES), message, options.chunk)))


def _events(response: Native, message: Message, size: int) -> Iterator[Native]:
    response.pop("error", None)
    other_events, request = response.pop(policy.OTHER_EVENTS, None), response.pop("request_id", None)
    usage = response.get("usage") or {}
    broken = message.stop_reason == "error"
    yield {"type": "message_start", "message": _start(response, usage, {} if broken else {"output_tokens": 0})}
    yield from other_events if isinstance(other_events, list) else ()
    raw = iter([part.raw_arguments for part in message.parts if isinstance(part, ToolCall)])
    for index, block in enumerate(response["content"]):
        yield from _block_events(block, next(raw, None) if block["type"] == "tool_use" else None, index, size)
    if not broken:
        yield _end(response, usage)
    error = _error(message)
    if error or request is not None:
        yield {"type": "error", "error": error, **({} if request is None else {"request_id": request})}
    elif not broken:
        yield {"type": "message_stop"}


def _error(message: Message) -> Native:
    """Returns the error of an error event; empty if the message did not fail."""
    extra = get_extras(message.extras, SIBLING).get("error")
    if message.error is None and not extra:
        return {}
    error_message = {} if message.error is None else {"message": message.error}
    return {"type": FAILURE, **as_object(extra), **error_message}


LATE = ("stop_reason", "stop_sequence", "stop_details", "container")
"""Keys whose values are known only when the message ends."""
LATE_COUNTS = ("output_tokens", "output_tokens_details")


def _start(response: Native, usage: Native, so_far: Native) -> Native:
    """Returns the message as it begins: empty, without the keys of its end, and with the counts of `so_far`."""
    native = omit(response, *LATE, "usage")
    late = LATE_COUNTS if so_far else ()
    counts = {key: so_far.get(key, usage[key]) for key in usage if key in so_far or key not in late}
    native |= {"content": [], "stop_reason": None, "stop_sequence": None}
    return {**native, "usage": counts} if counts else native


def _end(response: Native, usage: Native) -> Native:
    delta = {"stop_reason": response["stop_reason"], "stop_sequence": None}
    delta |= {key: response[key] for key in LATE[1:] if response.get(key) is not None}
    native = {"type": "message_delta", "delta": delta}
    counts = {key: usage[key] for key in LATE_COUNTS if key in usage}
    return {**native, "usage": counts} if counts else native


def _block_events(block: Native, raw: str | None, index: int, size: int) -> Iterator[Native]:
    """Yields the events of a block: it begins empty, grows and ends. A kind that does not grow begins whole."""
    begin, deltas = SPLITTERS.get(block["type"], _keep_whole)(block, raw, size)
    yield {"type": "content_block_start", "index": index, "content_block": begin}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _split_text(block: Native, _: str | None, size: int) -> tuple[Native, list[Native]]:
    begin = {**omit(block, "citations"), "text": ""}
    deltas: list[Native] = [{"type": "text_delta", "text": piece} for piece in fragments(block["text"], size)]
    return begin, deltas + [{"type": "citations_delta", "citation": one} for one in block.get("citations") or ()]


def _split_thinking(block: Native, _: str | None, size: int) -> tuple[Native, list[Native]]:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in fragments(block["thinking"], size)]
    if block.get("signature"):
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    return {**block, "thinking": "", "signature": ""}, deltas


def _split_input(block: Native, raw: str | None, size: int) -> tuple[Native, list[Native]]:
    if not isinstance(block.get("input"), dict):
        return _keep_whole(block, raw, size)
    text = write_arguments(block["input"], raw) if block["input"] or raw is not None else ""
    pieces: list[Native] = [{"type": "input_json_delta", "partial_json": piece} for piece in fragments(text, size)]
    return {**block, "input": {}}, pieces


def _keep_whole(block: Native, _: str | None, __: int) -> tuple[Native, list[Native]]:
    return block, []


SPLITTERS = {
    "text": _split_text,
    "thinking": _split_thinking,
    "tool_use": _split_input,
    "server_tool_use": _split_input,
}
"""Splitters by kind of block: how it begins, and the deltas by which it grows."""


# ---------------------------------------------------------------- fit


def one_answer(transcript: Transcript) -> Transcript:
    """Keeps one assistant message: the last one, or the first of several alternatives."""
    answers = streams.answers(transcript)[:1]
    return replace(transcript, messages=answers or [Message("assistant", [])], head=None)


def _set_stop_reason(message: Message) -> Message:
    """Sets a missing stop reason."""
    if message.stop_reason is not None:
        return message
    called = any(isinstance(part, ToolCall) for part in message.parts)
    return replace(message, stop_reason="tool_calls" if called else "stop")


def _drop_request_marks(part: Part, _: Message) -> Part:
    """Drops cache marks, which only requests have, and the raw arguments of an empty input."""
    if isinstance(part, ToolCall) and part.raw_arguments == "" and not part.arguments:
        part = replace(part, raw_arguments=None)
    return drop_extras(part, SIBLING, "cache_control")


FIT: tuple[Pass, ...] = (
    one_answer,
    *policy.pair_turns(),
    *policy.keep_supported_parts(BLOCKS),
    on_parts(_drop_request_marks),
    policy.keep_supported_finish(("error",)),
    on_each_message(_set_stop_reason),
    policy.drop_empty_model,
    without("message.id", "message.model", "tools", "tool_choice", "settings", "extras"),
)

REPEATS = fields(
    "/*/index /*/content_block/signature /*/message/usage/output_tokens /*/message/usage/input_tokens "
    "/*/usage/input_tokens"
)
"""Repeated values: an index is the order of the blocks, counts are totals, and cached tokens are added to the input."""


SUPPORTS = TEXTS | lacking(BLOCKS.supports(), SENT) | counted(USAGE)
SUPPORTS |= fields("id model message.stopReason message.error")

DIALECT = Dialect(
    name=NAME,
    family=SIBLING,
    title="Anthropic Messages streams",
    specification="RawMessageStreamEvent of the Messages API; Python SDK anthropic 2.10.0; read 2026-11-20",
    framings=("sse", "events", "document"),
    names_events=True,
    other_events=policy.OTHER_EVENTS,
    forms=("stream",),
    lift=lift,
    write=write,
    fit=fused(*FIT),
    supports=SUPPORTS,
    repeats=REPEATS,
    answer_boundaries=lambda: streams.Boundaries(_mark),
    rules=RULES,
    reasons={
        **dict.fromkeys(streams.OTHER_MESSAGES, "an Anthropic stream has one answer: the last assistant message"),
        **dict.fromkeys(streams.OF_REQUEST, "an Anthropic stream has one answer, not the request"),
        **{field: REASONS[field] for field in ("reasoning.summary", "refusal", "text")},
        "reasoning": "Anthropic accepts only thinking that it signed",
        **dict.fromkeys(MEDIA_KINDS, "an Anthropic answer has no media"),
        "message.id": "an Anthropic stream has one id",
        "message.model": "an Anthropic stream has one model",
        "message.name": "an Anthropic answer has no name",
        "message.stopReason": "an Anthropic stream ends with one of Anthropic's stop reasons",
        "title": "an Anthropic answer has no title",
        "createdAt": "an Anthropic answer has no time",
    },
    places={**BLOCKS.places(), **PLACES},
    envelope=ENVELOPE,
)
