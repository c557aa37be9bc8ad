"""DeepSeek's exports: fragments, roles, branches, nodes without a message, and lists of conversations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.deepseek_export import DIALECT
from convcli.engine import detection, pipeline
from convcli.jobs.documents import Document
from convcli.jobs.inputs import opened
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text
from convcli.wire import exact_json

ROOT = {"id": "root", "parent": None, "children": ["1"], "message": None}


def node(id_: str, parent: str, *fragments: Any, **keys: Any) -> dict[str, Any]:
    return {"id": id_, "parent": parent, "children": [], "message": {"fragments": list(fragments), **keys}}


def fragment(kind: str, content: Any) -> dict[str, Any]:
    return {"type": kind, "content": content}


def conversation(*nodes: Any) -> dict[str, Any]:
    return {"id": "c1", "title": "A title", "mapping": {one["id"]: one for one in (ROOT, *nodes)}}


ASKED = node("1", "root", fragment("REQUEST", "Hi."))


@pytest.mark.parametrize(
    ("native", "part"),
    [
        (fragment("RESPONSE", "Yo."), Text("Yo.")),
        (fragment("THINK", "Hm."), Reasoning("Hm.")),
        ({**fragment("THINK", "Hm."), "elapsed_secs": 2}, Reasoning("Hm.", extras={DIALECT.name: {"elapsed_secs": 2}})),
        ({"type": "SEARCH", "results": []}, Opaque(DIALECT.name, {"type": "SEARCH", "results": []})),
        (fragment("TIP", "Made by AI."), Opaque(DIALECT.name, fragment("TIP", "Made by AI."))),
    ],
)
def test_fragments_are_parts(native: Any, part: Part) -> None:
    transcript = DIALECT.lift(conversation(ASKED, node("2", "1", native, model="deepseek-reasoner")))
    assert transcript.messages[1] == Message("assistant", [part], id="2", parent_id="1", model="deepseek-reasoner")


def test_a_message_with_a_request_is_the_users() -> None:
    (message,) = DIALECT.lift(conversation(ASKED)).messages
    assert message == Message("user", [Text("Hi.")], id="1")


def test_the_last_node_ends_the_active_branch() -> None:
    asked_again = node("2", "root", fragment("REQUEST", "Hello."))
    transcript = DIALECT.lift(conversation(ASKED, asked_again))
    assert (transcript.head, [message.parent_id for message in transcript.messages]) == ("2", [None, None])
    assert DIALECT.lift(conversation(ASKED)).head is None


def test_keys_of_a_node_without_a_message_are_kept() -> None:
    document = conversation(ASKED)
    document["mapping"]["root"] = {**ROOT, "note": "A root."}
    assert DIALECT.lift(document).extras == {DIALECT.name: {"nodes": {"root": {"note": "A root."}}}}


def test_each_conversation_of_an_export_is_a_transcript_and_not_chatgpts(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(exact_json.write([conversation(ASKED), conversation(ASKED)]))
    with opened(str(path)) as items:
        found = [item.dialect.name for item in items if isinstance(item, Document)]
    assert found == [DIALECT.name] * 2
    assert detection.detect(conversation(ASKED)).dialect == DIALECT.name


def test_a_file_with_its_text_is_a_document_and_the_name_of_another_is_content() -> None:
    files = [{"id": "f1", "file_name": "a.txt", "content": "Tea."}, {"id": "f2", "file_name": "b.pdf"}]
    asked = node("1", "root", fragment("REQUEST", "Read it."), files=files)
    document = {"mapping": {"root": ROOT, "1": asked}}
    (message,) = DIALECT.lift(document).messages
    extras = {"deepseek-export": {"id": "f1"}}
    assert message.parts == [Media("document", text="Tea.", name="a.txt", extras=extras), Text("Read it.")]
    conversion = pipeline.convert(document, DIALECT, dialects.get("openai-chat"))
    levels = {loss.field: loss.level for loss in conversion.losses}
    assert levels["extras.deepseek-export.message.files"] == "content"
