"""Requests with the answers next to them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import answers
from convcli.jobs.documents import route
from convcli.jobs.pairing import AnswerValue, Calls, compose

USER = {"role": "user", "content": "Is it warm in Oslo?"}
REPLY = {"role": "assistant", "content": "It is warm in Oslo."}
REQUEST = {"model": "gpt-4o", "messages": [USER]}
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-4o",
    "choices": [{"index": 0, "finish_reason": "stop", "message": REPLY}],
}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "model": "gpt-4o",
    "status": "completed",
    "instructions": "You are a helpful agent.",
    "tools": [{"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {}}}],
    "output": [
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": REPLY["content"], "annotations": []}],
        }
    ],
}
PARTS = [{"role": "user", "parts": [{"type": "text", "content": USER["content"]}]}]
SPOKEN = [{"role": "assistant", "parts": [{"type": "text", "content": REPLY["content"]}], "finish_reason": "stop"}]


@pytest.mark.parametrize(
    ("dialect", "request_", "answer"),
    [
        ("openai-chat", REQUEST, COMPLETION),
        ("openai-chat", REQUEST, json.dumps(COMPLETION)),
        ("openai-chat", REQUEST, COMPLETION["choices"]),
        ("openai-chat", REQUEST, REPLY),
        ("openai-chat", REQUEST, REPLY["content"]),
        ("openai-chat", [USER], COMPLETION),
        ("openai-chat", [USER], REPLY),
        ("openai-chat", [USER], [REPLY]),
        ("openai-chat", [USER], [REPLY["content"]]),
        ("openai-chat", [USER], RESPONSE),
        ("openai-responses", {"model": "gpt-4o", "input": [USER]}, RESPONSE),
        ("openai-responses", [USER], RESPONSE),
        ("otel-genai", PARTS, SPOKEN),
    ],
)
def test_an_answer_ends_the_conversation_of_its_request(dialect: str, request_: Any, answer: Any) -> None:
    whole = compose(request_, "/a", dialects.get(dialect), AnswerValue("/b", answer))
    assert whole is not None
    messages = answers.lift(whole.value, whole.dialect).messages
    texts = [(message.role, "".join(part.text for part in message.parts)) for message in messages]  # type: ignore[union-attr]
    assert texts[-2:] == [("user", USER["content"]), ("assistant", REPLY["content"])]


@pytest.mark.parametrize(
    "answer",
    [None, "", 7, {}, {"state": "done"}, [USER], {"messages": [USER, REPLY]}, {"type": "new", "id": "x"}],
)
def test_what_is_no_answer_stays_apart(answer: Any) -> None:
    assert compose(REQUEST, "/a", dialects.get("openai-chat"), AnswerValue("/b", answer)) is None
    assert compose([USER], "/a", dialects.get("openai-chat"), AnswerValue("/b", answer)) is None


def test_instructions_and_tools_that_only_the_answer_repeats_belong_to_the_request() -> None:
    whole = compose([USER], "/input", dialects.get("openai-chat"), AnswerValue("/output", RESPONSE))
    assert whole is not None
    transcript = answers.lift(whole.value, whole.dialect)
    assert [message.role for message in transcript.messages] == ["system", "user", "assistant"]
    assert [tool.name for tool in transcript.tools or ()] == ["get_weather"]
    assert route(whole.routes, "/tools/0") == "/output/tools/0"
    assert route(whole.routes, "/input/0/content") == "/input/0/content"


@pytest.mark.parametrize(
    ("request_", "is_alone", "inner", "outer"),
    [
        (REQUEST, False, "/messages/0", "/a/messages/0"),
        (REQUEST, False, "/response/choices/0", "/b/choices/0"),
        ([USER], False, "/messages/0/content", "/a/0/content"),
        ([USER], True, "/messages/0/content", "/a/content"),
    ],
)
def test_the_places_of_a_composed_document_are_those_in_the_record(
    request_: Any, is_alone: bool, inner: str, outer: str
) -> None:
    whole = compose(request_, "/a", dialects.get("openai-chat"), AnswerValue("/b", COMPLETION), is_alone=is_alone)
    assert whole is not None
    assert route(whole.routes, inner) == outer


def test_an_answer_that_stands_before_its_request_is_read_after_it() -> None:
    calls = Calls(["/response", "/other", "/request"])
    assert sorted(["/response", "/other", "/request"], key=calls.order) == ["/other", "/request", "/response"]
    assert calls.answers("/request") == ["/response"]
    assert calls.answers("/other") == []
