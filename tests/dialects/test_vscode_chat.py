"""VS Code chats: what the model was sent before what is displayed, logs, and what is only displayed."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.vscode_chat import DIALECT, PROGRAM
from convcli.engine import detection, pipeline
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult, Transcript

ROUND = {"id": "r1", "response": "I look.", "toolCalls": [{"name": "f", "arguments": '{"n":1}', "id": "c1"}]}
SHOWN = {"kind": "toolInvocationSerialized", "toolId": "f", "toolCallId": "c1", "pastTenseMessage": "Called f"}


def request(text: str, *response: Any, metadata: Any = None, **more: Any) -> dict[str, Any]:
    native = {"requestId": f"id {text}", "message": {"text": text}, "response": list(response), **more}
    return native if metadata is None else {**native, "result": {"metadata": metadata}}


def chat(*requests: Any) -> dict[str, Any]:
    return {"responderUsername": "GitHub Copilot", "initialLocation": "panel", "requests": list(requests)}


def lifted(*requests: Any) -> list[Message]:
    return DIALECT.lift(chat(*requests)).messages


def parts(*requests: Any) -> list[tuple[str, list[Part]]]:
    return [(message.role, message.parts) for message in lifted(*requests)]


def written(*messages: Message) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT)
    return conversion.document["requests"], {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def result(*texts: str) -> dict[str, Any]:
    return {"$mid": 20, "content": [{"$mid": 21, "value": text} for text in texts]}


def test_rounds_and_results_are_read_before_what_is_displayed() -> None:
    metadata = {"toolCallRounds": [ROUND], "toolCallResults": {"c1": result("one")}}
    user, answer, tool = lifted(request("Count.", {"value": "I look. "}, SHOWN, metadata=metadata))
    assert answer.parts == [Text("I look."), ToolCall("c1", "f", {"n": 1})]
    assert tool.parts == [ToolResult("c1", "f", "text", "one")]
    assert user.extras == {"vscode-chat": {"response": [SHOWN]}}


def test_the_rendered_user_message_is_what_the_model_was_sent() -> None:
    rendered = [{"type": 1, "text": "<context/>\nHi."}, {"type": 0, "imageUrl": {"url": "data:image/png;base64,aGk="}}]
    (user,) = lifted(request("Hi.", metadata={"renderedUserMessage": rendered}))
    assert user.parts == [Text("<context/>\nHi."), Media("image", "aGk=", media_type="image/png")]
    assert user.extras is None
    (user,) = lifted(request("Ho.", metadata={"renderedUserMessage": "Hi."}))
    assert (user.parts, user.extras) == ([Text("Hi.")], {"vscode-chat": {"message": {"text": "Ho."}}})


def test_without_rounds_what_is_displayed_is_the_answer() -> None:
    reference = {"kind": "inlineReference", "inlineReference": {"path": "/w/a.py", "scheme": "file"}}
    known = {"kind": "input", "rawInput": {"zone": "UTC"}}
    displayed = [
        {"value": "See "},
        reference,
        {"kind": "thinking", "value": ["One.", "Two."]},
        {**SHOWN, "toolSpecificData": known},
    ]
    assert parts(request("Look.", *displayed))[1] == (
        "assistant",
        [
            Text("See "),
            Text("`a.py`", extras={"vscode-chat": reference}),
            Reasoning("One."),
            Reasoning("Two."),
            ToolCall(
                "c1",
                "f",
                {"zone": "UTC"},
                extras={"vscode-chat": {"pastTenseMessage": "Called f", "toolSpecificData": {"kind": "input"}}},
            ),
        ],
    )


def test_a_call_that_is_only_displayed_is_a_finding() -> None:
    document = chat(request("Look.", SHOWN))
    assert [finding.code for finding in pipeline.validate(document, DIALECT)] == ["displayed-only"]
    metadata = {"toolCallRounds": [ROUND]}
    assert pipeline.validate(chat(request("Look.", SHOWN, metadata=metadata)), DIALECT) == []


def test_a_summary_replaces_what_is_before_it_and_a_late_result_stays_behind_its_call() -> None:
    summarized = {**ROUND, "id": "r2", "toolCalls": [], "summary": "The user counts."}
    requests = (
        request("Count.", metadata={"toolCallRounds": [ROUND], "maxToolCallsExceeded": True}),
        request("Go on.", metadata={"toolCallRounds": [summarized], "toolCallResults": {"c1": result("one")}}),
    )
    messages = lifted(*requests)
    assert [(message.role, message.replaces) for message in messages] == [
        ("user", None),
        ("assistant", None),
        ("tool", None),
        ("user", None),
        ("assistant", None),
        ("user", "all"),
    ]
    assert messages[-1].parts == [Text("The user counts.")]


def test_the_tree_of_a_result_has_its_texts_and_is_written_again() -> None:
    leaves = [{"type": 2, "text": text, "lineBreakBefore": True} for text in ("one", "two")]
    native = {"$mid": 20, "content": [{"$mid": 22, "value": {"node": {"type": 1, "children": leaves}}}]}
    metadata = {"toolCallRounds": [ROUND], "toolCallResults": {"c1": native}}
    transcript = DIALECT.lift(chat(request("Count.", metadata=metadata)))
    tool = transcript.messages[-1].parts[0]
    assert isinstance(tool, ToolResult)
    assert tool.value == [Text("one"), Text("two")]
    document = DIALECT.lower(transcript)
    assert document["requests"][0]["result"]["metadata"]["toolCallResults"]["c1"] == native
    tool.value = [Text("three")]
    document = DIALECT.lower(transcript)
    assert document["requests"][0]["result"]["metadata"]["toolCallResults"]["c1"] == result("three")


@pytest.mark.parametrize(
    ("state", "reason"), [({"value": 1}, "stop"), ({"value": 2}, "aborted"), ({"value": 3}, "error"), (None, None)]
)
def test_the_last_answer_has_the_end_of_the_request(state: Any, reason: str | None) -> None:
    metadata = {"toolCallRounds": [{"id": "r1", "response": "One."}], "promptTokens": 3, "outputTokens": 1}
    answer = lifted(request("Count.", metadata=metadata, modelState=state, modelId="copilot/gpt-5"))[-1]
    assert (answer.stop_reason, answer.usage) == (reason, {"inputTokens": 3, "outputTokens": 1})
    assert (answer.provider, answer.model) == ("copilot", "gpt-5")


def test_a_request_that_failed_has_an_answer_with_the_error() -> None:
    failed = request("Hi.", result={"errorDetails": {"message": "No network."}})
    assert lifted(failed)[-1] == Message("assistant", [], error="No network.")


# ---------------------------------------------------------------- the log

STATE = {"kind": 0, "v": chat()}


def log(*rows: Any) -> Transcript:
    return DIALECT.lift(Rows([STATE, *rows]))


def test_a_log_is_read_like_the_document_that_its_rows_add_up_to() -> None:
    rows = (
        {"kind": 2, "k": ["requests"], "v": [request("Hi.")]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "Hel"}]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "Hello."}], "i": 0},
        {"kind": 1, "k": ["customTitle"], "v": "A greeting"},
        {"kind": 1, "k": ["draft"], "v": 1},
        {"kind": 3, "k": ["draft"]},
    )
    transcript = log(*rows)
    whole = DIALECT.lift({**chat(request("Hi.", {"value": "Hello."})), "customTitle": "A greeting"})
    assert transcript.messages == whole.messages
    assert (transcript.title, transcript.extras) == ("A greeting", {"vscode-chat": {"former": {"draft": [1]}}})


def test_rows_change_no_other_row() -> None:
    rows = [STATE, {"kind": 2, "k": ["requests"], "v": [request("Hi.")]}]
    DIALECT.lift(Rows([*rows, {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "Hello."}]}]))
    assert rows == [{"kind": 0, "v": chat()}, {"kind": 2, "k": ["requests"], "v": [request("Hi.")]}]


def test_requests_that_were_removed_are_kept_as_earlier_values() -> None:
    rows = ({"kind": 2, "k": ["requests"], "v": [request("Hi.")]}, {"kind": 2, "k": ["requests"], "i": 0})
    transcript = log(*rows, {"kind": 2, "k": ["requests"], "v": [request("Ho.")]})
    assert [message.parts for message in transcript.messages] == [[Text("Ho.")]]
    assert transcript.extras == {"vscode-chat": {"former": {"requests": [[request("Hi.")]]}}}


@pytest.mark.parametrize(
    "row",
    [
        {"kind": 1, "k": ["requests", 3, "vote"], "v": 1},
        {"kind": 1, "k": ["requests", 0], "v": 1},
        {"kind": 2, "k": ["requests"], "v": ["Hi."]},
        {"kind": 2, "k": ["requests"], "v": [], "i": 9},
        {"kind": 3, "k": ["absent"]},
        {"kind": 0, "v": {"requests": 1}},
        {"kind": 1, "k": [], "v": {}},
    ],
)
def test_a_row_that_changes_nothing_is_an_event(row: Any) -> None:
    transcript = log({"kind": 2, "k": ["requests"], "v": [request("Hi.")]}, row)
    assert [message.role for message in transcript.messages] == ["user", "event"]
    assert transcript.messages[1].parts[0].value == row  # type: ignore[union-attr]


def test_findings_in_a_log_name_its_rows() -> None:
    rows = Rows([STATE, {"kind": 2, "k": ["requests"], "v": [request("Hi.")]}])
    rows.append({"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "Hm."}, SHOWN]})
    (finding,) = pipeline.validate(rows, DIALECT)
    assert (finding.code, finding.where) == ("displayed-only", "/1/v/0/response")
    (loss,) = [
        loss
        for loss in pipeline.convert(rows, DIALECT, dialects.get("openai-chat")).losses
        if loss.field == "message.id"
    ]
    assert loss.where == "/1/v/0/requestId"


# ---------------------------------------------------------------- write


def test_texts_of_an_answer_are_joined_and_stand_before_its_calls() -> None:
    call = ToolCall("c1", "f", {"n": 1})
    answer = Message("assistant", [Text("One."), call, Text("Two.")], id="r1")
    ((native,), losses) = written(Message("user", [Text("Count.")]), answer)
    (one,) = native["result"]["metadata"]["toolCallRounds"]
    assert one["response"] == "One.\n\nTwo."
    assert losses == {"changed text.text", "dropped text"}


def test_instructions_are_lost() -> None:
    (_, losses) = written(Message("system", [Text("Be brief.")]), Message("user", [Text("Hi.")]))
    assert losses == {"dropped message", "dropped text"}


def test_a_chat_is_detected_as_document_export_and_log() -> None:
    documents: list[Any] = [chat(request("Hi.")), {**chat(), "requests": []}, Rows([STATE])]
    assert [detection.detect(document).dialect for document in documents[:1]] == ["vscode-chat"]
    assert all(detection.evidence(document, DIALECT) for document in documents)


def test_the_directory_is_that_of_the_workspace() -> None:
    find = PROGRAM.directory
    assert find is not None
    assert (
        find("/s/hash/chatSessions/a.json", {"/s/hash/workspace.json": {"folder": "file:///w/a%20b"}}.get) == "/w/a b"
    )
    assert find("/s/emptyWindowChatSessions/a.json", lambda _: None) is None
