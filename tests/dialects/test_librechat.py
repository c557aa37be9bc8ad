"""LibreChat: lists and trees, calls that contain their results, what is in the options, and what its import takes."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.librechat import DIALECT, ROOT
from convcli.engine import detection
from convcli.model.branches import active
from convcli.model.dialect import Options
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Transcript


def node(id_: str, parent: str | None, text: str = "", **more: Any) -> dict[str, Any]:
    is_user = id_.startswith("u")
    return {"messageId": id_, "parentMessageId": parent or ROOT, "isCreatedByUser": is_user, "text": text, **more}


def export(*nodes: Any, **more: Any) -> dict[str, Any]:
    return {"conversationId": "c", "messages": list(nodes), **more}


def call(id_: str, output: str = "") -> dict[str, Any]:
    native = {"id": id_, "name": "f", "args": '{"n":1}', "type": "tool_call"}
    return {"type": "tool_call", "tool_call": {**native, **({"progress": 1, "output": output} if output else {})}}


def parts(*content: Any, **more: Any) -> list[tuple[str, list[Part]]]:
    messages = DIALECT.lift(export(node("a", None, content=list(content), **more))).messages
    return [(message.role, message.parts) for message in messages]


def test_calls_in_a_row_are_followed_by_their_results() -> None:
    content = [
        {"type": "think", "think": "Hm."},
        call("c1", "one"),
        call("c2", "two"),
        {"type": "text", "text": "Done."},
    ]
    assert parts(*content) == [
        ("assistant", [Reasoning("Hm."), ToolCall("c1", "f", {"n": 1}), ToolCall("c2", "f", {"n": 1})]),
        ("tool", [ToolResult("c1", "f", "text", "one")]),
        ("tool", [ToolResult("c2", "f", "text", "two")]),
        ("assistant", [Text("Done.")]),
    ]


def test_a_text_is_the_message_only_without_content() -> None:
    messages = DIALECT.lift(export(node("a", None, "Hi.", content=[{"type": "text", "text": "Ho."}]))).messages
    assert messages[0].parts == [Text("Ho.")]
    assert messages[0].extras == {"librechat": {"text": "Hi."}}
    assert parts({"type": "text", "text": {"value": "Hi."}}, text="Hi.") == [("assistant", [Text("Hi.")])]


def test_content_of_an_unknown_kind_is_kept_opaque() -> None:
    item = {"type": "agent_update", "agent_update": {"agentId": "a"}}
    assert parts(item) == [("assistant", [Opaque("librechat", item)])]


@pytest.mark.parametrize("form", ["export", "tree"])
def test_a_tree_and_a_list_are_the_same_conversation(form: str) -> None:
    flat = DIALECT.lift(export(node("u", None, "Count."), node("a", "u", "One."), node("b", "u", "Two.")))
    document = DIALECT.lower(flat, Options(form=form))
    assert document["recursive"] is (form == "tree")
    assert len(document["messages"]) == (1 if form == "tree" else 3)
    again = DIALECT.lift(document)
    assert again.messages == flat.messages
    assert [one.parts for one in active(again)] == [[Text("Count.")], [Text("Two.")]]


def test_a_long_chain_of_children_is_read() -> None:
    tree: Any = node("u0", None, "Hi.")
    for number in range(1, 400):
        tree = {**node(f"u{number}", None, "Hi."), "children": [tree]}
    assert len(DIALECT.lift(export(tree, recursive=True)).messages) == 400


def test_options_have_the_instruction_the_model_and_the_settings() -> None:
    options = {"promptPrefix": "Be brief.", "model": "m", "temperature": 0.5, "maxOutputTokens": 9, "resendFiles": True}
    transcript = DIALECT.lift(export(node("u", None, "Hi."), options=options))
    assert transcript.messages[0] == Message("system", [Text("Be brief.")])
    assert (transcript.model, transcript.settings) == ("m", {"temperature": 0.5, "maxOutputTokens": 9})
    assert transcript.extras == {"librechat": {"options": {"resendFiles": True}}}


def test_files_are_media_by_their_ids() -> None:
    files = [{"file_id": "f1", "type": "image/png", "filename": "a.png", "width": 1}, {"filepath": "/x"}]
    (message,) = DIALECT.lift(export(node("u", None, "Look.", files=files))).messages
    assert message.parts == [
        Text("Look."),
        Media("image", file_id="f1", media_type="image/png", name="a.png", extras={"librechat": {"width": 1}}),
        Opaque("librechat", files[1], extras={"librechat": {"in": "files"}}),
    ]


def test_an_import_has_an_id_and_every_message_a_parent() -> None:
    document = DIALECT.lower(Transcript([Message("user", [Text("Hi.")]), Message("assistant", [Text("Ho.")])]))
    assert document["conversationId"]
    first, second = document["messages"]
    assert (first["parentMessageId"], second["parentMessageId"]) == (ROOT, first["messageId"])
    assert [one["sender"] for one in document["messages"]] == ["User", "Assistant"]


def test_later_instructions_are_lost_and_the_first_is_an_option() -> None:
    messages = [
        Message("system", [Text("Be brief.")]),
        Message("user", [Text("Hi.")]),
        Message("system", [Text("Now.")]),
    ]
    document = DIALECT.lower(Transcript(messages))
    assert document["options"]["promptPrefix"] == "Be brief."
    assert [one["text"] for one in document["messages"]] == ["Hi."]


def test_an_export_is_detected() -> None:
    assert detection.detect(export(node("u", None, "Hi."))).dialect == "librechat"
    assert detection.detect({"conversationId": "c", "messagesTree": [node("u", None, "Hi.")]}).dialect == "librechat"
