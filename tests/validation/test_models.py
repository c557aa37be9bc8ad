"""The model that a request names is one that its service has."""

from __future__ import annotations

import pytest

from convcli import dialects
from convcli.engine import pipeline

HI = [{"role": "user", "content": "Hi."}]


@pytest.mark.parametrize(
    ("model", "told_by"),
    [
        ("gpt-5.1", {"anthropic", "gemini", "mistral", "cohere", "ollama", "bedrock-converse"}),
        ("o3-mini", {"anthropic", "gemini", "mistral", "cohere", "ollama", "bedrock-converse"}),
        ("gpt-oss-120b", set()),
        ("omni-x", set()),
        ("mistral-large-latest", {"openai-responses", "anthropic", "gemini", "cohere", "bedrock-converse"}),
        ("us.anthropic.claude-x-v1:0", {"openai-responses", "anthropic", "gemini", "mistral", "cohere", "ollama"}),
        ("my-own-model", set()),
    ],
)
def test_a_name_of_another_vendor_is_reported_once(model: str, told_by: set[str]) -> None:
    source = dialects.get("openai-chat")
    targets = ("openai-responses", "anthropic", "gemini", "mistral", "cohere", "ollama", "bedrock-converse")
    request = {"model": model, "max_completion_tokens": 64, "messages": HI}
    done = {name: pipeline.convert(request, source, dialects.get(name)) for name in targets}
    assert {name for name in targets if done[name].findings} == told_by
    for name in told_by:
        (finding,) = done[name].findings
        key = "modelId" if name == "bedrock-converse" else "model"
        assert (finding.code, finding.severity, finding.where) == ("foreign-model", "warning", "")
        assert finding.help == f"set another model: --set {key}=…"
        assert model not in finding.message


def test_what_is_kept_may_name_any_model() -> None:
    request = {"model": "claude-x", "messages": HI}
    assert pipeline.validate(request, dialects.get("openai-chat")) == []
