"""The calls of one conversation are joined."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convcli.jobs import inputs, joining
from convcli.jobs.documents import Calls, Document
from convcli.jobs.envelopes import patterns
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolResult
from convcli.proof.reasons import Loss

Native = dict[str, Any]


def user(text: str) -> Native:
    return {"role": "user", "content": text}


def reply(text: str, **more: Any) -> Native:
    return {"role": "assistant", "content": text, **more}


def call(id_: str, city: str) -> Native:
    function = {"name": "get_weather", "arguments": json.dumps({"city": city})}
    return reply("", tool_calls=[{"id": id_, "type": "function", "function": function}])


def result(id_: str, text: str) -> Native:
    return {"role": "tool", "tool_call_id": id_, "content": text}


def completion(message: Native) -> Native:
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": [choice]}


def log(*calls: tuple[list[Native], Native], **settings: Any) -> list[Native]:
    """Lines of a log: requests with their answers."""
    return [
        {"request": {"model": "gpt-4o", "messages": messages, **settings}, "response": completion(answer)}
        for messages, answer in calls
    ]


def conversations(
    path: Path, rows: Any, *at: str, calls: Calls = "auto"
) -> tuple[list[list[str]], tuple[Loss, ...], joining.JoinedCalls | None]:
    """The texts of the conversations in a file, what was lost by joining, and the counts."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) if isinstance(rows, list) else json.dumps(rows))
    with inputs.opened(str(path), at=patterns(at or ("/request", "/response")), calls=calls) as source:
        documents = [item for item in source if isinstance(item, Document)]
    texts = [[_text(message) for message in document.lift().messages] for document in documents]
    return texts, tuple(loss for document in documents for loss in document.merged), source.joined


def _text(message: Message) -> str:
    parts = [part.text if isinstance(part, Text) else part.type for part in message.parts]
    return f"{message.role}: {' '.join(filter(None, parts))}"


HI, HO = [user("hi")], [user("hi"), reply("hello"), user("more")]
GROWING = log((HI, reply("hello")), (HO, reply("bye")))
WHOLE = ["user: hi", "assistant: hello", "user: more", "assistant: bye"]


def test_a_growing_conversation_is_written_once_with_its_last_answer(tmp_path: Path) -> None:
    texts, losses, counts = conversations(tmp_path / "a.jsonl", GROWING)
    assert texts == [WHOLE]
    assert counts == joining.JoinedCalls(2, 1)
    assert {loss.level for loss in losses} <= {"context", "envelope"}
    assert {loss.line for loss in losses} == {1}
    assert "message.stopReason" in {loss.field for loss in losses}


@pytest.mark.parametrize("calls", ["apart", "each"])
def test_without_joining_each_call_is_a_row(tmp_path: Path, calls: Calls) -> None:
    texts, losses, counts = conversations(tmp_path / "a.jsonl", GROWING, calls=calls)
    assert (len(texts), losses, counts) == ({"apart": 4, "each": 2}[calls], (), None)


def test_the_order_of_calls_in_a_file_does_not_matter(tmp_path: Path) -> None:
    texts, _, counts = conversations(tmp_path / "a.jsonl", GROWING[::-1])
    assert (texts, counts) == ([WHOLE], joining.JoinedCalls(2, 1))


def test_branches_stay_apart(tmp_path: Path) -> None:
    rows = log((HI, reply("hello")), (HI, reply("good day")), (HO, reply("bye")), (HO, reply("farewell")))
    texts, _, counts = conversations(tmp_path / "a.jsonl", rows)
    assert texts == [["user: hi", "assistant: good day"], WHOLE, [*WHOLE[:-1], "assistant: farewell"]]
    assert counts == joining.JoinedCalls(4, 3)


def test_many_answers_to_one_request_are_not_compared_in_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "is_echoed", pytest.fail)
    texts, _, counts = conversations(tmp_path / "a.jsonl", log(*((HI, reply(f"hello {n}")) for n in range(20))))
    assert len(texts) == 20
    assert counts == joining.JoinedCalls(20, 20)


def test_two_answers_with_calls_of_the_same_id_are_branches(tmp_path: Path) -> None:
    rows = log(([user("weather?")], call("call_1", "Oslo")), ([user("weather?")], call("call_1", "Rome")))
    assert len(conversations(tmp_path / "a.jsonl", rows)[0]) == 2


