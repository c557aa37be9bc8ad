"""Streams of OpenAI Chat Completions: chunks with deltas, as SSE or one chunk a line.

Specification: `chat.completion.chunk` in the API reference of Chat Completions, as typed by the Python SDK `openai`
3.51.0; read 2026-11-20.

Quirks
- A choice grows by its `index`, a call by the index inside `tool_calls`; parallel calls may interleave.
- Ids and names come in the first delta of a call; compatible servers send them late, twice, or with index 0 for every
  call: another id together with a name begins another call, unless the one before has no name yet: no call is complete
  without one. A call without an index is whole, or goes on with the last.
- Usage comes in a last chunk without choices, an error in an object of its own, and `[DONE]` ends the stream.
- A stream without an end breaks off: what came is kept, its turn has the stop reason `error`.
- Thinking is streamed as `reasoning_content` (or `reasoning`) by compatible servers, and is written so.
- It holds one answer: the last turn of the assistant, or all choices of a response.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.openai_chat_stream.rules import RULES
from convcli.families.openai import request as common
from convcli.families.openai.calls import kind_in_turn
from convcli.families.openai.messages import REASONING_KEYS, lift_message, write_message
from convcli.families.openai.parts import write_answer_audio
from convcli.families.openai.response import (
    Answers,
    created_in_seconds,
    known_finish,
    lift_response,
    usage_of_response,
    write_response,
)
from convcli.families.openai.tables import PLACES
from convcli.kit import custom, streams
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import is_response, ordered_parts, parts_in_roles, without
from convcli.kit.lacking import PARTS, TOOLS, fields
from convcli.kit.objects import Native, as_object, carried_by, extras_of, omit
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts
from convcli.kit.streams import Growing, Slots, fragments
from convcli.model.dialect import CUSTOM, Clue, Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import (
    Extras,
    Media,
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    Transcript,
)

NAME = "openai-chat-stream"
SIBLING = "openai-chat"
"""The dialect of whole responses, under whose name facts of its own are carried."""
CHUNK = "chat.completion.chunk"
WHOLE = "chat.completion"
DONE = "[DONE]"
FORMER = "former_id"
"""Under what key the id rides that a call had before its name came with another."""
ONCE = frozenset(("id", "type", "name", "role", "index", "finish_reason"))
BODIES = {"function": "arguments", "custom": "input"}
"""The member of a call that holds its name, and the key of the text in it, by the type of the call."""


def detect(document: Any) -> Clue | None:
    """By chunks that say so, or by choices with a delta."""
    if not isinstance(document, Rows):
        return None
    for row in document:
        if isinstance(row, dict):
            choices = row.get("choices")
            if row.get("object") == CHUNK:
                return Clue(95, "chunks of a chat completion")
            if isinstance(choices, list) and any(isinstance(one, dict) and "delta" in one for one in choices):
                return Clue(90, "choices with a delta")
    return None


# ---------------------------------------------------------------- assembling


class _Choice:
    """One choice while its deltas come in."""

    def __init__(self) -> None:
        self.rest, self.message, self.calls = Growing(), Growing(role="assistant"), Slots()
        self.latest = self.end = 0

    def slot(self, call: Native) -> int:
        """Which call a delta belongs to."""
        index, id_ = call.get("index"), call.get("id")
        slot: int = self.latest if index is None else index
        open_: Native = self.calls.get(slot) or {}
        before = open_.get("id")
        is_next = index is None or (_has_name(call) and _has_name(open_))
        if before and id_ and before != id_ and is_next:
            slot = self.end
        self.latest, self.end = slot, max(self.end, slot + 1)
        return slot

    def whole(self) -> Native:
        """The choice as the sibling knows it."""
        message: Native = streams.whole(self.message)
        calls = [_whole_call(streams.whole(self.calls[slot])) for slot in sorted(self.calls)]
        if calls:
            message["tool_calls"] = calls
        if message.get("function_call"):
            message["function_call"]["name"] = message["function_call"].get("name") or ""
        if message.get("audio"):
            message["audio"].setdefault("id", "")
        return {**streams.whole(self.rest), "message": message}


def _has_name(call: Native) -> bool:
    return any((call.get(body) or {}).get("name") for body in BODIES)


def _whole_call(call: Native) -> Native:
    """A call as the sibling knows it: one that broke off before its name has an empty one."""
    kind = call.get("type") or "function"
    body = dict(call.get(kind) or {})
    body["name"] = body.get("name") or ""
    body[BODIES[kind]] = body.get(BODIES[kind]) or ""
    return {**omit(call, "index"), kind: body}


class _Answer:
    """A response while its chunks come in.

    `first` says where each thing was said first, by its path in the response with the index that the chunks give to
    a choice and the slot of a call; `ids` where the id of a call was said last.
    """

    def __init__(self) -> None:
        self.response = Growing()
        self.choices: dict[int, _Choice] = {}
        self.usage: Native | None = None
        self.error: Any = None
        self.is_done = False
        self.first = streams.Sources()
        self.ids: dict[tuple[int, int], Path] = {}

    def take(self, row: Any, at: int) -> None:
        if isinstance(row, str):
            self.is_done = True
            return
        for key, value in row.items():
            if value is not None and key not in ("choices", "usage", "error", "obfuscation"):
                self.response[key] = value
                self.first.setdefault((key,), (at, key))
        if row.get("usage"):
            self.usage, self.first["usage",] = row["usage"], (at, "usage")
        if row.get("error"):
            self.error, self.first["error",] = row["error"], (at, "error")
        for k, choice in enumerate(row.get("choices") or ()):
            self._choice(choice, (at, "choices", k))

    def _choice(self, native: Native, place: Path) -> None:
        index = native.get("index") or 0
        choice = self.choices.setdefault(index, _Choice())
        streams.merge(choice.rest, omit(native, "delta"), ONCE)
        self._say(("choices", index), place, omit(native, "delta"))
        delta = native.get("delta") or {}
        home, place = ("choices", index, "message"), (*place, "delta")
        self.first.setdefault(home, place)
        rest = omit(delta, "role", "tool_calls")
        self._say(home, place, rest)
        streams.merge(choice.message, rest, ONCE)
        for j, call in enumerate(delta.get("tool_calls") or ()):
            slot = choice.slot(call)
            former = choice.calls[slot].get("id") if slot in choice.calls else None
            if former and call.get("id") and former != call["id"]:
                call = {**call, FORMER: former}
                self.first[*home, "tool_calls", slot, FORMER] = self.ids[index, slot]
            if call.get("id"):
                self.ids[index, slot] = (*place, "tool_calls", j, "id")
            self._say((*home, "tool_calls", slot), (*place, "tool_calls", j), call)
            streams.merge(choice.calls.setdefault(slot, Growing()), call, ONCE)

    def _say(self, path: Path, place: Path, said: Native) -> None:
        """What is said at a place, down to the keys of its objects, is part of what has this path."""
        self.first.setdefault(path, place)
        for key, value in said.items():
            if isinstance(value, dict):
                self.first.add((*path, key), (*place, key))
                self._say((*path, key), (*place, key), value)
            elif value:
                self.first.add((*path, key), (*place, key))

    def whole(self) -> Native:
        """The response as the sibling knows it."""
        if self.error is not None and not self.choices:
            self.choices[0] = _Choice()
        native = dict(self.response)
        if native.get("object") == CHUNK:
            native["object"] = WHOLE
        native["choices"] = [self.choices[index].whole() for index in sorted(self.choices)]
        if self.usage:
            native["usage"] = self.usage
        return native

    def routes(self) -> dict[Path, Path]:
        """Where what is in the response was said in the chunks."""
        order = {index: at for at, index in enumerate(sorted(self.choices))}
        slots = {index: {call: at for at, call in enumerate(sorted(self.choices[index].calls))} for index in order}
        routes = {path: place for path, place in self.first.items() if path[0] != "choices"}
        for path, place in self.first.items():
            if path[0] == "choices":
                index, rest = int(path[1]), path[2:]
                if rest[:2] == ("message", "tool_calls"):
                    rest = (*rest[:2], slots[index][int(rest[2])], *rest[3:])
                routes["choices", order[index], *rest] = place
        if "error" in [path[0] for path in routes]:
            routes |= {("choices", i, "message", "error"): routes["error",] for i in range(len(order))}
        return routes


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of the answer that the chunks grow to."""
    answer = _Answer()
    for at, row in enumerate(document):
        answer.take(row, at)
    response = answer.whole()
    context = LiftContext(NAME, response, owner=SIBLING)
    transcript = lift_response(response, context, ANSWERS)
    _lift_end(answer, transcript.messages)
    context.origin.routes, context.origin.pieces = answer.routes(), answer.first.pieces
    return transcript


