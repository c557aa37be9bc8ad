"""How a document was spelled comes back with it from the intermediate format."""

from __future__ import annotations

from typing import Any

from convcli import dialects
from convcli.engine import pipeline

HUB = dialects.get("intermediate")


def test_a_document_without_ids_comes_back_without_them() -> None:
    source = dialects.get("multi-llm-chat")
    call: Any = {"type": "tool_call", "name": "f", "arguments": {}}
    document = [{"role": "gemini", "content": [call]}, {"role": "tool", "name": "f", "content": "ok"}]
    stored = pipeline.convert(document, source, HUB).document
    assert [part["id"] for part in stored["messages"][0]["parts"]] == ["call_1"]
    assert pipeline.convert(stored, HUB, source).document == document
