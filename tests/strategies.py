"""Transcripts of any kind: sound conversations, and what a careless program might have written."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import hypothesis
from hypothesis import given, seed
from hypothesis import strategies as st
from msgspec.structs import replace

from convcli.kit import custom
from convcli.kit.values import read_arguments
from convcli.model.transcript import (
    ROLES,
    STOP_REASONS,
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)

WORDS = [
    "hi", "", " ", "Tokyo は晴れ", "42", "null", '{"error": "x"}', '{"a": 1}', "line one\nline two",
    "\u2028", "é", "👩‍👩‍👧",
    "[red]x[/red]", "<b>", "a" * 300, "\x1b[31m", "-", "0.10", "true", "```json\n{}\n```",
]  # fmt: skip
NAMES = ["get_weather", "search", "f", "do.it", "9lives", "name with space", "x" * 70, "tools-x", "検索"]
GRAMMAR = {"type": "grammar", "syntax": "regex", "definition": ".+"}
IDS = ["call_1", "call_2", "toolu_01", "a", "id|with|bars", "x" * 50, "abcdefghi"]

texts = st.sampled_from(WORDS) | st.text(max_size=12)
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3, 3)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
objects = st.dictionaries(texts, values, max_size=3)
names = st.sampled_from(NAMES)
ids = st.sampled_from(IDS) | st.text("abc123_", min_size=1, max_size=6)
extras = st.none() | st.fixed_dictionaries(
    {"a-dialect": st.dictionaries(st.sampled_from(["key", "other"]), values, min_size=1, max_size=2)}
)
metadata = st.none() | st.dictionaries(
    st.sampled_from(["signature", "thoughtSignature", "redactedData", "encryptedContent", "itemId", "unknownKey"]),
    texts,
    min_size=1,
    max_size=2,
)

text_parts = st.builds(Text, texts, metadata, extras)
reasoning_parts = st.builds(Reasoning, texts, st.none() | st.lists(texts, min_size=1, max_size=2), metadata, extras)
refusal_parts = st.builds(Refusal, texts, metadata, extras)
sources = st.one_of(
    st.fixed_dictionaries({"data": st.just("iVBORw0KGgo=")}),
    st.fixed_dictionaries(
        {"url": st.sampled_from(["https://example.com/a.png", "data:text/plain,x", "gs://bucket/a"])}
    ),
    st.fixed_dictionaries({"file_id": ids}),
    st.fixed_dictionaries({"path": st.just("/tmp/a b.png")}),
    st.fixed_dictionaries({"text": texts}),
)


@st.composite
def media_parts(draw: st.DrawFn) -> Media:
    kind: Any = draw(st.sampled_from(["image", "image", "audio", "video", "document"]))
    types = st.none() | st.sampled_from(
        ["image/png", "audio/wav", "audio/mp3", "application/pdf", "text/plain", "video/mp4"]
    )
    return Media(
        kind,
        **draw(sources),
        media_type=draw(types),
        name=draw(st.none() | texts),
        detail=draw(st.none() | st.sampled_from(["low", "high"])),
        metadata=draw(metadata),
        extras=draw(extras),
    )


@st.composite
def calls(draw: st.DrawFn) -> ToolCall:
    raw = draw(st.none() | st.none() | st.none() | st.sampled_from(['{"a":', "[1]", "null", "plain", '{"a":1,"a":2}']))
    arguments = {} if raw is not None else draw(objects)
    if draw(st.integers(0, 9)) == 0:
        return ToolCall(draw(ids), draw(names), {"input": draw(texts)}, None, draw(metadata), draw(extras), custom=True)
    return ToolCall(draw(ids), draw(names), arguments, raw, draw(metadata), draw(extras))


@st.composite
def results(draw: st.DrawFn, call: ToolCall | None = None) -> ToolResult:
    kind: Any = draw(st.sampled_from(["text", "text", "data", "error", "multimodal"]))
    value: Any = draw(
        {"text": texts, "error": texts, "data": values, "multimodal": st.lists(text_parts | media_parts(), max_size=3)}[
            kind
        ]
    )
    is_error: Any = draw(st.sampled_from([None, None, True])) if kind in ("data", "multimodal") else None
    status = draw(st.sampled_from([None, None, None, "cancelled", "running"]))
    id_, name = (call.id, call.name) if call is not None else (draw(ids), draw(names))
    return ToolResult(id_, name, kind, value, is_error, status, draw(metadata), draw(extras))


opaque_parts = st.builds(
    Opaque,
    st.sampled_from(["a-dialect", "openai-chat", "anthropic"]),
    st.fixed_dictionaries({"type": texts}),
    metadata,
    extras,
)
assistant_parts = text_parts | text_parts | reasoning_parts | refusal_parts | calls() | media_parts() | opaque_parts


@st.composite
def messages(draw: st.DrawFn, role: str, parts: Any) -> Message:
    message = Message(role, parts)
    if draw(st.integers(0, 3)) == 0:
        message.name = draw(st.none() | texts)
        message.id = draw(st.none() | ids)
        message.created_at = draw(st.none() | st.just("2026-01-02T03:04:05Z"))
        message.extras = draw(extras)
    if draw(st.integers(0, 19)) == 0:
        message.weight = draw(st.none() | st.sampled_from([0, 1, 0.5]))
        message.label = draw(st.none() | st.sampled_from(["chosen", "rejected"]))
        message.replaces = draw(st.none() | st.just("all") | ids)
        message.parent_call_id = draw(st.none() | ids)
    if role == "assistant" and draw(st.integers(0, 2)) == 0:
        message.model = draw(st.none() | st.just("m-1"))
        message.stop_reason = draw(st.none() | st.sampled_from([*STOP_REASONS, "novel"]))
        message.usage = draw(
            st.none() | st.fixed_dictionaries({"inputTokens": st.integers(0, 99), "outputTokens": st.integers(0, 9)})
        )
        message.error = draw(st.none() | texts)
        message.cost = draw(st.none() | st.sampled_from([0, 0.0125]))
        message.provider = draw(st.none() | st.just("p-1"))
    return message


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    """One exchange: now and then with results out of order, missing, twice, or of no call."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        role = draw(st.sampled_from(ROLES))
        parts = [draw(results())] if role == "tool" else draw(st.lists(assistant_parts, max_size=3))
        return [draw(messages(role, parts))]
    if kind <= 3:
        return [
            draw(
                messages(
                    draw(st.sampled_from(["user", "user", "system", "developer"])),
                    draw(st.lists(text_parts | media_parts(), max_size=2)),
                )
            )
        ]
    answer = draw(messages("assistant", draw(st.lists(assistant_parts, max_size=4))))
    asked = [part for part in answer.parts if isinstance(part, ToolCall)]
    if draw(st.integers(0, 4)) == 0:
        asked = draw(st.permutations(asked))[: draw(st.integers(0, len(asked)))]
    return [answer, *(draw(messages("tool", [draw(results(call))])) for call in asked)]