def _lift_end(answer: _Answer, messages: list[Message]) -> None:
    """A choice that nothing ended broke off; an error is that of the first such choice."""
    broken = [message for message in messages if message.stop_reason is None]
    for message in broken if answer.error is not None or not answer.is_done else ():
        message.stop_reason = "error"
    if answer.error is not None:
        message = (broken or messages)[0]
        rest = dict(answer.error) if isinstance(answer.error, dict) else {"message": answer.error}
        message.error = rest.pop("message") if isinstance(rest.get("message"), str) else None
        if rest:
            message.extras = extras_of(SIBLING, {**carried_by(message.extras, SIBLING), "error": rest})


# ---------------------------------------------------------------- fit


def _answer_of_request(transcript: Transcript) -> Transcript:
    """Of what a request says, an answer has neither the author of a turn nor the keys that ride in extras."""
    if is_response(transcript):
        return transcript
    messages = [
        replace(message, name=None, extras=_only(message.extras, ("annotations", "choice", "usage", "error")))
        for message in transcript.messages
    ]
    return replace(transcript, messages=messages, extras=_only(transcript.extras, ANSWERED))


ANSWERED = ("object", "created", "usage", "service_tier", "system_fingerprint")


def _only(extras: Extras | None, keys: tuple[str, ...]) -> Extras | None:
    carried = carried_by(extras, SIBLING)
    return extras_of(SIBLING, {key: carried[key] for key in keys if key in carried})


