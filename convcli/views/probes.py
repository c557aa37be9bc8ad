"""Measures what dialects can store: a small transcript for each feature, converted like any other.

This module knows no dialect. The outcome of a feature is the loss report of its probe, minus the losses of the same
transcript without the feature.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from convcli.engine import conversion
from convcli.model.dialect import Dialect
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Origin,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.proof.reasons import Loss

FeatureOutcome: TypeAlias = Literal["kept", "encoded", "changed", "lost"]
FEATURE_OUTCOMES: dict[str, FeatureOutcome] = {
    "encoded": "encoded",
    "moved": "changed",
    "invented": "changed",
    "changed": "changed",
    "dropped": "lost",
}
"""The outcome of a feature by kind of loss, worst last."""

PROBE_IDS = frozenset(("call_1", "call_2"))
"""Ids that link calls to results in the probes; they are facts only in the probe of ids."""


class Probe(NamedTuple):
    """A transcript with a feature, and one without it."""

    transcript: Transcript
    without: Transcript


def _talk(*messages: Message, **more: Any) -> Transcript:
    origin = Origin("", generated_ids=set(PROBE_IDS))
    return Transcript([Message("user", [Text("Hi.")]), *messages], origin=origin, **more)


def _answer(*parts: Part, **more: Any) -> Transcript:
    return _talk(Message("assistant", [*parts], **more))


def _asks(*parts: Part, **more: Any) -> Transcript:
    return _talk(Message("assistant", [Text("Yes?")]), Message("user", [Text("Look."), *parts], **more))


def _call(name: str = "call_1", **more: Any) -> ToolCall:
    return ToolCall(name, "look", **({"arguments": {"at": "x"}} | more))


def _result(kind: Any = "text", value: Any = "fine", name: str = "call_1", **more: Any) -> Message:
    return Message("tool", [ToolResult(name, "look", kind, value, **more)])


def _returns(kind: Any, value: Any, **more: Any) -> Transcript:
    return _talk(Message("assistant", [_call()]), _result(kind, value, **more))


def _tools(**more: Any) -> Transcript:
    described = {"description": "Looks.", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}
    return _talk(tools=[ToolDefinition("look", **(described | more))])


def _chooses(choice: Any) -> Transcript:
    tools = _tools().tools or []
    return _talk(tools=[*tools, msgspec.structs.replace(tools[0], name="find")], tool_choice=choice)


def _says(**settings: Any) -> Transcript:
    return _talk(settings=settings)


def _ids() -> Transcript:
    transcript = _talk(Message("assistant", [_call("call_7Q")]), _result(name="call_7Q"))
    transcript.origin = None
    return transcript


def _tree() -> Transcript:
    answers = [
        Message("assistant", [Text(text)], id=name, parent_id="a") for name, text in (("b", "One."), ("c", "Two."))
    ]
    return Transcript([Message("user", [Text("Hi.")], id="a"), *answers], head="c")


PLAIN = _answer(Text("Hello."))
RETURNED = _returns("text", "fine")
ANSWERED = Transcript([Message("assistant", [Text("Hello.")], stop_reason="stop")])
TOOLS = _tools()
BYTES = "AAAA"

PROBES: dict[str, Probe] = {
    "text": Probe(PLAIN, _talk()),
    "system text": Probe(Transcript([Message("system", [Text("Be brief.")]), *PLAIN.messages]), PLAIN),
    "system in the middle": Probe(
        _talk(PLAIN.messages[1], Message("system", [Text("Be brief.")]), PLAIN.messages[0]), PLAIN
    ),
    "developer text": Probe(Transcript([Message("developer", [Text("Be brief.")]), *PLAIN.messages]), PLAIN),
    "several texts": Probe(_answer(Text("Hel"), Text("lo.")), PLAIN),
    "name of a user": Probe(_asks(name="ada"), _asks()),
    "image": Probe(_asks(Media("image", data=BYTES, media_type="image/png")), _asks()),
    "image by URL": Probe(_asks(Media("image", url="https://example.org/a.png")), _asks()),
    "audio": Probe(_asks(Media("audio", data=BYTES, media_type="audio/wav")), _asks()),
    "video": Probe(_asks(Media("video", data=BYTES, media_type="video/mp4")), _asks()),
    "document": Probe(_asks(Media("document", data=BYTES, media_type="application/pdf", name="a.pdf")), _asks()),
    "reasoning": Probe(_answer(Reasoning("Hm."), Text("Hello.")), PLAIN),
    "reasoning summary": Probe(_answer(Reasoning("Hm.", summary=["H"]), Text("Hello.")), PLAIN),
    "signed reasoning": Probe(_answer(Reasoning("Hm.", metadata={"signature": "EqQB"}), Text("Hello.")), PLAIN),
    "encrypted reasoning": Probe(
        _answer(Reasoning("", metadata={"encryptedContent": "gAAA", "itemId": "rs_1"}), Text("Hello.")), PLAIN
    ),
    "thought signature": Probe(
        _talk(Message("assistant", [_call(metadata={"thoughtSignature": "CsQB"})]), _result()), RETURNED
    ),
    "refusal": Probe(_answer(Refusal("No.")), PLAIN),
    "call and result": Probe(RETURNED, PLAIN),
    "text before a call": Probe(_talk(Message("assistant", [Text("I look."), _call()]), _result()), RETURNED),
    "text after a call": Probe(_talk(Message("assistant", [_call(), Text("I look.")]), _result()), RETURNED),
    "parallel calls": Probe(
        _talk(
            Message("assistant", [_call(), _call("call_2", arguments={"at": "y"})]),
            _result(),
            _result(value="good", name="call_2"),
        ),
        RETURNED,
    ),
    "ids of calls": Probe(_ids(), RETURNED),
    "arguments no object": Probe(
        _talk(Message("assistant", [_call(arguments={}, raw_arguments="not JSON")]), _result()), RETURNED
    ),
    "integers above 2^64": Probe(_talk(Message("assistant", [_call(arguments={"at": 2**70})]), _result()), RETURNED),
    "result: object": Probe(_returns("data", {"n": 1}), RETURNED),
    "result: number": Probe(_returns("data", 1), RETURNED),
    "result: error": Probe(_returns("error", "bad"), RETURNED),
    "result: error object": Probe(_returns("data", {"n": 1}, is_error=True), RETURNED),
    "result: image": Probe(
        _returns("multimodal", [Text("See"), Media("image", data=BYTES, media_type="image/png")]), RETURNED
    ),
    "result: status": Probe(_returns("text", "fine", status="cancelled"), RETURNED),
    "open call": Probe(_talk(Message("assistant", [_call()])), RETURNED),
    "tools": Probe(TOOLS, _talk()),
    "tool: strict": Probe(_tools(strict=True), TOOLS),
    "tool: output schema": Probe(_tools(output_schema={"type": "object"}), TOOLS),
    "choice: auto": Probe(_chooses("auto"), _chooses(None)),
    "choice: none": Probe(_chooses("none"), _chooses(None)),
    "choice: required": Probe(_chooses("required"), _chooses(None)),
    "choice: one tool": Probe(_chooses({"name": "look"}), _chooses(None)),
    "choice: several": Probe(_chooses({"names": ["look", "find"]}), _chooses(None)),
    "model": Probe(_talk(model="model-1"), _talk()),
    "temperature, top p": Probe(_says(temperature=0.5, topP=0.9), _talk()),
    "top k": Probe(_says(topK=40), _talk()),
    "maximum of tokens": Probe(_says(maxOutputTokens=100), _talk()),
    "stop words": Probe(_says(stop=["END"]), _talk()),
    "seed": Probe(_says(seed=7), _talk()),
    "penalties": Probe(_says(presencePenalty=0.5, frequencyPenalty=0.5), _talk()),
    "reasoning effort": Probe(_says(reasoningEffort="high"), _talk()),
    "JSON schema of answer": Probe(
        _says(responseFormat={"type": "json_schema", "schema": {"type": "object"}}), _talk()
    ),
    "usage": Probe(
        Transcript([msgspec.structs.replace(ANSWERED.messages[0], usage={"inputTokens": 3, "outputTokens": 5})]),
        ANSWERED,
    ),
    "stop reason": Probe(ANSWERED, Transcript([Message("assistant", [Text("Hello.")])])),
    "model of a message": Probe(_answer(Text("Hello."), model="model-1"), PLAIN),
    "time of a message": Probe(_answer(Text("Hello."), created_at="2026-01-02T03:04:05Z"), PLAIN),
    "branches": Probe(_tree(), PLAIN),
    "rows of a log": Probe(_talk(Message("event", [Opaque("", {"type": "note"})]), PLAIN.messages[1]), PLAIN),
    "title": Probe(_talk(title="A talk"), _talk()),
}  # fmt: skip


EVERY = "every transcript"
"""Losses of any conversation of plain texts, such as message parents; they do not count for the feature `text`."""


class FeatureReport(NamedTuple):
    """The outcome of a feature, and its losses."""

    outcome: FeatureOutcome
    losses: list[Loss]


@lru_cache(maxsize=4_096)
def written(feature: str, target: str) -> FeatureReport:
    """Returns the outcome of a feature when a transcript is written in a dialect."""
    from convcli import dialects

    probe, dialect = PROBES[feature], dialects.get(target)
    return _report(_losses(probe.transcript, dialect), _losses(probe.without, dialect))


def shown() -> list[str]:
    """Returns the dialects of the matrix: those that are written, except streams of answers."""
    from convcli import dialects

    return [each.name for each in dialects.builtin() if each.is_written and "sse" not in each.framings]


def converted(source: Dialect, target: Dialect) -> Iterator[tuple[str, FeatureReport]]:
    """Yields the outcome of each feature that `source` can store when it is converted to `target`."""
    usual = [loss for loss in _losses(_as_document(PLAIN, source), target, source) if loss.level != "content"]
    if usual:
        yield EVERY, _report(usual, [])
    for feature, probe in PROBES.items():
        if source.is_written and written(feature, source.name).outcome not in ("kept", "encoded"):
            continue
        with_feature, without = (_as_document(transcript, source) for transcript in probe)
        yield feature, _report(_losses(with_feature, target, source), usual + _losses(without, target, source))


def _as_document(transcript: Transcript, source: Dialect) -> Transcript:
    """Returns the transcript as read back from a source document; unchanged if the source is read-only."""
    return transcript if not source.is_written else source.lift(source.lower(transcript, conversion.BY_DEFAULT))


def _losses(transcript: Transcript, target: Dialect, source: Dialect | None = None) -> list[Loss]:
    return conversion.lower(transcript, target, source=source).losses


def _report(losses: list[Loss], usual: list[Loss]) -> FeatureReport:
    known = {(loss.kind, loss.field) for loss in usual}
    own = [loss for loss in losses if (loss.kind, loss.field) not in known]
    kinds = [loss.kind for loss in own if loss.kind != "invented" or loss.level == "content"]  # no missing id or name
    worst = max(map(list(FEATURE_OUTCOMES).index, kinds), default=None)
    return FeatureReport("kept" if worst is None else list(FEATURE_OUTCOMES.values())[worst], own)
