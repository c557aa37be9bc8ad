"""Open WebUI: output before content, `<details>` of older answers, branches, and what an export repeats."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.openwebui import DIALECT, pieces_of
from convcli.engine import detection
from convcli.model.branches import active
from convcli.model.dialect import Options
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Transcript

CALL = {"type": "function_call", "id": "c1", "call_id": "c1", "name": "f", "arguments": '{"n": 1}'}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "one"}]}
ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is one."}]}
DETAILS = (
    '<details type="tool_calls" done="true" id="c1" name="f" arguments="&quot;{\\&quot;n\\&quot;: 1}&quot;" '
    'result="&quot;one&quot;">\n<summary>Tool Executed</summary>\n</details>\n'
)


def node(id_: str, parent: str | None, role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"id": id_, "parentId": parent, "childrenIds": [], "role": role, "content": content, **more}


def chat(*nodes: dict[str, Any], current: str = "", **more: Any) -> dict[str, Any]:
    history = {"messages": {one["id"]: one for one in nodes}, "currentId": current or nodes[-1]["id"]}
    return {"id": "chat-1", "title": "A chat", "chat": {"title": "A chat", "history": history, **more}}


def lifted(*nodes: dict[str, Any], **more: Any) -> Transcript:
    return DIALECT.lift(chat(*nodes, **more))


def parts(content: str, **more: Any) -> list[list[Part]]:
    return [message.parts for message in lifted(node("a", None, "assistant", content, **more)).messages]


def test_output_is_read_before_content() -> None:
    expected = [
        [ToolCall("c1", "f", {"n": 1}, metadata={"itemId": "c1"})],
        [ToolResult("c1", "f", "text", "one")],
        [Text("It is one.")],
    ]
    assert parts(f"{DETAILS}It is one.", output=[CALL, RESULT, ANSWER]) == expected


def test_content_that_differs_from_its_output_is_kept() -> None:
    (message,) = lifted(node("a", None, "assistant", "It is two.", output=[ANSWER])).messages
    assert message.extras == {"openwebui": {"content": "It is two."}}


def test_details_of_older_answers_are_reasoning_calls_and_results() -> None:
    thought = (
        '<details type="reasoning" done="true" duration="3">\n<summary>Thought</summary>\n> Hm.\n&gt; So.\n</details>'
    )
    extras = {"openwebui": {"duration": "3"}}
    expected = [
        [Reasoning("Hm.\n> So.", extras=extras), ToolCall("c1", "f", {"n": 1})],
        [ToolResult("c1", "f", "text", "one")],
        [Text("\nIt is one.")],
    ]
    assert parts(f"{thought}{DETAILS}It is one.") == expected


def test_details_without_the_name_of_a_tool_are_kept_opaque() -> None:
    element = '<details type="tool_calls"><summary>Tool Executed</summary>"one"</details>'
    assert parts(element) == [[Opaque("openwebui", {"type": "details", "text": element})]]


@pytest.mark.parametrize("content", ["", "a", "<details ", "a<details x>b", "a<details x>b</details>c<details "])
def test_the_pieces_of_an_answer_are_the_answer(content: str) -> None:
    assert "".join(piece for piece, _ in pieces_of(content)) == content


def test_a_branch_ends_at_the_current_message_and_has_the_system_prompt() -> None:
    nodes = (
        node("u", None, "user", "Count."),
        node("a", "u", "assistant", "One."),
        node("b", "u", "assistant", "Two."),
    )
    transcript = lifted(*nodes, current="a", params={"system": "Be brief."})
    assert transcript.head == "a"
    assert [message.parts for message in active(transcript)] == [[Text("Be brief.")], [Text("Count.")], [Text("One.")]]


def test_children_before_their_parent_are_put_in_order() -> None:
    transcript = lifted(node("a", "u", "assistant", "One."), node("u", None, "user", "Count."), current="a")
    assert [message.id for message in transcript.messages] == ["u", "a"]
    assert transcript.head is None


def test_files_are_images_texts_and_ids() -> None:
    files = [
        {"type": "image", "url": "data:image/png;base64,aGk="},
        {"type": "file", "id": "f1", "name": "a.txt", "file": {"data": {"content": "one line"}}},
        {"type": "file", "id": "f2", "name": "b.pdf"},
        {"type": "collection", "id": "k1"},
    ]
    assert lifted(node("u", None, "user", "Look.", files=files)).messages[0].parts == [
        Text("Look."),
        Media("image", data="aGk=", media_type="image/png"),
        Media("document", text="one line", name="a.txt", extras={"openwebui": {"id": "f1"}}),
        Media("document", file_id="f2", name="b.pdf"),
        Opaque("openwebui", files[3]),
    ]


def test_the_active_path_that_an_export_repeats_is_no_fact() -> None:
    user = node("u", None, "user", "Hi.")
    assert lifted(user, messages=[user]).extras is None
    other = {**user, "content": "Ho."}
    assert lifted(user, messages=[other]).extras == {"openwebui": {"chat": {"messages": [other]}}}


def test_a_chat_is_detected_in_an_export_and_alone() -> None:
    export = chat(node("u", None, "user", "Hi."), models=["m"], messages=[{"role": "user", "content": "Hi."}])
    assert [detection.detect(one).dialect for one in (export, export["chat"])] == ["openwebui"] * 2
    assert DIALECT.lift(export["chat"]).model == "m"


def test_an_answer_has_its_model_time_usage_and_error() -> None:
    more = {
        "model": "m",
        "timestamp": 1700000000,
        "usage": {"prompt_tokens": 1, "eval_rate": 2.5},
        "error": {"content": "Down."},
    }
    (message,) = lifted(node("a", None, "assistant", "", **more)).messages
    extras = {"openwebui": {"usage": {"eval_rate": 2.5}}}
    expected = Message(
        "assistant",
        [],
        "a",
        created_at="2023-11-14T22:13:20Z",
        model="m",
        usage={"inputTokens": 1},
        error="Down.",
        extras=extras,
    )
    assert message == expected


# ---------------------------------------------------------------- write


def written(*messages: Message, **fields: Any) -> dict[str, Any]:
    history: dict[str, Any] = DIALECT.lower(Transcript(list(messages), **fields))["chat"]["history"]
    return history


def test_an_answer_with_its_results_is_one_message() -> None:
    history = written(
        Message("user", [Text("Count.")]),
        Message("assistant", [ToolCall("c1", "f", {"n": 1})]),
        Message("tool", [ToolResult("c1", "f", "text", "one")]),
        Message("assistant", [Text("It is one.")]),
        Message("user", [Text("Thanks.")]),
    )
    nodes = list(history["messages"].values())
    assert [one["role"] for one in nodes] == ["user", "assistant", "user"]
    assert [item["type"] for item in nodes[1]["output"]] == ["function_call", "function_call_output", "message"]
    assert nodes[1]["output"][1]["output"] == [{"type": "input_text", "text": "one"}]
    assert (nodes[1]["content"], nodes[1]["childrenIds"]) == ("It is one.", [nodes[2]["id"]])
    assert history["currentId"] == nodes[2]["id"]


def test_rows_with_ids_are_one_answer_and_its_children_follow_it() -> None:
    history = written(
        Message("user", [Text("Count.")], "u"),
        Message("assistant", [ToolCall("c1", "f", {})], "a", "u"),
        Message("tool", [ToolResult("c1", "f", "text", "one")], "t", "a"),
        Message("assistant", [Text("One.")], "b", "t"),
        Message("user", [Text("Thanks.")], "v", "b"),
    )
    assert [(one["id"], one["parentId"]) for one in history["messages"].values()] == [
        ("u", None),
        ("a", "u"),
        ("v", "a"),
    ]


def test_branches_stay_branches() -> None:
    history = written(
        Message("user", [Text("Count.")], "u"),
        Message("assistant", [Text("One.")], "a", "u"),
        Message("assistant", [Text("Two.")], "b", "u"),
        head="a",
    )
    assert history["currentId"] == "a"
    assert history["messages"]["u"]["childrenIds"] == ["a", "b"]


def test_the_leading_instruction_is_a_parameter() -> None:
    document = DIALECT.lower(Transcript([Message("system", [Text("Be brief.")]), Message("user", [Text("Hi.")])]))
    assert document["chat"]["params"] == {"system": "Be brief."}
    assert len(document["chat"]["messages"]) == 1


def test_a_conversation_alone_has_no_export_around_it() -> None:
    transcript = Transcript([Message("user", [Text("Hi.")])], title="A chat")
    document = DIALECT.lower(transcript, Options(form="chat"))
    assert document["title"] == "A chat"
    assert DIALECT.lift(document).origin.form == "chat"  # type: ignore[union-attr]
