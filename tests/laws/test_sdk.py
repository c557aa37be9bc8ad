"""The vendors' own Python SDKs judge what convcli writes: their types accept it, their streams put it together again.

Optional: `pytest -m sdk` with the group `sdk` installed; without an SDK its tests are skipped. SDKs are lenient by
default, so their request types are made strict first: no unknown keys, no coercion, lists whose items are looked at.
"""

from __future__ import annotations

import collections.abc
import json
import re
import types
import typing
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise, product
from typing import Any, NamedTuple

import pytest

from convcli import dialects
from convcli.engine import conversion, reading
from convcli.model.branches import active
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Message, Refusal, Text, ToolCall, Transcript
from tests.support import Sample, about, names, samples_of

pydantic = pytest.importorskip("pydantic", reason="every SDK brings it")
te = pytest.importorskip("typing_extensions")
pytestmark = pytest.mark.sdk

ITERABLES = (collections.abc.Iterable, collections.abc.Sequence, list)
UNIONS = (typing.Union, types.UnionType)


# ---------------------------------------------------------------- the types of the SDKs, made strict


def strict(hint: Any) -> Any:
    """A type without its holes.

    A TypedDict takes no unknown keys. Iterables are lists: pydantic would not look at their items. Unions of
    TypedDicts lose the response classes beside them, which take any key.
    """
    origin, inside = te.get_origin(hint), te.get_args(hint)
    if te.is_typeddict(hint):
        return closed(hint)
    if origin in (te.Annotated, te.Required, te.NotRequired):
        return strict(inside[0])
    if origin in UNIONS:
        return typing.Union[tuple(map(strict, requests(inside)))]  # noqa: UP007
    return list[strict(inside[0])] if origin in ITERABLES else hint


@cache
def closed(given: Any) -> Any:
    """The same TypedDict, which takes no other keys and converts nothing."""
    hints = te.get_type_hints(given, include_extras=True)
    twin = te.TypedDict(given.__name__, {key: marked(given, key, hint) for key, hint in hints.items()})
    twin.__pydantic_config__ = {"extra": "forbid", "strict": True}
    return twin


def marked(given: Any, key: str, hint: Any) -> Any:
    """The type of a field, marked as required or not: `__required_keys__` alone knows no marks inside strings."""
    mark = te.get_origin(hint)
    required = mark is te.Required or (mark is not te.NotRequired and key in given.__required_keys__)
    return (te.Required if required else te.NotRequired)[strict(hint)]


def requests(members: tuple[Any, ...]) -> tuple[Any, ...]:
    """Without open files, which are no JSON, and without response classes where there are TypedDicts too."""
    members = tuple(member for member in members if te.get_origin(member) is not typing.IO)
    if not any(te.is_typeddict(member) for member in members):
        return members
    return tuple(member for member in members if not is_response(member))


def is_response(member: Any) -> bool:
    if te.get_origin(member) is te.Annotated or te.get_origin(member) in UNIONS:
        inside = te.get_args(member)
        return all(map(is_response, inside[:1] if te.get_origin(member) is te.Annotated else inside))
    return hasattr(member, "model_fields")


@cache
def judge(module: str, name: str) -> Any:
    """The validator of a type of an SDK; skips the test when it is not there."""
    found = getattr(pytest.importorskip(module), name, None)
    return pydantic.TypeAdapter(strict(found)) if found else pytest.skip(f"{module} of this version has no {name}")


# ---------------------------------------------------------------- what a document says, and the type it has to have

Said = Iterator[tuple[str, Any]]
"""The parts of a document that have a type of their own: its name and the JSON value."""


def each(name: str, values: Any) -> Said:
    return ((name, value) for value in (values if isinstance(values, list) else [values] if values else ()))


def openai_chat(document: dict[str, Any]) -> Said:
    if "choices" in document:
        yield "ChatCompletion", document
    yield from each("ChatCompletionMessageParam", document.get("messages"))
    yield from each("ChatCompletionToolUnionParam", document.get("tools"))


def anthropic(document: dict[str, Any]) -> Said:
    if "content" in document:
        yield "Message", document
    yield from each("MessageParam", document.get("messages"))
    yield from each("ToolUnionParam", document.get("tools"))


def gemini(document: dict[str, Any]) -> Said:
    if "candidates" in document or "promptFeedback" in document:
        yield "GenerateContentResponse", document
    yield from each("Content", document.get("contents"))
    yield from each("Tool", document.get("tools"))


def ollama(document: dict[str, Any]) -> Said:
    if "message" in document:
        yield "ChatResponse", document | {"message": pictured(document["message"])}
    yield from each("Message", [pictured(message) for message in document.get("messages", ())])
    yield from each("Tool", document.get("tools"))


