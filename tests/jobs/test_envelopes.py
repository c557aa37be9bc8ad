"""Transcripts inside a document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from convcli import dialects
from convcli.engine.known_formats import FORMATS, KnownFormat
from convcli.engine.restore import in_shells, restore
from convcli.files.framing import open_source
from convcli.jobs import converting, inputs
from convcli.jobs.converting import InputConversion, Job, Sinks
from convcli.jobs.documents import Document, Item, Skipped
from convcli.jobs.envelopes import PRESETS, patterns, picks
from convcli.jobs.inputs import Input
from convcli.jobs.summaries import Summary
from convcli.model.dialect import Dialect, Evidence, Options
from convcli.model.errors import ContentError, JobError, RefusedError
from convcli.wire import exact_json
from tests.cli_cases import OTHER, write

CHAT = {"messages": [{"role": "user", "content": "hi"}]}
LIST = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
ANSWER = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "x",
    "content": [{"type": "text", "text": "hello"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
TRACE = {
    "trace": {"input": None, "output": "hello"},
    "observations": [
        {"type": "GENERATION", "input": json.dumps(LIST), "output": json.dumps(ANSWER)},
        {"type": "TOOL", "input": {"city": "Tokyo"}, "output": "22"},
        {"type": "GENERATION", "input": {"messages": LIST}},
    ],
}


@pytest.mark.parametrize(
    ("document", "named", "expected"),
    [
        ({"a": [1, {"b": 2}]}, ["/a/1/b"], [("/a/1/b", 2, False)]),
        ({"a": [1, 2], "b": {"c": 3}}, ["/*/*"], [("/a/0", 1, False), ("/a/1", 2, False), ("/b/c", 3, False)]),
        ({"a": {"*": 1}}, ["/a/*"], [("/a/*", 1, False)]),
        ({"a": "[1, 2]"}, ["/a"], [("/a", [1, 2], True)]),
        ({"a": '{"b": [1, 2]}'}, ["/a/b/1"], [("/a/b/1", 2, False)]),
        ({"a": json.dumps(json.dumps({"b": [1]}))}, ["/a/b"], [("/a/b", [1], False)]),
        ({"a": json.dumps(json.dumps([1])), "b": '"1"'}, ["/*"], [("/a", [1], True), ("/b", '"1"', False)]),
        ({"a/b": {"~": 1}}, ["/a~1b/~0"], [("/a~1b/~0", 1, False)]),
        ({"a": None, "b": 1}, ["/a", "/b", "/c", "/b/d"], [("/b", 1, False)]),
        ({"b": 1, "a": 2}, ["/a", "/b", "/*"], [("/b", 1, False), ("/a", 2, False)]),
        ({"output": 1}, ["langfuse"], [("/output", 1, False)]),
    ],
)
def test_a_pointer_picks_values_in_the_order_of_the_document(
    document: Any, named: list[str], expected: list[Any]
) -> None:
    assert [tuple(pick) for pick in picks(document, patterns(named))] == expected


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("langfues", "langfuse"),
        ("", "/observations/*/input"),
        ("observations/*/input", "/observations/*/input"),
        ("$.observations[*].input", "/observations/*/input"),
        (".observations[].input", "/observations/*/input"),
        ("x", "langfuse"),
    ],
)
def test_what_is_neither_a_pointer_nor_a_preset_is_reported(name: str, nearest: str) -> None:
    with pytest.raises(JobError) as caught:
        patterns([name])
    assert nearest in caught.value.help


def test_every_preset_is_made_of_pointers() -> None:
    for name in PRESETS:
        assert all(patterns([name]))


def opened(path: Path, *at: str, dialect: str | None = None) -> tuple[list[Item], Input]:
    with inputs.opened(str(path), dialect, at=patterns(at)) as source:
        return list(source), source


def documents(items: list[Item]) -> Iterator[Document]:
    for item in items:
        assert isinstance(item, Document)
        yield item


def test_each_transcript_has_its_own_dialect_and_what_is_none_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(TRACE, indent=1))
    items, source = opened(path, "langfuse")
    assert [(each.at, each.dialect.name, each.value) for each in documents(items)] == [
        ("/observations/0/input", "openai-chat", LIST),
        ("/observations/0/output", "anthropic", ANSWER),
        ("/observations/2/input", "openai-chat", {"messages": LIST}),
    ]
    assert source.passed is not None
    assert (source.passed.total, source.passed.count) == (6, 3)
    assert source.passed.first == f"{path} /trace/output"
    assert source.layout == "array"


@pytest.mark.parametrize(
    ("state", "at"),
    [
        ({"run_id": "r", "messages": LIST, "tools": [{"tool_name": "f", "result": "x"}]}, "/messages"),
        ({"messages": LIST}, ""),
        ({"run_id": "r", "messages": ["said"]}, None),
    ],
)
def test_of_the_state_of_a_program_that_no_dialect_takes_its_messages_are_read(
    tmp_path: Path, state: Any, at: str | None
) -> None:
    path = write(tmp_path / "a.json", {"observations": [{"input": CHAT, "output": json.dumps(state)}]})
    items, source = opened(path, "langfuse")
    found = [each.at for each in documents(items)][1:]
    assert found == ([] if at is None else [f"/observations/0/output{at}"])
    assert source.passed is not None
    assert (source.passed.total, source.passed.count) == (2, int(at is None))


def test_findings_point_into_the_outer_file_and_stand_where_the_value_stands(tmp_path: Path) -> None:
    wrong = {"messages": [{"role": "usr", "content": "hi"}]}
    text = json.dumps({"calls": [{"input": CHAT}, {"input": json.dumps(wrong)}]}, indent=1)
    (path := tmp_path / "a.json").write_text(text)
    items, _ = opened(path, "/calls/*/input", dialect=OTHER)
    *_, last = documents(items)
    with pytest.raises(RefusedError) as caught:
        last.lift()
    (finding,) = caught.value.findings
    assert finding.where == "/calls/1/input/messages/0/role"
    assert text[finding.byte :].startswith('"{')
    assert text.splitlines()[finding.line - 1][finding.column - 1 :].startswith('"{')


def test_records_and_members_are_picked_from_one_at_a_time(tmp_path: Path) -> None:
    rows = write(tmp_path / "a.jsonl", {"body": CHAT}, {"body": CHAT})
    items, source = opened(rows, "openai-batch")
    assert [(each.line, each.at, each.place("/x")) for each in documents(items)] == [
        (1, "/body", (1, "/body/x")),
        (2, "/body", (2, "/body/x")),
    ]
    assert source.layout == "jsonl"
    array = write(tmp_path / "a.json", [{"input": CHAT}, {"input": CHAT}, {"other": 1}])
    items, source = opened(array, "/*/input", "/0/other")
    assert [each.at for each in documents(items)] == ["/0/input", "/1/input"]


def test_a_line_of_which_nothing_can_be_read_is_reported(tmp_path: Path) -> None:
    items, _ = opened(write(tmp_path / "a.jsonl", {"body": CHAT}, "{", {"body": CHAT}), "/body")
    assert [type(item) for item in items] == [Document, Skipped, Document]


@pytest.mark.parametrize(
    ("document", "code", "words"),
    [
        ({"a": 1}, "empty-input", "there is no /observations/*/input"),
        ({"observations": [{"input": "hi"}, {"input": 3}]}, "unknown-dialect", "none of the 2 values"),
        ({"observations": [{"input": {"data": [{"object": "thread.message"}]}}]}, "unknown-dialect", "Assistants"),
    ],
)
def test_that_nothing_can_be_read_is_an_error_that_says_why(
    tmp_path: Path, document: Any, code: str, words: str
) -> None:
    with pytest.raises(ContentError) as caught:
        opened(write(tmp_path / "a.json", document), "/observations/*/input")
    assert caught.value.code == code
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("at", "hint"),
    [
        ("/observation/*/input", "did you mean /observations/*/input?"),
        ("/observations/*/inptu", "did you mean /observations/*/input?"),
        ("/observations/7/input", "/observations is a list of 3 items"),
        ("/messages", 'it is an object with the keys "trace", "observations"'),
        ("litellm", 'it is an object with the keys "trace", "observations"'),
    ],
)
def test_a_pointer_that_leads_nowhere_is_reported_with_what_it_may_have_meant(
    tmp_path: Path, at: str, hint: str
) -> None:
    with pytest.raises(ContentError) as caught:
        opened(write(tmp_path / "a.json", TRACE), at)
    assert (caught.value.code, caught.value.help) == ("empty-input", hint)


def test_a_pointer_that_leads_into_the_members_of_an_array_is_reported_as_one(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", [{"id": 1, "body": CHAT}])
    with pytest.raises(ContentError) as caught:
        opened(path, "/body")
    assert caught.value.help == "did you mean /*/body?"
    assert len(opened(path, "/*/body")[0]) == 1


SPAN = {"key": "gen_ai.input.messages", "value": {"stringValue": '[{"role": "user", "parts": []}]'}}
GOOGLE = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
ENVELOPES: dict[str, list[Any]] = {
    "a session log of Hermes Agent": [
        {"session_id": "s", "platform": "cli", "session_start": "2026-01-01", "messages": LIST},
    ],
    "a Strands message": [
        {"message": {"role": "user", "content": [{"text": "hi"}]}, "message_id": 0, "redact_message": None}
    ],
    "a tau-bench result": [{"task_id": 1, "traj": LIST, "reward": 1}],
    "a trace of the OpenAI Agents SDK": [{"object": "trace.span", "span_data": {"type": "generation", "input": LIST}}],
    "an OpenTelemetry trace (OTLP)": [{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [SPAN]}]}]}]}],
    "an OpenInference trace": [{"attributes": {"openinference.span.kind": "LLM", "input.value": json.dumps(CHAT)}}],
    "a Langfuse trace": [TRACE, {"id": "t", "input": LIST, "output": {}, "observations": [{"traceId": "t"}]}],
    "a LangSmith run": [{"run_type": "chain", "inputs": {"messages": LIST}}],
    "a list of trace spans": [{"span_attributes": {}, "span_id": "s", "input": LIST}, {"input": CHAT}],
    "the request body of an Anthropic batch": [{"requests": [{"custom_id": "a", "params": {**CHAT, "model": "m"}}]}],
    "a Gemini API batch": [{"key": "a", "request": GOOGLE}],
    "a request log of Helicone": [{"request_body": CHAT, "response_body": ANSWER}],
    "a call of W&B Weave": [{"op_name": "o", "inputs": CHAT, "output": ANSWER}],
    "an MLflow trace": [
        {"data": {"spans": [{"attributes": {"mlflow.spanInputs": json.dumps(CHAT), "mlflow.spanOutputs": "{}"}}]}}
    ],
    "a log of Portkey": [{"request": {"body": CHAT}, "response": {"body": ANSWER}}],
    "an Opik trace or span": [{"project_id": "p", "total_estimated_cost": 0.1, "input": CHAT, "output": ANSWER}],
    "a rollout of NeMo Gym": [{"responses_create_params": {"input": LIST, "tools": []}, "response": {}}],
    "a span of Datadog": [{"meta": {"input": {"messages": LIST[:1]}, "output": {"messages": LIST[1:]}}}],
    "a log of OpenAI Evals": [{"run_id": "r", "event_id": 1, "data": {"prompt": LIST[:1], "sampled": ["hello"]}}],
    "a LlamaIndex chat store": [
        {
            "class_name": "SimpleChatStore",
            "store": {
                "ann": [
                    {"role": message["role"], "blocks": [{"block_type": "text", "text": message["content"]}]}
                    for message in LIST
                ]
            },
        }
    ],
    "the state of an AutoGen team": [
        {
            "type": "TeamState",
            "agent_states": {
                "writer": {
                    "agent_state": {
                        "type": "AssistantAgentState",
                        "llm_context": {"messages": [{"type": "UserMessage", "source": "user", "content": "hi"}]},
                    }
                }
            },
        }
    ],
    "a TypingMind export": [{"data": {"chats": [{"messages": LIST}]}}],
    "a Letta agent file": [{"agents": [{"messages": LIST}], "blocks": []}],
    "results of promptfoo": [{"results": {"results": [{"prompt": {"raw": json.dumps(LIST)}}]}}],
    "the history of a DSPy model": [{"messages": LIST, "response_model": "m", "kwargs": {}, "outputs": ["hello"]}],
    "samples of lm-eval": [
        {"doc_id": 1, "filtered_resps": ["hello"], "arguments": {"gen_args_0": {"arg_0": json.dumps(LIST)}}}
    ],
    "a chat data set with the column conversation": [{"conversation": LIST}],
    "a chat data set with the column conversations": [{"conversations": LIST}],
}
"""Files in formats around transcripts, by the name of the format."""


def test_flattened_messages_in_a_trace_are_named(tmp_path: Path) -> None:
    attribute = {"key": "llm.input_messages.0.message.role", "value": {"stringValue": "user"}}
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId": "1", "attributes": [attribute]}]}]}]}
    with pytest.raises(ContentError, match="an OpenInference span with flattened messages; convcli cannot read it"):
        opened(write(tmp_path / "a.json", spans), "otlp")


@pytest.mark.parametrize("known", [known for known in FORMATS if known.at], ids=lambda known: str(known.name))
def test_the_way_that_the_name_of_a_format_comes_with_reads_it(tmp_path: Path, known: KnownFormat) -> None:
    for document in ENVELOPES[known.name]:
        path = write(tmp_path / "a.jsonl", document)
        with pytest.raises(ContentError) as caught:
            opened(path)
        assert caught.value.message == known.message
        items, _ = opened(path, known.at.strip("'"))
        assert items, known.name
        assert all(isinstance(item, Document) and item.lift().messages for item in items)


def test_what_is_inside_of_a_transcript_is_not_picked_again(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"inputs": CHAT, "outputs": {"messages": [LIST]}})
    items, _ = opened(path, "langsmith")
    assert [each.at for each in documents(items)] == ["/inputs"]
    items, _ = opened(path, "/outputs/messages/*", "/outputs/messages/*/*", "/inputs", "/inputs/messages")
    assert [each.at for each in documents(items)] == ["/inputs", "/outputs/messages/0"]


def test_a_message_that_stands_alone_is_read_and_losses_point_at_it(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "hello", "name": "ada"}
    path = write(tmp_path / "a.json", {"input": LIST, "output": json.dumps(answer)})
    first, last = documents(opened(path, "langfuse")[0])
    assert (first.at, first.is_alone, last.at, last.is_alone, last.original) == (
        "/input",
        False,
        "/output",
        True,
        answer,
    )
    losses = last.convert(dialects.get("anthropic"), Options()).losses
    assert [loss.where for loss in losses if loss.kind == "dropped"] == ["/output/name"]


def holding_many(where: str = "samples/*") -> Dialect:
    """A dialect whose files hold several transcripts in one document."""
    evidence = Evidence(90, "samples")
    changes: dict[str, Any] = {"many": where, "detect": lambda value: evidence if "samples" in value else None}
    return msgspec.structs.replace(dialects.get(OTHER), **changes)


class Memory:
    """An output in memory."""

    name = "memory"

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    def commit(self) -> None:
        """It is all there."""

    def discard(self) -> None:
        """Nothing is kept."""


def converted(path: Path, source: Dialect, job: Job) -> tuple[bytes, list[Any], Summary, list[str]]:
    """What is written, the restore records, the summary, and the places of losses and findings."""
    output, kept, places = Memory(), list[bytes](), list[str]()
    with open_source(str(path)) as file:
        opened = Input(str(path), file, source)
        sinks = Sinks(lambda loss: places.append(loss.where), lambda found: places.append(found.where), kept.append)
        summary = converting.completed(InputConversion(opened, job, lambda suffix: output, sinks))
    return output.data, list(map(exact_json.parse, kept)), summary, places


LOG = {"version": 2, "samples": [{"messages": [{"role": "user", "name": "x", "content": t}]} for t in "ab"], "end": []}


def test_a_document_that_holds_several_transcripts_is_converted_one_by_one_and_restored(tmp_path: Path) -> None:
    source, target = holding_many(), dialects.get("anthropic")
    data, kept, summary, places = converted(write(tmp_path / "log.json", LOG), source, Job(target))
    documents = exact_json.parse(data)
    assert [document["messages"][0]["content"] for document in documents] == ["a", "b"]
    assert summary.transcripts == 2
    assert places
    assert all(place.startswith("/samples/") for place in places if place)
    assert in_shells([restore(*pair) for pair in zip(documents, kept, strict=True)], kept) == [LOG]
    assert list(in_shells([restore(*pair) for pair in zip(documents, kept, strict=True)], kept)[0]) == list(LOG)


def test_lines_that_hold_several_transcripts_each_are_restored_to_lines(tmp_path: Path) -> None:
    rows = [LOG, {"samples": LOG["samples"][:1]}]
    data, kept, summary, _ = converted(write(tmp_path / "log.jsonl", *rows), holding_many(), Job(dialects.get(OTHER)))
    documents = [exact_json.parse(line) for line in data.splitlines()]
    assert summary.transcripts == 3
    assert in_shells([restore(*pair) for pair in zip(documents, kept, strict=True)], kept) == rows


def test_a_bad_one_of_several_does_not_stop_the_others(tmp_path: Path) -> None:
    wrong = {"messages": [{"role": "usr", "content": "hi"}]}
    path = write(tmp_path / "log.json", {"samples": [CHAT, wrong, CHAT]})
    _, _, summary, places = converted(path, holding_many(), Job(dialects.get(OTHER)))
    assert (summary.refused, summary.outputs) == (1, 0)
    assert "/samples/1/messages/0/role" in places
    data, _, summary, _ = converted(path, holding_many(), Job(dialects.get(OTHER), keep_going=True))
    assert exact_json.parse(data) == [CHAT, CHAT]
    assert summary.outputs == 1


@pytest.mark.parametrize(
    ("where", "expected"),
    [("samples/*", {"samples": [CHAT, CHAT]}), ("a/b/*", {"a": {"b": [CHAT, CHAT]}}), ("*", [CHAT, CHAT])],
)
def test_several_transcripts_are_collected_in_one_document(tmp_path: Path, where: str, expected: Any) -> None:
    target = holding_many(where)
    rows = write(tmp_path / "in.jsonl", CHAT, CHAT)
    data, *_ = converted(rows, dialects.get(OTHER), Job(target))
    assert exact_json.parse(data) == expected
    data, *_ = converted(rows, dialects.get(OTHER), Job(target, layout="jsonl"))
    assert len(data.splitlines()) == 2
    one = write(tmp_path / "in.json", CHAT)
    data, *_ = converted(one, dialects.get(OTHER), Job(target))
    assert json.dumps(exact_json.parse(data)) == json.dumps(expected).replace(", " + json.dumps(CHAT), "")
