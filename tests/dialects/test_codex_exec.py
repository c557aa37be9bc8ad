"""codex exec --json: what is read from the items that a run prints."""

from __future__ import annotations

from convcli import dialects
from convcli.model.transcript import Media, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

EXEC = dialects.get("codex-exec")


def lifted(name: str) -> Transcript:
    return EXEC.lift(next(one.document for one in samples_of(EXEC.name) if one.path.stem == name))


def roles_of(name: str) -> list[str]:
    return [message.role for message in lifted(name).messages if message.role != "event"]


def calls(name: str) -> list[ToolCall]:
    return [part for one in lifted(name).messages for part in one.parts if isinstance(part, ToolCall)]


def results(name: str) -> list[ToolResult]:
    return [part for one in lifted(name).messages for part in one.parts if isinstance(part, ToolResult)]


def test_an_item_that_ran_is_a_call_and_its_result() -> None:
    assert roles_of("commands") == ["assistant", "tool", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [(call.id, call.name) for call in calls("commands")] == [
        ("item_2", "shell"),
        ("item_3", "apply_patch"),
        ("item_4", "shell"),
    ]
    first = next(message for message in lifted("commands").messages if message.role == "assistant")
    assert [type(part) for part in first.parts] == [Reasoning, Text, ToolCall]


def test_a_result_states_whether_its_item_failed_or_was_declined() -> None:
    stated = [(one.tool_call_id, one.kind, one.status) for one in results("commands")]
    assert stated == [("item_2", "error", None), ("item_3", "text", None), ("item_4", "error", "denied")]
    assert results("newer")[0].kind == "error"  # completed, with an exit code that is not 0


def test_an_item_that_never_ended_is_an_open_call() -> None:
    assert [call.id for call in calls("broken-off")] == ["item_1"]
    assert results("broken-off") == []
    assert lifted("broken-off").messages[1].error == "stream disconnected before completion"


def test_what_a_server_returned_is_a_text_an_error_or_parts() -> None:
    text, parts, error = results("servers")
    assert (text.kind, text.value) == ("text", "21 degrees")
    assert [type(part) for part in parts.value] == [Text, Media]
    assert (error.kind, error.value) == ("error", "There is no such city.")


def test_a_search_is_kept_as_it_is_and_a_list_of_what_to_do_is_an_event() -> None:
    answers = [one for one in lifted("servers").messages if one.role == "assistant"]
    kept = [part.value["type"] for one in answers for part in one.parts if isinstance(part, Opaque)]
    assert kept == ["web_search"]
    assert [one.role for one in lifted("servers").messages].count("event") == 4


def test_the_counts_of_a_run_are_those_of_its_only_answer() -> None:
    usage = {"inputTokens": 60, "cacheReadTokens": 20, "outputTokens": 9}
    assert [one.usage for one in lifted("plain").messages if one.role == "assistant"] == [usage]
    assert [one.usage for one in lifted("two-turns").messages if one.usage] == []
