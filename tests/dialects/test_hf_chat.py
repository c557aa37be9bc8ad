"""Rows for trainers: what a template would print, and what a row states outside of the conversation."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.hf_chat import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.errors import RefusedError
from convcli.model.transcript import Media, Message, Reasoning, Refusal, Text, ToolCall, ToolResult, Transcript

USER, ANSWER = {"role": "user", "content": "Sky?"}, {"role": "assistant", "content": "Blue."}
CALL = Message("assistant", [ToolCall("call_1", "f", {"n": 1})])
RESULT = Message("tool", [ToolResult("call_1", "f", "text", "2")])


def written(*messages: Message, **options: Any) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT, Options(**options))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def test_arguments_are_objects_and_content_with_calls_is_not_null() -> None:
    row, losses = written(Message("user", [Text("Go.")]), CALL, RESULT)
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": {"n": 1}}}
    assert row["messages"][1] == {"role": "assistant", "content": "", "tool_calls": [call]}
    assert losses == set()


def test_arguments_that_are_no_json_stay_the_text_that_they_are() -> None:
    torn = Message("assistant", [ToolCall("call_1", "f", {}, raw_arguments='{"n": ')])
    assert written(torn)[0]["messages"][0]["tool_calls"][0]["function"]["arguments"] == '{"n": '


@pytest.mark.parametrize("key", ["reasoning_content", "thinking", "reasoning"])
def test_reasoning_is_read_under_each_of_its_names_and_has_its_place(key: str) -> None:
    transcript = DIALECT.lift({"messages": [USER, {**ANSWER, key: "Light scatters."}]})
    assert transcript.messages[1].parts == [Reasoning("Light scatters."), Text("Blue.")]
    losses = pipeline.convert({"messages": [USER, {**ANSWER, key: "x"}]}, DIALECT, dialects.get("openai-chat")).losses
    assert [loss.where for loss in losses if loss.field == "reasoning"] == [f"/messages/1/{key}"]


def test_a_turn_has_one_thought_and_joining_is_reported() -> None:
    row, losses = written(Message("assistant", [Reasoning("a"), Reasoning("b"), Text("c")]))
    assert row["messages"][0]["reasoning_content"] == "a\n\nb"
    assert "changed reasoning.text" in losses


def test_texts_with_nothing_else_to_show_are_one_since_many_templates_read_no_list() -> None:
    row, losses = written(Message("user", [Text("a"), Text("b")]))
    assert row["messages"][0]["content"] == "a\n\nb"
    assert losses == {"changed text.text", "dropped text"}
    own = {"messages": [{**USER, "content": [{"type": "text", "text": text} for text in "ab"]}, ANSWER]}
    assert pipeline.convert(own, DIALECT, DIALECT).document == own
    assert [finding.code for finding in pipeline.validate(own, DIALECT, purpose="request")] == ["misplaced-part"]


def test_texts_next_to_an_image_stay_parts() -> None:
    row, _ = written(Message("user", [Text("a"), Media("image", url="https://example.com/a.png"), Text("b")]))
    assert [part["type"] for part in row["messages"][0]["content"]] == ["text", "image_url", "text"]


def test_a_placeholder_has_only_its_type_whatever_nulls_a_table_adds() -> None:
    content = [{"type": "image"}, {"type": "text", "text": "What is it?"}]
    filled = [{"type": "image", "text": None, "file": None}, {"type": "text", "text": "What is it?", "file": None}]
    plain, padded = ({"messages": [{"role": "user", "content": one}, ANSWER]} for one in (content, filled))
    assert DIALECT.lift(plain) == DIALECT.lift(padded)
    assert pipeline.convert(padded, DIALECT, DIALECT).document == padded


LOOK = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What is it?"}]}
DATA = "iVBORw0KGgo="


def user_parts(row: Any) -> list[Any]:
    return next(message.parts for message in DIALECT.lift(row).messages if message.role == "user")


def test_images_of_the_row_stand_in_place_of_their_placeholders() -> None:
    row = {"messages": [LOOK, ANSWER, LOOK, ANSWER], "images": ["a.png", "b.png"]}
    transcript = DIALECT.lift(row)
    assert [message.parts[0] for message in transcript.messages[::2]] == [
        Media("image", path="a.png"),
        Media("image", path="b.png"),
    ]
    assert pipeline.lower(transcript, DIALECT).document == row
    losses = pipeline.convert(row, DIALECT, dialects.get("anthropic")).losses
    assert [loss.where for loss in losses if loss.field == "image"] == ["/images/0", "/images/1"]


def test_images_without_placeholders_precede_the_first_text_of_the_user() -> None:
    system = {"role": "system", "content": "Be brief."}
    row = {"messages": [system, USER, ANSWER, USER, ANSWER], "images": ["a.png", "b.png"]}
    assert user_parts(row) == [Media("image", path="a.png"), Media("image", path="b.png"), Text("Sky?")]
    marked = {**row, "messages": [{**USER, "content": "<image>Sky?"}, ANSWER]}
    assert user_parts(marked) == [Text("<image>Sky?")]


@pytest.mark.parametrize(
    ("column", "value", "image"),
    [
        ("image", "a.png", Media("image", path="a.png")),
        ("images", ["https://example.com/a.png"], Media("image", url="https://example.com/a.png")),
        ("images", [{"bytes": None, "path": "a.png"}], Media("image", path="a.png")),
        (
            "images",
            [{"bytes": DATA, "path": "a.png"}],
            Media("image", data=DATA, media_type="image/png", name="a.png"),
        ),
        ("image", {"bytes": DATA, "path": None}, Media("image", data=DATA, media_type="image/png")),
    ],
)
def test_an_image_is_read_in_each_form_that_a_data_set_stores(column: str, value: Any, image: Media) -> None:
    row = {"messages": [LOOK, ANSWER], column: value}
    assert user_parts(row)[0] == image
    assert pipeline.convert(row, DIALECT, DIALECT).document == row


@pytest.mark.parametrize("images", [["a.png"], ["a.png", 1, "c.png"], [{"bytes": None, "path": None}] * 2, "a.png", 5])
def test_images_that_do_not_match_the_placeholders_stay_in_their_column(images: Any) -> None:
    row = {"messages": [{**LOOK, "content": [{"type": "image"}, *LOOK["content"]]}, ANSWER], "images": images}
    assert [part.type for part in user_parts(row)] == ["opaque", "opaque", "text"]
    assert pipeline.lower(DIALECT.lift(row), DIALECT).document == row


def test_images_with_paths_of_other_formats_have_a_column_and_those_of_results_too() -> None:
    image = Media("image", path="a.png", name="a", detail="low")
    row, losses = written(
        Message("user", [Text("Go."), image]),
        CALL,
        Message("tool", [ToolResult("call_1", "f", "multimodal", [Text("See:"), Media("image", path="b.png")])]),
        Message("assistant", [Text("Hm.")]),
    )
    assert row["images"] == ["a.png", "b.png"]
    assert [message["content"] for message in row["messages"] if isinstance(message["content"], list)] == [
        [{"type": "text", "text": "Go."}, {"type": "image"}],
        [{"type": "text", "text": "Attached to the result of f (call_1):"}, {"type": "image"}],
    ]
    assert {"dropped image.name", "dropped image.detail"} <= losses


def test_an_image_with_a_url_is_in_the_column_if_another_one_has_a_path() -> None:
    path, url = Media("image", path="a.png"), Media("image", url="https://example.com/b.png")
    detailed = Media("image", url="https://example.com/c.png", detail="low")
    row, losses = written(Message("user", [url, path, Text("Which?"), detailed]), Message("assistant", [Text("b")]))
    assert row["images"] == ["https://example.com/b.png", "a.png"]
    assert [part["type"] for part in row["messages"][0]["content"]] == ["image", "image", "text", "image_url"]
    assert DIALECT.lift(row).messages[0].parts == [url, path, Text("Which?"), detailed]
    assert losses == set()
    alone, _ = written(Message("user", [url, Text("Which?")]), Message("assistant", [Text("b")]))
    assert "images" not in alone


def test_placeholders_without_an_image_are_lost_next_to_images_with_paths() -> None:
    transcript = DIALECT.lift({"messages": [LOOK, ANSWER]})
    transcript.messages.append(Message("user", [Media("image", path="a.png")]))
    conversion = pipeline.lower(transcript, DIALECT)
    assert [message["content"] for message in conversion.document["messages"][::2]] == [
        "What is it?",
        [{"type": "image"}],
    ]
    assert [loss.field for loss in conversion.losses] == ["opaque"]


def test_a_column_that_matches_again_is_not_read_as_other_images() -> None:
    transcript = DIALECT.lift({"messages": [LOOK, ANSWER, LOOK, ANSWER], "images": ["a.png"]})
    half = Transcript(transcript.messages[:2], extras=transcript.extras)
    conversion = pipeline.lower(half, DIALECT)
    assert "images" not in conversion.document
    assert [loss.field for loss in conversion.losses] == ["extras.hf-chat.images"]


@pytest.mark.parametrize("name", ["ms-swift", "sharegpt", "llamafactory-v1"])
def test_images_with_paths_pass_between_rows_of_trainers_both_ways(name: str) -> None:
    row = {"messages": [LOOK, ANSWER], "images": ["a.png"]}
    there = pipeline.convert(row, DIALECT, dialects.get(name))
    back = pipeline.convert(there.document, dialects.get(name), DIALECT)
    assert (there.losses, back.document, back.losses) == ([], row, [])


def test_the_prompt_of_a_pair_has_its_images_once() -> None:
    row = {"prompt": [LOOK], "chosen": [ANSWER], "rejected": [{**ANSWER, "content": "Red."}], "images": ["a.png"]}
    assert user_parts(row)[0] == Media("image", path="a.png")
    assert pipeline.lower(DIALECT.lift(row), DIALECT).document == row


@pytest.mark.parametrize(("flag", "weight"), [(True, 1), (False, 0)])
def test_a_flag_of_training_is_the_weight_of_a_turn(flag: bool, weight: int) -> None:
    row = {"messages": [USER, {**ANSWER, "training": flag}]}
    transcript = DIALECT.lift(row)
    assert transcript.messages[1].weight == weight
    assert pipeline.lower(transcript, DIALECT).document == row


def test_only_turns_of_the_assistant_count_or_not() -> None:
    row, losses = written(Message("user", [Text("Hi.")], weight=1), Message("assistant", [Text("Hm.")], weight=0.5))
    assert all("training" not in message for message in row["messages"])
    assert losses == {"dropped message.weight"}


@pytest.mark.parametrize(("label", "name"), [(True, "chosen"), (False, "rejected")])
def test_the_label_of_a_completion_is_that_of_its_last_turn(label: bool, name: str) -> None:
    row = {"prompt": [USER], "completion": [ANSWER], "label": label}
    transcript = DIALECT.lift(row)
    assert [message.label for message in transcript.messages] == [None, name]
    assert pipeline.lower(transcript, DIALECT).document == row


def test_the_completion_of_a_conversation_begins_behind_the_last_words_of_the_user() -> None:
    messages = [Message("user", [Text("Go.")]), CALL, RESULT, Message("assistant", [Text("Done.")])]
    row, _ = written(*messages, form="prompt-completion")
    assert [len(row["prompt"]), len(row["completion"])] == [1, 3]
    assert "messages" not in row


def test_what_templates_do_not_know_is_written_as_what_they_do() -> None:
    row, losses = written(Message("developer", [Text("Be brief.")]), Message("assistant", [Refusal("No.")]))
    assert row["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": "No."},
    ]
    assert losses == {"changed message.role", "changed refusal"}


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"messages": [USER, ANSWER]}, "openai-chat"),
        ({"messages": [USER, {**ANSWER, "training": True}]}, "hf-chat"),
        ({"prompt": [USER], "completion": [ANSWER]}, "hf-chat"),
        ({"messages": [LOOK, ANSWER], "images": ["a.png"]}, "hf-chat"),
        ({"messages": [USER, ANSWER], "tools": "[]"}, "hf-chat"),
        ({"messages": [USER, {**ANSWER, "reasoning_content": "x"}]}, "hf-chat"),
        ({"model": "m", "messages": [USER, {**ANSWER, "reasoning_content": "x"}]}, "openai-chat"),
    ],
)
def test_a_row_is_known_by_what_only_trainers_take(document: Any, name: str) -> None:
    assert detection.detect(document).dialect == name


WORSE = {"role": "assistant", "content": "Green."}


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": [USER], "chosen": [ANSWER], "rejected": [WORSE]},
        {"chosen": [USER, ANSWER], "rejected": [USER, WORSE]},
        {"prompt": "Sky?", "chosen": [USER, ANSWER], "rejected": [USER, WORSE]},
        {"prompt": "Sky?", "chosen": "Blue.", "rejected": "Green."},
        {"chosen": "Sky? Blue.", "rejected": "Sky? Green."},
    ],
)
def test_a_pair_is_a_tree_whose_leaves_share_their_prompt(row: Any) -> None:
    transcript = DIALECT.lift(row)
    answers = [(one.role, one.parts[0].text.strip(), one.label) for one in transcript.messages]  # type: ignore[union-attr]
    assert answers == [("user", "Sky?", None), ("assistant", "Blue.", "chosen"), ("assistant", "Green.", "rejected")]
    assert [one.parent_id for one in transcript.messages] == [None, "message_1", "message_1"]
    assert transcript.head == "message_2"
    assert detection.detect(row).dialect == "hf-chat"


def test_a_string_prompt_of_answers_that_begin_with_it_is_kept_and_not_asked_twice() -> None:
    row = {"chosen": [USER, ANSWER], "rejected": [USER, WORSE], "prompt": "Sky?"}
    transcript = DIALECT.lift(row)
    assert pipeline.lower(transcript, DIALECT).document == row


def test_an_answer_of_several_turns_keeps_them_in_its_line() -> None:
    calling = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}
    result = {"role": "tool", "content": "2"}
    row = {"prompt": [USER], "chosen": [calling, result, ANSWER], "rejected": [calling, result, WORSE]}
    transcript = DIALECT.lift(row)
    assert [one.role for one in transcript.messages] == ["user", "assistant", "tool", "assistant", "assistant"]
    written_again = pipeline.lower(transcript, DIALECT).document
    assert [len(written_again[key]) for key in ("prompt", "chosen", "rejected")] == [3, 1, 1]


def test_two_equal_answers_are_two_answers() -> None:
    row = {"prompt": [USER], "chosen": [ANSWER], "rejected": [ANSWER]}
    assert [one.label for one in DIALECT.lift(row).messages] == [None, "chosen", "rejected"]


def test_a_linear_dialect_gets_the_chosen_answer_and_says_so() -> None:
    row = {"prompt": [USER], "chosen": [ANSWER], "rejected": [WORSE]}
    conversion = pipeline.convert(row, DIALECT, dialects.get("openai-chat"))
    assert [message["content"] for message in conversion.document["messages"]] == ["Sky?", "Blue."]
    assert ("dropped", "branch", "/rejected/0") in {(one.kind, one.field, one.where) for one in conversion.losses}


def test_a_tree_with_labels_becomes_a_pair() -> None:
    messages = [
        Message("user", [Text("Sky?")], id="a"),
        Message("assistant", [Text("Green.")], id="b", parent_id="a", label="rejected"),
        Message("assistant", [Text("Grey.")], id="c", parent_id="a"),
        Message("assistant", [Text("Blue.")], id="d", parent_id="a", label="chosen"),
    ]
    conversion = pipeline.lower(Transcript(messages, head="d"), DIALECT)
    assert conversion.document == {"prompt": [USER], "chosen": [ANSWER], "rejected": [WORSE]}
    assert [loss.where for loss in conversion.losses if loss.field == "branch"] == ["/messages/2"]


def test_nobody_makes_up_an_answer_that_was_rejected() -> None:
    with pytest.raises(RefusedError) as caught:
        written(Message("user", [Text("Sky?")]), Message("assistant", [Text("Blue.")]), form="preference")
    assert caught.value.code == "no-pair"


@pytest.mark.parametrize("form", ["messages", "prompt-completion"])
def test_a_column_of_another_form_does_not_stand_in_for_what_is_written(form: str) -> None:
    row = {"prompt": "Sky?", "chosen": [USER, ANSWER], "rejected": [USER, WORSE], "messages": [USER, WORSE]}
    again = pipeline.convert(row, DIALECT, DIALECT, Options(form=form))
    assert [one.parts for one in DIALECT.lift(again.document).messages] == [[Text("Sky?")], [Text("Blue.")]]


@pytest.mark.parametrize(("label", "name"), [(True, "chosen"), (False, "rejected")])
def test_the_label_of_a_conversation_is_that_of_its_last_turn(label: bool, name: str) -> None:
    row = {"messages": [USER, ANSWER], "label": label}
    assert [message.label for message in DIALECT.lift(row).messages] == [None, name]
    assert detection.detect(row).dialect == "hf-chat"


def test_calls_that_share_an_id_keep_their_own_arguments() -> None:
    twice = Message("assistant", [ToolCall("call_1", "f", {"n": 1}), ToolCall("call_1", "f", {"n": 2})])
    calls = written(twice)[0]["messages"][0]["tool_calls"]
    assert [call["function"]["arguments"] for call in calls] == [{"n": 1}, {"n": 2}]


def test_a_column_of_nulls_is_none() -> None:
    asked, paired = (
        {"prompt": [USER], "completion": [ANSWER]},
        {"prompt": [USER], "chosen": [ANSWER], "rejected": [WORSE]},
    )
    columns = dict.fromkeys(("messages", "prompt", "completion", "chosen", "rejected", "label", "tools"))
    for row in (asked, paired, {"messages": [USER, ANSWER]}):
        filled = {**columns, **row}
        assert pipeline.validate(filled, DIALECT) == []
        assert DIALECT.lift(filled) == DIALECT.lift(row)


def test_an_empty_text_as_the_only_part_of_a_turn_says_nothing() -> None:
    part = {"type": "text", "text": ""}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": {}}}
    turns: list[Any] = [
        {"role": "user", "content": [part]},
        {"role": "assistant", "content": [{**part, "text": "Hi."}]},
    ]
    turns.append({"role": "assistant", "content": [part], "tool_calls": [call]})
    lifted = DIALECT.lift({"messages": turns}).messages
    assert [[one.type for one in message.parts] for message in lifted] == [[], ["text"], ["tool_call"]]
