"""Grok Build: rows before an answer, images of results, the summary beside a session, and detection."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.grok_build import DIALECT, PROGRAM
from convcli.engine import detection, pipeline
from convcli.model.dialect import SessionFacts
from convcli.model.document import Rows
from convcli.model.errors import JobError
from convcli.model.transcript import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript

ANSWER = {"type": "assistant", "content": "Done.", "model_id": "grok-4.5"}
ACTION = {"type": "backend_tool_call", "kind": {"tool_type": "web_search", "id": "ws_1"}}
ASKED = {"type": "user", "content": [{"type": "text", "text": "Go on."}]}


def reasoning(id_: str, text: str) -> dict[str, Any]:
    return {"type": "reasoning", "id": id_, "summary": [{"type": "summary_text", "text": text}]}


def thought(id_: str, text: str) -> Reasoning:
    return Reasoning("", summary=[text], metadata={"itemId": id_})


def lifted(*rows: Any) -> list[Message]:
    return DIALECT.lift(Rows(rows)).messages


def written(*messages: Message) -> Any:
    return pipeline.lower(Transcript(list(messages)), DIALECT).document


def test_rows_before_an_answer_belong_to_it_in_their_order() -> None:
    rows = [reasoning("rs_1", "Hm."), ACTION, reasoning("rs_2", "So."), ANSWER]
    (message,) = lifted(*rows)
    assert message.parts == [
        thought("rs_1", "Hm."),
        Opaque("grok-build", ACTION),
        thought("rs_2", "So."),
        Text("Done."),
    ]
    assert message.model == "grok-4.5"
    assert written(message) == rows


@pytest.mark.parametrize("behind", [[], [ASKED], [{"type": "note"}]])
def test_rows_that_no_answer_follows_are_a_message(behind: Any) -> None:
    rows = [reasoning("rs_1", "Hm."), *behind]
    assert lifted(*rows)[0] == Message("assistant", [thought("rs_1", "Hm.")])
    assert pipeline.convert(Rows(rows), DIALECT, DIALECT).document == rows


def test_reasoning_that_another_answer_follows_stays_apart_from_it() -> None:
    messages = [Message("assistant", [thought("rs_1", "Hm.")]), Message("assistant", [Text("Done.")], model="m")]
    assert DIALECT.lift(written(*messages)).messages == messages


def test_reasoning_from_elsewhere_gets_an_id() -> None:
    rows = written(Message("assistant", [thought("rs_1", "Hm."), Reasoning("So."), Text("Done.")]))
    assert [row.get("id") for row in rows] == ["rs_1", "rs_2", None]


def test_a_result_is_a_text_and_images() -> None:
    call = {**ANSWER, "tool_calls": [{"id": "c1", "name": "f", "arguments": '{"n": 1}'}]}
    images = [{"type": "image", "url": "https://example.com/a.png"}]
    rows = [call, {"type": "tool_result", "tool_call_id": "c1", "content": "One.", "images": images}]
    answer, result = lifted(*rows)
    assert answer.parts[1] == ToolCall("c1", "f", {"n": 1})
    value = [Text("One."), Media("image", url="https://example.com/a.png")]
    assert result.parts == [ToolResult("c1", "f", "multimodal", value)]
    assert written(answer, result)[1] == rows[1]


def test_the_summary_names_the_session_and_its_directory() -> None:
    facts = SessionFacts("s1", "/tmp/a b", "2026-11-27T10:00:00Z", title="A title")
    assert PROGRAM.place is not None
    assert PROGRAM.place(facts) == "sessions/%2Ftmp%2Fa%20b/s1/chat_history.jsonl"
    assert PROGRAM.files is not None
    [(path, document), (name, summary)] = PROGRAM.files([], facts, "/s/chat_history.jsonl").items()
    assert (path, document) == ("chat_history.jsonl", [])
    assert (name, summary["info"]) == ("summary.json", {"id": "s1", "cwd": "/tmp/a b"})
    assert summary["chat_format_version"] == 1
    assert PROGRAM.directory is not None
    assert PROGRAM.directory("/x/chat_history.jsonl", lambda _: summary) == "/tmp/a b"


def test_a_directory_that_the_program_would_name_by_a_hash_is_refused() -> None:
    assert PROGRAM.place is not None
    with pytest.raises(JobError, match="by a hash"):
        PROGRAM.place(SessionFacts("s1", "/" + "a" * 300, "2026-11-27T10:00:00Z"))


def test_its_rows_are_not_taken_for_those_of_other_programs() -> None:
    assert detection.detect(Rows([ASKED, ANSWER])).dialect == "grok-build"
    assert (
        detection.evidence(
            Rows([{"type": "user", "message": {"role": "user", "content": "Hi."}, "uuid": "u1"}]), DIALECT
        )
        is None
    )


def test_the_summary_alone_is_named() -> None:
    with pytest.raises(Exception, match="summary of a Grok Build session"):
        detection.detect({"info": {"id": "s1", "cwd": "/a"}, "chat_format_version": 1, "current_model_id": "m"})
