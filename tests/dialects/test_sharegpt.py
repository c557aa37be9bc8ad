"""ShareGPT rows: the strict order of turns, calls and tools as JSON in a text, files in columns, pairs and labels."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.sharegpt import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolDefinition, ToolResult, Transcript

ASKED, ANSWERED = Message("user", [Text("Go.")]), Message("assistant", [Text("Gone.")])
CALL = Message("assistant", [ToolCall("a", "f", {"n": 1})])
CALLS = Message("assistant", [ToolCall("a", "f", {"n": 1}), ToolCall("b", "g", {})])
BETWEEN = "\n</tool_response>\n<tool_response>\n"


def result(id_: str, value: str, kind: Any = "text") -> Message:
    return Message("tool", [ToolResult(id_, "f", kind, value)])


def written(*messages: Message, **fields: Any) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages), **fields), DIALECT)
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def turns(*messages: Message) -> list[tuple[str, str]]:
    return [(turn["from"], turn["value"]) for turn in written(*messages)[0]["conversations"]]


def row(*conversation: tuple[str, str], **columns: Any) -> Any:
    return {"conversations": [{"from": tag, "value": value} for tag, value in conversation], **columns}


# ---------------------------------------------------------------- calls and results


def test_one_call_is_an_object_and_several_are_a_list_with_their_results_in_one_turn() -> None:
    assert turns(ASKED, CALL, result("a", "1"), ANSWERED)[1] == ("function_call", '{"name":"f","arguments":{"n":1}}')
    several = turns(ASKED, CALLS, result("a", "1"), result("b", "2"), ANSWERED)
    assert [call["name"] for call in json.loads(several[1][1])] == ["f", "g"]
    assert several[2] == ("observation", f"1{BETWEEN}2")


def test_results_are_in_the_order_of_their_calls() -> None:
    assert turns(ASKED, CALLS, result("b", "2"), result("a", "1"), ANSWERED)[2][1] == f"1{BETWEEN}2"


def test_a_result_missing_among_others_is_added_and_reported() -> None:
    assert turns(ASKED, CALLS, result("b", "2"), ANSWERED)[2][1] == f"{BETWEEN}2"
    assert "invented message" in written(ASKED, CALLS, result("b", "2"), ANSWERED)[1]


def test_a_result_with_the_mark_between_results_can_be_split_from_the_others() -> None:
    document, losses = written(ASKED, CALLS, result("a", f"x{BETWEEN}y"), result("b", "2"), ANSWERED)
    again = DIALECT.lift(document)
    assert [message.role for message in again.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert "changed tool_result.value" in losses


def test_results_that_are_not_as_many_as_the_calls_stay_one_text() -> None:
    call = '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]'
    three = DIALECT.lift(row(("human", "Go."), ("function_call", call), ("observation", f"1{BETWEEN}2{BETWEEN}3")))
    assert [part.value for part in three.messages[2].parts if isinstance(part, ToolResult)] == [
        f"1{BETWEEN}2{BETWEEN}3"
    ]


def test_a_thought_comes_before_calls_and_text_with_them_is_reported_as_lost() -> None:
    message = Message("assistant", [Reasoning("Hm."), Text("Let me see."), *CALL.parts])
    document, losses = written(ASKED, message)
    assert document["conversations"][1]["value"].startswith("<think>\nHm.\n</think>\n\n{")
    assert losses >= {"dropped text"}
    assert DIALECT.lift(document).messages[1].parts[0] == Reasoning("Hm.")


@pytest.mark.parametrize("name", ["sharegpt", "hermes", "ms-swift"])
def test_a_signature_of_a_thought_is_lost_because_a_thought_is_text_only(name: str) -> None:
    thought = Message("assistant", [Reasoning("Hm.", metadata={"signature": "c2ln"}), Text("Yes.")])
    losses = pipeline.lower(Transcript([ASKED, thought]), dialects.get(name)).losses
    assert ("reasoning.metadata.signature", "a thought is text only") in {(one.field, one.why) for one in losses}


def test_arguments_are_an_object_and_a_string_is_reported() -> None:
    quoted = row(("human", "Go."), ("function_call", '{"name": "f", "arguments": "{\\"n\\": 1}"}'))
    assert DIALECT.lift(quoted).messages[1].parts == [ToolCall("call_1", "f", {"n": 1})]
    assert [finding.code for finding in pipeline.validate(quoted, DIALECT)] == ["arguments-quoted-twice"]
    torn = Message("assistant", [ToolCall("a", "f", {}, raw_arguments='{"n": ')])
    assert json.loads(written(ASKED, torn)[0]["conversations"][1]["value"])["arguments"] == {}


def test_what_is_no_json_of_calls_is_a_text_that_comes_back() -> None:
    document = row(("human", "Go."), ("function_call", "f(1)"))
    assert DIALECT.lift(document).messages[1].parts == [Text("f(1)")]
    assert pipeline.convert(document, DIALECT, DIALECT).document == document


# ---------------------------------------------------------------- order


@pytest.mark.parametrize(
    ("messages", "tags"),
    [
        pytest.param([Message("system", [Text("a")]), Message("developer", [Text("b")]), ASKED, ANSWERED], "shg"),
        pytest.param([ASKED, ASKED, ANSWERED, ANSWERED], "hg", id="turns of one side are one"),
        pytest.param([ASKED, ANSWERED, Message("system", [Text("s")]), ASKED, ANSWERED], "hghg", id="late system"),
        pytest.param([ANSWERED, ASKED, ANSWERED], "hghg", id="an assistant that speaks first"),
        pytest.param([ASKED, ANSWERED, ASKED], "hg", id="a question without an answer"),
        pytest.param([ASKED, CALL, result("a", "1")], "hf", id="a result without an answer"),
        pytest.param([ASKED, CALL, ANSWERED], "hfog", id="a call without a result"),
        pytest.param([ASKED, CALL, ASKED, ANSWERED], "hfhg", id="a call that was interrupted"),
        pytest.param([ASKED, CALL, result("a", "1"), ASKED, ANSWERED], "hfog", id="user text after a result"),
        pytest.param([ASKED, result("x", "1"), ANSWERED], "hg", id="a result without a call"),
        pytest.param([ASKED], "h", id="nothing but a question"),
    ],
)
def test_turns_are_in_the_order_that_a_trainer_requires(messages: list[Message], tags: str) -> None:
    assert "".join(tag[0] for tag, _ in turns(*messages)) == tags


def test_a_row_without_an_answer_is_reported() -> None:
    conversion = pipeline.lower(Transcript([ASKED]), DIALECT)
    assert [finding.code for finding in conversion.findings] == ["unanswered-row"]


# ---------------------------------------------------------------- texts, files, tools


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("<think>\na\n</think>\n\nb", [Reasoning("a"), Text("b")]),
        ("<think>a</think>b", [Reasoning("a"), Text("b")]),
        ("<think>\n\n</think>\n\nb", [Text("<think>\n\n</think>\n\nb")]),
        ("<think>a", [Text("<think>a")]),
        ("b <think>a</think>", [Text("b <think>a</think>")]),
    ],
)
def test_a_thought_is_read_at_the_head_of_an_answer(value: str, parts: list[Any]) -> None:
    assert DIALECT.lift(row(("human", "x"), ("gpt", value))).messages[1].parts == parts


def test_files_are_in_columns_in_the_order_of_their_marks() -> None:
    shown = [Media("image", path="a.png"), Text("and"), Media("image", url="https://x.org/b.png")]
    document, losses = written(Message("user", [*shown]), ANSWERED)
    assert document["conversations"][0]["value"] == "<image>and<image>"
    assert (document["images"], losses) == (["a.png", "https://x.org/b.png"], set())
    assert DIALECT.lift(document).messages[0].parts == shown


def test_a_file_in_a_result_is_read_there() -> None:
    document = row(
        ("human", "Go."), ("function_call", '{"name": "f", "arguments": {}}'), ("observation", "See <image>")
    )
    (found,) = DIALECT.lift({**document, "images": ["a.png"]}).messages[2].parts
    assert isinstance(found, ToolResult)
    assert found.value == [Text("See "), Media("image", path="a.png")]
    assert DIALECT.lift({**document, "images": []}).messages[2].parts[0] == ToolResult(
        "call_1", "f", "text", "See <image>"
    )


def test_a_mark_that_is_only_text_is_no_mark_among_files() -> None:
    document, losses = written(Message("user", [Text("<<image>image>"), Media("image", path="a.png")]), ANSWERED)
    assert document["conversations"][0]["value"].count("<image>") == len(document["images"]) == 1
    assert "changed text.text" in losses


def test_tools_are_text_with_parameters() -> None:
    document, losses = written(ASKED, ANSWERED, tools=[ToolDefinition("f")])
    assert json.loads(document["tools"]) == [{"name": "f", "parameters": {"type": "object", "properties": {}}}]
    assert losses == {"invented tool.parameters"}
    wrapped = {"tools": json.dumps([{"type": "function", "function": {"name": "f", "parameters": {}}}])}
    assert DIALECT.lift({**document, **wrapped}).tools == [ToolDefinition("f", parameters={})]


# ---------------------------------------------------------------- labels and pairs


@pytest.mark.parametrize("key", ["kto_tag", "label"])
def test_the_label_of_a_row_is_that_of_its_last_turn(key: str) -> None:
    transcript = DIALECT.lift(row(("human", "x"), ("gpt", "y"), **{key: False}))
    assert [message.label for message in transcript.messages] == [None, "rejected"]
    losses = pipeline.lower(transcript, dialects.get("openai-chat"), source=DIALECT).losses
    assert [loss.where for loss in losses if loss.field == "message.label"] == [f"/{key}"]
    assert pipeline.lower(transcript, DIALECT).document["kto_tag"] is False


def pair(chosen: list[Any], rejected: list[Any]) -> Any:
    """The row of a pair of Hugging Face's messages."""
    prompt = [{"role": "user", "content": "Go."}]
    native = {"prompt": prompt, "chosen": chosen, "rejected": rejected}
    return pipeline.convert(native, dialects.get("hf-chat"), DIALECT).document


