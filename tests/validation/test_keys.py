"""What a service wants of every request, and what readers of its responses cannot do without."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.rule import Purpose
from convcli.validation.rules.keys import TOP_LEVEL_CODES, has
from tests.support import names, samples

HI = [{"role": "user", "content": "Hi."}]
BLOCKS = [{"role": "user", "content": [{"text": "Hi."}]}]

REQUIRED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("openai-chat", {"messages": HI}, {"model": "gpt-5.1"}),
    ("openai-responses", {"input": "Hi."}, {"model": "gpt-5.1"}),
    ("openai-responses", {"input": "Hi."}, {"prompt": {"id": "pmpt_1"}}),
    ("anthropic", {"messages": HI}, {"model": "claude-x", "max_tokens": 64}),
    ("mistral", {"messages": HI}, {"model": "mistral-large-latest"}),
    ("cohere", {"messages": HI, "safety_mode": "NONE"}, {"model": "command-a"}),
    ("ollama", {"messages": HI, "options": {}}, {"model": "gpt-oss:20b"}),
    ("bedrock-converse", {"messages": BLOCKS}, {"modelId": "amazon.nova-lite-v1:0"}),
    ("mcp", {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi."}}]}, {"maxTokens": 64}),
]


def codes(name: str, document: Any, purpose: Purpose = "request") -> list[str]:
    return [one.code for one in pipeline.validate(document, dialects.get(name), purpose=purpose)]


@pytest.mark.parametrize(("name", "document", "keys"), REQUIRED)
def test_a_request_has_the_keys_that_its_service_requires(
    name: str, document: dict[str, Any], keys: dict[str, Any]
) -> None:
    assert codes(name, {**document, **keys}) == []
    for key in keys:
        rest = {other: value for other, value in keys.items() if other != key}
        (finding,) = pipeline.validate({**document, **rest}, dialects.get(name), purpose="request")
        assert (finding.code, finding.severity, finding.where) == ("incomplete-request", "error", "")
        assert ("model" if key == "prompt" else key) in finding.message


@pytest.mark.parametrize(("name", "document", "keys"), REQUIRED)
def test_what_is_kept_may_lack_them(name: str, document: dict[str, Any], keys: dict[str, Any]) -> None:
    assert codes(name, document, "document") == []


def test_a_list_of_messages_is_no_request_and_nobody_wonders_who_asked_for_one() -> None:
    (finding,) = pipeline.validate(HI, dialects.get("openai-chat"), purpose="request")
    assert finding.message == "a request requires model; this is only a list"
    listed = pipeline.Options(form="list")
    source = dialects.get("anthropic")
    done = pipeline.convert({"messages": HI, "max_tokens": 9}, source, dialects.get("openai-chat"), listed)
    assert done.findings == []


NATIVE: dict[str, Any] = {"a": {"b": 1, "n": None}, "items": [{"type": "x", "id": 1}, {"type": "y"}], "none": []}


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("a", True),
        ("a.b", True),
        ("a.n", False),
        ("a.c", False),
        ("c.d", False),
        ("c?.d", True),
        ("a?.c", False),
        ("c|a", True),
        ("c|d", False),
        ("items.*.id", False),
        ("items.*x.id", True),
        ("items.*y.id", False),
        ("none.*.id", True),
        ("items.id", False),
    ],
)
def test_a_key_is_written_with_what_it_leads_through(key: str, expected: bool) -> None:
    assert has(NATIVE, key) is expected


@pytest.mark.parametrize(
    ("source", "target", "missing", "hint"),
    [
        ("openai-chat", "anthropic", "max_tokens", "--set max_tokens=1024"),
        ("anthropic", "bedrock-converse", "modelId", "--set modelId=…"),
        ("gemini", "mistral", "model", "--set model=…"),
    ],
)
def test_a_conversion_reports_once_what_to_add(source: str, target: str, missing: str, hint: str) -> None:
    request = {
        "openai-chat": {"model": "m", "messages": HI},
        "anthropic": {"max_tokens": 64, "messages": HI},
        "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]},
    }[source]
    done = pipeline.convert(request, dialects.get(source), dialects.get(target))
    (finding,) = done.findings
    assert finding.message == f"a request requires {missing}"
    assert finding.help == f"add the values you know: {hint}"


RESPONSE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "text", "text": "Hi."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}


@pytest.mark.parametrize(
    ("target", "missing"),
    [
        ("openai-chat", "created"),
        (
            "openai-responses",
            "created_at and output.*.id and usage.input_tokens_details.cached_tokens"
            " and usage.output_tokens_details.reasoning_tokens",
        ),
        ("mistral", "created"),
        ("bedrock-converse", "metrics"),
        ("openai-chat-stream", "created"),
        ("openai-responses-stream", "response.created_at"),
    ],
)
def test_a_response_reports_once_what_nobody_knows(target: str, missing: str) -> None:
    done = pipeline.convert(RESPONSE, dialects.get("anthropic"), dialects.get(target))
    (finding,) = done.findings
    assert (finding.code, finding.severity, finding.where) == ("incomplete-response", "warning", "")
    assert missing in finding.message


@pytest.mark.parametrize("name", names())
def test_a_document_that_nobody_converts_gets_no_such_finding(name: str) -> None:
    dialect = dialects.get(name)
    for sample in samples():
        if sample.dialect == name and dialect.is_written:
            findings = pipeline.convert(sample.document, dialect, dialect).findings
            assert not {finding.code for finding in findings} & TOP_LEVEL_CODES
