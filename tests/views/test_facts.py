"""What stands at the top of a page: the title, and facts in a few words."""

from __future__ import annotations

import pytest

from convcli import dialects
from convcli.jobs.documents import Document
from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript
from convcli.views.columns import row_of
from convcli.views.costs import Prices
from convcli.views.facts import duration, facts_of, program_of, recorded_cost


def user(*texts: str) -> Message:
    return Message("user", [Text(text) for text in texts])


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, ""), (0.2, ""), (-5, ""), (59, "59 s"), (61, "1 min 01 s"), (3_720, "1 h 02 min"), (90_000, "1 day 1 h")],
)
def test_a_duration_is_two_units(seconds: float | None, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("dialect", "file", "program"),
    [
        ("openclaw", "/home/a/.pi/agent/sessions/x/s.jsonl", "pi"),
        ("openclaw", "/home/a/.openclaw/agents/main/sessions/s.jsonl", "OpenClaw"),
        ("cursor", "s.jsonl", "Cursor"),
        ("continue-dev", "s.json", "Continue"),
        ("openclaw", "s.jsonl", "pi"),
        ("claude-code", "s.jsonl", "Claude Code"),
        ("openai-chat", "s.json", "OpenAI Chat Completions"),
    ],
)
def test_a_program_has_the_name_that_its_users_know(dialect: str, file: str, program: str) -> None:
    assert program_of(Document(file, 1, None, b"", dialects.get(dialect))) == program


def test_facts_are_those_of_the_session_and_failures_stand_out() -> None:
    edit = {"file_path": "a", "old_string": "x", "new_string": "y"}
    transcript = Transcript(
        [
            Message("user", [Text("Hi.")], created_at="2026-01-08T12:45:00Z"),
            Message("assistant", [ToolCall("1", "Edit", edit), ToolCall("2", "Bash", {})], cost=0.5, model="m",
                    usage={"inputTokens": 12_345, "outputTokens": 3}),
            Message("tool", [ToolResult("1", "Edit", "text", "ok")]),
            Message("tool", [ToolResult("2", "Bash", "error", "no")], created_at="2026-01-08T12:47:03Z"),
        ],
        cwd="/home/a/shop",
        extras={"claude-code": {"session": {"gitBranch": "main"}}},
    )  # fmt: skip
    document = Document("s.jsonl", 1, None, b"", dialects.get("claude-code"))
    facts = facts_of(document, transcript, row_of(document, transcript), Prices({}))
    assert [(fact.kind, fact.text) for fact in facts] == [
        ("project", "shop"),
        ("branch", "main"),
        ("program", "Claude Code"),
        ("model", "m"),
        ("time", "2026-01-08 12:45 UTC"),
        ("duration", "2 min 03 s"),
        ("cost", "$0.50"),
        ("messages", "4 messages"),
        ("calls", "2 calls"),
        ("files", "1 file changed"),
        ("error", "1 failure"),
        ("tokens", "12.3k tokens in, 3 out"),
    ]
    assert recorded_cost(Transcript([Message("user", [])])) is None


def test_a_fact_says_nothing_of_where_the_file_is() -> None:
    transcript = Transcript([user("Hi.")])
    document = Document(
        "/home/mira/.claude/projects/-home-mira-shop/s.jsonl", 1, None, b"", dialects.get("claude-code")
    )
    assert "mira" not in str(facts_of(document, transcript, row_of(document, transcript), Prices({})))