def pictured(message: dict[str, Any]) -> dict[str, Any]:
    """With pictures as the SDK holds them before it sends them as strings."""
    return message | {"images": [{"value": image} for image in message["images"]]} if message.get("images") else message


def mcp(document: dict[str, Any]) -> Said:
    body = document.get("result", document.get("params", document))
    if "content" in body and "role" not in body:
        yield "CallToolResult", body
    elif "content" in body:
        yield "SamplingMessage", {"role": body["role"], "content": body["content"]}
    yield from each("SamplingMessage", body.get("messages"))
    yield from each("Tool", body.get("tools"))


class Vendor(NamedTuple):
    """The SDK of a dialect: where its types are, what a document says to them, and what a bare list is a list of.

    `exact`: its classes can be asked to convert nothing. Google's cannot: they do not read times from JSON then.
    """

    module: str
    says: Callable[[dict[str, Any]], Said]
    list_of: str = "messages"
    exact: bool = True


VENDORS = {
    "openai-chat": Vendor("openai.types.chat", openai_chat),
    "anthropic": Vendor("anthropic.types", anthropic),
    "gemini": Vendor("google.genai.types", gemini, "contents", exact=False),
    "ollama": Vendor("ollama._types", ollama),
    "mcp": Vendor("mcp.types", mcp, "tools"),
}

INCOMPLETE = {"openai-chat-stream/late-name-and-other-calls.sse"}
"""The audio of this stream never says when it expires, which a response has to."""


def objections(sample: Sample, target: Dialect) -> Iterator[str]:
    """What the SDK of the target says against a sample in its dialect, but for what the source is to blame for."""
    source, vendor = dialects.get(sample.dialect), VENDORS[target.name]
    transcript = reading.lift(sample.document, source)
    written = conversion.write(transcript, target, conversion.BY_DEFAULT, source)
    document = {vendor.list_of: written} if isinstance(written, list) else written
    for name, value in vendor.says(document):
        errors = refused(judge(vendor.module, name), value, vendor.exact)
        if not errors:
            continue
        is_incomplete = all(error["type"] == "missing" for error in errors)
        lacking = is_incomplete and conversion.lower(transcript, target, source=source, purpose="request").findings
        is_relative = target.owns(source.family or source.name)
        quoted = is_relative and all(within(sample.document, object_at(value, error["loc"])) for error in errors)
        if not (lacking or quoted or str(sample) in INCOMPLETE):
            yield f"{sample} {name}: {[(error['loc'], error['type']) for error in errors]}"


def refused(judge: Any, value: Any, exact: bool = True) -> list[Any]:
    """The errors that a validator of pydantic finds in a JSON value."""
    try:
        judge.validate_json(json.dumps(value), strict=exact or None)
    except pydantic.ValidationError as error:
        return error.errors(include_url=False, include_input=False)
    return []


def object_at(value: Any, place: tuple[Any, ...]) -> Any:
    """The innermost object on the way to a place; names of types, which pydantic puts between keys, are no step."""
    innermost = value
    for step in place:
        is_step = step in value if isinstance(value, dict) else isinstance(value, list) and isinstance(step, int)
        value = value[step] if is_step else value
        innermost = value if isinstance(value, dict) else innermost
    return innermost


def within(document: Any, value: Any) -> bool:
    """Does this value stand in the document? Its own words are given back to a dialect, keys of the future and all."""
    inside = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    return bool(document == value) or any(within(node, value) for node in inside)


# ---------------------------------------------------------------- the types


@pytest.mark.parametrize("source", names())
@pytest.mark.parametrize("target", VENDORS)
@pytest.mark.filterwarnings("error:.* is not a valid")
def test_the_types_of_the_sdk_accept_what_is_written(target: str, source: str) -> None:
    pytest.importorskip(VENDORS[target].module)
    given = samples_of(source)
    assert [reported for sample in given for reported in objections(sample, dialects.get(target))] == []


TEXT = {"type": "text", "text": "x"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}


@pytest.mark.parametrize(
    ("module", "name", "message", "inner"),
    [
        ("openai.types.chat", "ChatCompletionMessageParam", {"role": "user", "content": [TEXT]}, "content"),
        ("openai.types.chat", "ChatCompletionMessageParam", {"role": "assistant", "tool_calls": [CALL]}, "tool_calls"),
        ("anthropic.types", "MessageParam", {"role": "assistant", "content": [TEXT]}, "content"),
        ("anthropic.types", "MessageParam", {"role": "user", "content": [IMAGE]}, "content"),
    ],
)
def test_a_key_that_the_sdk_does_not_know_is_refused_at_any_depth(
    module: str, name: str, message: dict[str, Any], inner: str
) -> None:
    types_of_it, [block] = judge(module, name), message[inner]
    junk = {"junk": 1}
    deeper = [block | {key: value | junk} for key, value in block.items() if isinstance(value, dict)]
    assert refused(types_of_it, message) == []
    assert refused(types_of_it, message | junk)
    assert all(refused(types_of_it, message | {inner: [changed]}) for changed in [block | junk, *deeper])


