"""llm: turns with texts or with messages, fragments, attachments, and tools that repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from convcli.dialects.llm import DIALECT
from convcli.engine import detection
from convcli.jobs import programs
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolDefinition, ToolResult

TOOL = {"name": "f", "description": "Counts.", "input_schema": {"type": "object"}, "hash": "h"}
CALL = {"name": "f", "arguments": {"n": 1}, "tool_call_id": "c1", "server_executed": False}
RESULT = {"name": "f", "output": "1", "tool_call_id": "c1", "exception": None}


def turn(**keys: Any) -> dict[str, Any]:
    return {"conversation_id": "t1", "prompt": "", "response": "", **keys}


def lifted(*turns: Any) -> list[Message]:
    return DIALECT.lift(list(turns)).messages


def test_an_exported_turn_is_results_a_prompt_and_an_answer() -> None:
    first = turn(prompt="Go.", reasoning="Hm.", response="Well.", tool_calls=[CALL])
    then = turn(tool_results=[RESULT], response="One.", id="r2", model="m", input_tokens=7, output_tokens=1)
    assert lifted(first, then) == [
        Message("user", [Text("Go.")]),
        Message("assistant", [Reasoning("Hm."), Text("Well."), ToolCall("c1", "f", {"n": 1})]),
        Message("tool", [ToolResult("c1", "f", "text", "1")]),
        Message("assistant", [Text("One.")], id="r2", model="m", usage={"inputTokens": 7, "outputTokens": 1}),
    ]


def test_its_database_is_found_in_the_folder_that_its_variable_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs.db").touch()
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    assert list(programs.files(programs.get("llm"))) == [str(tmp_path / "logs.db")]


def test_messages_of_the_database_keep_the_order_of_their_parts() -> None:
    call, signed = {"type": "tool_call", **CALL}, {"type": "reasoning", "text": "Hm.", "provider_metadata": {"a": 1}}
    message = {"role": "assistant", "parts": [{"type": "text", "text": "Well."}, signed, call]}
    (answer,) = lifted({"conversation_id": "t1", "messages": [message]})
    kept = Reasoning("Hm.", extras={"llm": {"provider_metadata": {"a": 1}}})
    assert answer.parts == [Text("Well."), kept, ToolCall("c1", "f", {"n": 1})]


def test_an_instruction_is_a_message_where_it_changes() -> None:
    turns = [turn(system=text, prompt="Hi.") for text in ("Be brief.", "Be brief.", "Be kind.")]
    assert [message.role for message in lifted(*turns)] == ["system", "user", "user", "system", "user"]


@pytest.mark.parametrize(
    ("prompt", "texts"), [("Sum up.", ["A story.", "Sum up."]), ("A story.\nSum up.", ["A story.\nSum up."])]
)
def test_a_fragment_that_the_prompt_does_not_contain_stands_before_it(prompt: str, texts: list[str]) -> None:
    (message,) = lifted(turn(prompt=prompt, prompt_fragments=[{"hash": "h", "content": "A story."}]))
    assert message.parts == [Text(text) for text in texts]


@pytest.mark.parametrize(
    ("native", "field"),
    [
        ({"id": "a", "content": "aGk="}, {"data": "aGk=", "extras": {"llm": {"id": "a"}}}),
        ({"url": "https://example.com/a.png"}, {"url": "https://example.com/a.png"}),
        ({"path": "a.png"}, {"path": "a.png"}),
        ({"id": "a", "content": True}, {"file_id": "a", "extras": {"llm": {"content": True}}}),
    ],
)
def test_an_attachment_has_content_or_a_place(native: dict[str, Any], field: dict[str, Any]) -> None:
    (message,) = lifted(turn(prompt="Look.", attachments=[{"type": "image/png", **native}]))
    assert message.parts == [Text("Look."), Media("image", media_type="image/png", **field)]


def test_a_result_with_an_exception_has_failed() -> None:
    _, answer = lifted(turn(tool_calls=[CALL]), turn(tool_results=[{**RESULT, "exception": "ValueError: no"}]))
    (result,) = answer.parts
    assert isinstance(result, ToolResult)
    assert (result.kind, result.value) == ("error", "1")


def test_tools_are_those_of_the_conversation() -> None:
    other = {**TOOL, "description": "Adds."}
    transcript = DIALECT.lift([turn(prompt="Hi.", tools=[TOOL]), turn(prompt="Ho.", tools=[TOOL, other])])
    assert transcript.tools == [ToolDefinition("f", "Counts.", {"type": "object"}, extras={"llm": {"hash": "h"}})]
    assert transcript.messages[1].extras == {"llm": {"tools": [other]}}


def test_its_turns_are_detected() -> None:
    assert detection.detect([turn(prompt="Hi.")]).dialect == "llm"
    assert detection.evidence([{"prompt": "Hi.", "response": "Yo."}], DIALECT) is None