@st.composite
def definitions(draw: st.DrawFn) -> ToolDefinition:
    schema = {"type": "object", "properties": {"city": {"type": "string", "pattern": "^[A-Z]"}}, "required": ["city"]}
    tool = ToolDefinition(
        draw(names),
        draw(st.none() | texts),
        draw(st.none() | st.just(schema) | st.just({"type": "object", "properties": {}})),
        draw(st.none() | st.booleans()),
        extras=draw(extras),
    )
    if draw(st.integers(0, 4)) == 0:
        tool.title = draw(st.none() | texts)
        tool.output_schema = draw(st.none() | st.just(schema))
        tool.annotations = draw(st.none() | st.fixed_dictionaries({"readOnlyHint": st.booleans()}))
    if draw(st.integers(0, 9)) == 0:
        tool.custom, tool.parameters = (
            draw(st.sampled_from([custom.TEXT, {"type": "grammar", "syntax": "regex", "definition": ".+"}])),
            custom.PARAMETERS,
        )
    return tool


choices = st.sampled_from([None, "auto", "none", "required", {"name": "f"}, {"names": ["f", "search"]}])
settings = (
    st.none()
    | st.dictionaries(st.sampled_from(["temperature", "topP"]), st.just(0.5))
    | st.fixed_dictionaries(
        {
            "maxOutputTokens": st.integers(1, 99),
            "stop": st.just(["END"]),
            "parallelToolCalls": st.booleans(),
            "seed": st.just(7),
            "topK": st.just(3),
        }
    )
)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """A transcript that its schema allows."""
    rows = [message for turn in draw(st.lists(turns(), min_size=1, max_size=4)) for message in turn]
    transcript = Transcript(rows)
    if draw(st.integers(0, 2)) == 0:
        transcript.tools = draw(st.lists(definitions(), max_size=2))
        transcript.tool_choice = draw(choices)
        transcript.settings = draw(settings)
    if draw(st.integers(0, 2)) == 0:
        transcript.model = draw(st.none() | texts)
        transcript.id = draw(st.none() | ids)
        transcript.title = draw(st.none() | texts)
        transcript.created_at = draw(st.none() | st.just("2026-01-02T03:04:05Z"))
        transcript.updated_at = draw(st.none() | st.just("2026-01-02T03:04:06Z"))
        transcript.cwd = draw(st.none() | st.just("/tmp/a b"))
        transcript.extras = draw(extras)
    if draw(st.integers(0, 9)) == 0:
        _plant_tree(draw, transcript)
    return transcript


