"""Gemini CLI: documents and logs, what a replay leaves, and what a resumed session finds in what we write."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline, reading
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.proof.reasons import Loss
from convcli.validation import schemas
from tests.support import dumped, samples_of

GEMINI_CLI = dialects.get("gemini-cli")
CHAT = dialects.get("openai-chat")


def sample(name: str) -> Any:
    return next(sample.document for sample in samples_of("gemini-cli") if sample.path.name == name)


def lifted(name: str) -> Transcript:
    return GEMINI_CLI.lift(sample(name))


def parts(transcript: Transcript, kind: Any) -> list[Any]:
    return [part for message in transcript.messages for part in message.parts if isinstance(part, kind)]


def pointers_of(losses: list[Loss], field: str) -> list[str]:
    return [loss.where for loss in losses if loss.field == field]


def records(transcript: Transcript) -> list[Any]:
    """What is written of it, without the metadata."""
    rows: list[Any] = pipeline.lower(transcript, GEMINI_CLI).document
    return rows[1:]


# ---------------------------------------------------------------- replay


def test_the_last_record_of_an_id_counts_in_the_place_of_the_first() -> None:
    rows = copy.deepcopy(sample("log.jsonl"))
    rows.append({**rows[1], "content": "Which bed is dry now?"})
    turns = [message for message in GEMINI_CLI.lift(rows).messages if message.role != "event"]
    assert [message.role for message in turns] == ["user", "assistant", "tool", "assistant"]
    assert turns[0].parts == [Text("Which bed is dry now?")]


def test_what_a_replay_replaced_is_a_loss_with_its_row() -> None:
    conversion = pipeline.convert(sample("log.jsonl"), GEMINI_CLI, CHAT)
    assert pointers_of(conversion.losses, "event") == ["/3", "/4"]
    assert len(conversion.document["messages"]) == 4


def test_a_rewind_rolls_back_its_record_and_all_later_ones_and_each_is_reported() -> None:
    transcript = lifted("log-rewound.jsonl")
    turns = [part.text for message in transcript.messages if message.role != "event" for part in message.parts]
    assert turns == ["First.", "One.", "Another second.", "Two again."]
    losses = pipeline.lower(transcript, CHAT, source=GEMINI_CLI).losses
    assert pointers_of(losses, "branch") == ["/3", "/4"]
    assert pointers_of(losses, "event") == ["/5", "/6", "/8"]
    assert {loss.level for loss in losses if loss.field == "branch"} == {"content"}


def test_a_rewind_to_an_unknown_id_rolls_everything_back() -> None:
    rows = [*sample("log-rewound.jsonl")[:3], {"$rewindTo": "nobody"}]
    transcript = GEMINI_CLI.lift(Rows(rows))
    assert {message.role for message in transcript.messages} == {"event"}
    assert pointers_of(pipeline.lower(transcript, CHAT, source=GEMINI_CLI).losses, "branch") == ["/1", "/2"]


def test_a_checkpoint_replaces_all_records() -> None:
    transcript = lifted("log-checkpoint.jsonl")
    turns = [(message.role, message.parts[0].text) for message in transcript.messages if message.role != "event"]  # type: ignore[union-attr]
    assert turns == [
        ("user", "Summary of a long story."),
        ("assistant", "Understood, and updated."),
        ("user", "Go on."),
    ]
    losses = pipeline.lower(transcript, CHAT, source=GEMINI_CLI).losses
    assert pointers_of(losses, "branch") == ["/1", "/2"]
    assert pointers_of(losses, "event") == ["/3", "/3/$set/messages/1"]


def test_a_record_without_an_id_never_counts_in_a_log() -> None:
    rows = Rows([sample("log.jsonl")[0], {"type": "user", "content": "no id"}])
    assert [message.role for message in GEMINI_CLI.lift(rows).messages] == ["event"]


def test_a_log_as_a_document_has_only_the_records_that_count() -> None:
    document = GEMINI_CLI.lower(lifted("log-rewound.jsonl"), Options(form="json"))
    assert schemas.findings("gemini-cli", document) == []
    assert [record["id"] for record in document["messages"]] == ["u1", "g1", "u3", "g3"]


def test_a_document_as_a_log_begins_with_its_metadata() -> None:
    document = sample("session.json")
    rows = GEMINI_CLI.lower(GEMINI_CLI.lift(document), Options(form="log"))
    assert (rows[0]["sessionId"], rows[0]["projectHash"]) == (document["sessionId"], document["projectHash"])
    assert [row["id"] for row in rows[1:]] == [record["id"] for record in document["messages"]]


# ---------------------------------------------------------------- calls and results


def test_calls_and_results_that_are_stored_twice_are_lifted_once() -> None:
    transcript = lifted("log-twice.jsonl")
    calls, results = parts(transcript, ToolCall), parts(transcript, ToolResult)
    assert [(call.id, call.arguments) for call in calls] == [("s_1", {"q": "moss"}), ("s_2", {"q": "fern"})]
    assert [(result.tool_call_id, result.kind) for result in results[:2]] == [("s_1", "text"), ("s_2", "error")]
    assert next(message.id for message in transcript.messages if message.role == "tool") == "u2"
    assert [thought.text for thought in parts(transcript, Reasoning)] == ["I think."]


def test_a_result_is_read_in_every_shape() -> None:
    results = {result.tool_call_id: result for result in parts(lifted("results.json"), ToolResult)}
    assert {id_: (result.kind, result.status) for id_, result in results.items()} == {
        "c1": ("text", None),
        "c2": ("text", None),
        "c4": ("multimodal", None),
        "c5": ("multimodal", None),
        "c6": ("text", "running"),
        "c7": ("error", None),
        "c8": ("data", None),
        "c9": ("text", None),
    }
    assert [type(part) for part in results["c4"].value] == [Text, Media]
    assert (results["c8"].value, results["c8"].is_error) == ({"f": 1}, True)


def test_a_call_without_a_result_keeps_its_state() -> None:
    calls = {call.id: call for call in parts(lifted("results.json"), ToolCall)}
    assert calls["c3"].extras == {"gemini-cli": {"status": "awaiting_approval"}}
    assert calls["c10"].extras == {"gemini-cli": {"status": "error"}}


def test_a_cancelled_call_is_cancelled_and_its_state_comes_back() -> None:
    result = parts(lifted("session.json"), ToolResult)[2]
    assert (result.kind, result.status) == ("error", "cancelled")
    transcript = Transcript([Message("assistant", [ToolCall("c", "f", {})]), Message("tool", [result])])
    result.tool_call_id, result.name = "c", "f"
    assert records(transcript)[0]["toolCalls"][0]["status"] == "cancelled"


def test_two_calls_with_one_id_keep_their_own_results() -> None:
    document = copy.deepcopy(sample("session.json"))
    entries = document["messages"][1]["toolCalls"]
    for entry in entries:
        entry["id"] = "same"
    entries[0]["result"] = None
    assert dumped(stored_and_back(document)) == dumped(document)


def stored_and_back(document: Any) -> Any:
    """The document after it was stored in the intermediate format."""
    hub = dialects.get("intermediate")
    return pipeline.convert(pipeline.convert(document, GEMINI_CLI, hub).document, hub, GEMINI_CLI).document


@pytest.mark.parametrize("name", ["log.jsonl", "log-rewound.jsonl", "log-checkpoint.jsonl", "log-twice.jsonl"])
def test_rows_that_do_not_count_are_written_and_still_do_not_count(name: str) -> None:
    before = lifted(name)
    assert pipeline.lower(before, GEMINI_CLI, source=GEMINI_CLI).losses == []
    assert GEMINI_CLI.lift(GEMINI_CLI.lower(before)) == before


def test_a_turn_that_nothing_rolls_back_any_more_does_not_come_to_life() -> None:
    before = lifted("log-rewound.jsonl")
    before.messages = [m for m in before.messages if m.role != "event" or "$rewindTo" not in m.parts[0].value]  # type: ignore[union-attr]
    texts = [part.text for part in parts(GEMINI_CLI.lift(GEMINI_CLI.lower(before)), Text)]
    assert texts == ["First.", "One.", "Another second.", "Two again."]


@pytest.mark.parametrize(
    ("text", "subject", "description"),
    [
        ("**Looking** The list.", "Looking", "The list."),
        ("**Looking**", "Looking", ""),
        ("No subject.", "", "No subject."),
        ("**a** and **b**", "a", "and **b**"),
        ("****", "", "****"),
    ],
)
def test_a_thought_is_parted_as_it_is_read(text: str, subject: str, description: str) -> None:
    answer = Message("assistant", [Reasoning(text)], created_at="2026-01-01T00:00:00.000Z")
    document = pipeline.lower(Transcript([answer]), dialects.get("gemini-cli"), Options(form="json")).document
    (thought,) = document["messages"][0]["thoughts"]
    assert (thought["subject"], thought["description"]) == (subject, description)
    assert [part.text for part in dialects.get("gemini-cli").lift(document).messages[0].parts] == [text]  # type: ignore[union-attr]


def test_a_thought_says_its_subject_in_bold() -> None:
    thoughts = [thought.text for thought in parts(lifted("session.json"), Reasoning)]
    assert thoughts == ["**Looking** The list comes before the water.", "No subject here."]


def test_the_output_includes_the_thoughts_and_zero_is_no_count() -> None:
    first = next(message for message in lifted("session.json").messages if message.usage)
    assert first.usage == {"inputTokens": 4849, "outputTokens": 500, "reasoningTokens": 459, "totalTokens": 5349}


def test_what_only_the_user_saw_is_an_event() -> None:
    events = [message for message in lifted("session.json").messages if message.role == "event"]
    assert [(event.id, event.parts[0].value["type"]) for event in events] == [  # type: ignore[union-attr]
        ("i1", "info"),
        ("w1", "warning"),
        ("e1", "error"),
    ]


# ---------------------------------------------------------------- writing


def test_a_log_has_all_that_a_resumed_session_needs() -> None:
    conversion = pipeline.lower(Transcript([Message("user", [Text("Hi")])], cwd="/w"), GEMINI_CLI)
    rows = conversion.document
    assert isinstance(rows, Rows)
    assert all(rows[0][key] for key in ("sessionId", "projectHash", "startTime", "lastUpdated"))
    assert rows[1] == {"id": "message_1", "timestamp": "1970-01-01T00:00:00.000Z", "type": "user", "content": "Hi"}
    assert {"id", "createdAt", "message.id", "message.createdAt"} <= {
        loss.field for loss in conversion.losses if loss.kind == "invented"
    }


def test_results_stand_in_their_calls_and_those_of_no_call_in_a_record_of_the_user() -> None:
    transcript = Transcript(
        [
            Message("assistant", [ToolCall("a", "f", {}), ToolCall("b", "f", {})]),
            Message("tool", [ToolResult("b", "f", "error", "no")]),
            Message("tool", [ToolResult("x", "g", "text", "late")]),
        ]
    )
    answer, late = records(transcript)
    assert [(entry["id"], entry["status"]) for entry in answer["toolCalls"]] == [("a", "scheduled"), ("b", "error")]
    assert late["content"] == [{"functionResponse": {"id": "x", "name": "g", "response": {"output": "late"}}}]


def test_two_results_of_one_call_stand_in_records_of_their_own() -> None:
    results = [Message("tool", [ToolResult("a", "f", "text", word)]) for word in ("once", "again")]
    rows = pipeline.lower(Transcript([Message("assistant", [ToolCall("a", "f", {})]), *results]), GEMINI_CLI).document
    assert "result" not in rows[1]["toolCalls"][0]
    assert [result.value for result in parts(GEMINI_CLI.lift(rows), ToolResult)] == ["once", "again"]


def test_an_order_that_only_the_content_has_makes_the_content_whole() -> None:
    mixed = [ToolCall("a", "f", {}), Text("after"), Reasoning("late")]
    conversion = pipeline.lower(Transcript([Message("assistant", mixed)]), GEMINI_CLI)
    assert [next(iter(part)) for part in conversion.document[1]["content"]] == ["functionCall", "text", "text"]
    assert conversion.document[1]["toolCalls"][0]["id"] == "a"
    assert not [loss for loss in conversion.losses if loss.level == "content"]


def test_a_signed_part_stands_in_the_content() -> None:
    call = ToolCall("a", "f", {}, metadata={"thoughtSignature": "AAAA"})
    (record,) = records(Transcript([Message("assistant", [Text("go"), call])]))
    assert record["content"][1]["thoughtSignature"] == "AAAA"
    plain = ToolCall("a", "f", {})
    assert records(Transcript([Message("assistant", [Text("go"), plain])]))[0]["content"] == "go"


def test_no_two_records_have_one_id() -> None:
    transcript = Transcript([Message("user", [Text(text)], id="same") for text in "ab"])
    assert [record["id"] for record in records(transcript)] == ["same", "message_1"]


def test_the_system_and_its_tools_are_reported_as_lost() -> None:
    losses = pipeline.convert(sample_of_intermediate(), dialects.get("intermediate"), GEMINI_CLI).losses
    assert {"text", "tool"} <= {loss.field for loss in losses if loss.kind == "dropped"}


def sample_of_intermediate() -> Any:
    return next(s.document for s in samples_of("intermediate") if s.path.name.startswith("twin-weather"))


@pytest.mark.parametrize("name", ["session.json", "log.jsonl", "log-twice.jsonl", "history.json"])
def test_calls_results_and_texts_survive_the_way_to_openclaw_and_back(name: str) -> None:
    before = lifted(name)
    openclaw = dialects.get("openclaw")
    there = pipeline.lower(before, openclaw, source=GEMINI_CLI).document
    back = GEMINI_CLI.lift(pipeline.convert(there, openclaw, GEMINI_CLI).document)
    for kind in (ToolCall, ToolResult):
        ids = [[(part.name, getattr(part, "arguments", None)) for part in parts(t, kind)] for t in (before, back)]
        assert ids[0] == ids[1]
    turns = [
        [p.text for m in t.messages if m.role != "event" for p in m.parts if isinstance(p, Text)]
        for t in (before, back)
    ]
    assert turns[0] == turns[1]
    events = [[message.parts for message in t.messages if message.role == "event"] for t in (before, back)]
    assert events[0] == events[1]


def test_an_opaque_part_of_google_stays_in_the_content() -> None:
    assert any(part.dialect == "google" for part in parts(lifted("log-twice.jsonl"), Opaque))


NOTE = {"id": "i", "timestamp": "2026-01-01T00:00:00Z", "type": "info", "content": "Updated."}
ASKED = {"id": "u", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": "Hi."}
ANSWERED = {"id": "a", "timestamp": "2026-01-01T00:00:01Z", "type": "model", "parts": [{"text": "Hello."}]}
BEGUN = {"sessionId": "s", "startTime": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("document", "roles"),
    [
        ({**BEGUN, "messages": [NOTE, ASKED]}, ["event", "user"]),
        ({"sessionId": "s", "messages": [ASKED, ANSWERED]}, ["user", "assistant"]),
        ({"messages": [ASKED, ANSWERED]}, ["user", "assistant"]),
        (Rows([BEGUN, ASKED]), ["user"]),
        (Rows([BEGUN, ASKED, ANSWERED]), ["user", "assistant"]),
        (
            {
                "history": [
                    {"role": "user", "parts": [{"text": "Hi."}]},
                    {"role": "model", "parts": [{"text": "Hello."}]},
                ]
            },
            ["user", "assistant"],
        ),
    ],
)
def test_older_and_forked_sessions_are_recognised_and_read(document: Any, roles: list[str]) -> None:
    assert detection.detect(document).dialect == "gemini-cli"
    assert [message.role for message in reading.lift(document, GEMINI_CLI).messages] == roles


@pytest.mark.parametrize("row", [{"sessionId": "s", "uuid": "u", "startTime": "t"}, {"sessionId": "s", "type": "user"}])
def test_a_session_id_alone_is_not_that_of_gemini_cli(row: dict[str, Any]) -> None:
    assert "gemini-cli" not in [name for name, _ in detection.candidates(Rows([row]))]
