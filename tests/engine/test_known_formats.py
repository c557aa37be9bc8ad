"""Formats that are known by name: each mark finds its own, and none finds a dialect that we read."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection
from convcli.engine.known_formats import FORMATS, LOOK_AT, recognise
from convcli.model.document import Rows
from convcli.model.errors import ContentError
from tests.engine.test_marks import smallest
from tests.support import acceptable

MARKS = [(known, mark) for known in FORMATS for mark in known.marks]
ROW = {"indexedDB": {"topics": [], "message_blocks": []}}
SAID = {"role": "user", "content": [{"type": "text", "text": "Hi."}]}


def test_each_mark_is_that_of_its_own_format() -> None:
    assert [(mark, known.name) for known, mark in MARKS if recognise([smallest(mark)]) != known] == []


def test_no_mark_is_seen_in_a_dialect_that_we_read() -> None:
    """A format that is read now has no row in FORMATS any more."""
    seen = {str(sample): recognise([sample.document]) for sample in acceptable()}
    assert {sample: known.name for sample, known in seen.items() if known is not None} == {}


def test_a_mark_is_looked_for_in_the_first_records_and_in_the_items_of_a_list() -> None:
    found = [recognise(values) for values in ([{}, ROW], [[{}, ROW]], [Rows([{}, ROW])])]
    assert [known and known.name for known in found] == ["a backup of Cherry Studio"] * 3
    assert recognise([{}] * LOOK_AT + [ROW]) is None
    assert recognise([[{}] * LOOK_AT + [ROW]]) is None


@pytest.mark.parametrize(
    ("document", "words", "help_text"),
    [
        (
            Rows([ROW, {"type": "message", "id": "a", "parentId": "s", "message": SAID}]),
            "a backup of Cherry Studio; convcli cannot read it yet",
            "convcli dialects lists the formats it reads",
        ),
        (
            [{"event.name": "gen_ai.client.inference.operation.details", "content": "Hi."}],
            "an OpenTelemetry event or span without messages; this alone is not a conversation",
            "programs include messages only if content capture is enabled",
        ),
        (
            {"question": "Hi?", "chosen": "Ho.", "rejected": "Hu."},
            "a set of preference pairs with a question; convcli cannot read it yet",
            "rename the key question to prompt, and convcli reads it",
        ),
        (
            {"attributes": {"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user"}},
            "an OpenInference span with flattened messages; convcli cannot read it yet",
            "--at openinference reads spans with the request in input.value",
        ),
        (
            {"id": "t", "input": [SAID], "output": SAID, "observations": [{"traceId": "t", "type": "GENERATION"}]},
            "a Langfuse trace, which may contain transcripts",
            "--at langfuse reads the transcripts inside",
        ),
    ],
)
def test_what_only_looks_like_a_dialect_is_reported_by_its_name(document: Any, words: str, help_text: str) -> None:
    with pytest.raises(ContentError) as caught:
        detection.detect(document)
    assert caught.value.code == "unknown-dialect"
    assert caught.value.message == f"this looks like {words}"
    assert caught.value.help == help_text


def test_a_format_that_can_be_read_in_some_way_is_never_said_to_be_unread() -> None:
    for known in FORMATS:
        assert ("cannot read it" in known.message) is not bool(known.at or known.is_piece), known.name
        assert not (known.at and known.is_piece), known.name


GENKIT = {"role": "user", "content": [{"text": "Hi."}]}, {"role": "model", "content": [{"text": "Hello."}]}
ROWS = {"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (list(GENKIT), "Genkit messages"),
        ({"messages": list(GENKIT), "tools": [{"name": "f", "inputSchema": {}}]}, "Genkit messages"),
        (
            {"session_id": "s", "platform": "cli", "session_start": "x", "messages": list(ROWS)},
            "a session log of Hermes",
        ),
    ],
)
def test_a_format_that_resembles_a_dialect_is_known_by_its_name(document: Any, name: str) -> None:
    """It was detected as bedrock-converse, mcp and anthropic, and refused for what it is."""
    with pytest.raises(ContentError) as caught:
        detection.detect(document)
    assert (caught.value.code, name in caught.value.message) == ("unknown-dialect", True)


NAMED = (
    "LM Studio", "Cherry Studio", "Chatbox", "TypingMind", "Jan", "Amp", "Letta", "Spring AI", "LangChain4j", "Mastra",
    "Genkit", "rig", "DSPy", "smolagents", "CrewAI", "OpenAI Realtime", "A2A", "Assistants", "promptfoo", "lm-eval",
    "OpenAI Evals", "HELM", "MT-bench", "BFCL", "AutoGen", "Semantic Kernel", "Agent Framework",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_a_format_that_people_hold_and_convcli_does_not_read_has_a_name(name: str) -> None:
    assert [known for known in FORMATS if name in known.name] or any(name in one.title for one in dialects.builtin())


def test_each_name_is_given_once() -> None:
    names = [known.name for known in FORMATS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"time": 1, "version": 5, "indexedDB": {"topics": [], "message_blocks": []}}, "Cherry Studio"),
        ({"session:a": {"messages": []}, "__exported_items": ["conversations"], "__exported_at": "x"}, "Chatbox"),
        ([{"messageType": "USER", "metadata": {}, "media": [], "text": "Hi."}], "Spring AI"),
        ([{"contents": [{"text": "Hi.", "type": "TEXT"}], "type": "USER"}], "LangChain4j"),
        ([{"id": "1", "contents": [{"text": "3", "type": "TEXT"}], "type": "TOOL_EXECUTION_RESULT"}], "LangChain4j"),
        ([{"sessionId": "s", "createdAt": 1, "updatedAt": 2, "projectDir": "/a", "taskName": "t"}], "Junie"),
        ({"v": 5, "id": "T-1", "created": 1, "messages": [SAID], "title": "t"}, "Amp"),
        ([{"id": "1", "date": "x", "message_type": "approval_request_message"}], "Letta"),
        ([{"id": "1", "role": "user", "threadId": "t", "content": {"format": 2, "parts": []}}], "Mastra"),
        ([{"role": "assistant", "content": [{"id": "1", "function": {"name": "f", "arguments": {}}}]}], "rig"),
        ({"doc_id": 0, "arguments": {"gen_args_0": {"arg_0": "Hi."}}, "filtered_resps": ["Yo."]}, "lm-eval"),
        ({"question_id": 81, "answer_id": "a", "choices": [{"index": 0, "turns": ["Yo."]}]}, "MT-bench"),
        ({"id": "multi_turn_base_0", "result": [[["f()"]]], "inference_log": [{}]}, "BFCL"),
        ({"adapter_spec": {}, "request_states": [{"instance": {}}]}, "HELM"),
        ({"timestamp": "x", "task_name": "t", "task": "Do it.", "agent": "a", "status": "completed"}, "CrewAI"),
    ],
)  # fmt: skip
def test_detect_names_the_format_of_a_file(document: Any, name: str) -> None:
    with pytest.raises(ContentError) as caught:
        detection.detect(document)
    assert caught.value.message.startswith("this looks like ")
    assert name in caught.value.message
