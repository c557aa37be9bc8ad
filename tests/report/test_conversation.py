"""A conversation as Markdown: nothing in it is interpreted as HTML, and no fence ends too early."""

from __future__ import annotations

from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.report.conversation import markdown


def text_of(*messages: Message) -> str:
    return "".join(markdown(Transcript(list(messages)), "A title", ["claude-code", "2 calls"], [("email", 2)]))


def test_prompts_and_answers_are_open_and_calls_are_folded_with_their_result() -> None:
    written = text_of(
        Message("user", [Text("Run it")]),
        Message("assistant", [Reasoning("hm"), ToolCall("c1", "Bash", {"command": "ls"})]),
        Message("tool", [ToolResult("c1", "Bash", "error", "no such file")]),
    )
    assert written.startswith("# A title\n\nclaude-code · 2 calls\n")
    assert "## User\n\nRun it\n" in written
    assert "<summary>Bash $ ls — error</summary>\n\n```text\n$ ls\n\nno such file\n```" in written
    assert written.endswith("## Masked\n\n| rule | times |\n|---|---|\n| email | 2 |\n")


def test_text_of_the_program_and_instructions_are_folded() -> None:
    written = text_of(
        Message("system", [Text("Be brief")]), Message("user", [Text("<environment_context>x</environment_context>")])
    )
    assert written.count("<details>") == 2


def test_html_and_placeholders_are_shown_and_fences_are_longer_than_those_inside() -> None:
    written = text_of(Message("user", [Text("<EMAIL-1> <script>")]), Message("assistant", [Reasoning("```` x")]))
    assert "\\<EMAIL-1> \\<script>" in written
    assert "`````text\n```` x\n`````" in written


def test_empty_thinking_is_left_out() -> None:
    assert "thinking" not in text_of(Message("assistant", [Reasoning("")]))