def with_any_transcript(limits: hypothesis.settings | None = None) -> Callable[[Callable[..., None]], Any]:
    """Like `given(transcript=transcripts())`, for a test with parameters.

    Hypothesis draws the same transcripts for each parameter, and drawing one takes longer than most tests of it. So a
    process draws them once, and each test gets copies. If one breaks the test, hypothesis looks for the smallest.
    """
    limits = limits or hypothesis.settings()

    def decorated(test: Callable[..., None]) -> Any:
        shrink = seed(test.__name__)(limits(given(transcript=transcripts())(test)))

        @wraps(test)
        def held(**parameters: Any) -> None:
            for transcript in drawn(test.__name__, limits.max_examples):
                try:
                    test(**parameters, transcript=copy.deepcopy(transcript))
                except Exception:
                    shrink(**parameters)
                    raise

        signature = inspect.signature(test)
        others = [parameter for name, parameter in signature.parameters.items() if name != "transcript"]
        held.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return held

    return decorated


@cache
def drawn(name: str, count: int) -> list[Transcript]:
    """Returns the transcripts that hypothesis draws for the test of this name."""
    found: list[Transcript] = []

    @seed(name)
    @hypothesis.settings(max_examples=count)
    @given(transcript=transcripts())
    def draw(transcript: Transcript) -> None:
        found.append(transcript)

    draw()
    return found


def in_normal_form(transcript: Transcript) -> Transcript:
    """The same as a lift would give it: what says nothing is absent, and raw arguments are read as well as they can."""
    settings = {name: value for name, value in (transcript.settings or {}).items() if value not in (None, "", [])}
    return replace(
        transcript,
        model=transcript.model or None,
        title=transcript.title or None,
        settings=settings or None,
        tools=transcript.tools and [replace(tool, description=tool.description or None) for tool in transcript.tools],
        messages=[_normal_message(message) for message in transcript.messages],
    )


def _normal_message(message: Message) -> Message:
    parts = [_normal_part(part) for part in message.parts]
    return replace(message, parts=parts, name=message.name or None, error=message.error or None)


def _normal_part(part: Any) -> Any:
    if isinstance(part, ToolCall) and part.raw_arguments is not None:
        return replace(part, arguments=read_arguments(part.raw_arguments)[0])
    if isinstance(part, Media):
        return replace(part, name=part.name or None)
    if isinstance(part, ToolResult) and part.kind == "multimodal":
        return replace(part, value=[_normal_part(inner) for inner in part.value])
    return part


def _plant_tree(draw: st.DrawFn, transcript: Transcript) -> None:
    """Branches: every message gets an id, and a parent among those before it. Some are pairs of preference."""
    for i, message in enumerate(transcript.messages):
        message.id = f"m{i}"
        message.parent_id = f"m{draw(st.integers(0, i - 1))}" if i else None
    head = draw(st.integers(0, len(transcript.messages) - 1))
    transcript.head = f"m{head}"
    if draw(st.booleans()):
        transcript.messages[-1].label = "rejected"
        transcript.messages[head].label = "chosen"
