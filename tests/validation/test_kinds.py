"""Types that a format does not name: reported at their position, with what may be meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.document import Rows
from convcli.model.findings import Finding
from convcli.validation import schemas
from tests.cli_cases import run, write

TYPO = {"type": "txet", "text": "Hi."}
TEXT = {"type": "text", "text": "Hi."}
KEPT = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}


def asked(*blocks: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": list(blocks)}]}


def found(name: str, document: Any, **more: Any) -> list[Finding]:
    reported = pipeline.validate(document, dialects.get(name), **more)
    return [finding for finding in reported if finding.code == "unknown-type"]


@pytest.mark.parametrize(
    ("name", "document", "where", "meant"),
    [
        ("anthropic", asked(TYPO), "/messages/0/content/0/type", "text"),
        ("openai-chat", asked(TYPO), "/messages/0/content/0/type", "text"),
        ("mistral", asked(TYPO), "/messages/0/content/0/type", "text"),
        ("gemini", {"contents": [{"role": "user", "parts": [{"txet": "Hi."}]}]}, "/contents/0/parts/0/txet", "text"),
        ("openai-responses", {"input": [{"type": "mesage", "role": "user"}]}, "/input/0/type", "message"),
    ],
)
def test_a_misspelt_type_is_a_warning_and_an_error_where_a_service_is_asked(
    name: str, document: Any, where: str, meant: str
) -> None:
    [finding] = found(name, document)
    assert (finding.severity, finding.where, finding.help) == ("warning", where, f'did you mean "{meant}"?')
    assert [finding.severity for finding in found(name, document, purpose="request")] == ["error"]


def test_a_type_that_nobody_reads_is_reported_where_another_service_is_asked_too(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", asked(TYPO))
    done = run("validate", path, "--dialect", "openai-chat", "--as", "anthropic", "--output-format", "jsonl")
    reported = [json.loads(line) for line in done.stdout.splitlines()]
    assert ("unknown-type", "warning", "/messages/0/content/0/type") in [
        (finding["code"], finding["severity"], finding.get("where")) for finding in reported
    ]


BETA = [
    {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "t", "server_name": "s", "input": {}},
    {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": [TEXT]},
    {"type": "advisor_tool_result", "tool_use_id": "srvtoolu_1", "content": {"type": "advisor_result", "text": "x"}},
    {"type": "compaction", "content": "x", "encrypted_content": "Eq", "signature": "Eq", "tool_changes": []},
    {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": {}},
    {"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": []},
    {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "t"}},
    {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "t"}},
]
"""Blocks of the beta types of `anthropic` 2.10.0, which a header asks for."""


@pytest.mark.parametrize("block", BETA, ids=lambda block: block["type"])
def test_blocks_that_a_beta_header_asks_for_are_known_where_anthropics_are(block: Any) -> None:
    document = asked(TEXT)
    document["messages"] += [{"role": "assistant", "content": [block, TEXT]}, {"role": "user", "content": "x"}]
    reported = pipeline.validate(document, dialects.get("anthropic"), purpose="request", strict=True)
    assert [finding.code for finding in reported if finding.code != "foreign-model"] == []
    for name in ("anthropic-stream", "claude-code", "cline", "droid"):
        assert block["type"] in schemas.types(name)


def test_a_turn_that_a_tool_of_the_service_paused_is_sent_back_as_it_is() -> None:
    document = asked(TEXT)
    document["messages"].append({"role": "assistant", "content": [KEPT]})
    assert [each.code for each in pipeline.validate(document, dialects.get("anthropic"), purpose="request")] == []
    document["messages"][-1]["content"].append(TEXT)
    reported = pipeline.validate(document, dialects.get("anthropic"), purpose="request")
    assert [finding.code for finding in reported] == ["wrong-last-role"]


def test_strict_blames_the_type_and_not_the_keys_next_to_it() -> None:
    reported = pipeline.validate(asked(TYPO), dialects.get("anthropic"), strict=True)
    assert [(finding.code, finding.where) for finding in reported] == [("unknown-type", "/messages/0/content/0/type")]
    reported = pipeline.validate(
        asked({"type": "text", "text": "Hi.", "txet": 1}), dialects.get("anthropic"), strict=True
    )
    assert [(finding.code, finding.where) for finding in reported] == [("unknown-key", "/messages/0/content/0/txet")]


def test_a_type_that_is_known_and_only_kept_is_not_reported() -> None:
    turn = {"role": "assistant", "content": [KEPT]}
    for name in ("anthropic", "cline"):
        assert "server_tool_use" in schemas.types(name)
    assert found("anthropic", {"messages": [turn]}) == []


def test_rows_that_no_model_saw_may_be_of_any_kind() -> None:
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"}
    said = {
        "type": "message",
        "id": "a",
        "parentId": None,
        "timestamp": "t",
        "message": {"role": "user", "content": ""},
    }
    assert found("openclaw", Rows([header, said, {"type": "never_seen_before", "id": "b", "parentId": "a"}])) == []


def test_a_type_that_the_schema_refuses_is_none_that_it_knows() -> None:
    assert "image_url" not in schemas.types("anthropic")
    assert {"text", "tool_use", "redacted_thinking"} <= schemas.types("anthropic")