def _spoken(part: Part, message: Message) -> Part | None:
    """An answer holds no media but what was said aloud, and no block of an unknown kind but a call, which has an id."""
    if isinstance(part, Media):
        return part if part.type == "audio" and write_answer_audio(part, SIBLING) is not None else None
    if isinstance(part, Opaque):
        return part if part.dialect == SIBLING and isinstance(part.value, dict) and "id" in part.value else None
    return part


def _one_of_each(message: Message) -> Message:
    """A stream has no parts: texts, refusals and thoughts become one each, and an empty one is none."""
    parts: list[Part] = []
    for part in message.parts:
        before = next((one for one in parts if one.type == part.type), None)
        if not isinstance(part, (Text, Refusal, Reasoning)):
            parts.append(part)
        elif isinstance(before, (Text, Refusal, Reasoning)):
            parts[parts.index(before)] = replace(before, text=before.text + part.text, extras=None)
        else:
            parts.append(replace(part, extras=None) if part.extras else part)
    parts = [part for part in parts if not isinstance(part, (Text, Refusal, Reasoning)) or part.text]
    return message if parts == message.parts else replace(message, parts=parts)


def _ended(message: Message) -> Message:
    """Every choice ends with a reason."""
    if message.stop_reason is not None:
        return message
    return replace(message, stop_reason="tool_calls" if any(map(_is_call, message.parts)) else "stop")


def _is_call(part: Part) -> bool:
    return isinstance(part, (ToolCall, Opaque))


def _first_error(messages: list[Message]) -> list[Message]:
    """A stream breaks off once: an error ends it."""
    failed = [message for message in messages if message.error is not None]
    if len(failed) < 2:
        return messages
    return [replace(message, error=None) if message in failed[1:] else message for message in messages]


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Rows:
    """The chunks of the answer."""
    return Rows(list(_chunks(write_response(transcript, ANSWERS), transcript.messages, options.chunk)))


def _write_message(message: Message, dialect: str) -> Native:
    native = write_message(message, dialect)
    native.pop("error", None)  # an error has a row of its own
    return native


ANSWERS = Answers(SIBLING, lift_message, _write_message, common.FINISH, common.FINISH_OF, common.USAGE)


def _chunks(response: Native, messages: list[Message], size: int) -> Iterator[Any]:
    head = omit(response, "choices", "usage")
    if head.get("object") == WHOLE:
        head["object"] = CHUNK
    for choice, message in zip(response["choices"], messages, strict=True):
        rest = omit(choice, "index", "message", "finish_reason")
        for delta in _deltas(choice["message"], size):
            yield _chunk(head, choice, delta, None)
        if message.stop_reason != "error":
            default = "tool_calls" if choice["message"].get("tool_calls") else "stop"
            yield _chunk(head, choice, {}, choice.get("finish_reason") or default, rest)
        elif rest:
            yield _chunk(head, choice, {}, None, rest)
    if not response["choices"] or response.get("usage"):
        yield {**head, "choices": [], **({"usage": response["usage"]} if response.get("usage") else {})}
    yield from _ends(messages)


