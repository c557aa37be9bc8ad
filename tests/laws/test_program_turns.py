"""Each agent program's own turns: a training row lacks them, and has what the user wrote."""

from __future__ import annotations

from typing import Any

import pytest

import convcli
from convcli import dialects
from convcli.model.document import Rows

SESSION = {"sessionId": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/x"}
EVENT = {"timestamp": "2026-01-01T00:00:00.000Z", "parentId": None}


def opencode(*parts: dict[str, Any]) -> dict[str, Any]:
    ids = {"sessionID": "ses_1", "messageID": "msg_1"}
    info = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 0}}
    kept = [{"type": "text", "id": f"prt_{i}", **ids, **part} for i, part in enumerate(parts)]
    session = {"id": "ses_1", "directory": "/", "title": "", "version": "1.18.33", "time": {"created": 0, "updated": 0}}
    return {"info": session, "messages": [{"info": info, "parts": kept}]}


def written(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


DOCUMENTS: dict[str, Any] = {
    "antigravity": [
        {"step_index": i, "source": source, "type": kind, "status": "DONE", "content": text}
        for i, (source, kind, text) in enumerate(
            (("USER_EXPLICIT", "USER_INPUT", "Hi."), ("SYSTEM", "EPHEMERAL_MESSAGE", "Use the tools."))
        )
    ],
    "claude-code": [
        {"type": "user", "uuid": id_, "parentUuid": parent, **SESSION, "message": {"role": "user", "content": text}}
        for id_, parent, text in (("1", None, "<local-command-stdout>x</local-command-stdout>"), ("2", "1", "Hi."))
    ],
    "cline": [
        {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}
        for texts in (("[TASK RESUMPTION] This task was interrupted.",), ("Hi.", "<environment_details>x"))
    ],
    "codex": [
        {"type": "session_meta", **SESSION, "payload": {"id": "s", "cli_version": "0.169.0", "cwd": "/x"}},
        *(
            {"type": "response_item", **SESSION, "payload": {"type": "message", "role": "user", "content": [part]}}
            for part in (
                {"type": "input_text", "text": "<environment_context>x</environment_context>"},
                {"type": "input_text", "text": "Hi."},
            )
        ),
    ],
    "copilot-cli": [
        {"type": "session.start", "id": "0", **EVENT, "data": {"sessionId": "s", "version": 1}},
        {"type": "user.message", "id": "1", **EVENT, "data": {"content": "Hi."}},
        {"type": "user.message", "id": "2", **EVENT, "data": {"content": "Go on.", "isAutopilotContinuation": True}},
    ],
    "cursor": [
        {"role": "user", "message": {"content": [{"type": "text", "text": text}]}}
        for text in ("<user_info>\nOS Version: linux\n</user_info>", "Hi.")
    ],
    "droid": [
        {"type": "session_start", "id": "s", "title": "", "owner": "x", "version": 2},
        *(
            {"type": "message", "id": str(i), **EVENT, "message": {"role": "user", **message}}
            for i, message in enumerate(
                (
                    {"content": [{"type": "text", "text": "Cancelled by user"}], "visibility": "llm_only"},
                    {"content": [{"type": "text", "text": "<system-reminder>x</system-reminder>"}]},
                    {"content": [{"type": "text", "text": "Hi."}]},
                )
            )
        ),
    ],
    "gemini-cli": {
        "sessionId": "s",
        "projectHash": "p",
        "messages": [
            {"id": str(i), "type": "user", "content": text}
            for i, text in enumerate(("<session_context>\nThis is the Gemini CLI.</session_context>", "Hi."))
        ],
    },
    "goose": {
        "id": "s",
        "working_dir": "/x",
        "conversation": [
            {"role": "user", "created": 0, "content": [{"type": "text", "text": text}], "metadata": metadata}
            for text, metadata in (
                ("Hi.", {"userVisible": True, "agentVisible": True}),
                ("The hints of a directory.", {"userVisible": False, "agentVisible": True}),
            )
        ],
    },
    "gptme": [
        {"role": "user", "content": "Hi.", "timestamp": "2026-01-01T00:00:00"},
        {"role": "user", "content": "<system>No tool call detected.</system>", "timestamp": "2026-01-01T00:00:01"},
    ],
    "grok-build": [
        {"type": "user", "content": [{"type": "text", "text": text}]}
        for text in ("<user_info>\nOS: linux\n</user_info>", "Hi.")
    ],
    "hermes-agent": {
        "started_at": 1.5,
        "source": "cli",
        "messages": [
            {"role": "user", "content": text} for text in ("[CONTEXT COMPACTION — REFERENCE ONLY] About tea.", "Hi.")
        ],
    },
    "kimi-cli": [
        {"role": "user", "content": text} for text in ("<system-reminder>\nUse the tools.\n</system-reminder>", "Hi.")
    ],
    "kimi-code": [
        {"type": "metadata", "protocol_version": "1.4", "created_at": 0},
        *(
            {"type": "context.append_message", "message": {"role": "user", "content": [part], "toolCalls": []}}
            for part in (
                {"type": "text", "text": "<system-reminder>\nUse the tools.\n</system-reminder>"},
                {"type": "text", "text": "Hi."},
            )
        ),
    ],
    "openclaw": [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/x"},
        {"type": "custom_message", "id": "a", **EVENT, "customType": "note", "content": "x", "display": False},
        {"type": "message", "id": "b", **EVENT, "parentId": "a", "message": {"role": "user", "content": "Hi."}},
    ],
    "opencode": opencode(
        {"text": "Hi."}, {"text": "<system-reminder>\n# Plan Mode - System Reminder", "synthetic": True}
    ),
    "openhands": [
        {
            "kind": "MessageEvent",
            "id": str(i),
            "source": source,
            "llm_message": {"role": "user", "content": [text]},
            **row,
        }
        for i, (source, text, row) in enumerate(
            (
                ("user", written("Hi."), {"extended_content": [written("<EXTRA_INFO>\nA skill.\n</EXTRA_INFO>")]}),
                ("environment", written("Your last response did not include a function call or a message."), {}),
                ("user", written("The goal is NOT yet complete (audit iteration 1).\nOutstanding: tests"), {}),
            )
        )
    ],
    "openhands-v0": [
        {"id": i, "source": "user", "action": "message", "args": {"content": text}}
        for i, text in enumerate(("Hi.", "Please continue on whatever approach you think is suitable.\n"))
    ],
    "qwen-code": [
        {"uuid": str(i), "parentUuid": str(i - 1) if i else None, "type": "user", **SESSION, **row}
        for i, row in enumerate(
            (
                {"message": {"role": "user", "parts": [{"text": "Done."}]}, "subtype": "notification"},
                {"message": {"role": "user", "parts": [{"text": "<system-reminder>x</system-reminder>"}]}},
                {"message": {"role": "user", "parts": [{"text": "Hi."}]}},
            )
        )
    ],
    "vibe": [
        {"role": "user", "content": "Go on.", "message_id": "1", "injected": True},
        {"role": "user", "content": "Hi.", "message_id": "2"},
    ],
}
"""By dialect: a user who writes "Hi.", and what the program writes in the user's place."""
IN_ONE_TEXT = {"continue-dev", "crush", "kiro", "llm", "strands", "vscode-chat", "zed"}
"""Dialects of programs that write nothing in the user's place, at most around the user's words in the same message."""


def test_each_agent_program_has_turns_that_are_known() -> None:
    programs = {dialect.name for dialect in dialects.builtin() if dialect.programs} - IN_ONE_TEXT
    known = {dialect.name for dialect in dialects.builtin() if dialect.program_turns is not None}
    assert programs <= known
    assert known == DOCUMENTS.keys()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_training_row_has_only_what_the_user_wrote(name: str) -> None:
    document = DOCUMENTS[name]
    document = Rows(document) if isinstance(document, list) else document
    conversion = convcli.convert(document, "hf-chat", source=name)
    assert [message["content"] for message in conversion.document["messages"]] == ["Hi."]
    dropped = {loss.field.partition(".")[0] for loss in conversion.losses if loss.level == "content"}
    assert dropped == {"programTurn"}
    kept = convcli.convert(document, "hf-chat", source=name, program_turns="keep").document
    assert len(str(kept["messages"])) > len(str(conversion.document["messages"]))


@pytest.mark.parametrize("synthetic", [{}, {"synthetic": False}])
def test_a_text_that_the_user_wrote_stays_although_it_begins_like_a_reminder(synthetic: dict[str, bool]) -> None:
    document = opencode({"text": "<system-reminder> is what I see.", **synthetic})
    row = convcli.convert(document, "hf-chat", source="opencode").document
    assert row["messages"] == [{"role": "user", "content": "<system-reminder> is what I see."}]


def test_the_text_of_a_file_that_the_user_named_stays() -> None:
    document = opencode({"text": "Explain @a.py"}, {"text": "print(1)", "synthetic": True})
    assert "print(1)" in str(convcli.convert(document, "hf-chat", source="opencode").document)
