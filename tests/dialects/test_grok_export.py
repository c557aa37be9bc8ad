"""Grok's exports: senders, thoughts, branches, times of MongoDB, and all conversations of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from convcli.dialects.grok_export import DIALECT
from convcli.jobs.documents import Document
from convcli.jobs.inputs import opened
from convcli.model.transcript import Message, Reasoning, Text
from convcli.wire import exact_json


def response(id_: str, parent: str | None, sender: str, message: str, **keys: Any) -> dict[str, Any]:
    native = {"response_id": id_, "parent_response_id": parent, "sender": sender, "message": message}
    return {"response": {**native, "conversation_id": "c1", **keys}}


def conversation(*responses: Any, **keys: Any) -> dict[str, Any]:
    return {"conversation": {"conversation_id": "c1", "title": "A title", **keys}, "responses": list(responses)}


ASKED = response("r1", None, "human", "Hi.")


def test_senders_are_roles_and_a_trace_is_reasoning() -> None:
    answer = response("r2", "r1", "ASSISTANT", "Yo.", thinking_trace="Hm.", model="grok-4")
    transcript = DIALECT.lift(conversation(ASKED, answer))
    assert (transcript.id, transcript.title, transcript.head) == ("c1", "A title", None)
    assert transcript.messages == [
        Message("user", [Text("Hi.")], id="r1"),
        Message("assistant", [Reasoning("Hm."), Text("Yo.")], id="r2", parent_id="r1", model="grok-4"),
    ]


def test_an_unknown_sender_is_kept() -> None:
    (message,) = DIALECT.lift(conversation(response("r1", None, "tool", "Hi."))).messages
    assert (message.role, message.extras) == ("assistant", {DIALECT.name: {"response": {"sender": "tool"}}})


@pytest.mark.parametrize(("leaf", "head"), [(None, "r3"), ("r2", "r2"), ("r3", "r3")])
def test_the_leaf_or_the_last_response_ends_the_active_branch(leaf: str | None, head: str) -> None:
    branches = [ASKED, response("r2", "r1", "ASSISTANT", "Yo."), response("r3", "r1", "ASSISTANT", "Hello.")]
    assert DIALECT.lift(conversation(*branches, leaf_response_id=leaf)).head == head


@pytest.mark.parametrize("time", [{"$date": {"$numberLong": "1750534105468"}}, {"$date": "2025-06-21T19:28:25.468Z"}])
def test_times_of_mongodb_are_read(time: Any) -> None:
    transcript = DIALECT.lift(conversation({"response": {**ASKED["response"], "create_time": time}}, create_time=time))
    assert transcript.created_at == transcript.messages[0].created_at == "2025-06-21T19:28:25.468Z"


def test_each_conversation_of_an_export_is_a_transcript(tmp_path: Path) -> None:
    path = tmp_path / "prod-grok-backend.json"
    path.write_bytes(exact_json.write({"conversations": [conversation(ASKED), conversation(ASKED)], "projects": []}))
    with opened(str(path)) as items:
        read = [item.lift() for item in items if isinstance(item, Document) and item.dialect is DIALECT]
    assert [len(transcript.messages) for transcript in read] == [1, 1]
