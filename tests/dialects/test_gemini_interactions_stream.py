"""Streams of Google's Interactions API: how events become one interaction, and how one is cut into events."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.gemini_interactions_stream import DIALECT
from convcli.engine import pipeline
from convcli.engine.detection import detect
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript

WHOLE = dialects.get("gemini-interactions")
CREATED = {"event_type": "interaction.created", "interaction": {"id": "v1", "status": "in_progress"}}
COMPLETED = {"event_type": "interaction.completed", "interaction": {"id": "v1", "status": "completed"}}


def start(index: int, kind: str, **keys: Any) -> Any:
    return {"event_type": "step.start", "index": index, "step": {"type": kind, **keys}}


def delta(index: int, kind: str, **keys: Any) -> Any:
    return {"event_type": "step.delta", "index": index, "delta": {"type": kind, **keys}}


def call(index: int, id_: str, *fragments: str) -> list[Any]:
    deltas = [delta(index, "arguments_delta", arguments=fragment) for fragment in fragments]
    return [start(index, "function_call", id=id_, name="f", arguments={}), *deltas]


def lifted(*events: Any) -> list[Message]:
    return DIALECT.lift(Rows([CREATED, *events, COMPLETED])).messages


def parts(*events: Any) -> list[Any]:
    (answer,) = lifted(*events)
    return answer.parts


def written(*answered: Message, size: int = 0) -> list[Any]:
    return list(DIALECT.lower(Transcript(list(answered)), Options(chunk=size)))


def test_texts_grow_and_other_contents_are_whole() -> None:
    image = {"data": "aGk=", "mime_type": "image/png"}
    deltas = [delta(0, "text", text="a"), delta(0, "text", text="b"), delta(0, "image", **image)]
    deltas += [delta(0, "text", text="c")]
    assert [getattr(part, "text", None) for part in parts(start(0, "model_output"), *deltas)] == ["ab", None, "c"]


def test_a_step_may_begin_with_content() -> None:
    begin = start(0, "model_output", content=[{"type": "text", "text": "a"}])
    assert parts(begin, delta(0, "text", text="b")) == [Text("ab")]


def test_a_thought_is_its_summary_and_its_signature() -> None:
    deltas = [delta(0, "thought_summary", content={"type": "text", "text": text}) for text in ("Hm, ", "so.")]
    deltas += [delta(0, "thought_signature", signature="c2ln")]
    assert parts(start(0, "thought"), *deltas) == [Reasoning("Hm, so.", metadata={"thoughtSignature": "c2ln"})]


def test_parallel_calls_grow_by_their_index() -> None:
    one, other = call(0, "a", '{"n":', " 1.50}"), call(1, "b")
    calls = parts(one[0], other[0], *one[1:])
    assert calls == [ToolCall("a", "f", {"n": 1.5}), ToolCall("b", "f", {})]


def test_arguments_that_are_cut_off_are_kept_as_they_are() -> None:
    assert parts(*call(0, "a", '{"n":')) == [ToolCall("a", "f", {}, '{"n":')]


def test_an_annotation_belongs_to_the_text_before_it() -> None:
    events = [start(0, "model_output"), delta(0, "text", text="a"), delta(0, "text_annotation_delta", annotations=[1])]
    assert parts(*events) == [Text("a", extras={WHOLE.name: {"annotations": [1]}})]


def test_a_delta_of_an_unknown_type_is_an_opaque_part() -> None:
    events = [start(0, "thought"), delta(0, "thought_smell", text="A smell."), start(1, "model_output")]
    assert parts(*events)[1] == Opaque(WHOLE.name, {"type": "thought_smell", "text": "A smell."})


@pytest.mark.parametrize(
    ("events", "reason", "error"),
    [
        ([COMPLETED], "stop", None),
        ([], "error", None),
        ([{"event_type": "error", "error": {"message": "No."}}], "error", "No."),
        ([{"event_type": "interaction.status_update", "interaction_id": "v1", "status": "cancelled"}], "aborted", None),
        ([{"event_type": "interaction.status_update", "interaction_id": "v1", "status": "queued"}], "error", None),
    ],
)
def test_a_stream_ends_with_a_final_status_or_is_cut_off(events: list[Any], reason: str, error: str | None) -> None:
    begin = [CREATED, start(0, "model_output"), delta(0, "text", text="a")]
    (answer,) = DIALECT.lift(Rows([*begin, *events])).messages
    assert (answer.stop_reason, answer.error) == (reason, error)


def test_steps_of_the_last_event_count() -> None:
    steps = [{"type": "model_output", "content": [{"type": "text", "text": "All of it."}]}]
    end = {**COMPLETED, "interaction": {"id": "v1", "status": "completed", "steps": steps}}
    rows = Rows([CREATED, start(0, "model_output"), delta(0, "text", text="All"), end])
    assert [message.parts for message in DIALECT.lift(rows).messages] == [[Text("All of it.")]]


def test_what_the_steps_of_the_last_event_lack_is_kept() -> None:
    grown = [start(0, "model_output", zz=1), delta(0, "text", text="Hello", zz=2), *call(1, "c1", '{"n":1}')]
    steps = [
        {"type": "model_output", "content": [{"type": "text", "text": "Bye", "zz": 3}]},
        {"type": "function_call", "id": "c1", "name": "f", "arguments": {"n": 2}},
    ]
    completed = {**COMPLETED, "interaction": {**COMPLETED["interaction"], "steps": steps}}
    transcript = DIALECT.lift(Rows([CREATED, *grown, delta(9, "text", text="More."), completed]))
    text, called = transcript.messages[0].parts
    assert (text.extras or {})["gemini-interactions"] == {
        "zz": 3, "former": {"text": ["Hello"], "zz": [2]}, "step": {"zz": 1}
    }  # fmt: skip
    assert isinstance(called, ToolCall)
    assert called.arguments == {"n": 2}
    assert called.extras == {"gemini-interactions": {"former": {"arguments": [{"n": 1}]}}}
    more = {"type": "model_output", "content": [{"type": "text", "text": "More."}]}
    assert transcript.extras == {"gemini-interactions": {"former": {"steps": [more]}}}


def test_each_text_is_a_step_when_written_and_is_cut_by_size() -> None:
    rows = written(Message("assistant", [Text("abc"), Text("d")]), size=2)
    deltas = [(row["index"], row["delta"]["text"]) for row in rows if row["event_type"] == "step.delta"]
    assert deltas == [(0, "ab"), (0, "c"), (1, "d")]


def test_pieces_of_a_summary_are_one_text_when_written() -> None:
    steps = [{"type": "thought", "summary": [{"type": "text", "text": text} for text in "ab"]}]
    done = pipeline.convert({"object": "interaction", "status": "completed", "steps": steps}, WHOLE, DIALECT)
    assert DIALECT.lift(done.document).messages[0].parts == [Reasoning("a\n\nb")]


def test_a_result_is_whole_when_its_step_begins() -> None:
    answers = [Message("assistant", [ToolCall("a", "f", {})]), Message("tool", [ToolResult("a", "f", "error", "No.")])]
    rows = written(*answers)
    assert [row["step"] for row in rows if row["event_type"] == "step.start"] == [
        {"type": "function_call", "id": "a", "name": "f", "arguments": {}},
        {"type": "function_result", "call_id": "a", "name": "f", "is_error": True, "result": "No."},
    ]


def test_an_answer_that_broke_off_has_no_final_event() -> None:
    kinds = [row["event_type"] for row in written(Message("assistant", [Text("a")], stop_reason="error"))]
    assert kinds == ["interaction.created", "step.start", "step.delta", "step.stop"]


def test_two_interactions_in_one_file_are_two() -> None:
    begins = DIALECT.answer_boundaries() if DIALECT.answer_boundaries is not None else None
    assert begins is not None
    assert [begins(event) for event in (CREATED, COMPLETED, CREATED)] == [False, False, True]


def test_it_is_detected_by_its_events() -> None:
    assert detect(Rows([CREATED, COMPLETED])).dialect == "gemini-interactions-stream"
