"""The comparison that every other law stands on."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.proof.align import align
from convcli.proof.difference import difference
from convcli.validation import schemas
from tests import strategies, tiers
from tests.support import dumped, facts

HUB = dialects.get("intermediate")


Pair = tuple[Transcript, Transcript]


def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of every node inside a JSON value."""
    found = [path]
    for key, child in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        found += nodes(child, (*path, key))
    return found


def parent_of(document: Any, path: tuple[Any, ...]) -> Any:
    for step in path[:-1]:
        document = document[step]
    return document


CHANGES: list[Any] = [1, 1.0, True, "x", "", [], {}, ["a"], {"k": 1}, 2**70]


@st.composite
def edited(draw: st.DrawFn) -> tuple[Transcript, Transcript]:
    """A transcript, and the same after one or two edits of its JSON: a change, a removal, a copy, another order."""
    document = facts(draw(strategies.transcripts()))
    other = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from(nodes(other)[1:]))
        edit(draw, parent_of(other, path), path[-1])
    assume(schemas.accepts("intermediate", other))
    return HUB.lift(document), HUB.lift(other)


def edit(draw: st.DrawFn, parent: Any, key: Any) -> None:
    kind = draw(st.integers(0, 3))
    if kind == 0:
        parent[key] = copy.deepcopy(draw(st.sampled_from(CHANGES)))
    elif kind == 1:
        del parent[key]
    elif isinstance(parent, list):
        parent.insert(draw(st.integers(0, len(parent))), parent.pop(key) if kind == 2 else copy.deepcopy(parent[key]))
    else:
        parent[key] = parent.pop(key)


def said(transcript: Transcript) -> bytes:
    """What a transcript says, as bytes; the order of keys is a fact only inside values."""
    return dumped(in_order(facts(transcript)))


def in_order(node: Any) -> Any:
    """A record with the keys of its settings, usage, metadata and extras in alphabetical order."""
    if isinstance(node, list):
        return [in_order(child) for child in node]
    if not isinstance(node, dict):
        return node
    out = {key: value if key in VALUES else in_order(value) for key, value in node.items()}
    for key in STRUCTURES:
        if isinstance(out.get(key), dict):
            out[key] = dict(sorted((name, ordered(node[key][name], key)) for name in node[key]))
    return out


STRUCTURES = ("settings", "usage", "metadata", "extras")
VALUES = ("arguments", "parameters", "outputSchema", "annotations", "toolChoice", *STRUCTURES)


def ordered(value: Any, key: str) -> Any:
    return dict(sorted(value.items(), key=lambda pair: str(pair[0]))) if key == "extras" else value


@tiers.examples(400)
@given(pair=edited())
def test_a_difference_is_found_exactly_when_two_transcripts_do_not_say_the_same(pair: Pair) -> None:
    before, after = pair
    assert (difference(before, after) == []) == (said(before) == said(after))
    assert (difference(after, before) == []) == (said(before) == said(after))


@given(before=strategies.transcripts(), after=strategies.transcripts())
def test_two_unrelated_transcripts_differ_unless_they_say_the_same(before: Transcript, after: Transcript) -> None:
    assert (difference(before, after) == []) == (said(before) == said(after))


@given(transcript=strategies.transcripts())
def test_a_transcript_does_not_differ_from_itself(transcript: Transcript) -> None:
    assert difference(transcript, transcript) == []
    assert difference(transcript, copy.deepcopy(transcript)) == []


@given(transcript=strategies.transcripts())
def test_only_the_parts_of_a_type_that_the_output_lacks_are_reported(transcript: Transcript) -> None:
    kept = [[part for part in message.parts if type(part) is not Reasoning] for message in transcript.messages]
    assume(all(bool(parts) == bool(message.parts) for parts, message in zip(kept, transcript.messages, strict=True)))
    messages = [replace(message, parts=parts) for message, parts in zip(transcript.messages, kept, strict=True)]
    losses = difference(transcript, replace(transcript, messages=messages))
    lost = [
        f"/messages/{i}/parts/{k}"
        for i, message in enumerate(transcript.messages)
        for k, part in enumerate(message.parts)
        if type(part) is Reasoning
    ]
    assert [loss.where for loss in losses if loss.field == "reasoning"] == lost
    assert all(loss.kind == "dropped" and loss.where.startswith(tuple(lost)) for loss in losses)
    partners = align(transcript.messages, messages).all_parts(transcript.messages)
    assert len(partners) == sum(map(len, kept))
    assert all(transcript.messages[i].parts[k] is messages[j].parts[at] for (i, k), (j, at) in partners.items())