def test_a_pair_is_two_answers_of_one_turn() -> None:
    answers = [[{"role": "assistant", "content": content}] for content in ("a", "b")]
    document = pair(*answers)
    assert document == {
        "conversations": [{"from": "human", "value": "Go."}],
        "chosen": {"from": "gpt", "value": "a"},
        "rejected": {"from": "gpt", "value": "b"},
    }
    assert [message.label for message in DIALECT.lift(document).messages] == [None, "chosen", "rejected"]


def test_of_answers_of_several_turns_the_first_that_differ_are_the_pair() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}}
    turns = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    turns += [{"role": "tool", "tool_call_id": "a", "content": "1"}, {"role": "assistant", "content": "b"}]
    document = pair(turns, [{"role": "assistant", "content": "c"}])
    assert (document["chosen"]["from"], document["rejected"]["from"]) == ("function_call", "gpt")


def test_lines_that_differ_in_a_question_have_their_last_answers_as_the_pair() -> None:
    lines = [[{"role": "user", "content": x}, {"role": "assistant", "content": x * 2}] for x in ("a", "b")]
    document = pair(*lines)
    assert [turn["from"] for turn in document["conversations"]] == ["human"]
    assert (document["chosen"]["value"], document["rejected"]["value"]) == ("aa", "bb")


def test_a_transcript_without_a_pair_cannot_be_one() -> None:
    with pytest.raises(Exception, match="preference pair"):
        pipeline.lower(Transcript([ASKED, ANSWERED]), DIALECT, Options(form="preference"))


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (row(("human", "x"), ("gpt", "y")), "sharegpt"),
        ({"conversation": [{"human": "x", "assistant": "y"}]}, "sharegpt"),
        (row(("human", "x"), chosen={"from": "gpt", "value": "y"}, rejected={"from": "gpt", "value": "z"}), "sharegpt"),
    ],
)
def test_a_row_is_known_by_its_turns(document: Any, name: str) -> None:
    assert detection.detect(document).dialect == name


def test_the_column_that_a_row_does_not_have_may_be_null() -> None:
    asked = row(("human", "Sky?"), ("gpt", "Blue."))
    filled = {**asked, "conversation": None, "system": None}
    assert pipeline.convert(filled, DIALECT, DIALECT).document == filled
    assert DIALECT.lift(filled).messages == DIALECT.lift(asked).messages
    older = {"conversation": [{"human": "Sky?", "assistant": "Blue."}], "conversations": None}
    assert len(pipeline.convert(older, DIALECT, DIALECT).transcript.messages) == 2