# ---------------------------------------------------------------- the streams

Answer = tuple[str, list[tuple[str, Any]]]
"""Its text, and the names and arguments of its calls."""


def put_together_by_openai(events: list[Any]) -> Answer:
    streaming = pytest.importorskip("openai.lib.streaming.chat")
    chunk = pytest.importorskip("openai.types.chat").ChatCompletionChunk
    state = streaming.ChatCompletionStreamState()
    for event in events:
        if event == "[DONE]" or "error" in event:  # the client stops here, or raises
            break
        state.handle_chunk(chunk.construct(**event))
    message = state.current_completion_snapshot.choices[0].message
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()]
    return (message.content or "") + (message.refusal or ""), calls


def put_together_by_anthropic(events: list[Any]) -> Answer:
    accumulate = pytest.importorskip("anthropic.lib.streaming._messages").accumulate_event
    snapshot, pieces = None, {}
    for event in events:
        snapshot = accumulate(event=counted_by_service(event), current_snapshot=snapshot, json_bufs=pieces)
    text = "".join(block.text for block in snapshot.content if block.type == "text")
    return text, [(block.name, block.input) for block in snapshot.content if block.type == "tool_use"]


def counted_by_service(event: dict[str, Any]) -> dict[str, Any]:
    """With the count of tokens, without which the SDK reads no stream and which a source may lack."""
    usage = {"usage": {"input_tokens": 0, "output_tokens": 0}}
    if event["type"] == "message_start":
        return event | {"message": usage | event["message"]}
    return usage | event if event["type"] == "message_delta" else event


def said(message: Message) -> Answer:
    text = "".join(part.text for part in message.parts if isinstance(part, (Text, Refusal)))
    return text, [(part.name, part.arguments) for part in message.parts if isinstance(part, ToolCall)]


def is_one_answer(messages: list[Message]) -> bool:
    """Is there a last answer without alternatives, which both formats can say and both SDKs read?

    Its calls have names that both services take, their arguments are JSON objects, and a refusal follows the text:
    Chat Completions have a key for each. The types of streams have no calls of custom tools.
    """
    answers = [message for message in messages if message.role == "assistant"]
    if not answers or 1 < len(answers) == len(messages):
        return False
    parts = answers[-1].parts
    calls = [part for part in parts if isinstance(part, ToolCall)]
    declined_first = any(isinstance(a, Refusal) and isinstance(b, Text) for a, b in pairwise(parts))
    known = all(re.fullmatch(r"[\w-]+", call.name) and call.raw_arguments is None and not call.custom for call in calls)
    return not declined_first and known


def keep_last_answer(messages: list[Message]) -> Message:
    return [message for message in messages if message.role == "assistant"][-1]


def lacks_indexes(document: Any) -> bool:
    """Compatible servers leave out the indexes of choices, without which the SDK reads no stream."""
    events = [event for event in document if isinstance(event, dict)] if isinstance(document, list) else []
    return any("index" not in choice for event in events for choice in event.get("choices") or ())


@cache
def answered(source: str) -> list[tuple[Sample, Transcript]]:
    """The samples of a dialect that end with one answer, and what they say."""
    by_the_book = (sample for sample in samples_of(source) if not lacks_indexes(sample.document))
    lifted = [(sample, reading.lift(sample.document, dialects.get(source))) for sample in by_the_book]
    return [(sample, transcript) for sample, transcript in lifted if is_one_answer(active(transcript))]


def test_most_dialects_have_such_answers() -> None:
    assert sum(bool(answered(source)) for source in names()) > 0.8 * len(names())


@pytest.mark.parametrize("source", names())
@pytest.mark.parametrize(
    ("target", "put_together"),
    [("openai-chat-stream", put_together_by_openai), ("anthropic-stream", put_together_by_anthropic)],
)
def test_the_sdk_puts_the_last_answer_of_a_stream_together_again(
    target: str, put_together: Callable[[list[Any]], Answer], source: str
) -> None:
    for (sample, transcript), chunk in product(answered(source), (0, 3)):
        with about(sample, f"chunks of {chunk}"):
            options = Options(chunk=chunk)
            written = conversion.write(transcript, dialects.get(target), options, dialects.get(source))
            assert put_together(written) == said(keep_last_answer(active(transcript)))