@pytest.mark.parametrize("name", ["extras", "metadata"])
def test_the_order_of_extras_and_metadata_inside_a_result_is_no_fact(name: str) -> None:
    def with_keys(*keys: str) -> Transcript:
        given: Any = dict.fromkeys(keys, "x")
        inside = Text("hi", **{name: {"a-dialect": given} if name == "extras" else given})
        result = ToolResult("call_1", "f", "multimodal", [inside, Media("image", url="https://a.example/b.png")])
        return Transcript([Message("tool", [result])])

    assert difference(with_keys("a", "b"), with_keys("b", "a")) == []
    assert difference(with_keys("a", "b"), with_keys("b", "c")) != []


def user(text: str) -> Message:
    return Message("user", [Text(text)])


def reported(before: list[Message], after: list[Message]) -> list[tuple[str, str, str]]:
    return [(loss.kind, loss.where, loss.field) for loss in difference(Transcript(before), Transcript(after))]


def test_one_one_point_zero_and_true_are_three_values() -> None:
    def call(value: Any) -> Message:
        return Message("assistant", [ToolCall("c", "f", {"a": value})])

    expected = [("changed", "/messages/0/parts/0/arguments", "tool_call.arguments")]
    assert reported([call(1)], [call(1.0)]) == expected
    assert reported([call(1)], [call(True)]) == expected
    assert reported([call(1)], [call(1)]) == []


def test_the_order_of_keys_inside_arguments_is_a_fact() -> None:
    before = Message("assistant", [ToolCall("c", "f", {"a": 1, "b": 2})])
    after = Message("assistant", [ToolCall("c", "f", {"b": 2, "a": 1})])
    assert [kind for kind, *_ in reported([before], [after])] == ["changed"]


def test_a_message_that_moved_is_reported_once_and_at_its_place() -> None:
    a, b, c = user("a"), user("b"), Message("system", [Text("s")])
    assert reported([a, c, b], [c, a, b]) == [("moved", "/messages/1", "message")]


def test_a_message_is_not_taken_for_one_of_another_role_with_its_text() -> None:
    before = [Message("user", [Text("Hello.")]), Message("assistant", [Text("Hello.")])]
    losses = difference(Transcript(before), Transcript(before[1:]))
    assert {(loss.kind, loss.where) for loss in losses} == {
        ("dropped", "/messages/0"),
        ("dropped", "/messages/0/parts/0"),
    }


def test_two_messages_in_one_are_reported_as_a_change_of_grouping() -> None:
    joined = Message("user", [Text("a"), Text("b")])
    assert reported([user("a"), user("b")], [joined]) == [("changed", "/messages/1", "message.grouping")]


def test_an_added_message_is_reported_as_invented() -> None:
    assert reported([user("a")], [user("a"), user("Continue.")]) == [("invented", "/messages/0", "message")]


def test_an_empty_message_behind_an_added_one_is_kept() -> None:
    asked, empty = Message("user", [Text("Hi.")]), Message("assistant", [])
    added = Message("user", [Text("More.")])
    losses = difference(Transcript([asked, empty]), Transcript([asked, added, empty]))
    assert [(loss.kind, loss.field) for loss in losses] == [("invented", "message")]


def test_a_dropped_part_tells_its_metadata_and_extras_too() -> None:
    part = Text("b", {"signature": "s"}, {"a-dialect": {"k": 1}})
    before = Message("user", [Text("a"), part])
    assert reported([before], [user("a")]) == [
        ("dropped", "/messages/0/parts/1", "text"),
        ("dropped", "/messages/0/parts/1/metadata/signature", "text.metadata.signature"),
        ("dropped", "/messages/0/parts/1/extras/a-dialect/k", "extras.a-dialect.k"),
    ]


def test_the_work_is_linear_in_the_number_of_parallel_calls_in_reverse() -> None:
    calls = [ToolCall(f"c{i}", "f", {}) for i in range(3000)]
    results = [Message("tool", [ToolResult(f"c{i}", "f", "text", "x")]) for i in range(3000)]
    before = [Message("assistant", list(calls)), *results]
    after = [Message("assistant", list(calls)), *reversed(results)]
    losses = difference(Transcript(before), Transcript(after))
    assert {loss.kind for loss in losses} == {"moved"}
    assert len(losses) == 2999


def test_a_count_that_turns_from_a_float_into_an_integer_is_reported() -> None:
    document = {"model": "m", "message": {"role": "assistant", "content": "x"}, "done": True, "prompt_eval_count": 0.0}
    made = pipeline.convert(document, dialects.get("ollama"), dialects.get("cohere"))
    assert ("changed", "/prompt_eval_count") in [(loss.kind, loss.where) for loss in made.losses]


