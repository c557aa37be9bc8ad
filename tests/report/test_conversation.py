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


def test_the_run_of_a_subagent_stands_inside_its_call() -> None:
    written = text_of(
        Message("user", [Text("Find it")]),
        Message("assistant", [ToolCall("c1", "Task", {"prompt": "Look"})]),
        Message("user", [Text("Look")], parent_call_id="c1"),
        Message("assistant", [ToolCall("c2", "Bash", {"command": "ls"})], parent_call_id="c1"),
        Message("tool", [ToolResult("c2", "Bash", "text", "a.py")], parent_call_id="c1"),
        Message("tool", [ToolResult("c1", "Task", "text", "**Found** `List<a>`")]),
        Message("assistant", [Text("Done")]),
    )
    begin, inner, end = (written.index(word) for word in ("<summary>Task", "<summary>Bash $ ls", "**Found** `List<a>`"))
    run = written[begin:end]
    assert begin < inner < end
    assert "<summary>run of the agent: 3 messages, 1 call</summary>\n\n\n**User**\n\nLook\n" in run
    assert (run.count("<details>"), run.count("</details>")) == (2, 2)
    assert written.count("## User") == 1
    assert written.index("</details>", end) < written.index("Done")


def test_an_open_fence_ends_before_the_next_message() -> None:
    written = text_of(Message("user", [Text("```\nopen")]), Message("assistant", [Text("Next")]))
    assert "```\nopen\n```\n\n## Assistant" in written


def test_the_element_around_a_prompt_is_left_out_and_what_a_program_added_is_folded() -> None:
    text = "<task>\nCount it.\n</task>\n<environment_details>\ndir\n</environment_details>"
    written = text_of(Message("user", [Text(text)]))
    assert "## User\n\nCount it.\n" in written
    assert "<summary>environment details: dir</summary>" in written