@pytest.mark.parametrize(
    ("answer", "repeated", "lost"),
    [
        (reply("hello there,\n my friend"), reply("hello there, my friend"), {"text.text"}),
        (reply("<think>a greeting</think>hello"), reply("hello"), {"text.text"}),
        (reply("hello", reasoning_content="a greeting of a person"), reply("hello"), {"reasoning"}),
        (call("call_7", "Oslo"), call("call_7", "Oslo, Norway"), {"tool_call.arguments"}),
        (reply("hello my friend"), user("hello my friend"), {"message.role"}),
    ],
)
def test_an_answer_that_is_repeated_in_other_words_is_a_loss(
    tmp_path: Path, answer: Native, repeated: Native, lost: set[str]
) -> None:
    ids = [each["id"] for each in repeated.get("tool_calls", ())]
    middle = [repeated, *(result(id_, "mild") for id_ in ids)]
    rows = log((HI, answer), ([*HI, *middle, user("more")], reply("bye")))
    texts, losses, _ = conversations(tmp_path / "a.jsonl", rows)
    assert len(texts) == 1
    assert lost <= {loss.field for loss in losses if loss.level == "content"}


def test_settings_and_tools_of_an_earlier_call_are_losses(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    rows = log((HI, reply("hello")), temperature=0.5, tools=[tool]) + log((HO, reply("bye")))
    _, losses, _ = conversations(tmp_path / "a.jsonl", rows)
    assert {("settings.temperature", 1), ("tool", 1)} <= {(loss.field, loss.line) for loss in losses}
    assert [loss.where for loss in losses if loss.field == "settings.temperature"] == ["/request/temperature"]


TRACE = {
    "trace": {"input": HI, "output": reply("bye")},
    "observations": [
        {"input": {"messages": HO}, "output": completion(reply("bye"))},
        {"input": {"messages": HI}, "output": reply("hello")},
        {"input": {"messages": [*HO, reply("bye")]}, "output": None},
        {"input": [user("another agent")], "output": reply("works")},
    ],
}


def test_in_a_trace_parts_of_a_conversation_are_no_rows_of_their_own(tmp_path: Path) -> None:
    texts, _, counts = conversations(tmp_path / "a.json", TRACE, "langfuse")
    assert texts == [["user: hi", "assistant: bye"], WHOLE, ["user: another agent", "assistant: works"]]
    assert counts == joining.JoinedCalls(5, 3)


def test_a_conversation_that_is_too_old_is_written_and_goes_on_in_another_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = log(*(([user(f"question {i}")], reply("yes")) for i in range(20)))
    rows = [GROWING[0], *others, GROWING[1]]
    assert len(conversations(tmp_path / "a.jsonl", rows)[0]) == 21
    monkeypatch.setattr(joining, "MOST_OPEN", 2_000)
    texts, _, counts = conversations(tmp_path / "a.jsonl", rows)
    assert texts[0] == WHOLE[:2]
    assert texts[-1] == WHOLE
    assert counts == joining.JoinedCalls(22, 22)


LITELLM = [{"model": "gpt-4o", "messages": messages, "response": completion(reply("a"))} for messages in (HI, HO)]
REQUESTS = [{"model": "gpt-4o", "messages": messages} for messages in (HI, HO)]


@pytest.mark.parametrize(
    ("rows", "is_joined"),
    [
        (LITELLM, True),
        (REQUESTS, True),
        (REQUESTS[:1], False),
        ([{"messages": messages} for messages in ([*HI, reply("a")], [*HO, reply("b")])], False),
    ],
    ids=["answers", "requests that grow", "one request", "rows"],
)
def test_lines_are_joined_if_they_are_calls(tmp_path: Path, rows: list[Native], is_joined: bool) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    dialect = "hf-chat" if "model" not in rows[0] else None
    with inputs.opened(str(path), dialect, calls="auto") as source:
        assert (source.joined is not None) is is_joined
    with inputs.opened(str(path), dialect, calls="join") as source:
        assert source.joined is not None


def test_the_digest_of_a_message_is_that_of_what_it_says() -> None:
    def key(*parts: Any, role: str = "assistant") -> bytes:
        return joining.message_key(Message(role, list(parts)))

    assert key(Text("a  b")) == key(Reasoning("thought"), Text("a"), Text(" b"))
    assert key(Text("a")) != key(Text("a"), role="user")
    assert key(ToolCall("1", "f", {"a": 1, "b": 2})) == key(ToolCall("2", "f", {"b": 2, "a": 1}))
    assert key(ToolCall("1", "f", {"a": 1})) != key(ToolCall("1", "f", {"a": 2}))
    assert key(ToolResult("1", "f", "text", '{"a": 1}')) == key(ToolResult("1", "f", "data", {"a": 1}))
    assert key(ToolResult("1", "f", "multimodal", [Text("a")])) == key(ToolResult("1", "f", "text", "a"))