@pytest.mark.parametrize(
    ("field", "value"),
    [("cost", 0.5), ("provider", "p"), ("weight", 0), ("label", "chosen"), ("replaces", "all"), ("parentCallId", "c")],
)
def test_what_sessions_and_training_say_of_a_message_is_a_fact(field: str, value: Any) -> None:
    document = {
        "convcli": 1,
        "messages": [{"role": "assistant", "parts": [], field: value}, {"role": "user", "parts": []}],
    }
    assert schemas.accepts("intermediate", document)
    before = HUB.lift(document)
    assert facts(before) == document
    del document["messages"][0][field]  # type: ignore[index]
    losses = difference(before, HUB.lift(document), HUB, HUB)
    assert [(loss.kind, loss.field, loss.where) for loss in losses] == [
        ("dropped", f"message.{field}", f"/messages/0/{field}")
    ]


def test_a_cost_is_compared_exactly() -> None:
    one, other = (Transcript([Message("assistant", [], cost=cost)]) for cost in (1, 1.0))
    assert [loss.field for loss in difference(one, other)] == ["message.cost"]


ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Go."}]}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def lost(document: Any, source: str, target: str) -> list[tuple[str, str, str]]:
    losses = pipeline.convert(document, dialects.get(source), dialects.get(target)).losses
    return [(loss.kind, loss.field, loss.where) for loss in losses]


def test_the_order_of_keys_in_a_setting_or_a_choice_is_no_loss() -> None:
    format_ = {"name": "n", "schema": SCHEMA, "strict": True, "type": "json_schema"}
    document = {"model": "m", "input": "Go.", "text": {"format": format_}}
    assert lost(document, "openai-responses", "openai-chat") == []
    function = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
    choice = {"function": {"name": "f"}, "type": "function"}
    assert lost({**ASKED, "tools": [function], "tool_choice": choice}, "openai-chat", "openai-responses") == []


def test_a_name_that_only_the_target_wants_is_invented_and_nothing_else_is_changed() -> None:
    config = {"responseMimeType": "application/json", "responseSchema": {"type": "OBJECT"}}
    document = {"contents": [{"role": "user", "parts": [{"text": "Go."}]}], "generationConfig": config}
    for target in ("openai-chat", "openai-responses", "mistral"):
        assert [loss[:2] for loss in lost(document, "gemini", target)] == [
            ("invented", "settings.responseFormat.name")
        ], target


def called(id_: str, count: int) -> dict[str, Any]:
    call = {"id": id_, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call] * count}


def test_results_of_calls_that_share_an_id_are_paired_with_the_new_ids_of_their_calls() -> None:
    results = [{"role": "tool", "tool_call_id": "x", "content": text} for text in ("zero", "one", "two")]
    messages = [*ASKED["messages"], called("x", 1), results[0], called("x", 2), *results[1:]]
    assert lost({**ASKED, "messages": messages}, "openai-chat", "anthropic") == [
        ("changed", "tool_call.id", "/messages/3/tool_calls/0/id"),
        ("changed", "tool_call.id", "/messages/3/tool_calls/1/id"),
        ("changed", "tool_result.toolCallId", "/messages/4/tool_call_id"),
        ("changed", "tool_result.toolCallId", "/messages/5/tool_call_id"),
    ]


@pytest.mark.parametrize(
    ("document", "source", "target", "field", "where"),
    [
        ({**ASKED, "max_tokens": 5}, "openai-chat", "openclaw", "settings.maxOutputTokens", "/max_tokens"),
        (
            {**ASKED, "max_completion_tokens": 5},
            "openai-chat",
            "openclaw",
            "settings.maxOutputTokens",
            "/max_completion_tokens",
        ),
        (
            {"model": "m", "input": "Go.", "reasoning": {"effort": "low", "summary": "auto"}},
            "openai-responses",
            "openai-chat",
            "extras.openai-responses.reasoning.summary",
            "/reasoning/summary",
        ),
        (
            {
                "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
                "generationConfig": {"temperature": 1, "mediaResolution": "MEDIA_RESOLUTION_LOW"},
            },
            "gemini",
            "openai-chat",
            "extras.google.generationConfig.mediaResolution",
            "/generationConfig/mediaResolution",
        ),
        (
            {"model": "m", "input": "Go.", "text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}},
            "openai-responses",
            "gemini",
            "settings.responseFormat.name",
            "/text/format/name",
        ),
    ],
)
def test_a_loss_stands_at_the_leaf(document: Any, source: str, target: str, field: str, where: str) -> None:
    assert [loss[2] for loss in lost(document, source, target) if loss[1] == field] == [where]


def test_a_part_of_a_joined_message_that_comes_before_those_of_the_first_one_has_moved() -> None:
    answers = [Message("assistant", [Text("First.")]), Message("assistant", [Reasoning("Hm.")])]
    before = Transcript([Message("user", [Text("Q")]), *answers])
    after = Transcript([Message("user", [Text("Q")]), Message("assistant", [Reasoning("Hm."), Text("First.")])])
    losses = difference(before, after, None, None)
    assert [(loss.kind, loss.where) for loss in losses if loss.kind == "moved"] == [("moved", "/messages/2/parts/0")]
