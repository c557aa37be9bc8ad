"""Passes of policy: each changes what its name says, shares the rest, and leaves its input as it was."""

from __future__ import annotations

import pytest

from convcli.kit import fitting, passes, results
from convcli.model.dialect import Pass
from convcli.model.transcript import (
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolDefinition,
    Transcript,
)
from tests import strategies, tiers
from tests.kit.builders import call, calling, user
from tests.support import facts, untouched


def texts_of(transcript: Transcript) -> list[str]:
    return [part.text for message in transcript.messages for part in message.parts if isinstance(part, Text)]


PASSES: dict[str, Pass] = {
    "linear": fitting.keep_active_conversation,
    "answers_only": fitting.keep_answers,
    "last_answer": fitting.keep_last_answer,
    "single_results": results.one_result_each,
    "roles": fitting.roles({"developer": "system"}),
    "parts_in_roles": fitting.keep_parts_of_roles({"tool_call": ("assistant",), "image": ("user",)}),
    "ordered_parts": fitting.sort_parts("reasoning", "text", "tool_call"),
    "known_finish": fitting.keep_known_finish({}, {"stop": "stop"}, "stop"),
    "without": fitting.without("title", "message.usage", "message.id"),
    "only_own_opaque": fitting.drop_other_opaque("x"),
    "with_parameters": fitting.add_parameters(typed=True),
    "functions_only": fitting.keep_functions("x"),
    "some_tools": fitting.drop_empty_tools,
    "results_behind_calls": results.results_behind_calls,
    "separate_results": results.separate_results,
    "refusals_as_texts": fitting.refusals_as_texts,
    "bare_system": passes.on_messages(fitting.bare_system),
}


@pytest.mark.parametrize("name", PASSES)
@strategies.with_any_transcript(tiers.examples(25))
def test_a_pass_leaves_its_input_alone_and_has_nothing_to_do_the_second_time(name: str, transcript: Transcript) -> None:
    before = untouched(facts(transcript))
    fitted = PASSES[name](transcript)
    assert facts(transcript) == before
    assert facts(PASSES[name](fitted)) == facts(fitted)


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_gives_back_the_very_transcript_where_there_is_nothing_to_change(name: str) -> None:
    answer = Transcript([Message("assistant", [Text("Hi.")], stop_reason="stop")])
    assert PASSES[name](answer) is answer


def test_linear_keeps_the_active_branch_and_no_events() -> None:
    tree = [
        user("a", id="1"),
        user("b", id="2", parent_id="1"),
        user("c", id="3", parent_id="1"),
        Message("event", [Opaque("x", 1)], id="4", parent_id="3"),
    ]
    fitted = fitting.keep_active_conversation(Transcript(tree, head="4"))
    assert texts_of(fitted) == ["a", "c"]
    assert fitted.head is None
    assert fitted.messages[0] is tree[0]


def test_a_response_is_the_last_answer() -> None:
    messages = [user("a"), Message("assistant", [Text("b")]), user("c"), Message("assistant", [Text("d")])]
    assert texts_of(fitting.keep_answers(Transcript(messages))) == ["b", "d"]
    assert texts_of(fitting.keep_last_answer(Transcript(messages))) == ["d"]
    assert fitting.keep_last_answer(Transcript([user("a")])).messages == [Message("assistant", [])]


def test_a_transcript_is_a_response_only_if_a_model_answered_and_nobody_asked() -> None:
    answer = Message("assistant", [Text("b")], stop_reason="stop")
    assert fitting.is_response(Transcript([answer]))
    for other in (Transcript([]), Transcript([user("a"), answer]), Transcript([answer], settings={"seed": 1})):
        assert not fitting.is_response(other)
    assert not fitting.is_response(Transcript([Message("assistant", [Text("b")])]))


def test_parts_are_left_out_where_their_role_may_not_have_them() -> None:
    message = Message("user", [Text("a"), call("x")])
    fitted = fitting.keep_parts_of_roles({"tool_call": ("assistant",)})(Transcript([message, calling("y")]))
    assert fitted.messages == [user("a"), calling("y")]


def test_parts_stand_in_the_order_of_the_format_and_equals_keep_theirs() -> None:
    parts: list[Part] = [call("x"), Text("a"), Reasoning("r"), Text("b")]
    fitted = fitting.sort_parts("reasoning", "text", "tool_call")(Transcript([Message("assistant", parts)]))
    assert fitted.messages[0].parts == [parts[2], parts[1], parts[3], parts[0]]


def test_a_stop_reason_without_a_word_becomes_the_usual_one_unless_the_message_is_kept() -> None:
    words = fitting.keep_known_finish({"END": "stop"}, {"stop": "END"}, "END", lambda message: message.name == "kept")
    messages = [Message("assistant", [], name=name, stop_reason="novel") for name in (None, "kept")]
    assert [message.stop_reason for message in words(Transcript(messages)).messages] == ["stop", "novel"]


def test_fields_without_a_place_are_taken_out() -> None:
    transcript = Transcript([user("a", id="1", usage={"inputTokens": 1})], title="t", cwd="/")
    fitted = fitting.without("title", "message.usage")(transcript)
    assert (fitted.title, fitted.cwd) == (None, "/")
    assert (fitted.messages[0].usage, fitted.messages[0].id) == (None, "1")


def test_functions_have_schemas_and_tools_of_other_vendors_are_left_out() -> None:
    bare, typeless = ToolDefinition("f"), ToolDefinition("g", parameters={"properties": {}})
    foreign = ToolDefinition("search", extras={"y": {"tool": {"type": "search"}}})
    tools = [bare, typeless, foreign]
    fitted = fitting.add_parameters(typed=True)(Transcript([], tools=tools)).tools or []
    assert [tool.parameters for tool in fitted] == [
        {"type": "object", "properties": {}}, {"type": "object", "properties": {}}, None,
    ]  # fmt: skip
    assert fitting.add_parameters()(Transcript([], tools=[typeless])).tools == [typeless]
    assert fitting.keep_functions("x")(Transcript([], tools=tools)).tools == [bare, typeless]
    assert fitting.keep_functions("y")(Transcript([], tools=tools)).tools == tools
    assert fitting.keep_functions("x")(Transcript([], tools=[foreign])).tools is None


def test_an_empty_list_of_tools_is_no_list() -> None:
    assert fitting.drop_empty_tools(Transcript([], tools=[])).tools is None


def test_a_leading_instruction_is_one_text() -> None:
    system = Message("system", [Text("a"), Text("b")], name="n")
    assert fitting.bare_system([system, user("x")]) == [Message("system", [Text("a\n\nb")]), user("x")]
    assert fitting.bare_system([Message("system", []), user("x")]) == [user("x")]
    assert fitting.bare_text(user("x")) == "x"
    assert fitting.bare_text(user("x", name="n")) == ""


@pytest.mark.parametrize(("single", "forms"), [(False, ["response", "response"]), (True, ["response", "request"])])
def test_only_what_a_model_answered_is_a_response(single: bool, forms: list[str]) -> None:
    form_of = fitting.response_if_answered(single=single)
    answer = Message("assistant", [Text("A")], stop_reason="stop")
    assert [form_of(Transcript([answer] * number)) for number in (1, 2)] == forms
    assert form_of(Transcript([user("Hi"), answer])) == "request"