def _ends(messages: list[Message]) -> Iterator[Any]:
    """An error, or the end mark; a stream that broke off has neither."""
    for message in messages:
        rest = carried_by(message.extras, SIBLING).get("error")
        if message.error is not None or rest:
            said = {} if message.error is None else {"message": message.error}
            yield {"error": {**said, **as_object(rest)}}
            return
    if not any(message.stop_reason == "error" for message in messages):
        yield DONE


def _chunk(head: Native, choice: Native, delta: Native, finish: str | None, rest: Native | None = None) -> Native:
    return {
        **head,
        "choices": [{"index": choice.get("index", 0), "delta": delta, **(rest or {}), "finish_reason": finish}],
    }


def _deltas(message: Native, size: int) -> Iterator[Native]:
    """The deltas of one message: its role, its texts, its calls, and whole what is no text."""
    texts = {key: message[key] for key in REASONING_KEYS if message.get(key)}
    texts["content"] = _text(message.get("content"), "text")
    texts["refusal"] = (message.get("refusal") or "") + _text(message.get("content"), "refusal")
    yield {"role": "assistant", "content": None if message.get("content") is None else ""}
    for key, text in texts.items():
        for piece in fragments(text, size):
            yield {key: piece}
    for index, call in enumerate(message.get("tool_calls") or ()):
        yield from _call_deltas(call, index, size)
    for key, value in message.items():
        if key not in ("role", "tool_calls", *texts) and value is not None:
            yield {key: value}


def _text(content: Any, kind: str) -> str:
    """The text of a content; a stream has no parts, so they become one."""
    if not isinstance(content, list):
        return content or "" if kind == "text" else ""
    return "".join(part.get(kind) or "" for part in content if part.get("type") == kind)


def _call_deltas(call: Native, index: int, size: int) -> Iterator[Native]:
    kind = call.get("type") or "function"
    body = call.get(kind)
    if kind not in BODIES or not isinstance(body, dict):
        yield {"tool_calls": [{"index": index, **call}]}
        return
    key = BODIES[kind]
    text = body.get(key) or ""
    yield {"tool_calls": [{"index": index, **call, kind: {**body, key: ""}}]}
    for piece in fragments(text, size):
        yield {"tool_calls": [{"index": index, kind: {key: piece}}]}


FIT = fused(
    streams.one_answer,
    without("tools", "tool_choice", "settings"),
    _answer_of_request,
    parts_in_roles({"tool_result": ()}),
    on_parts(_spoken, "opaque", *MEDIA),
    custom.calls,
    on_each_message(_one_of_each),
    ordered_parts("reasoning", "text", "refusal", "audio", "tool_call", kind=kind_in_turn),
    on_each_message(_ended),
    known_finish(ANSWERS, kept=("error",)),
    on_messages(_first_error),
    usage_of_response,
    created_in_seconds,
)

LACKS = TOOLS | fields(
    "title cwd updatedAt head metadata reasoning.summary audio.name audio.mediaType audio.detail toolChoice settings "
    "message.id message.parentId message.createdAt message.model message.name"
)

REPEATED = fields(
    "/*/id /*/object /*/created /*/model /*/obfuscation "
    "/*/choices/*/delta/tool_calls/*/index /*/choices/*/delta/tool_calls/*/function/name"
)
"""What every chunk says again."""

DIALECT = Dialect(
    name=NAME,
    family=SIBLING,
    title="streams of OpenAI Chat Completions",
    specification="chat.completion.chunk of the API reference; Python SDK openai 3.51.0; read 2026-11-20",
    framings=("sse", "events"),
    forms=("stream",),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    has=CUSTOM,
    lacks=LACKS,
    repeats=REPEATED,
    rules=RULES,
    reasons={
        **dict.fromkeys(("message", *PARTS, *MEDIA), "a stream holds one answer: the last turn of the assistant"),
        "createdAt": "a stream has whole seconds",
        **dict.fromkeys(("tools", "tool", "toolChoice", "settings"), "a stream holds one answer, not what was asked"),
        "text": "text of one answer is one stream: the boundaries of parts are lost",
        "message.name": "an answer has no name",
        "message.model": "the model is that of the whole stream",
        "message.stopReason": "every choice ends with a finish reason",
        "video": "Chat Completions answers no video",
    },
    places=PLACES,
    envelope=frozenset(("object", "system_fingerprint", "service_tier", "choice", "created", "usage", "logprobs")),
)
